/** What attention candidates are verified on. */

import { describe, expect, it } from "vitest";
import { referenceAttention } from "@evolver/attention";
import { attentionCases, expectedOf, objectiveCase } from "@evolver/attention/study/internal";
import type { OpenedInput } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";

const opened = (shape: string): OpenedInput => ({ problem: parseShape(shape), data: null, title: shape });

const inputs = ["Hq8,Hkv2,S64,D16,causal", "H3,S40,D24,window:5:2,softcap:20", "Hq4,Hkv1,Sq1,Sk64,D32"];

describe.each(inputs)("on %s", (shape) => {
  const input = opened(shape);

  it("the same seed gives the same cases, another seed other data of the same shapes", () => {
    expect(attentionCases(input, 1)).toEqual(attentionCases(input, 1));
    expect(objectiveCase(input, 1)).toEqual(objectiveCase(input, 1));
    const [ours, theirs] = [attentionCases(input, 1), attentionCases(input, 2)];
    expect(theirs.map(({ id, shape: text }) => [id, text])).toEqual(
      ours.map(({ id, shape: text }) => [id, text]),
    );
    for (const [k, own] of [...ours, objectiveCase(input, 1)].entries()) {
      const other = theirs[k] ?? objectiveCase(input, 2);
      for (const name of ["q", "k", "v"]) expect(other.inputs[name]).not.toEqual(own.inputs[name]);
    }
  });

  it("they keep the objective's head dimension, mask and softcap, and probe lengths that differ", () => {
    const cases = attentionCases(input, 1);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    for (const each of cases) {
      const { shape: extents, mask, softcap } = parseShape(each.shape);
      expect({ dim: extents.dim, mask, softcap }).toEqual({
        dim: input.problem.shape.dim,
        mask: input.problem.mask,
        softcap: input.problem.softcap,
      });
    }
    const lengths = cases.map((each) => parseShape(each.shape).shape);
    expect(lengths.some(({ seqQ, seqK }) => seqQ > seqK)).toBe(true);
    expect(lengths.some(({ seqQ }) => seqQ === 1)).toBe(true);
    expect(cases.filter(({ kind }) => kind === "random").length).toBeGreaterThanOrEqual(2);
    expect(cases.some(({ checks }) => checks === "full")).toBe(true);
  });

  it("their truth is the float64 reference, with a tolerance that is neither zero nor wide", () => {
    for (const each of [...attentionCases(input, 3), objectiveCase(input, 3)]) {
      const { q, k, v } = each.inputs as Record<"q" | "k" | "v", Float32Array>;
      const reference = referenceAttention(parseShape(each.shape), { q, k, v });
      const { o, lse } = expectedOf(each);
      expect(o?.values).toEqual(reference.o);
      expect(lse?.values).toEqual(reference.lse);
      expect(o?.values.length).toBe(each.outputs["o"]?.length);
      expect(lse?.values.length).toBe(each.outputs["lse"]?.length);
      const largest = reference.o.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      expect(o?.bound).toBeGreaterThan(0);
      // Deep scores are of about −1e5, where a rounding of f32 is of the size of a probability.
      if (each.id !== "deep scores") expect(o?.bound).toBeLessThan(1e-3 * largest);
    }
  });
});

it("the objective is a file's data, whatever the seed", () => {
  const problem = parseShape("H1,S4,D4");
  const data = { q: new Float32Array(16).fill(1), k: new Float32Array(16).fill(2), v: new Float32Array(16) };
  const input = { problem, data, title: "a file" };
  for (const seed of [1, 2]) expect(objectiveCase(input, seed).inputs).toEqual(data);
  expect(objectiveCase(input, 1).kind).toBe("hostile");
});
