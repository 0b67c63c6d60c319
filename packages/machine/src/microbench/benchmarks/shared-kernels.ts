/**
 * Kernels that read shared memory in a loop, and those that check what they summed. Which words an iteration reads is moved
 * on by a step that only the launch knows: no two addresses can be proved equal, so every load is made every time.
 */

import { SHARED_BANKS } from "@evolver/device";
import { buffer, kernel, padded, rowMajor, swizzled, u32 } from "@evolver/kernel";
import type { Gpu, Kernel, Layout, SharedArray, U32 } from "@evolver/kernel";
import { once, random16, report, verdictParam } from "../kernels.ts";
import { jump, LCG_A, LCG_C } from "./chase.ts";

/** Words of 4 bytes that a lane reads at once. */
export type Width = 1 | 2 | 4;

/** Loads of an iteration. */
export const UNROLL = 8;
export const BLOCK = 256;
/** Words between the places of two iterations: the banks stay the same. */
export const STEP = SHARED_BANKS * UNROLL;

/** Words between which lanes choose at the widest stride; the loads of an iteration reach UNROLL × SHARED_BANKS beyond. */
const wordsFor = (subgroup: number): number => Math.max(1024, subgroup * 4 * SHARED_BANKS);

function sumOf(array: SharedArray<"u32">, at: U32, width: Width): U32 {
  if (width === 1) return array.get(at);
  return array.getVec(width, at).components.reduce((sum, value) => sum.add(value));
}

/** Puts random data into the array: word j holds random16(j). */
function load(gpu: Gpu, words: number, set: (j: U32) => void): void {
  gpu.for({ from: gpu.localIndex, to: words, step: BLOCK }, set);
  gpu.barrier();
}

/** Of `places` places that take turns from the first on, what all iterations sum: `round` sums those of one. */
function sumOfRounds(gpu: Gpu, places: number, iterations: U32, round: (place: U32) => U32): U32 {
  const sum = gpu.var(u32, 0);
  gpu.for({ from: 0, to: places }, (place) => {
    const turns = iterations
      .add(places - 1)
      .sub(place)
      .divTrunc(places);
    sum.add(round(place).mul(turns));
  });
  return sum.get();
}

/** Which vector a lane reads, before the stride: bits of its number, and of half its number. */
const slotOf = (gpu: Gpu, low: U32, high: U32): U32 => {
  const lane = gpu.localIndex.and(gpu.subgroupSize - 1);
  return lane.and(low).or(lane.shr(1).and(high));
};

/** Each lane reads `stride` vectors away from that of the slot before its own. */
export function strideKernel(width: Width): Kernel {
  return once(`shared_stride_v${width}`, (name) =>
    kernel(
      name,
      {
        params: { to: buffer(u32, "write"), stride: u32, low: u32, high: u32, step: u32, iterations: u32 },
        workgroup: [BLOCK],
      },
      ({ to, stride, low, high, step, iterations }, gpu) => {
        const words = wordsFor(gpu.subgroupSize);
        const data = gpu.shared(u32, words + STEP, "data");
        load(gpu, words + STEP, (j) => data.set(j, random16(j)));
        const at = gpu.var(
          u32,
          slotOf(gpu, low, high)
            .mul(stride)
            .mul(width)
            .and(words - 1),
        );
        const sum = gpu.var(u32, 0);
        gpu.for({ from: 0, to: iterations }, () => {
          const base = at.get();
          for (let k = 0; k < UNROLL; k++) sum.add(sumOf(data, base.add(k * SHARED_BANKS), width));
          at.set(base.add(step).and(words - 1));
        });
        to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum.get());
      },
    ),
  );
}

export function checkStride(width: Width): Kernel {
  return once(`check_shared_stride_v${width}`, (name) =>
    kernel(
      name,
      {
        params: {
          from: buffer(u32),
          stride: u32,
          low: u32,
          high: u32,
          step: u32,
          iterations: u32,
          ...verdictParam,
        },
        workgroup: [BLOCK],
      },
      ({ from, stride, low, high, step, iterations, verdict }, gpu) => {
        const words = wordsFor(gpu.subgroupSize);
        const first = slotOf(gpu, low, high).mul(stride).mul(width);
        const wanted = sumOfRounds(gpu, words / STEP, iterations, (place) => {
          const base = first.add(place.mul(step)).and(words - 1);
          const sum = gpu.var(u32, 0);
          for (let k = 0; k < UNROLL; k++)
            for (let c = 0; c < width; c++) sum.add(random16(base.add(k * SHARED_BANKS + c)));
          return sum.get();
        });
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).ne(wanted), i);
      },
    ),
  );
}

