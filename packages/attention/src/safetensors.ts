/**
 * Reads and writes safetensors files in memory: eight bytes of header length, a JSON header, the tensors' bytes.
 * Pure; runs in a browser. Files are untrusted: everything in the header is checked before it is used.
 */

import { assertNever, EvolverError } from "@evolver/base";

/** The element types of safetensors files that are read. */
export type SafetensorsDtype = "F64" | "F32" | "F16" | "BF16" | "I32" | "U32";

/** A tensor as read. Half-precision values are widened to float32, exactly; `dtype` says what the file holds. */
export interface SafetensorsTensor {
  readonly dtype: SafetensorsDtype;
  readonly shape: readonly number[];
  readonly data: Float32Array | Float64Array | Int32Array | Uint32Array;
}

/** What a safetensors file has. */
export interface Safetensors {
  /** By name. */
  readonly tensors: ReadonlyMap<string, SafetensorsTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A tensor for a safetensors file; its elements are dense, outermost dimension first. */
export interface TensorToWrite {
  readonly shape: readonly number[];
  readonly data: Float32Array | Float64Array | Int32Array | Uint32Array;
}

const BYTES: Readonly<Record<SafetensorsDtype, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2, I32: 4, U32: 4 };
/** As in the format's own implementation. */
const MAX_HEADER_BYTES = 100_000_000;
const LENGTH_BYTES = 8;

/**
 * Reads a whole file.
 *
 * @throws INVALID_SAFETENSORS with the tensor's name where the file is not what the format allows
 */
export function readSafetensors(file: ArrayBuffer | Uint8Array): Safetensors {
  // Node's Buffer is a Uint8Array whose slice() does not copy: look at its bytes through a plain one.
  const bytes =
    file instanceof Uint8Array
      ? new Uint8Array(file.buffer, file.byteOffset, file.byteLength)
      : new Uint8Array(file);
  if (bytes.length < LENGTH_BYTES)
    throw invalid(`the file has ${bytes.length} bytes, fewer than the ${LENGTH_BYTES} of a header length`);
  const other = FORMATS.find(({ starts }) => starts.every((byte, i) => bytes[i] === byte));
  if (other !== undefined)
    throw new EvolverError("INVALID_SAFETENSORS", `the file is ${other.name}, not safetensors`, {
      hint: `write q, k and v with ${other.with}`,
    });
  const headerBytes = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (headerBytes > MAX_HEADER_BYTES || LENGTH_BYTES + headerBytes > bytes.length)
    throw invalid(`the header claims ${headerBytes} bytes; the file has ${bytes.length} in all`);
  const header = parseHeader(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + headerBytes));
  const contents = bytes.subarray(LENGTH_BYTES + headerBytes);
  const entries: TensorEntry[] = [];
  let metadata: Readonly<Record<string, string>> = {};
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") metadata = checkMetadata(value);
    else entries.push(checkEntry(name, value));
  }
  checkCoverage(entries, contents.length);
  const tensors = new Map<string, SafetensorsTensor>();
  for (const { name, dtype, shape, begin, end } of entries)
    tensors.set(name, { dtype, shape, data: decode(dtype, contents.slice(begin, end)) });
  return { tensors, metadata };
}

/**
 * The bytes of a file with these tensors, in this order.
 *
 * @throws INVALID_SAFETENSORS where data and shape of a tensor do not match
 */
export function writeSafetensors(
  tensors: ReadonlyMap<string, TensorToWrite> | Readonly<Record<string, TensorToWrite>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const entries = tensors instanceof Map ? [...tensors] : Object.entries(tensors);
  const parts: string[] = [];
  if (Object.keys(metadata).length > 0)
    parts.push(`"__metadata__":${JSON.stringify(checkMetadata(metadata))}`);
  let size = 0;
  for (const [name, { shape, data }] of entries as [string, TensorToWrite][]) {
    if (name === "__metadata__") throw invalid("is the name of the metadata, not of a tensor", name);
    const count = countOf(name, shape);
    if (count !== data.length)
      throw invalid(`has ${data.length} elements; its shape [${shape.join(", ")}] has ${count}`, name);
    const end = size + data.byteLength;
    parts.push(
      `${JSON.stringify(name)}:${JSON.stringify({ dtype: dtypeOf(data), shape, data_offsets: [size, end] })}`,
    );
    size = end;
  }
  // The header is padded with spaces so that the tensors begin at a multiple of eight, as the format asks for.
  const text = new TextEncoder().encode(`{${parts.join(",")}}`);
  const headerBytes = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(LENGTH_BYTES + headerBytes + size).fill(
    0x20,
    LENGTH_BYTES,
    LENGTH_BYTES + headerBytes,
  );
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.set(text, LENGTH_BYTES);
  let offset = LENGTH_BYTES + headerBytes;
  for (const [, { data }] of entries as [string, TensorToWrite][]) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

interface TensorEntry {
  readonly name: string;
  readonly dtype: SafetensorsDtype;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let header: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (cause) {
    throw invalid("the header is not JSON in UTF-8", undefined, cause);
  }
  if (!isRecord(header) || !text.startsWith("{")) throw invalid("the header is not a JSON object");
  const duplicate = findDuplicateName(text);
  if (duplicate !== null) throw invalid("is in the header twice", duplicate);
  return header;
}

/** The first name that a valid JSON object has twice at its top level; JSON.parse would keep the last silently. */
function findDuplicateName(text: string): string | null {
  const seen = new Set<string>();
  let depth = 0;
  let name: string | null = null;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token !== ":") name = depth === 1 ? (JSON.parse(token) as string) : null;
    else if (depth === 1 && name !== null) {
      if (seen.has(name)) return name;
      seen.add(name);
    }
  }
  return null;
}

