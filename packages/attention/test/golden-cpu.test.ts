/** Golden values on the processor. */

import { openDevice } from "@evolver/device";
import { goldenSuite, layerSuite } from "./support/golden-suite.ts";

goldenSuite("cpu", () => openDevice("cpu"), { share: 2 });
layerSuite("cpu", () => openDevice("cpu"), 512);
