/**
 * SwiftShader, a Vulkan driver that runs on the processor, for WebGPU on machines without a GPU. It comes out of the
 * npm package `@sparticuz/chromium` and is unpacked once into node_modules/.cache.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

const cache = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "evolver", "swiftshader");

/** The packed driver: for Linux on x64. */
function archive(): string | null {
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  try {
    const entry = fileURLToPath(import.meta.resolve("@sparticuz/chromium"));
    const path = join(dirname(entry), "..", "bin", "swiftshader.tar.br");
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}

export const hasSwiftShader = archive() !== null;

/** The environment of a process that opens WebGPU by the npm package `webgpu` alone. */
export function swiftShaderEnvironment(): NodeJS.ProcessEnv {
  useSwiftShader();
  return { ...process.env, LD_LIBRARY_PATH: cache };
}

/**
 * Points Vulkan's loader at SwiftShader, for every WebGPU device that this process opens from now on. Does nothing if
 * EVOLVER_VULKAN_LOADER names another one already.
 */
export function useSwiftShader(): void {
  if (process.env["EVOLVER_VULKAN_LOADER"] !== undefined) return;
  const packed = archive();
  if (packed === null) throw new Error("@sparticuz/chromium is not installed, or this is not Linux on x64");
  if (!existsSync(cache)) unpack(packed);
  process.env["EVOLVER_VULKAN_LOADER"] = join(cache, "libvulkan.so.1");
  process.env["VK_ICD_FILENAMES"] = join(cache, "icd.json");
}

/** Into a folder of its own first: several test processes may do this at once. */
function unpack(packed: string): void {
  const folder = `${cache}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  for (const { name, contents } of untar(brotliDecompressSync(readFileSync(packed))))
    if (/^(?:\.\/)?libv[\w.]+$/.test(name)) writeFileSync(join(folder, name.replace("./", "")), contents);
  const driver = {
    file_format_version: "1.0.0",
    ICD: { library_path: join(cache, "libvk_swiftshader.so"), api_version: "1.3" },
  };
  writeFileSync(join(folder, "icd.json"), JSON.stringify(driver));
  try {
    renameSync(folder, cache);
  } catch {
    // Another process was faster.
    rmSync(folder, { recursive: true });
  }
}

/** The plain files of a tar archive. */
function* untar(tar: Buffer): Generator<{ name: string; contents: Buffer }> {
  const text = (start: number, length: number): string =>
    tar.toString("latin1", start, start + length).replace(/\0.*$/s, "");
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const isFile = ["0", ""].includes(text(at + 156, 1));
    const start = at + 512;
    if (isFile) yield { name: text(at, 100), contents: tar.subarray(start, start + size) };
    at = start + Math.ceil(size / 512) * 512;
  }
}
