/** Bad shapes, strides and options are refused, by name, before anything else happens. */

import { describe, expect, it } from "vitest";
import { createProblem, shapeOfTensors } from "@evolver/attention";
import type { AttentionShape, ProblemOptions } from "@evolver/attention";

const shape: AttentionShape = { batch: 2, headsQ: 6, headsKv: 2, seqQ: 5, seqK: 7, dim: 16 };

describe("createProblem", () => {
  it("fills in defaults", () => {
    expect(createProblem(shape)).toEqual({
      shape,
      mask: { kind: "full" },
      scale: 0.25,
      softcap: 0,
      strides: { q: [480, 80, 16, 1], k: [224, 112, 16, 1], v: [224, 112, 16, 1], o: [480, 80, 16, 1] },
    });
  });

  it("rounds scale and softcap to float32", () => {
    const { scale, softcap } = createProblem(shape, { scale: 0.1, softcap: 0.3 });
    expect([scale, softcap]).toEqual([Math.fround(0.1), Math.fround(0.3)]);
  });

  it.each<[ProblemOptions, object]>([
    [{ causal: true }, { kind: "causal" }],
    [{ causal: false }, { kind: "full" }],
    [{ window: [3, Infinity] }, { kind: "window", left: 3, right: Infinity }],
    [
      { causal: false, mask: { kind: "window", left: 0, right: 0 } },
      { kind: "window", left: 0, right: 0 },
    ],
  ])("%j is the mask %j", (options, mask) => expect(createProblem(shape, options).mask).toEqual(mask));

  it("takes extents of 0 and strides of 0 on inputs", () => {
    const empty = { ...shape, batch: 0, seqQ: 0, seqK: 0, headsQ: 0, headsKv: 0 };
    expect(createProblem(empty).shape).toEqual(empty);
    expect(createProblem(shape, { strides: { k: [0, 0, 16, 1] } }).strides.k).toEqual([0, 0, 16, 1]);
  });

  it.each<[string, Partial<Record<keyof AttentionShape, unknown>>, RegExp]>([
    ["a negative extent", { seqQ: -1 }, /seqQ is -1/],
    ["a fractional extent", { batch: 1.5 }, /batch is 1.5/],
    ["a NaN", { seqK: NaN }, /seqK is NaN/],
    ["a string", { dim: "16" }, /dim is 16/],
    ["a missing extent", { headsKv: undefined }, /headsKv is undefined/],
    ["heads that do not divide", { headsKv: 4 }, /6 query heads cannot share 4 key heads \(axis 1/],
    ["no key heads", { headsKv: 0 }, /cannot share 0/],
    ["more key heads than query heads", { headsKv: 12 }, /cannot share 12/],
    ["dim 0", { dim: 0 }, /head dimension \(axis 3\) is 0/],
    ["dim 257", { dim: 257 }, /head dimension \(axis 3\) is 257/],
    ["a huge extent", { seqK: 2 ** 31 }, /seqK is 2147483648/],
  ])("refuses %s", (_, change, message) => {
    const call = () => createProblem({ ...shape, ...change } as AttentionShape);
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ code: "ATTENTION_SHAPE", hint: expect.any(String) }));
  });

  it.each<[string, ProblemOptions["strides"], RegExp]>([
    ["a negative stride", { q: [480, 80, -16, 1] }, /stride of q along sequence \(axis 2\) is -16/],
    ["a fractional stride", { v: [480, 80, 16, 0.5] }, /stride of v along dim \(axis 3\) is 0.5/],
    ["three strides", { k: [480, 80, 16] as never }, /strides of k are not four/],
    [
      "a stride beyond 32 bits",
      { k: [2 ** 32, 80, 16, 1] },
      /stride of k along batch \(axis 0\) is 4294967296/,
    ],
    ["an output that repeats", { o: [480, 0, 16, 1] }, /stride of o along heads \(axis 1\) is 0/],
    ["output rows that overlap", { o: [480, 80, 15, 1] }, /stride of o along sequence \(axis 2\) is 15/],
    ["output heads that overlap", { o: [480, 79, 16, 1] }, /stride of o along heads \(axis 1\) is 79/],
  ])("refuses %s", (_, strides, message) => {
    const call = () => createProblem(shape, { strides });
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ code: "ATTENTION_STRIDES", hint: expect.any(String) }));
  });

  it("takes any order of the output's axes, and any stride along an extent of 1", () => {
    const turned = { o: [1, 2, 12 * 16, 12] as const };
    expect(createProblem(shape, { strides: turned }).strides.o).toEqual(turned.o);
    const single = { ...shape, batch: 1 };
    expect(createProblem(single, { strides: { o: [0, 80, 16, 1] } }).strides.o[0]).toBe(0);
  });

  it.each<[string, object, RegExp]>([
    ["two masks", { causal: true, window: [1, 0] }, /causal and window are both given/],
    ["a mask and a window", { mask: { kind: "full" }, window: [1, 0] }, /mask and window/],
    ["an unknown mask", { mask: { kind: "alibi" } }, /alibi/],
    ["a mask of null", { mask: null }, /the mask is null/],
    ["a causal that is no boolean", { causal: 1 }, /causal is 1/],
    ["a negative window", { window: [-1, 0] }, /window's left side is -1/],
    ["a fractional window", { window: [0, 0.5] }, /window's right side is 0.5/],
    ["a window of NaN", { window: [NaN, 0] }, /left side is NaN/],
    ["a window of one side", { window: [1] }, /window is not two/],
    ["a scale of NaN", { scale: NaN }, /scale is NaN/],
    ["an infinite scale", { scale: Infinity }, /scale is Infinity/],
    ["a scale beyond float32", { scale: 1e39 }, /scale is 1e\+39/],
    ["a scale that is a string", { scale: "1" }, /scale is 1/],
    ["a negative softcap", { softcap: -1 }, /softcap is -1/],
    ["a softcap of NaN", { softcap: NaN }, /softcap is NaN/],
    ["a softcap so large that devices lose small scores", { softcap: 2 ** 101 }, /2\^100/],
    ["a softcap far too small", { scale: 1, softcap: 1e-39 }, /scale \/ softcap/],
  ])("refuses %s", (_, options, message) => {
    const call = () => createProblem(shape, options as ProblemOptions);
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ code: "ATTENTION_OPTION", hint: expect.any(String) }));
  });
});

