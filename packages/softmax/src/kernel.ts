/** The kernel of a point: which lanes have a row, what is computed of it, and what comes back. */

import { assertNever } from "@evolver/base";
import {
  buffer,
  exp,
  f32,
  kernel,
  max,
  rsqrt,
  select,
  u32,
  type F32,
  type Gpu,
  type Kernel,
} from "@evolver/kernel";
import { geometryOf } from "./fit.ts";
import type { RowPoint } from "./point.ts";
import { EPSILON, type RowProblem } from "./problem.ts";
import { heldRow, streamedRow, type Elements, type RowPlace } from "./row.ts";

const params = { x: buffer(f32), y: buffer(f32, "write"), rows: u32 };

export type RowParams = typeof params;

/** The largest finite f32, negated: no element is lower, but for −∞, and differences to it are never NaN. */
const LOWEST = -3.4028234663852886e38;

/** Sums and maxima over the lanes that share a row. */
interface Reduce {
  sum(value: F32): F32;
  max(value: F32): F32;
  /** Each lane's value with those of its partners, pair by pair, until all have taken in all. */
  pairs(
    values: readonly F32[],
    combine: (own: readonly F32[], other: readonly F32[]) => F32[],
  ): readonly F32[];
}

/** The number of rows is an argument of the launch; that of columns shapes the code. */
export function rowKernel(point: RowPoint, problem: RowProblem): Kernel<RowParams> {
  const { operation, columns } = problem;
  return kernel(
    operation,
    { params, workgroup: ({ subgroup }) => [point.subgroups * subgroup] },
    ({ x, y, rows }, gpu) => {
      const geometry = geometryOf(point, problem, gpu.subgroupSize);
      const shared = point.reader === "subgroup";
      const row = shared ? gpu.workgroupId.x.mul(point.subgroups).add(gpu.subgroupId) : gpu.globalId.x;
      gpu.if(row.lt(rows), () => {
        const lane = shared ? gpu.lane : null;
        const place: RowPlace = { gpu, geometry, columns, base: row.mul(columns), lane };
        const elements = point.passes === "one" ? heldRow(place, x) : streamedRow(place, x);
        const reduce = shared ? acrossSubgroup(gpu) : alone;
        resultOf(problem, point, { gpu, elements, reduce }).write(y);
      });
    },
  );
}

/** A row, and how those who share it add up. */
interface RowParts {
  readonly gpu: Gpu;
  readonly elements: Elements;
  readonly reduce: Reduce;
}

function resultOf({ operation, columns }: RowProblem, { passes }: RowPoint, parts: RowParts): Elements {
  switch (operation) {
    case "softmax":
      return softmax(parts, passes === "two");
    case "layerNorm":
      return layerNorm(parts, columns, passes === "two");
    default:
      return assertNever(operation, "operation");
  }
}

/** A row of nothing but −∞ gives zeros, as a row does of which nothing is visible. */
function softmax({ gpu, elements, reduce }: RowParts, online: boolean): Elements {
  const maximum = gpu.var(f32, LOWEST, "maximum");
  const sum = gpu.var(f32, 0, "sum");
  if (online) {
    elements.forEach(({ values }) => {
      const now = max(maximum.get(), ...values);
      const rescaled = sum.get().mul(exp(maximum.get().sub(now)));
      sum.set(values.reduce((total, value) => total.add(exp(value.sub(now))), rescaled));
      maximum.set(now);
    });
    const largest = reduce.max(maximum.get());
    const total = reduce.sum(sum.get().mul(exp(maximum.get().sub(largest))));
    const factor = inverse(gpu, total);
    return elements.map((value) => exp(value.sub(largest)).mul(factor));
  }
  elements.forEach(({ values, where }) => {
    const candidates = values.map((value) => where(value, LOWEST));
    maximum.set(max(maximum.get(), ...candidates));
  });
  const largest = reduce.max(maximum.get());
  const weights = elements.map((value) => exp(value.sub(largest)));
  weights.forEach(({ values, where }) => {
    for (const value of values) sum.add(where(value, 0));
  });
  const factor = inverse(gpu, reduce.sum(sum.get()));
  return weights.map((weight) => weight.mul(factor));
}

const inverse = (gpu: Gpu, total: F32): F32 =>
  select(total.eq(0), gpu.constant(f32, 0), gpu.constant(f32, 1).div(total));

function layerNorm({ gpu, elements, reduce }: RowParts, columns: number, online: boolean): Elements {
  const scale = (squares: F32): F32 => rsqrt(squares.div(columns).add(EPSILON));
  if (online) {
    const [mean, squares] = welford({ gpu, elements, reduce });
    const factor = scale(squares);
    return elements.map((value) => value.sub(mean).mul(factor));
  }
  const total = gpu.var(f32, 0, "total");
  elements.forEach(({ values, where }) => {
    for (const value of values) total.add(where(value, 0));
  });
  const mean = reduce.sum(total.get()).div(columns);
  const differences = elements.map((value) => value.sub(mean));
  const squares = gpu.var(f32, 0, "squares");
  differences.forEach(({ values, where }) => {
    for (const value of values) squares.add(where(value.mul(value), 0));
  });
  const factor = scale(reduce.sum(squares.get()));
  return differences.map((difference) => difference.mul(factor));
}

/**
 * Mean and sum of squared differences in one pass, by Welford's update and Chan's combination: sums of squares less the
 * square of the sum would lose all digits where the mean is large.
 */
function welford({ gpu, elements, reduce }: RowParts): [mean: F32, squares: F32] {
  const count = gpu.var(f32, 0, "count");
  const mean = gpu.var(f32, 0, "mean");
  const squares = gpu.var(f32, 0, "squares");
  elements.forEach(({ values }) => {
    for (const value of values) {
      count.add(1);
      const difference = value.sub(mean.get());
      mean.add(difference.div(count.get()));
      squares.add(difference.mul(value.sub(mean.get())));
    }
  });
  const own = [count.get(), mean.get(), squares.get()];
  const [, all, sum] = reduce.pairs(own, (a, b) => {
    const [countA, meanA, squaresA] = a as [F32, F32, F32];
    const [countB, meanB, squaresB] = b as [F32, F32, F32];
    const both = countA.add(countB);
    // Lanes without an element have a count of 0, and neither changes the other.
    const share = countB.div(both.max(1));
    const difference = meanB.sub(meanA);
    return [
      both,
      meanA.add(difference.mul(share)),
      squaresA.add(squaresB).add(difference.mul(difference).mul(countA).mul(share)),
    ];
  });
  return [all as F32, sum as F32];
}

const alone: Reduce = { sum: (value) => value, max: (value) => value, pairs: (values) => values };

function acrossSubgroup(gpu: Gpu): Reduce {
  return {
    sum: (value) => gpu.subgroup.sum(value),
    max: (value) => gpu.subgroup.max(value),
    pairs(values, combine) {
      let combined = values;
      for (let distance = 1; distance < gpu.subgroupSize; distance *= 2) {
        const other = combined.map((value) => gpu.subgroup.shuffleXor(value, distance));
        combined = combine(combined, other);
      }
      return combined;
    },
  };
}
