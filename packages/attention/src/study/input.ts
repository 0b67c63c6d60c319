/**
 * What the attention study works on: a shape with random data, or a safetensors file with q, k and v of a real model.
 * Node only: it reads files.
 */

import { createHash } from "node:crypto";
import { resolve } from "node:path";
import {
  readSafetensors,
  referenceAttention,
  type AttentionProblem,
  type FloatInputs,
  type Safetensors,
  type SafetensorsTensor,
} from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import { profileOption, readInput, type StudyInput, type StudyOption } from "@evolver/lab";
import { EXTENT_NAMES, parseMask, parseShape, printShape, problemOf } from "./shape.ts";

/** The study's options in full: plain data, from which the judge opens the same input again. */
export interface AttentionInput {
  readonly shape: string;
  /** Absolute path, or null for random data. */
  readonly file: string | null;
  /** Of the file's contents, so that a changed file is another objective. */
  readonly fileHash: string | null;
}

/** The objective's problem, and its data where a file gives them. */
export interface OpenedInput {
  readonly problem: AttentionProblem;
  readonly data: FloatInputs | null;
  readonly title: string;
}

/** Small enough for a few cycles in a few minutes on two cores, and like a real model: GQA, causal. */
export const DEFAULT_SHAPE = "B1,Hq8,Hkv2,S256,D64,causal";

export const attentionOptions: readonly StudyOption[] = [
  {
    name: "shape",
    value: "shape",
    help: `such as B1,Hq8,Hkv2,S256,D64 (also Sq and Sk apart; add causal or window:L:R, softcap:X, scale:X; default: ${DEFAULT_SHAPE})`,
  },
  { name: "input", value: "file", help: "a safetensors file with q, k and v instead of random data" },
  profileOption,
];

/** How far a file's own output may be from ours, relative to its largest value: it may come from lower precision. */
const OWN_OUTPUT_TOLERANCE = 1e-2;

/**
 * @param options `shape` (text), or `input` (path of a safetensors file); with both, the shape's mask, softcap and
 *   scale go with the file's extents
 * @throws EvolverError INPUT_NOT_FOUND, FILE_NOT_READABLE, INPUT_TENSORS, INPUT_METADATA, INPUT_DISAGREES, SHAPE_INVALID, INVALID_SAFETENSORS
 */
export async function parseAttentionInput(options: StudyInput): Promise<AttentionInput> {
  const shape = textOption(options, "shape");
  const file = textOption(options, "input") ?? textOption(options, "file");
  if (file === null)
    return { shape: printShape(parseShape(shape ?? DEFAULT_SHAPE)), file: null, fileHash: null };
  const bytes = await readInputFile(file);
  const path = resolve(file);
  const tensors = parseTensors(bytes, path);
  const problem = problemOfFile(tensors, path, shape);
  checkScores(tensors, problem, path);
  checkOwnOutput(tensors, problem, path);
  return {
    shape: printShape(problem),
    file: path,
    fileHash: hashOf(bytes),
  };
}

/** @throws EvolverError INPUT_CHANGED where the file is another than when the options were read */
export async function openAttentionInput(input: AttentionInput): Promise<OpenedInput> {
  const problem = parseShape(input.shape);
  if (input.file === null) return { problem, data: null, title: `${printShape(problem)}, random data` };
  const bytes = await readInputFile(input.file);
  if (hashOf(bytes) !== input.fileHash) {
    throw new EvolverError("INPUT_CHANGED", `${input.file} has changed since this run began`, {
      hint: "start the run again",
    });
  }
  const tensors = parseTensors(bytes, input.file);
  const data = {
    q: floats(tensors, "q", input.file),
    k: floats(tensors, "k", input.file),
    v: floats(tensors, "v", input.file),
  };
  const name = input.file.slice(input.file.lastIndexOf("/") + 1);
  return { problem, data, title: `${printShape(problem)}, data of ${name}${changes(tensors)}` };
}

