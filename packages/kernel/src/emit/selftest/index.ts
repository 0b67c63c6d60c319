/** Self-tests, and several kernels in one file. */

export { emitSelftest, type EmittedSelftest } from "./selftest.ts";
export { emitTogether, type EmittedTogether } from "./together.ts";
export {
  uniformValues,
  type Selftest,
  type SelftestBuffer,
  type SelftestContents,
  type SelftestExpected,
  type SelftestReference,
} from "./spec.ts";
