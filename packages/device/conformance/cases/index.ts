/** All cases. */

import type { Case } from "../case.ts";
import { atomicCases } from "./atomics.ts";
import { bufferCases } from "./buffers.ts";
import { concurrencyCases } from "./concurrency.ts";
import { controlCases } from "./control.ts";
import { copyCases } from "./copies.ts";
import { conversionCases } from "./conversion.ts";
import { deviceCases } from "./device.ts";
import { floatCases } from "./float.ts";
import { guardedCases } from "./guarded.ts";
import { halfCases } from "./half.ts";
import { integerCases } from "./integer.ts";
import { launchCases } from "./launches.ts";
import { loopCases } from "./loops.ts";
import { planCases } from "./plans.ts";
import { sharedCases } from "./shared.ts";
import { structCases } from "./structs.ts";
import { subgroupCases } from "./subgroups.ts";
import { transcendentalCases } from "./transcendental.ts";
import { viewCases } from "./views.ts";

export const cases: readonly Case[] = [
  ...floatCases,
  ...halfCases,
  ...integerCases,
  ...conversionCases,
  ...transcendentalCases,
  ...bufferCases,
  ...viewCases,
  ...sharedCases,
  ...guardedCases,
  ...structCases,
  ...controlCases,
  ...loopCases,
  ...launchCases,
  ...subgroupCases,
  ...atomicCases,
  ...concurrencyCases,
  ...copyCases,
  ...planCases,
  ...deviceCases,
];
