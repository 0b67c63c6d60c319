/** Of large problems the truth is known for some rows, which candidates cannot foresee. */

import { attentionTruth, createProblem, randomInputs } from "@evolver/attention";
import { expect, it } from "vitest";
import { chosenRows, expectedOf, objectiveCase } from "@evolver/attention/study/internal";
import { openAttentionInput, parseAttentionInput } from "@evolver/attention/study/internal";

const shape = { batch: 1, headsQ: 4, headsKv: 2, seqQ: 96, seqK: 80, dim: 32 };

it("rows by themselves have the truth that they have among all", () => {
  const problem = createProblem(shape, { mask: { kind: "causal" } });
  const inputs = randomInputs(problem, { seed: 3 });
  const all = attentionTruth(problem, inputs);
  const rows = new Set([0, 1, 17, 200, 383]);
  const some = attentionTruth(problem, inputs, rows);
  for (const row of rows) {
    const part = (o: Float64Array): Float64Array => o.subarray(row * 32, (row + 1) * 32);
    expect(part(some.reference.o)).toEqual(part(all.reference.o));
    expect(some.reference.lse[row]).toBe(all.reference.lse[row]);
  }
  expect(some.bound).toBeLessThanOrEqual(all.bound * 1.01);
  expect(some.bound).toBeGreaterThan(0);
});

it("small problems are known whole, large ones by a few hundred rows that the seed chooses", () => {
  expect(chosenRows(createProblem(shape), 1)).toBeNull();
  const large = createProblem({ ...shape, headsQ: 32, headsKv: 8, seqQ: 2048, seqK: 2048, dim: 128 });
  const [one, same, other] = [1, 1, 2].map((seed) => chosenRows(large, seed)!);
  expect(one!.size).toBeGreaterThanOrEqual(256);
  expect([...one!]).toEqual([...same!]);
  expect(new Set([...one!, ...other!]).size).toBeGreaterThan(one!.size * 1.5);
  for (const rows of [one!, other!]) {
    expect(rows.has(0)).toBe(true);
    expect(rows.has(32 * 2048 - 1)).toBe(true);
    expect(Math.max(...rows)).toBe(32 * 2048 - 1);
    // No long stretch is without one, wherever it lies.
    const gaps = [...rows].map((row, i, all) => row - (all[i - 1] ?? -1));
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(Math.max(...gaps)).toBeLessThanOrEqual((2 * 32 * 2048) / rows.size);
  }
});

it("says for each element whether it is known", async () => {
  const input = await openAttentionInput(
    await parseAttentionInput({ shape: "B1,H2,S1536,D64", input: null }),
  );
  const { o, lse } = expectedOf(objectiveCase(input, 5));
  const rows = [...lse!.known!.keys()].filter((row) => lse!.known![row] === 1);
  expect(rows.length).toBeLessThan(3072);
  for (const row of [...rows.slice(0, 3), ...rows.slice(-3)])
    expect(o!.known!.subarray(row * 64, (row + 1) * 64).every((known) => known === 1)).toBe(true);
  expect(o!.known!.reduce((sum, known) => sum + known, 0)).toBe(rows.length * 64);
});