function checkMetadata(value: unknown): Readonly<Record<string, string>> {
  if (isRecord(value) && Object.values(value).every((text) => typeof text === "string"))
    return value as Record<string, string>;
  throw invalid("__metadata__ is not an object of strings");
}

function checkEntry(name: string, value: unknown): TensorEntry {
  if (!isRecord(value)) throw invalid("is not described by an object", name);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string" || !Object.hasOwn(BYTES, dtype))
    throw invalid(`has dtype ${JSON.stringify(dtype)}; known are ${Object.keys(BYTES).join(", ")}`, name);
  if (!Array.isArray(shape)) throw invalid("has no shape", name);
  const count = countOf(name, shape);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isExtent))
    throw invalid(`has data_offsets ${JSON.stringify(offsets)}, not two byte positions`, name);
  const [begin, end] = offsets as [number, number];
  const bytes = count * BYTES[dtype as SafetensorsDtype];
  if (end - begin !== bytes)
    throw invalid(
      `lies at bytes ${begin} to ${end}; ${dtype} of shape [${shape.join(", ")}] takes ${bytes}`,
      name,
    );
  return { name, dtype: dtype as SafetensorsDtype, shape: shape as number[], begin, end };
}

/** The number of elements of a shape. */
function countOf(name: string, shape: readonly unknown[]): number {
  const count = shape.every(isExtent)
    ? (shape as number[]).reduce((product, extent) => product * extent, 1)
    : NaN;
  if (Number.isSafeInteger(count)) return count;
  throw invalid(`has shape ${JSON.stringify(shape)}; extents are whole numbers from 0 on`, name);
}

/** Tensors lie one behind the other, without gaps, up to the end of the file. */
function checkCoverage(entries: readonly TensorEntry[], size: number): void {
  let reached = 0;
  for (const { name, begin, end } of entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (end > size)
      throw invalid(`lies at bytes ${begin} to ${end}; the file has ${size} bytes of tensors`, name);
    if (begin < reached)
      throw invalid(`begins at byte ${begin}, inside the tensor that ends at ${reached}`, name);
    if (begin > reached) throw invalid(`begins at byte ${begin}, behind a gap from ${reached}`, name);
    reached = end;
  }
  if (reached !== size) throw invalid(`the tensors end at byte ${reached} of ${size}`);
}

/** @param bytes a copy of the tensor's own bytes, so that it begins at an aligned position */
function decode(dtype: SafetensorsDtype, bytes: Uint8Array<ArrayBuffer>): SafetensorsTensor["data"] {
  const { buffer } = bytes;
  switch (dtype) {
    case "F64":
      return new Float64Array(buffer);
    case "F32":
      return new Float32Array(buffer);
    case "I32":
      return new Int32Array(buffer);
    case "U32":
      return new Uint32Array(buffer);
    case "BF16": {
      const bits = Uint32Array.from(new Uint16Array(buffer), (half) => half << 16);
      return new Float32Array(bits.buffer);
    }
    case "F16":
      return Float32Array.from(new Uint16Array(buffer), halfToFloat);
    default:
      return assertNever(dtype, "type of tensor");
  }
}

/** The value of an IEEE half from its bits. */
function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** What people give instead, by the bytes that such files begin with. */
const FORMATS = [
  {
    name: "a NumPy array (.npy)",
    starts: [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59],
    with: "safetensors.numpy.save_file",
  },
  {
    name: "a zip archive, such as .npz and PyTorch's .pt",
    starts: [0x50, 0x4b, 3, 4],
    with: "safetensors.torch.save_file or safetensors.numpy.save_file",
  },
  { name: "a GGUF file", starts: [0x47, 0x47, 0x55, 0x46], with: "safetensors.numpy.save_file" },
] as const;

function dtypeOf(data: TensorToWrite["data"]): SafetensorsDtype {
  if (data instanceof Float64Array) return "F64";
  if (data instanceof Float32Array) return "F32";
  return data instanceof Int32Array ? "I32" : "U32";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isExtent(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function invalid(what: string, tensor?: string, cause?: unknown): EvolverError {
  return new EvolverError(
    "INVALID_SAFETENSORS",
    tensor === undefined ? what : `tensor ${JSON.stringify(tensor)} ${what}`,
    { hint: "the file is damaged, cut short, or not a safetensors file", cause },
  );
}
