/** The conformance suite on the cpu device. */

import { openCpu } from "@evolver/device";
import { conformance } from "./suite.ts";

for (const subgroup of [4, 32, 64])
  conformance(`cpu, subgroups of ${subgroup}`, () => openCpu({ subgroup }), ["forwardProgress"]);
