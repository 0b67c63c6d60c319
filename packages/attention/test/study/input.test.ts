/** Attention inputs from options and from safetensors files. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomInputs, referenceAttention, writeSafetensors, type TensorToWrite } from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import { DEFAULT_SHAPE, openAttentionInput, parseAttentionInput } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-input-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Tensors = Record<string, TensorToWrite>;

/** GQA, with fewer queries than keys. */
const problem = parseShape("B1,Hq4,Hkv2,Sq5,Sk7,D8,causal");
const data = randomInputs(problem, { seed: 1 });

function tensorsOf(batch: readonly number[] = [1]): Tensors {
  const { headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  return {
    q: { shape: [...batch, headsQ, seqQ, dim], data: data.q },
    k: { shape: [...batch, headsKv, seqK, dim], data: data.k },
    v: { shape: [...batch, headsKv, seqK, dim], data: data.v },
  };
}

function ownOutput(text: string): TensorToWrite {
  const { headsQ, seqQ, dim } = problem.shape;
  const { o } = referenceAttention(parseShape(text), data);
  return { shape: [1, headsQ, seqQ, dim], data: Float32Array.from(o) };
}

let files = 0;
function save(bytes: Uint8Array): string {
  const path = join(folder, `${files++}.safetensors`);
  writeFileSync(path, bytes);
  return path;
}

const saved = (tensors: Tensors, metadata: Record<string, string> = {}): string =>
  save(writeSafetensors(tensors, metadata));

async function refusal(work: Promise<unknown>): Promise<EvolverError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EvolverError);
  return error as EvolverError;
}

