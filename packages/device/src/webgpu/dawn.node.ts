/** WebGPU in Node: Dawn from the npm package `webgpu`, over Vulkan, Metal or D3D12. */

import { EvolverError } from "@evolver/base";
import { openWebgpu, type WebgpuDevice } from "./device.ts";
import type { WebgpuOptions } from "./options.ts";

/** Vulkan's loader, as Dawn asks for it. */
const LOADER = "libvulkan.so.1";

/**
 * `vulkan_enable_f16_on_nvidia` and full timestamps are off by default in Dawn. Shared memory is uninitialised in the
 * language, so that Dawn need not clear it; with much of it, SwiftShader takes half a minute to compile the clearing.
 */
const DAWN_FLAGS = [
  "enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia,disable_workgroup_init",
  "disable-dawn-features=timestamp_quantization",
];

let dawn: GPU | null = null;

/**
 * Opens the GPU that Dawn finds. EVOLVER_VULKAN_LOADER may name libvulkan.so.1, and VK_ICD_FILENAMES the driver.
 * @throws EvolverError WEBGPU_UNAVAILABLE
 */
export async function openWebgpuInNode(options: Omit<WebgpuOptions, "gpu"> = {}): Promise<WebgpuDevice> {
  dawn ??= await loadDawn();
  try {
    return await openWebgpu({ ...options, gpu: dawn });
  } catch (error) {
    if (!(error instanceof EvolverError) || process.platform !== "linux") throw error;
    throw new EvolverError("WEBGPU_UNAVAILABLE", "Dawn finds no Vulkan driver", {
      hint: "install the GPU's Vulkan driver and libvulkan1, or name them in EVOLVER_VULKAN_LOADER and VK_ICD_FILENAMES",
      cause: error,
    });
  }
}

async function loadDawn(): Promise<GPU> {
  let module: typeof import("webgpu");
  try {
    module = await import("webgpu");
  } catch (error) {
    throw new EvolverError("WEBGPU_UNAVAILABLE", "the npm package `webgpu` does not load here", {
      hint: "run `npm ci` without --omit=optional, on Linux, macOS or Windows",
      cause: error,
    });
  }
  if (process.platform === "linux") await loadVulkan();
  Object.assign(globalThis, module.globals);
  return module.create(DAWN_FLAGS);
}

/**
 * Loads Vulkan's loader before Dawn looks for it: a library that is already in the process answers to its name,
 * wherever it lies, and a missing one is said once and in our words.
 */
async function loadVulkan(): Promise<void> {
  const path = process.env["EVOLVER_VULKAN_LOADER"] ?? LOADER;
  try {
    const { default: koffi } = await import("koffi");
    koffi.load(path);
  } catch (error) {
    throw new EvolverError("WEBGPU_UNAVAILABLE", `there is no Vulkan loader (${path} is not found)`, {
      hint: `install libvulkan1 and the GPU's Vulkan driver, or name a ${LOADER} in EVOLVER_VULKAN_LOADER`,
      cause: error,
    });
  }
}
