/**
 * The factors of a matrix product that lie in memory row by row: their copies to shared memory, and the result's way back. Beyond the
 * inner dimension they are zeros. For rows and columns of the result that do not exist the last one is copied again, since nobody
 * stores what comes of it: so a copy has one test.
 */

import { Vec, type Buffer, type F32, type Gpu, type SharedArray, type U32 } from "@evolver/kernel";
import { share, type Step } from "./product.ts";
import type { Writable } from "./vectors.ts";

/** A matrix, row by row. */
export interface Matrix {
  readonly from: Buffer<"f32", "read">;
  /** The place of its first element: a multiple of its columns. */
  readonly base: U32;
  readonly rows: U32;
  readonly columns: U32;
}

/** Copies rows of the left factor, transposed. @param top the first row to copy */
export function copyTransposed(gpu: Gpu, { from, base, rows }: Matrix, top: U32, step: Step): void {
  const { depth, left } = step;
  const tileRows = left.layout.shape[1] as number;
  // Neighbouring lanes read along a row, few enough of them that what they write goes to different banks.
  const lanes = Math.min(depth, Math.max(8, gpu.workgroupSize[0] / tileRows));
  for (let chunk = 0; chunk < depth; chunk += lanes)
    share(gpu, { rows: tileRows, lanes }, (r, lane) => {
      const k = lane.add(chunk);
      const [row, column] = [top.add(r).min(rows.sub(1)), step.first.add(k)];
      gpu.copies.start({
        to: left,
        at: [step.slot.add(k), r],
        from,
        index: [base.add(row.mul(step.end)).add(column)],
        width: 1,
        active: column.lt(step.end),
      });
    });
}

/** Copies rows of a factor to one of the step's arrays as they are. @param side the first column to copy */
export function copyRows(
  gpu: Gpu,
  { from, base, columns }: Matrix,
  side: U32,
  step: Step,
  to: SharedArray<"f32">,
): void {
  const [rows, across] = [step.depth, to.layout.shape[1] as number];
  const by = (width: 1 | 4): void =>
    share(gpu, { rows, lanes: across / width }, (k, lane) => {
      const c = lane.mul(width);
      const [row, column] = [step.first.add(k), side.add(c).min(columns.sub(width))];
      gpu.copies.start({
        to,
        at: [step.slot.add(k), c],
        from,
        index: [base.add(row.mul(columns)).add(column)],
        width,
        active: row.lt(step.end),
      });
    });
  gpu.if(
    columns.and(3).eq(0),
    () => by(4),
    () => by(1),
  );
}

/** Where a result goes. */
export interface Target {
  readonly to: Writable;
  readonly base: U32;
  readonly rows: U32;
  readonly columns: U32;
}

/** Writes neighbours of a row that are inside, as one vector where rows are made of vectors. */
export function storePatch(
  gpu: Gpu,
  { to, base, rows, columns }: Target,
  { row, column, values }: { readonly row: U32; readonly column: U32; readonly values: readonly F32[] },
): void {
  const width = values.length;
  const at = base.add(row.mul(columns)).add(column);
  const single = (): void =>
    values.forEach((value, k) => gpu.if(column.add(k).lt(columns), () => to.set(at.add(k), value)));
  const together = (): void =>
    gpu.if(column.lt(columns), () => to.setVec(at, new Vec(width as 2 | 4, values)));
  gpu.if(row.lt(rows), () => {
    if (width === 1) single();
    else gpu.if(columns.and(width - 1).eq(0), together, single);
  });
}
