/** Golden values on the simulator with every check on. */

import { openDevice } from "@evolver/device";
import { goldenSuite, layerSuite } from "./support/golden-suite.ts";

goldenSuite("sim", () => openDevice("sim", { subgroup: 32 }));
layerSuite("sim", () => openDevice("sim", { subgroup: 32 }), 96);
