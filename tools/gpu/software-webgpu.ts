/**
 * Runs a command with a Vulkan driver that needs no GPU, SwiftShader, so that WebGPU works in Node on any Linux on x64:
 *
 *     npx node tools/gpu/software-webgpu.ts npx evolver devices
 */

import { spawn } from "node:child_process";
import { swiftShaderEnvironment } from "../../test/support/swiftshader.ts";

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error("usage: npx node tools/gpu/software-webgpu.ts COMMAND [ARGUMENT ...]");
  process.exit(2);
}
spawn(command, args, { stdio: "inherit", env: swiftShaderEnvironment() })
  .on("error", (error) => {
    console.error(`${command} does not start: ${error.message}`);
    process.exitCode = 2;
  })
  .on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
