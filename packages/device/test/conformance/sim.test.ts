/** The conformance suite on the simulator, with every check on. */

import { openSim } from "@evolver/device";
import { conformance } from "./suite.ts";

for (const subgroup of [4, 8, 32, 64])
  conformance(`sim, subgroups of ${subgroup}`, () => openSim({ subgroup }));
