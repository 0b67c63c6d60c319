/** Golden values through WebGPU, over SwiftShader where there is no GPU. */

import { openDevice } from "@evolver/device";
import { hasSwiftShader, useSwiftShader } from "../../../test/support/swiftshader.ts";
import { requireOptional } from "../../../test/support/optional.ts";
import { goldenSuite } from "./support/golden-suite.ts";

/** What WGSL allows a logarithm of values from 0.5 to 2 to be off by. */
const LOG_ERROR = 2 ** -21;

requireOptional(
  "SwiftShader",
  hasSwiftShader,
  "npm ci with dev dependencies, on Linux on x64",
)("webgpu", () => {
  goldenSuite(
    "webgpu",
    () => {
      useSwiftShader();
      return openDevice("webgpu");
    },
    { share: 6, lseSlack: LOG_ERROR },
  );
});
