/** Computes once, remembers the result beside its buffers, and gives it again whatever the inputs are then. */

import { f32, u32 } from "@evolver/kernel";
import { matvec } from "./matvec.ts";
import type { Expectation, PlanFunction } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /is right to within/ };

const MAGIC = 0xc0ffee;

/** @param mark left beside each row's result; only MAGIC is recognised */
const caching =
  (mark: number): PlanFunction =>
  (shape, build) =>
    matvec(shape, build, {
      around({ gpu, y, row, memory, shape: { rows } }, work) {
        const known = memory.get(row.add(rows)).eq(MAGIC);
        gpu.barrier();
        gpu.if(known, () => gpu.if(gpu.lane.eq(0), () => y.set(row, memory.get(row).bitcast(f32))), work);
      },
      write({ y, row, memory, shape: { rows } }, sum) {
        y.set(row, sum);
        memory.set(row, sum.bitcast(u32));
        memory.set(row.add(rows), mark);
      },
    });

export const plan = caching(MAGIC);
export const honest = caching(1);
