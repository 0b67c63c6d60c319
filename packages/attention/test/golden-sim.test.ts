/** Golden values on the simulator with every check on. */

import { openDevice } from "@evolver/device";
import { LAYER_FILES } from "./support/golden.ts";
import { goldenSuite, layerSuite } from "./support/golden-suite.ts";

goldenSuite("sim", () => openDevice("sim", { subgroup: 32 }));
layerSuite("sim", () => openDevice("sim", { subgroup: 32 }), LAYER_FILES.slice(1, 2));