/** Rows and columns of a tile, in words. */
export const TILE = 32;
const TILES = 4;
/** Between the columns that an iteration reads: neighbours could be had in one wider load. */
const APART = TILE / UNROLL;
export type LayoutName = "row-major" | "padded" | "swizzled";

function layoutOf(name: LayoutName, width: Width): Layout {
  const shape = [TILE, TILE] as const;
  if (name === "row-major") return rowMajor(shape);
  return name === "padded" ? padded(shape, width) : swizzled(shape, { vector: width });
}

/**
 * Lanes walk down the rows of a tile, all in one column, and with each iteration on to the next tile: 32-way conflicts
 * unless the layout spreads them.
 */
export function columnKernel(layout: LayoutName, width: Width): Kernel {
  return once(`shared_${layout.replace("-", "_")}_v${width}`, (name) =>
    kernel(
      name,
      { params: { to: buffer(u32, "write"), step: u32, iterations: u32 }, workgroup: [BLOCK] },
      ({ to, step, iterations }, gpu) => {
        const place = layoutOf(layout, width);
        const offsetOf = (row: U32, column: U32 | number): U32 => place.offset([row, column]) as U32;
        const tiles = gpu.shared(u32, TILES * place.size, "tiles");
        load(gpu, TILES * TILE * TILE, (j) => {
          const first = j.divTrunc(TILE * TILE).mul(place.size);
          const own = offsetOf(j.divTrunc(TILE).and(TILE - 1), j.and(TILE - 1));
          tiles.set(first.add(own), random16(j));
        });
        const lane = gpu.localIndex.and(TILE - 1);
        const offsets = Array.from({ length: UNROLL }, (_, k) => offsetOf(lane, k * APART));
        // Which tile it is stands above the bits of a row, lest a number of steps be seen to lead back to the first.
        const at = gpu.var(u32, 0);
        const sum = gpu.var(u32, 0);
        gpu.for({ from: 0, to: iterations }, () => {
          const first = at
            .get()
            .divTrunc(TILE)
            .and(TILES - 1)
            .mul(place.size);
          for (const offset of offsets) sum.add(sumOf(tiles, first.add(offset), width));
          at.set(at.get().add(step));
        });
        to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum.get());
      },
    ),
  );
}

export function checkColumn(width: Width): Kernel {
  return once(`check_shared_column_v${width}`, (name) =>
    kernel(
      name,
      {
        params: { from: buffer(u32), step: u32, iterations: u32, ...verdictParam },
        workgroup: [BLOCK],
      },
      ({ from, step, iterations, verdict }, gpu) => {
        const lane = gpu.localIndex.and(TILE - 1);
        const wanted = sumOfRounds(gpu, TILES, iterations, (place) => {
          const row = place.mul(step).add(lane).mul(TILE);
          const sum = gpu.var(u32, 0);
          for (let k = 0; k < UNROLL; k++)
            for (let c = 0; c < width; c++) sum.add(random16(row.add(k * APART + c)));
          return sum.get();
        });
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).ne(wanted), i);
      },
    ),
  );
}

const CHASE_WORDS = 1024;
/** Loads of an iteration of the chase. */
export const CHASE_UNROLL = 32;

/** Each load takes its address from the one before. */
export const chaseKernel = (): Kernel =>
  once("shared_chase", (name) =>
    kernel(
      name,
      { params: { to: buffer(u32, "write"), iterations: u32 }, workgroup: [1] },
      ({ to, iterations }, gpu) => {
        const next = gpu.shared(u32, CHASE_WORDS, "next");
        gpu.for({ from: 0, to: CHASE_WORDS }, (j) =>
          next.set(
            j,
            j
              .mul(LCG_A)
              .add(LCG_C)
              .and(CHASE_WORDS - 1),
          ),
        );
        const at = gpu.var(u32, 0);
        gpu.for({ from: 0, to: iterations }, () => {
          for (let k = 0; k < CHASE_UNROLL; k++) at.set(next.get(at.get()));
        });
        to.set(0, at.get());
      },
    ),
  );

export const checkChase = (): Kernel =>
  once("check_shared_chase", (name) =>
    kernel(
      name,
      { params: { from: buffer(u32), iterations: u32, ...verdictParam }, workgroup: [1] },
      ({ from, iterations, verdict }, gpu) => {
        const wanted = jump(gpu, iterations.mul(CHASE_UNROLL)).and(CHASE_WORDS - 1);
        report(gpu, verdict, from.get(0).ne(wanted), gpu.localIndex);
      },
    ),
  );
