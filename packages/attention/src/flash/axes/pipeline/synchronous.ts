import { min } from "@evolver/kernel";
import type { PipelineMaker } from "./pipeline.ts";

/** Copy, wait, use, wait: no invocation computes while a tile is being copied. */
export const synchronous: PipelineMaker = (gpu) => ({
  run(stage, { from, to }, { start, use, finish }) {
    start();
    gpu.for({ from, to, step: stage.keyRows }, (base) => {
      const count = min(to.sub(base), stage.keyRows);
      if (stage.copies !== null) {
        stage.copies.copy(base, count, 0);
        gpu.barrier();
      }
      use(stage.tile(base, count, 0));
      if (stage.copies !== null) gpu.barrier();
    });
    finish();
  },
});
