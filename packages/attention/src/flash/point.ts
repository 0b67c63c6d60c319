/**
 * Points of the strategy space: one value for each axis, plain JSON data. A rung of the ladder is a named point, a
 * candidate of a search another one. How the values become a kernel is the business of the axes' own files.
 */

import { EvolverError } from "@evolver/kernel";
import type { AttentionProblem } from "../problem.ts";
import { geometryOf } from "./geometry.ts";

/** A type alias, not an interface, so that a point is also a plain record of axis values. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type FlashPoint = {
  /** Where K and V are read from: straight from global memory, or from tiles in shared memory. */
  readonly stage: "global" | "shared";
  /** Query rows that a workgroup computes; they share its tiles of K and V. */
  readonly queryRows: number;
  /** Query rows that a subgroup holds at once: each K and V element it reads is used for all of them. */
  readonly rowsPerSubgroup: number;
  /** Keys a tile in shared memory holds. */
  readonly keyRows: number;
  /** Keys that a lane scores at once: each query element it reads is used for all of them. */
  readonly keysPerLane: number;
  /** How the tile of K lies in shared memory. */
  readonly layout: "row-major" | "padded" | "swizzled";
  /** Elements an access reads at most, along the head dimension: 1, 2 or 4. */
  readonly vector: number;
  /** How the lanes of a subgroup learn each other's probabilities. */
  readonly exchange: "shuffle" | "shared";
  readonly pipeline: "synchronous";
  readonly schedule: "one workgroup a tile";
  readonly heads: "by index";
};

type Axes = {
  readonly [K in keyof FlashPoint]: { readonly name: K; readonly values: readonly FlashPoint[K][] };
}[keyof FlashPoint];

/** The axes of the space with their values in order; neighbours are small steps. */
export const axes: readonly Axes[] = Object.freeze([
  { name: "stage", values: ["global", "shared"] },
  { name: "queryRows", values: [1, 2, 4, 8, 16, 32, 64] },
  { name: "rowsPerSubgroup", values: [1, 2, 4, 8] },
  { name: "keyRows", values: [8, 16, 32, 64, 128] },
  { name: "keysPerLane", values: [1, 2, 4] },
  { name: "layout", values: ["row-major", "padded", "swizzled"] },
  { name: "vector", values: [1, 2, 4] },
  { name: "exchange", values: ["shuffle", "shared"] },
  { name: "pipeline", values: ["synchronous"] },
  { name: "schedule", values: ["one workgroup a tile"] },
  { name: "heads", values: ["by index"] },
]);

const MAX_SHARED_BYTES = 48 * 1024;
const MAX_WORKGROUP = 1024;
/** Variables that an invocation keeps in its inner loops; NVIDIA and AMD give it at most 255 registers. */
const MAX_REGISTERS = 200;

/** `keyRows` of points that have no tile: the axis means nothing there, and only this value is valid. */
const NO_TILE_KEY_ROWS = 32;

/** What a workgroup may have on the device that the kernel is for. */
export interface WorkgroupLimits {
  readonly sharedBytes: number;
  readonly invocations: number;
}

/** What CUDA gives every kernel without asking, and more than some WebGPU adapters have. */
export const DEFAULT_LIMITS: WorkgroupLimits = Object.freeze({
  sharedBytes: MAX_SHARED_BYTES,
  invocations: MAX_WORKGROUP,
});

/** Why no kernel can be made for the point, in one sentence; null if one can. Cheap. */
export function checkPoint(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits = DEFAULT_LIMITS,
): string | null {
  for (const { name, values } of axes) {
    if (!(values as readonly unknown[]).includes(point[name]))
      return `${name} is ${String(point[name])}, and must be one of ${values.join(", ")}.`;
  }
  const { stage, queryRows, rowsPerSubgroup, keyRows, keysPerLane, layout } = point;
  if (queryRows % rowsPerSubgroup !== 0)
    return `A subgroup holds ${rowsPerSubgroup} rows, but the workgroup only has ${queryRows}.`;
  if (stage === "global" && (layout !== "row-major" || keyRows !== NO_TILE_KEY_ROWS))
    return `Without tiles in shared memory, layout and keyRows mean nothing; only row-major and ${NO_TILE_KEY_ROWS} are valid.`;
  if (stage === "shared" && keysPerLane > 1 && keysPerLane * subgroup > keyRows)
    return `A subgroup of ${subgroup} that scores ${keysPerLane} keys a lane needs ${keysPerLane * subgroup} keys in a tile, not ${keyRows}.`;
  const geometry = geometryOf(point, problem.shape.dim, subgroup);
  if (geometry.workgroup > limits.invocations)
    return `The workgroup has ${geometry.workgroup} invocations; ${limits.invocations} is the most.`;
  if (geometry.sharedBytes > limits.sharedBytes)
    return `The workgroup needs ${geometry.sharedBytes} bytes of shared memory; ${limits.sharedBytes} is the most.`;
  if (geometry.registers > MAX_REGISTERS)
    return `An invocation keeps ${geometry.registers} values in registers; ${MAX_REGISTERS} is the most.`;
  return null;
}

/**
 * The point itself where it is valid for the problem, else the same with the largest smaller tile of keys that fits:
 * wide heads need smaller tiles.
 *
 * @throws EvolverError INVALID_POINT where no smaller tile helps
 */
export function fitPoint(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits = DEFAULT_LIMITS,
): FlashPoint {
  const smallest = axes.find(({ name }) => name === "keyRows")?.values[0] as number;
  let fitted = point;
  while (checkPoint(fitted, problem, subgroup, limits) !== null) {
    if (point.stage === "global" || fitted.keyRows / 2 < smallest)
      throw invalidPoint(fitted, problem, subgroup, limits);
    fitted = { ...fitted, keyRows: fitted.keyRows / 2 };
  }
  return fitted;
}

export function invalidPoint(
  point: FlashPoint,
  problem: AttentionProblem,
  subgroup: number,
  limits: WorkgroupLimits = DEFAULT_LIMITS,
): EvolverError {
  return new EvolverError(
    "INVALID_POINT",
    `no kernel for head dimension ${problem.shape.dim} at subgroup width ${subgroup}: ${checkPoint(point, problem, subgroup, limits)}`,
    {
      hint: "choose another point; checkPoint() says which are valid, fitPoint() makes the key tile smaller",
    },
  );
}
