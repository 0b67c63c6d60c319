/**
 * Contended atomics: additions to one word, to one word for each subgroup, and to a word for each invocation, in global and
 * in shared memory. Old values are used, so that additions cannot be gathered before they reach memory.
 */

import { atomic, buffer, kernel, u32 } from "@evolver/kernel";
import type { AtomicArray, Gpu, Kernel, U32 } from "@evolver/kernel";
import { fill, once, report, verdictParam } from "../kernels.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import { bySize, figure, measured, type TestPlan, type Test } from "../benchmark.ts";

const BLOCK = 256;
const UNROLL = 8;
type Spread = "one" | "subgroup" | "each";

const TITLES: Readonly<Record<Spread, string>> = {
  one: "one word",
  subgroup: "a word for each subgroup",
  each: "a word for each invocation",
};

/** The word that this invocation adds to, among those of the workgroup. */
function wordOf(gpu: Gpu, spread: Spread, zero: U32): U32 {
  // Compilers that see one address for all lanes add up in registers first; this one they cannot see through.
  if (spread === "one") return gpu.localIndex.and(zero);
  return spread === "subgroup" ? gpu.localIndex.divTrunc(gpu.subgroupSize) : gpu.localIndex;
}

/** Invocations of a workgroup that share a word. */
const sharing = (spread: Spread, subgroup: number): number =>
  spread === "one" ? BLOCK : spread === "subgroup" ? Math.min(subgroup, BLOCK) : 1;

/** What an invocation adds each time: different values, so that a compiler cannot count them instead of adding. */
const amount = (gpu: Gpu): U32 => gpu.localIndex.and(3).add(1);

function addMany(gpu: Gpu, counters: AtomicArray<"u32">, word: U32, iterations: U32): U32 {
  const seen = gpu.var(u32, 0);
  const value = amount(gpu);
  gpu.for({ from: 0, to: iterations }, () => {
    for (let k = 0; k < UNROLL; k++) seen.set(seen.get().xor(counters.add(word, value)));
  });
  return seen.get();
}

const globalKernel = (spread: Spread): Kernel =>
  once(`atomic_global_${spread}`, (name) =>
    kernel(
      name,
      {
        params: { counters: buffer(atomic(u32)), to: buffer(u32, "write"), zero: u32, iterations: u32 },
        workgroup: [BLOCK],
      },
      ({ counters, to, zero, iterations }, gpu) => {
        const own = wordOf(gpu, spread, zero);
        const word = spread === "one" ? own : gpu.workgroupIndex.mul(BLOCK).add(own);
        const seen = addMany(gpu, counters, word, iterations);
        to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), seen);
      },
    ),
  );

const sharedKernel = (spread: Spread): Kernel =>
  once(`atomic_shared_${spread}`, (name) =>
    kernel(
      name,
      {
        params: { totals: buffer(u32, "write"), to: buffer(u32, "write"), zero: u32, iterations: u32 },
        workgroup: [BLOCK],
      },
      ({ totals, to, zero, iterations }, gpu) => {
        const counters = gpu.shared(atomic(u32), BLOCK, "counters");
        counters.set(gpu.localIndex, 0);
        gpu.barrier();
        const seen = addMany(gpu, counters, wordOf(gpu, spread, zero), iterations);
        gpu.barrier();
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        totals.set(i, counters.get(gpu.localIndex));
        to.set(i, seen);
      },
    ),
  );

/** Each word holds what those who share it have added; amounts come in turns of 1, 2, 3 and 4. */
const checkTotals = (spread: Spread, global: boolean): Kernel =>
  once(`check_atomic_${spread}_${global ? "global" : "shared"}`, (name) =>
    kernel(
      name,
      { params: { totals: buffer(u32), iterations: u32, ...verdictParam }, workgroup: [BLOCK] },
      ({ totals, iterations, verdict }, gpu) => {
        const share = sharing(spread, gpu.subgroupSize);
        const times = iterations.mul(UNROLL);
        const everywhere = global && spread === "one" ? times.mul(gpu.numWorkgroups.x) : times;
        const wanted = share === 1 ? amount(gpu).mul(times) : everywhere.mul((share / 4) * 10);
        const words = BLOCK / share;
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        const isWord = gpu.localIndex.lt(words);
        const isLaunchWord = global && spread === "one" ? isWord.and(gpu.workgroupIndex.eq(0)) : isWord;
        gpu.if(isLaunchWord, () => report(gpu, verdict, totals.get(i).ne(wanted), i));
      },
    ),
  );

function atomicCase(place: "global" | "shared", spread: Spread, setup: Setup): CaseSpec {
  const length = bySize(setup, 2 * BLOCK, 8 * BLOCK, 2 ** 20);
  const totals: BufferSpec = { name: "totals", element: "u32", length };
  const to: BufferSpec = { name: "seen", element: "u32", length };
  const workgroups = bySize<Count>(setup, 2, 4, { perMultiprocessor: 4 });
  const isGlobal = place === "global";
  return {
    id: `atomic.${place}.${spread}`,
    name: `${place} memory, ${TITLES[spread]}`,
    unit: "per µs",
    launch: isGlobal
      ? { kernel: globalKernel(spread), workgroups, args: { counters: totals, to, zero: 0 } }
      : { kernel: sharedKernel(spread), workgroups, args: { totals, to, zero: 0 } },
    before: [fill(totals, 0)],
    check: { kernel: checkTotals(spread, isGlobal), workgroups, args: { totals } },
    work: BLOCK * UNROLL,
    iterations: { max: 2 ** 14 },
    settings: { place, spread },
  };
}

export const atomics: Test = {
  id: "atomics",
  title: "Atomics",
  about:
    "Atomic additions per microsecond, each lane's counted (32 to an instruction on NVIDIA), all multiprocessors together: to one word, to one for each subgroup, and to one for each invocation, in global and in shared memory.",
  plan: (setup): TestPlan => {
    const spreads: readonly Spread[] = ["one", "subgroup", "each"];
    return {
      fills: [],
      cases: (["global", "shared"] as const).flatMap((place) =>
        spreads.map((spread) => atomicCase(place, spread, setup)),
      ),
      read: (outcomes) => {
        const of = (id: string): number | null =>
          measured(outcomes).find(({ spec }) => spec.id === id)?.value ?? null;
        return {
          figures: [
            ...figure(
              "contendedAtomicsPerMicrosecond",
              "additions of lanes to one word of global memory",
              of("atomic.global.one"),
              "per µs",
            ),
            ...figure(
              "globalAtomicsPerMicrosecond",
              "additions of lanes to words of their own in global memory",
              of("atomic.global.each"),
              "per µs",
            ),
            ...figure(
              "sharedAtomicsPerMicrosecond",
              "additions of lanes to one word of each shared memory, all together",
              of("atomic.shared.one"),
              "per µs",
            ),
          ],
          plots: [],
        };
      },
    };
  },
};
