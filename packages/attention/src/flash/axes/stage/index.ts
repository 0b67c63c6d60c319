/** The stage axis: where the lanes read K and V from. */

import { globalStage } from "./global.ts";
import { sharedStage } from "./shared.ts";
import type { StageMaker } from "./stage.ts";

export const stages = { global: globalStage, shared: sharedStage } as const satisfies Record<
  string,
  StageMaker
>;
