/**
 * Attention on a machine without a GPU: a call, a look at the result, and what the simulator counts.
 *
 *     npx node examples/attention.ts
 */

import { openDevice } from "@evolver/device";
import { attention, compareAttention, createProblem, ladder, randomInputs } from "@evolver/attention";

// Eight query heads share two key heads; each of 64 queries sees the keys up to its own position.
const shape = { batch: 1, headsQ: 8, headsKv: 2, seqQ: 64, seqK: 64, dim: 32 };
const { q, k, v } = randomInputs(createProblem(shape), { seed: 1 });
export const tensors = {
  q: { data: q, shape: [1, 8, 64, 32] },
  k: { data: k, shape: [1, 2, 64, 32] },
  v: { data: v, shape: [1, 2, 64, 32] },
};

/** Computes it on the CPU, compares it with a float64 reference, and returns it. */
export async function main(): Promise<Float32Array> {
  const cpu = await openDevice("cpu");
  const { o, lse } = await attention(cpu, { ...tensors, causal: true, lse: true });
  await cpu.close();
  const last = o.subarray(63 * 32, 63 * 32 + 4);
  console.log(`o[0, 0, 63, 0..3] = ${[...last].map((x) => x.toFixed(4)).join(" ")}`);
  console.log(`lse[0, 0, 63]     = ${lse?.[63]?.toFixed(4)}`);

  const problem = createProblem(shape, { causal: true });
  const { pass, error, bound } = compareAttention(problem, { q, k, v }, { o, lse });
  const verdict = pass ? "right" : "wrong";
  console.log(`${verdict}: at most ${error.toExponential(1)} off, ${bound.toExponential(1)} allowed\n`);
  return o;
}

/** The same call on the simulator, with each kernel of the ladder: what do they do to memory? */
export async function countLadder(): Promise<void> {
  const sim = await openDevice("sim");
  for (const { id, title } of ladder) {
    const { result } = await attention(sim, { ...tensors, causal: true, kernel: id });
    const { globalReadBytes = 0, sharedConflicts = 0, barriers = 0 } = result.counters ?? {};
    const read = String(globalReadBytes).padStart(9);
    const conflicts = String(sharedConflicts).padStart(6);
    console.log(
      `${id}  ${read} bytes read  ${conflicts} bank conflicts  ${String(barriers).padStart(5)} barriers  ${title}`,
    );
  }
  await sim.close();
}

if (import.meta.main !== false) {
  await main();
  await countLadder();
}
