/** Golden values on the processor. */

import { openDevice } from "@evolver/device";
import { goldenSuite, layerSuite } from "./support/golden-suite.ts";

goldenSuite("cpu", () => openDevice("cpu"));
layerSuite("cpu", () => openDevice("cpu"), 512);
