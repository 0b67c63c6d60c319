/**
 * Attention on a machine without a GPU: a call, a look at the result, and what the simulator counts.
 *
 *     node examples/attention.ts
 */

import { openDevice } from "@evolver/device";
import { attention, compareAttention, createProblem, ladder, randomInputs } from "@evolver/attention";

// Eight query heads share two key heads; each of 64 queries sees the keys up to its own position.
const shape = { batch: 1, headsQ: 8, headsKv: 2, seqQ: 64, seqK: 64, dim: 32 };
const { q, k, v } = randomInputs(createProblem(shape), { seed: 1 });
const tensors = {
  q: { data: q, shape: [1, 8, 64, 32] },
  k: { data: k, shape: [1, 2, 64, 32] },
  v: { data: v, shape: [1, 2, 64, 32] },
};

const cpu = await openDevice("cpu");
const { o, lse } = await attention(cpu, { ...tensors, causal: true, lse: true });
console.log(
  `o[0, 0, 63, 0..3] = ${[...o.subarray(63 * 32, 63 * 32 + 4)].map((x) => x.toFixed(4)).join(" ")}`,
);
console.log(`lse[0, 0, 63]     = ${lse?.[63]?.toFixed(4)}`);
await cpu.close();

const { pass, error, bound } = compareAttention(
  createProblem(shape, { causal: true }),
  { q, k, v },
  { o, lse },
);
console.log(
  `${pass ? "right" : "wrong"}: at most ${error.toExponential(1)} off, ${bound.toExponential(1)} allowed\n`,
);

// The same call on the simulator, with each kernel of the ladder: what do they do to memory?
const sim = await openDevice("sim");
for (const { id, title } of ladder) {
  const { result } = await attention(sim, { ...tensors, causal: true, kernel: id });
  const { globalReadBytes = 0, sharedConflicts = 0, barriers = 0 } = result.counters ?? {};
  console.log(
    `${id}  ${String(globalReadBytes).padStart(9)} bytes read  ${String(sharedConflicts).padStart(6)} bank conflicts  ${String(barriers).padStart(5)} barriers  ${title}`,
  );
}
await sim.close();
