/**
 * Property tests draw the same examples in every run, so that one change is judged as the next one is. `npm run test:full`
 * draws others each time: that is where an unlucky seed is welcome. `PROPERTY_SEED` sets a seed.
 */

import fc from "fast-check";
import { inFull } from "./full.ts";

const seed = process.env["PROPERTY_SEED"] ?? inFull(undefined, "1");
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
