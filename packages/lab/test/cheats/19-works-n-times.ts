/** Correct seven times, then stops working altogether. */

import { counting } from "./counting.ts";
import type { Expectation } from "./cheat.ts";

export const expectation: Expectation = { status: "wrong-result", reason: /NaN: it was never written/ };

const working = (times: number) => counting(({ gpu }, run, work) => gpu.if(run.lt(times), work));

export const plan = working(7);
export const honest = working(1e6);
