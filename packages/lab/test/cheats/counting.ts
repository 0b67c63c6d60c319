/** A kernel that counts its own runs in memory that outlives them, row by row, and may act on the count. */

import type { Bool, U32 } from "@evolver/kernel";
import { matvec } from "./matvec.ts";
import type { Step } from "./matvec.ts";
import type { PlanFunction } from "./cheat.ts";

/** Memory is garbage at first; counts start from here once they are seen to be none. */
const ZERO = 0x51000000;

/** @param act what each row does on its n-th run, n from 0 */
export const counting = (act: (step: Step, run: U32, work: () => void) => void): PlanFunction => {
  return (shape, build) =>
    matvec(shape, build, {
      around(step, work) {
        const { gpu, memory, row } = step;
        const word = memory.get(row);
        // All have read before one writes.
        gpu.barrier();
        const counted: Bool = word.ge(ZERO).and(word.lt(ZERO + 1000));
        const run = gpu.if(
          counted,
          () => word.sub(ZERO),
          () => word.sub(word),
        );
        act(step, run, work);
        gpu.if(gpu.lane.eq(0), () => memory.set(row, run.add(ZERO + 1)));
      },
    });
};
