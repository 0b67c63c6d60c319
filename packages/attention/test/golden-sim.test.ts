/** Golden values on the simulator with every check on; nothing is counted, which takes a fifth of the time. */

import { openDevice } from "@evolver/device";
import { goldenSuite, layerSuite } from "./support/golden-suite.ts";

goldenSuite("sim", () => openDevice("sim", { subgroup: 32, counters: false }), { share: 3 });
layerSuite("sim", () => openDevice("sim", { subgroup: 32, counters: false }), 96, 3);
