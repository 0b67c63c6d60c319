/** The least work of an attention problem, whichever kernel solves it; module candidates are checked against it. */

import { visibleKeys, type AttentionProblem } from "@evolver/attention";
import type { ProblemWork } from "@evolver/lab";

export function workOf({ shape, mask }: AttentionProblem): ProblemWork {
  const { batch, headsQ, seqQ, seqK, dim } = shape;
  let keys = 0;
  for (let row = 0; row < seqQ; row++) {
    const { begin, end } = visibleKeys(mask, shape, row);
    keys += end - begin;
  }
  return {
    operations: 2 * batch * headsQ * seqQ * seqK * dim,
    flops: 4 * batch * headsQ * keys * dim,
  };
}