/** What was done to the tensors, which a reader of the results must know: empty if nothing. */
function changes(tensors: Safetensors): string {
  const all = ["q", "k", "v"].flatMap((name) => tensors.tensors.get(name) ?? []);
  const types = [...new Set(all.map(({ dtype }) => dtype))].filter((dtype) => dtype !== "F32");
  const parts = types.map((dtype) => (dtype === "F64" ? "F64 rounded to F32" : `${dtype} read as F32`));
  if (all.some(({ shape }) => shape.length === 3)) parts.push("three extents taken as a batch of 1");
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function textOption(options: StudyInput, name: string): string | null {
  const value = options[name];
  if (value === undefined || value === null || typeof value === "string") return value ?? null;
  throw new EvolverError("INPUT_INVALID", `the option ${name} is a text, not ${JSON.stringify(value)}`);
}

/** By Node's own function: a file may have gigabytes. */
const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

const readInputFile = (path: string): Promise<Uint8Array> =>
  readInput(path, {
    code: "INPUT_NOT_FOUND",
    hint: "give --input the path of a safetensors file with tensors q, k and v",
  });

function parseTensors(bytes: Uint8Array, path: string): Safetensors {
  try {
    return readSafetensors(bytes);
  } catch (error) {
    if (!(error instanceof EvolverError)) throw error;
    throw new EvolverError(error.code, `${path} is not a readable safetensors file`, {
      hint: error.message,
      cause: error,
    });
  }
}

/** Extents from the tensors; mask and scale from the shape given, else from the file's metadata. */
function problemOfFile(tensors: Safetensors, path: string, shape: string | null): AttentionProblem {
  const [q, k, v] = ["q", "k", "v"].map((name) => fourExtents(tensors, name, path)) as [
    Extents,
    Extents,
    Extents,
  ];
  if (k.some((extent, axis) => extent !== v[axis]))
    throw tensorError(path, `k is [${k.join(", ")}] and v [${v.join(", ")}]; they must be alike`);
  if (q[0] !== k[0] || q[3] !== k[3])
    throw tensorError(
      path,
      `q is [${q.join(", ")}] and k [${k.join(", ")}]: batch and head dimension must agree`,
    );
  const extents = { batch: q[0], headsQ: q[1], headsKv: k[1], seqQ: q[2], seqK: k[2], dim: q[3] };
  const { mask: maskText, scale: scaleText, softcap: softcapText } = tensors.metadata;
  if (shape !== null) {
    const given = parseShape(shape);
    const differs = (Object.keys(extents) as (keyof typeof extents)[]).find(
      (name) => given.shape[name] !== extents[name],
    );
    if (differs !== undefined) {
      throw new EvolverError(
        "SHAPE_INVALID",
        `--shape says ${EXTENT_NAMES[differs]} is ${given.shape[differs]}, and ${path} has ${extents[differs]}`,
        {
          hint: "leave --shape out, or make it agree with the file",
        },
      );
    }
    return given;
  }
  const mask = maskText === undefined ? { kind: "full" as const } : parseMask(maskText);
  if (mask === null)
    throw metadataError(path, `the mask "${maskText}" is not causal, full or window:LEFT:RIGHT`);
  const scale = metadataNumber("scale", scaleText, path);
  const softcap = metadataNumber("softcap", softcapText, path) ?? 0;
  const fail = (what: string): never => {
    throw what.startsWith("the s") ? metadataError(path, what) : tensorError(path, what);
  };
  return problemOf({ shape: extents, mask, softcap, scale }, fail);
}

function metadataNumber(name: string, text: string | undefined, path: string): number | null {
  if (text === undefined) return null;
  const value = Number(text.trim() || Number.NaN);
  if (Number.isFinite(value)) return value;
  throw metadataError(path, `the ${name} "${text}" is not a number`);
}

const metadataError = (path: string, what: string): EvolverError =>
  new EvolverError("INPUT_METADATA", `${path}: in its metadata, ${what}`, {
    hint: "say what is meant with --shape, which then goes before the metadata",
  });

type Extents = readonly [number, number, number, number];

/** [batch, heads, seq, dim]; three extents are one batch. */
function fourExtents(tensors: Safetensors, name: string, path: string): Extents {
  const { shape } = tensor(tensors, name, path);
  if (shape.length === 3) return [1, ...shape] as unknown as Extents;
  if (shape.length === 4) return shape as unknown as Extents;
  throw tensorError(
    path,
    `${name} has ${shape.length} dimensions; it needs [batch, heads, sequence, dim], or three without the batch`,
  );
}

function tensor(tensors: Safetensors, name: string, path: string): SafetensorsTensor {
  const found = tensors.tensors.get(name);
  if (found !== undefined) return found;
  throw tensorError(
    path,
    `it has no tensor ${name}, only ${[...tensors.tensors.keys()].join(", ") || "none"}`,
  );
}

function floats(tensors: Safetensors, name: string, path: string): Float32Array {
  const { data } = tensor(tensors, name, path);
  const values = data instanceof Float32Array ? data : Float32Array.from(data);
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) throw tensorError(path, `${name}[${at}] ${whyNot(data[at] as number)}`);
  return values;
}

