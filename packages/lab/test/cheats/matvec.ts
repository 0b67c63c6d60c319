/**
 * The honest kernel that the cheats and their twins are made from: y = X·w for a rows × columns matrix, one subgroup
 * a row. A cheat replaces one step of it.
 */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { Buffer, F32, Gpu, KernelIR, Operand, U32 } from "@evolver/kernel";
import type { Json, Plan, PlanBuffer } from "../../src/index.ts";

export interface MatvecShape {
  readonly [key: string]: Json;
  readonly rows: number;
  readonly columns: number;
}

/** What a step of the kernel may use. */
export interface Step {
  readonly gpu: Gpu;
  readonly shape: MatvecShape;
  readonly row: U32;
  readonly x: Buffer<"f32", "read">;
  readonly w: Buffer<"f32", "read">;
  readonly y: Buffer<"f32", "read_write">;
  /** Lives as long as the plan's buffers; garbage at first. */
  readonly memory: Buffer<"u32", "read_write">;
}

export interface Steps {
  /** The elements of a row that are summed, as [from, to, step]; all by default. */
  readonly columns?: (step: Step) => readonly [Operand<"u32">, Operand<"u32">, number];
  /** One product; x · w by default. */
  readonly product?: (x: F32, w: F32) => F32;
  /** Writes the sum, in one lane of the row's subgroup; y[row] = sum by default. */
  readonly write?: (step: Step, sum: F32) => void;
  /** Around the whole work of a row, in all lanes. */
  readonly around?: (step: Step, work: () => void) => void;
  /** Shared memory that is allocated and touched, in elements. */
  readonly shared?: number;
}

/** Length of `memory` in elements: two words for each row. */
const memoryLength = ({ rows }: MatvecShape): number => 2 * rows;

export function matvec(shape: Json, { subgroup }: { readonly subgroup: number }, steps: Steps = {}): Plan {
  const sizes = shape as MatvecShape;
  const ir = matvecKernel(sizes, subgroup, steps);
  const { rows, columns } = sizes;
  const buffers: PlanBuffer[] = [
    { name: "x", role: "input", element: "f32", length: rows * columns },
    { name: "w", role: "input", element: "f32", length: columns },
    { name: "y", role: "output", element: "f32", length: rows },
    { name: "memory", role: "scratch", element: "u32", length: memoryLength(sizes) },
  ];
  const args = Object.fromEntries(buffers.map(({ name }) => [name, { buffer: name }]));
  return { kernels: [ir], buffers, launches: [{ kernel: 0, workgroups: [rows, 1, 1], args }] };
}

function matvecKernel(shape: MatvecShape, subgroup: number, steps: Steps): KernelIR {
  const params = {
    x: buffer(f32),
    w: buffer(f32),
    y: buffer(f32, "read_write"),
    memory: buffer(u32, "read_write"),
  };
  return kernel(
    "matvec",
    { params, workgroup: [subgroup], uniformity: "dynamic" },
    ({ x, w, y, memory }, gpu) => {
      const row = gpu.workgroupIndex;
      const step: Step = { gpu, shape, row, x, w, y, memory };
      if (steps.shared !== undefined) gpu.shared(f32, steps.shared).set(gpu.lane, 0);
      const work = (): void => {
        const [from, to, by] = steps.columns?.(step) ?? [0, shape.columns, 1];
        const sum = gpu.var(f32, 0);
        gpu.for({ from: gpu.lane.mul(by).add(from), to, step: subgroup * by }, (column) => {
          const a = x.get(row.mul(shape.columns).add(column));
          const b = w.get(column);
          sum.add(steps.product?.(a, b) ?? a.mul(b));
        });
        const total = gpu.subgroup.sum(sum.get());
        gpu.if(gpu.lane.eq(0), () => (steps.write ? steps.write(step, total) : y.set(row, total)));
      };
      if (steps.around) steps.around(step, work);
      else work();
    },
  ).build({ subgroup });
}
