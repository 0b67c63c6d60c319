import { min } from "@evolver/kernel";
import type { Pipeline } from "./index.ts";

/** Copy, wait, use, wait: nobody computes while a tile is on its way. */
export const synchronous: Pipeline = (gpu, stage, { from, to }, use) => {
  gpu.for({ from, to, step: stage.keyRows }, (base) => {
    const count = min(to.sub(base), stage.keyRows);
    if (stage.copy !== null) {
      stage.copy(base, count);
      gpu.barrier();
    }
    use(stage.tile(base, count));
    if (stage.copy !== null) gpu.barrier();
  });
};
