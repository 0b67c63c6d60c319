/**
 * Several subgroups together fill tiles in shared memory. Neighbouring lanes copy neighbouring columns. A subgroup that
 * has more lanes than one row needs copies several rows at once. Rows that do not exist become zeros.
 */

import { f32, select, u32 } from "@evolver/kernel";
import type { Bool, F32, Gpu, SharedArray, U32, View } from "@evolver/kernel";
import { Columns } from "./columns.ts";
import type { Geometry } from "./geometry.ts";
import { plus, readRun, starts, writeRun, type Target, type UIndex } from "./runs.ts";
import type { RowAccess } from "./specialise.ts";

/** The subgroups that copy: `index` is this one's place among `size`. */
export interface Crew {
  readonly index: UIndex;
  readonly size: number;
}

/** Rows of the tile that exist, and which of the tensor's rows they are. */
export interface RowRange {
  readonly first: U32;
  readonly count: U32;
}

export interface RowCopy {
  readonly to: Target;
  /** `geometry.copyColumns.width` elements of a row that exists. */
  read(row: U32, column: U32): F32[];
}

/** A tile of rows of one tensor, on its way from global to shared memory. */
export interface HeadCopy {
  readonly to: SharedArray<"f32">;
  readonly from: View<"f32", "read">;
  readonly access: RowAccess;
}

export class Copier {
  readonly #gpu: Gpu;
  readonly #geometry: Geometry;
  readonly #crew: Crew;
  readonly #columns: Columns;

  constructor(gpu: Gpu, geometry: Geometry, crew: Crew) {
    this.#gpu = gpu;
    this.#geometry = geometry;
    this.#crew = crew;
    this.#columns = new Columns(gpu, geometry.dim, geometry.copyColumns);
  }

  /** Copies at once. Needs a barrier before and after. */
  copy(rows: number, exists: (row: U32) => Bool, copies: readonly RowCopy[], offset: UIndex = 0): void {
    const { width } = this.#geometry.copyColumns;
    const write = (row: U32, to: Target, values: (column: U32) => F32[]): void =>
      this.#columns.forEach((column) => writeRun(to, [plus(offset, row)], column, values(column), width));
    const zeros = (): F32[] => Array.from({ length: width }, () => this.#gpu.constant(f32, 0));
    this.#inPasses(rows, (row) =>
      this.#gpu.if(
        exists(row),
        () => copies.forEach(({ to, read }) => write(row, to, (column) => read(row, column))),
        () => copies.forEach(({ to }) => write(row, to, zeros)),
      ),
    );
  }

  /** Reads a tile into registers, if it has any row. The returned function writes them to the tile whose first row is `offset`. */
  fetch(rows: number, { first, count }: RowRange, copies: readonly HeadCopy[]): (offset: UIndex) => void {
    const { width, chunks } = this.#geometry.copyColumns;
    const passes = Array.from(
      { length: Math.ceil(rows / this.#rowsPerPass) },
      (_, k) => k * this.#rowsPerPass,
    );
    const rowOf = (pass: number): U32 => {
      const row = plus(this.#row, pass);
      // A single subgroup that copies one row at a time knows which when the kernel is built.
      return typeof row === "number" ? this.#gpu.constant(u32, row) : row;
    };
    const runs = (pass: number, { from, access }: HeadCopy): F32[] => {
      const row = rowOf(pass);
      const source = first.add(row.min(count.sub(1)));
      return this.#columns
        .starts()
        .flatMap((column) => readRun(from, [source], column, width, access.vector))
        .map((x) => select(row.lt(count), x, 0));
    };
    const values = this.#gpu.if(
      count.gt(0),
      () => passes.flatMap((pass) => copies.flatMap((copy) => runs(pass, copy))),
      () =>
        Array.from({ length: passes.length * copies.length * chunks * width }, () =>
          this.#gpu.constant(f32, 0),
        ),
    );
    return (offset) =>
      passes.forEach((pass, p) => {
        const row = rowOf(pass);
        const write = (): void =>
          copies.forEach(({ to }, c) =>
            this.#columns.forEach((column, chunk) => {
              const at = ((p * copies.length + c) * chunks + chunk) * width;
              writeRun(to, [plus(offset, row)], column, values.slice(at, at + width), width);
            }),
          );
        if (pass + this.#rowsPerPass <= rows) write();
        else this.#gpu.if(row.lt(rows), write);
      });
  }

  /** Starts asynchronous copies to the tile whose first row is `offset`. */
  start(rows: number, { first, count }: RowRange, copies: readonly HeadCopy[], offset: UIndex): void {
    const { width } = this.#geometry.copyColumns;
    this.#inPasses(rows, (row) => {
      const active = row.lt(count);
      for (const { to, from, access } of copies) {
        const step = Math.min(width, access.vector) as 1 | 2 | 4;
        this.#columns.forEach((column) => {
          for (const k of starts(width, step)) {
            const at = plus(column, k);
            const index = [first.add(row), at];
            this.#gpu.copies.start({ to, at: [plus(offset, row), at], from, index, width: step, active });
          }
        });
      }
    });
  }

  get #rowsAtOnce(): number {
    return this.#geometry.subgroup / this.#geometry.copyColumns.lanes;
  }

  get #rowsPerPass(): number {
    return this.#crew.size * this.#rowsAtOnce;
  }

  /** This lane's row in the first pass. */
  get #row(): UIndex {
    const { lanes } = this.#geometry.copyColumns;
    const atOnce = this.#rowsAtOnce;
    const { index } = this.#crew;
    if (atOnce === 1) return index;
    const within = this.#gpu.lane.divTrunc(lanes);
    return plus(typeof index === "number" ? index * atOnce : index.mul(atOnce), within);
  }

  #inPasses(rows: number, body: (row: U32) => void): void {
    const step = this.#rowsPerPass;
    const own = this.#row;
    const pass = (first: UIndex): void => {
      const row = plus(first, own) as U32;
      if (rows % step === 0) body(row);
      else this.#gpu.if(row.lt(rows), () => body(row));
    };
    if (rows <= step) pass(0);
    else this.#gpu.for({ from: 0, to: rows, step, unroll: 4 }, pass);
  }
}