describe("a shape alone", () => {
  it("is put into its normal form, and is the default where nothing is given", async () => {
    expect(await parseAttentionInput({ shape: "h4,s8,d16" })).toEqual({
      shape: "B1,Hq4,Hkv4,S8,D16",
      file: null,
      fileHash: null,
    });
    expect((await parseAttentionInput({})).shape).toBe(DEFAULT_SHAPE);
  });

  it("opens as random data", async () => {
    const opened = await openAttentionInput(await parseAttentionInput({ shape: "H4,S8,D16" }));
    expect(opened).toMatchObject({ data: null, title: "B1,Hq4,Hkv4,S8,D16, random data" });
  });

  it("must be a text", async () => {
    expect(await refusal(parseAttentionInput({ shape: 512 }))).toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("a safetensors file", () => {
  it.each([
    ["three extents", []],
    ["four extents", [1]],
  ])("of %s gives extents and data, and its metadata mask and scale", async (_, batch) => {
    const path = saved(tensorsOf(batch), { mask: "causal", scale: "0.25", softcap: "30" });
    const input = await parseAttentionInput({ input: path });
    expect(input).toMatchObject({ file: path, shape: "B1,Hq4,Hkv2,Sq5,Sk7,D8,causal,softcap:30,scale:0.25" });
    const opened = await openAttentionInput(input);
    expect(opened.data).toEqual(data);
    expect(opened.problem.mask).toEqual({ kind: "causal" });
  });

  it("may have a window, and no metadata at all", async () => {
    const window = await parseAttentionInput({ input: saved(tensorsOf(), { mask: "window:3:0" }) });
    expect(window.shape).toBe("B1,Hq4,Hkv2,Sq5,Sk7,D8,window:3:0");
    expect((await parseAttentionInput({ input: saved(tensorsOf()) })).shape).toBe("B1,Hq4,Hkv2,Sq5,Sk7,D8");
  });

  it("may be overruled by a shape in all but its extents", async () => {
    const path = saved(tensorsOf(), { mask: "causal" });
    const shape = "Hq4,Hkv2,Sq5,Sk7,D8,window:2:0";
    expect((await parseAttentionInput({ input: path, shape })).shape).toBe(`B1,${shape}`);
    const error = await refusal(parseAttentionInput({ input: path, shape: "Hq4,Hkv2,Sq5,Sk8,D8" }));
    expect(error.code).toBe("SHAPE_INVALID");
    expect(error.message).toContain(`--shape says Sk (keys) is 8, and ${path} has 7`);
  });

  it("has its own output checked", async () => {
    const o = ownOutput("Hq4,Hkv2,Sq5,Sk7,D8,causal");
    const right = saved({ ...tensorsOf(), o }, { mask: "causal" });
    expect((await parseAttentionInput({ input: right })).file).toBe(right);
    const error = await refusal(parseAttentionInput({ input: saved({ ...tensorsOf(), o }) }));
    expect(error.code).toBe("INPUT_DISAGREES");
    expect(error.message).toMatch(/off by \d/);
    const nan = Float32Array.from(o.data, (value, i) => (i === 3 ? Number.NaN : value));
    const bad = saved({ ...tensorsOf(), o: { shape: o.shape, data: nan } }, { mask: "causal" });
    expect((await refusal(parseAttentionInput({ input: bad }))).code).toBe("INPUT_DISAGREES");
    const short = saved({ ...tensorsOf(), o: { shape: [8], data: new Float32Array(8) } }, { mask: "causal" });
    const shortError = await refusal(parseAttentionInput({ input: short }));
    expect(shortError.message).toContain("o has 8 elements, and the attention 160");
  });

  it("may hold bfloat16, which is widened exactly", async () => {
    const path = save(bfloat16File(tensorsOf()));
    const opened = await openAttentionInput(await parseAttentionInput({ input: path }));
    expect(opened.data?.q).toEqual(data.q.map(truncated));
  });

  it("is hashed: the same path with other contents is another input, and not opened as the old one", async () => {
    const path = saved(tensorsOf());
    const input = await parseAttentionInput({ input: path });
    const { q, ...rest } = tensorsOf() as { q: TensorToWrite; k: TensorToWrite; v: TensorToWrite };
    const other = { ...rest, q: { ...q, data: data.q.map((value) => value / 2) } };
    writeFileSync(path, writeSafetensors(other));
    expect(await refusal(openAttentionInput(input))).toMatchObject({ code: "INPUT_CHANGED" });
    const again = await parseAttentionInput({ input: path });
    expect(again.fileHash).not.toBe(input.fileHash);
    expect((await openAttentionInput(again)).data?.q[0]).toBe((data.q[0] as number) / 2);
  });

  it("that is gone is missed by name", async () => {
    const path = join(folder, "nowhere.safetensors");
    const error = await refusal(parseAttentionInput({ input: path }));
    expect(error).toMatchObject({ code: "INPUT_NOT_FOUND" });
    expect(error.message).toContain(`there is no file ${path}`);
    expect((await refusal(parseAttentionInput({ input: folder }))).message).toContain(
      "is a folder, not a file",
    );
  });

  it("that is none is refused by name", async () => {
    const path = save(new TextEncoder().encode("not a safetensors file at all"));
    const error = await refusal(parseAttentionInput({ input: path }));
    expect(error.code).toBe("INVALID_SAFETENSORS");
    expect(error.message).toContain(path);
  });

  const withNan = Float32Array.from(data.k, (value, i) => (i === 9 ? Number.NaN : value));
  it.each<[string, string, (all: Tensors) => Tensors]>([
    ["no v", "it has no tensor v, only q, k", ({ q, k }) => ({ q, k }) as Tensors],
    ["no tensor", "only none", () => ({})],
    ["q of two dimensions", "q has 2 dimensions", (all) => ({ ...all, q: { shape: [20, 8], data: data.q } })],
    ["another v", "k is [1, 2, 7, 8] and v [1, 2, 8, 7]", (all) => reshaped(all, "v", [1, 2, 8, 7])],
    ["another dim", "batch and head dimension must agree", (all) => reshaped(all, "q", [1, 4, 10, 4])],
    [
      "a double beyond f32",
      "k[5] is 1e+300, which does not fit f32",
      (all) => ({ ...all, k: { shape: [1, 2, 7, 8], data: Float64Array.from(data.k).with(5, 1e300) } }),
    ],
    ["a NaN", "k[9] is NaN", (all) => ({ ...all, k: { shape: [1, 2, 7, 8], data: withNan } })],
  ])("with %s is refused", async (_, what, change) => {
    const error = await refusal(parseAttentionInput({ input: saved(change(tensorsOf())) }));
    expect(error.code).toBe("INPUT_TENSORS");
    expect(error.message).toContain(what);
  });

  it("with an empty sequence, or heads that do not divide, is refused", async () => {
    const none = { shape: [2, 0, 8], data: new Float32Array(0) };
    const empty = await refusal(parseAttentionInput({ input: saved({ ...tensorsOf(), k: none, v: none }) }));
    expect(empty.message).toContain("Sk (keys) is 0");
    const heads = reshaped(tensorsOf(), "q", [1, 5, 4, 8]);
    const error = await refusal(parseAttentionInput({ input: saved(heads) }));
    expect(error.message).toContain("5 query heads do not divide among 2");
  });

  it.each([
    [{ mask: "sliding" }, 'the mask "sliding" is not'],
    [{ scale: "1/8" }, 'the scale "1/8" is not a number'],
    [{ softcap: "" }, 'the softcap "" is not a number'],
  ])("with metadata %j is refused rather than misunderstood", async (metadata, what) => {
    const path = saved(tensorsOf(), metadata);
    const error = await refusal(parseAttentionInput({ input: path }));
    expect(error.code).toBe("INPUT_METADATA");
    expect(error.message).toContain(what);
    const shape = "Hq4,Hkv2,Sq5,Sk7,D8";
    expect((await parseAttentionInput({ input: path, shape })).shape).toBe(`B1,${shape}`);
  });
});

function reshaped(all: Tensors, name: string, shape: readonly number[]): Tensors {
  return { ...all, [name]: { shape, data: (all[name] as TensorToWrite).data } };
}

const bits = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0] as number;
const truncated = (value: number): number =>
  new Float32Array(Uint32Array.of(bits(value) & 0xffff0000).buffer)[0] as number;

/** The upper half of each float, written by hand: the writer knows whole floats only. */
function bfloat16File(tensors: Tensors): Uint8Array {
  const entries = Object.entries(tensors);
  const halves = entries.map(([, tensor]) => Uint16Array.from(tensor.data, (value) => bits(value) >>> 16));
  let end = 0;
  const header = entries.map(([name, { shape }], i) => {
    const begin = end;
    end += (halves[i] as Uint16Array).byteLength;
    return `"${name}":{"dtype":"BF16","shape":[${shape.join(",")}],"data_offsets":[${begin},${end}]}`;
  });
  const text = Buffer.from(`{${header.join(",")}}`);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...halves.map((half) => Buffer.from(half.buffer))]);
}