describe("shapeOfTensors", () => {
  it("reads the shape off the tensors", () =>
    expect(shapeOfTensors([2, 6, 5, 16], [2, 2, 7, 16], [2, 2, 7, 16])).toEqual(shape));

  it.each<[string, unknown, unknown, unknown, RegExp]>([
    ["a rank of 3", [6, 5, 16], [2, 2, 7, 16], [2, 2, 7, 16], /q has a shape of 3/],
    ["no shape", [2, 6, 5, 16], undefined, [2, 2, 7, 16], /k has no shape/],
    ["a bad extent", [2, 6, 5, 16], [2, 2, 7, 16], [2, 2, -7, 16], /v's sequence is -7/],
    [
      "batches",
      [3, 6, 5, 16],
      [2, 2, 7, 16],
      [2, 2, 7, 16],
      /q \[3.*\] and k \[2.*\] differ in batch \(axis 0\): 3 and 2/,
    ],
    ["dims", [2, 6, 5, 16], [2, 2, 7, 8], [2, 2, 7, 8], /q .* and k .* differ in dim \(axis 3\): 16 and 8/],
    ["lengths of k and v", [2, 6, 5, 16], [2, 2, 7, 16], [2, 2, 9, 16], /k .* and v .* differ in sequence/],
    ["heads of k and v", [2, 6, 5, 16], [2, 2, 7, 16], [2, 3, 7, 16], /k .* and v .* differ in heads/],
    ["dims of k and v", [2, 6, 5, 16], [2, 2, 7, 16], [2, 2, 7, 8], /k .* and v .* differ in dim/],
  ])("refuses %s", (_, q, k, v, message) => {
    const call = () => shapeOfTensors(q as number[], k as number[], v as number[]);
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ code: "ATTENTION_SHAPE" }));
  });
});
