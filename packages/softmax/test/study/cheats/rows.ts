/** A row kernel by itself, of which each cheat changes one thing: an invocation per row. */

import { buildPlan, type Plan, type PlanBuild } from "@evolver/device";
import { buffer, exp, f32, kernel, rsqrt, u32, type F32, type U32 } from "@evolver/kernel";

/** As the study's cases give it. */
export interface Shape {
  readonly operation: "softmax" | "layerNorm";
  readonly rows: number;
  readonly columns: number;
}

export interface Changes {
  /** The row that is read for a row. */
  readonly source?: (row: U32, rows: U32) => U32;
  /** What exponents are relative to. */
  readonly relativeTo?: (largest: F32) => F32;
  /** Columns that are looked at. */
  readonly columns?: (columns: number) => number;
  /** Whether anything is computed for a row. */
  readonly works?: (shape: Shape) => boolean;
}

const params = { x: buffer(f32), y: buffer(f32, "write"), rows: u32 };
const LOWEST = -3.4028234663852886e38;

export function rows(shape: Shape, build: PlanBuild, changes: Changes = {}): Plan {
  const { operation, columns } = shape;
  const { source = (row) => row, relativeTo = (value) => value, works = () => true } = changes;
  const seen = changes.columns?.(columns) ?? columns;
  const rowwise = kernel(operation, { params, workgroup: ({ subgroup }) => [subgroup] }, (all, gpu) => {
    const { x, y } = all;
    const row = gpu.globalId.x;
    gpu.if(row.lt(all.rows), () => {
      const [from, to] = [source(row, all.rows).mul(columns), row.mul(columns)];
      const each = (count: number, body: (value: F32, column: U32) => void): void =>
        gpu.for({ from: 0, to: count }, (column) => body(x.get(from.add(column)), column));
      if (!works(shape)) {
        each(columns, (_, column) => y.set(to.add(column), 1 / columns));
        return;
      }
      const [first, second] = [gpu.var(f32, operation === "softmax" ? LOWEST : 0), gpu.var(f32, 0)];
      if (operation === "softmax") {
        each(seen, (value) => first.set(first.get().max(value)));
        const largest = relativeTo(first.get());
        each(seen, (value) => second.add(exp(value.sub(largest))));
        const sum = second.get().max(1e-30);
        each(columns, (value, column) => y.set(to.add(column), exp(value.sub(largest)).div(sum)));
        return;
      }
      each(seen, (value) => first.add(value));
      const mean = relativeTo(first.get().div(seen));
      each(seen, (value) => second.add(value.sub(mean).mul(value.sub(mean))));
      const factor = rsqrt(second.get().div(seen).add(1e-5));
      each(columns, (value, column) => y.set(to.add(column), value.sub(mean).mul(factor)));
    });
  });
  return buildPlan(build)
    .input("x", f32, shape.rows * columns)
    .output("y", f32, shape.rows * columns)
    .launch(rowwise, {
      workgroups: Math.ceil(shape.rows / build.subgroup),
      args: { x: "x", y: "y", rows: shape.rows },
    })
    .done();
}

export const honest = (shape: Shape, build: PlanBuild): Plan => rows(shape, build);