/** @param value as the file has it */
const whyNot = (value: number): string =>
  Number.isFinite(value)
    ? `is ${value}, which does not fit f32: its largest value is 3.4e38`
    : `is ${value}; a judge needs finite data`;

const LARGEST_F32 = 3.4028234663852886e38;

/** Scores beyond f32 have no exponential there, and the logarithm of their sum is none of its numbers. */
function checkScores(tensors: Safetensors, { shape: { dim }, scale }: AttentionProblem, path: string): void {
  const longest = (name: string): number => {
    const values = floats(tensors, name, path);
    let most = 0;
    for (let row = 0; row < values.length; row += dim) {
      let sum = 0;
      for (let d = row; d < row + dim; d++) sum += (values[d] as number) ** 2;
      most = Math.max(most, Math.sqrt(sum));
    }
    return most;
  };
  const most = longest("q") * longest("k") * Math.abs(scale);
  if (most <= LARGEST_F32) return;
  throw new EvolverError(
    "INPUT_TENSORS",
    `${path}: scores of q and k reach up to ${most.toPrecision(2)} after scaling, beyond the largest f32, 3.4e38`,
    { hint: "make q or k smaller, or give a smaller scale with --shape …,scale:X" },
  );
}

/** If the file has the model's own o, it must be what these options give: a wrong mask or scale shows here. */
function checkOwnOutput(tensors: Safetensors, problem: AttentionProblem, path: string): void {
  const own = tensors.tensors.get("o");
  const data = {
    q: floats(tensors, "q", path),
    k: floats(tensors, "k", path),
    v: floats(tensors, "v", path),
  };
  if (own === undefined) return;
  const { o } = referenceAttention(problem, data);
  if (own.data.length !== o.length)
    throw tensorError(path, `o has ${own.data.length} elements, and the attention ${o.length}`);
  let [error, largest] = [0, 0];
  for (let i = 0; i < o.length; i++) {
    error = Math.max(error, Math.abs((own.data[i] as number) - (o[i] as number)));
    largest = Math.max(largest, Math.abs(o[i] as number));
  }
  if (error <= OWN_OUTPUT_TOLERANCE * largest) return;
  throw new EvolverError(
    "INPUT_DISAGREES",
    `the o in ${path} is not the attention of its q, k and v: it is off by ${error.toPrecision(3)} where values reach ${largest.toPrecision(3)}`,
    {
      hint: "the file's mask or scale may be another than its metadata says: give them with --shape …,causal or …,scale:X",
    },
  );
}

const tensorError = (path: string, what: string): EvolverError =>
  new EvolverError("INPUT_TENSORS", `${path}: ${what}`, {
    hint: "the file needs f32 tensors q, k and v as [batch, heads, sequence, dim]",
  });
