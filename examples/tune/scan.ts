/**
 * Running sums that the lab can improve, in three launches: the sums of blocks, the running sums of these, and those of all elements.
 *
 *     npx evolver evolve examples/tune/scan.ts
 *     npx evolver evolve examples/tune/scan.ts --device cuda --n 33554432
 */

import { buildPlan, tunable } from "@evolver/device";
import { buffer, f32, kernel, u32, type F32, type Gpu } from "@evolver/kernel";

const tune = {
  /** Invocations of a workgroup, and consecutive elements of each. */
  threads: [128, 256, 512, 1024],
  each: [1, 2, 4, 8],
  /** How invocations add up theirs: in steps through shared memory, or by the operations of subgroups. */
  by: ["steps", "subgroups"],
} as const;
type Choices = { readonly [K in keyof typeof tune]: (typeof tune)[K][number] };

/** sums[w] = the sum of block w. */
const blockSums = kernel(
  "blockSums",
  {
    params: { x: buffer(f32), sums: buffer(f32, "write"), n: u32 },
    tune,
    workgroup: ({ tune: { threads } }) => [threads],
  },
  ({ x, sums, n }, gpu, choices) => {
    const { threads, each } = choices;
    const mine = gpu.var(f32, 0);
    const start = gpu.workgroupIndex.mul(threads * each).add(gpu.localIndex);
    // The order does not matter here: neighbours read neighbours.
    for (let k = 0; k < each; k++) {
      const i = start.add(k * threads);
      gpu.if(i.lt(n), () => mine.add(x.get(i)));
    }
    const { total } = scan(gpu, mine.get(), choices);
    gpu.if(gpu.localIndex.eq(0), () => sums.set(gpu.workgroupIndex, total));
  },
);

/** before[w] = what the blocks before block w come to; one workgroup goes through all of them. */
const scanSums = kernel(
  "scanSums",
  {
    params: { sums: buffer(f32), before: buffer(f32, "write"), blocks: u32 },
    tune,
    workgroup: ({ tune: { threads } }) => [threads],
  },
  ({ sums, before, blocks }, gpu, choices) => {
    const carry = gpu.var(f32, 0);
    gpu.for({ from: 0, to: blocks, step: choices.threads }, (first) => {
      const block = first.add(gpu.localIndex);
      const here = scan(gpu, sums.getOr(block, 0), choices);
      gpu.if(block.lt(blocks), () => before.set(block, carry.get().add(here.before)));
      carry.add(here.total);
      // The next turn writes into the same shared memory.
      gpu.barrier();
    });
  },
);

/** y = the running sums of x within each block, plus what is before the block. */
const scanBlocks = kernel(
  "scanBlocks",
  {
    params: { x: buffer(f32), before: buffer(f32), y: buffer(f32, "write"), n: u32 },
    tune,
    workgroup: ({ tune: { threads } }) => [threads],
  },
  ({ x, before, y, n }, gpu, choices) => {
    const { threads, each } = choices;
    // Through shared memory, since an invocation's own elements lie side by side and its neighbours read theirs at once.
    // With one more word after each run, no two lanes use a bank.
    const tile = gpu.shared(f32, [threads, each + (each > 1 ? 1 : 0)]);
    const start = gpu.workgroupIndex.mul(threads * each);
    const places = Array.from({ length: each }, (_, k) => gpu.localIndex.add(k * threads));
    for (const place of places) {
      const i = start.add(place);
      tile.set(place.divFloor(each), place.modFloor(each), x.getOr(i, 0));
    }
    gpu.barrier();
    const values = Array.from({ length: each }, (_, k) => tile.get(gpu.localIndex, k));
    const mine = values.reduce((a, b) => a.add(b));
    let sum = scan(gpu, mine, choices).before.add(before.get(gpu.workgroupIndex));
    for (const [k, value] of values.entries()) {
      sum = sum.add(value);
      tile.set(gpu.localIndex, k, sum);
    }
    gpu.barrier();
    for (const place of places) {
      const i = start.add(place);
      gpu.if(i.lt(n), () => y.set(i, tile.get(place.divFloor(each), place.modFloor(each))));
    }
  },
);

/** What the invocations before this one have, and what all have. */
function scan(gpu: Gpu, mine: F32, { threads, by }: Choices): { before: F32; total: F32 } {
  const lane = gpu.localIndex;
  if (by === "steps") {
    const parts = gpu.shared(f32, threads);
    let sum = mine;
    for (let distance = 1; distance < threads; distance *= 2) {
      parts.set(lane, sum);
      gpu.barrier();
      sum = sum.add(parts.getOr(lane.sub(distance), 0));
      gpu.barrier();
    }
    parts.set(lane, sum);
    gpu.barrier();
    return { before: parts.getOr(lane.sub(1), 0), total: parts.get(threads - 1) };
  }
  const within = gpu.subgroup.exclusiveSum(mine);
  const sums = gpu.shared(f32, gpu.numSubgroups);
  gpu.if(gpu.lane.eq(gpu.subgroupSize - 1), () => sums.set(gpu.subgroupId, within.add(mine)));
  gpu.barrier();
  const before = gpu.var(f32, within);
  gpu.for({ from: 0, to: gpu.subgroupId }, (k) => before.add(sums.get(k)));
  const total = gpu.var(f32, 0);
  gpu.for({ from: 0, to: gpu.numSubgroups }, (k) => total.add(sums.get(k)));
  return { before: before.get(), total: total.get() };
}

/** y[i] = x[0] + … + x[i]. */
export const runningSums = tunable("runningSums", {
  sizes: { n: 1 << 20 },
  tune,
  plan({ n }, choices, build) {
    const blocks = Math.ceil(n / (choices.threads * choices.each));
    return buildPlan(build)
      .input("x", f32, n)
      .output("y", f32, n)
      .scratch("sums", f32, blocks)
      .scratch("before", f32, blocks)
      .launch(blockSums.at(choices), { workgroups: blocks, args: { x: "x", sums: "sums", n } })
      .launch(scanSums.at(choices), { workgroups: 1, args: { sums: "sums", before: "before", blocks } })
      .launch(scanBlocks.at(choices), { workgroups: blocks, args: { x: "x", before: "before", y: "y", n } })
      .done();
  },
  reference({ x }, _sizes, round) {
    let sum = 0;
    return { y: x.map((value) => (sum = round(sum + value))) };
  },
  work: ({ n }) => ({ flops: n }),
});
