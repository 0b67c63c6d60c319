/**
 * The stand-in for AMD's libraries as tests use it: built once, and many kernels compiled together in advance, since
 * starting a compiler for each takes long.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpp, hipCpu } from "../compilers.ts";

const include = join(hipCpu, "include");
const cache = join(import.meta.dirname, "..", "..", "..", "node_modules", ".cache", "evolver", "hip-cpu");
const KERNELS_A_LIBRARY = 60;

export interface StandIn {
  /** Of libamdhip64 and libhiprtc in one. */
  readonly library: string;
  /** For code that is compiled, and for whatever else; goes with `remove`. */
  readonly folder: string;
  remove(): void;
}

/**
 * Builds the library where it is not there yet, and points this process's `hip` device at it.
 *
 * @param macros `HIP_CPU_OLD` for a run time of before ROCm 6
 */
export function useStandIn(width: 32 | 64, macros: readonly string[] = []): StandIn {
  const folder = mkdtempSync(join(tmpdir(), "evolver-hip-"));
  const library = buildLibrary(macros);
  Object.assign(process.env, {
    EVOLVER_HIP: library,
    EVOLVER_HIPRTC: library,
    EVOLVER_CACHE: folder,
    HIP_CPU_CXX: cpp,
    HIP_CPU_WIDTH: String(width),
  });
  return { library, folder, remove: () => rmSync(folder, { recursive: true }) };
}

function buildLibrary(macros: readonly string[]): string {
  return built([cpp, macros], (output) => {
    const defines = [`-DHIP_CPU_INCLUDE="${include}"`, ...macros.map((name) => `-D${name}`)];
    const options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", ...defines];
    execFileSync(cpp as string, [...options, "-o", output, join(hipCpu, "driver.cpp"), "-ldl"]);
  });
}

/** A library, kept by what it is made of, and moved into place at once: several processes may build it together. */
function built(key: readonly unknown[], build: (output: string) => void): string {
  const headers = readdirSync(join(include, "hip_cpu")).map((name) => `include/hip_cpu/${name}`);
  const hash = createHash("sha256").update(JSON.stringify(key));
  for (const source of ["driver.cpp", "include/hip/hip_runtime.h", ...headers])
    hash.update(readFileSync(join(hipCpu, source)));
  const path = join(cache, `${hash.digest("hex").slice(0, 24)}.so`);
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  build(temporary);
  renameSync(temporary, path);
  return path;
}

/** Compiles kernels (emitted HIP sources, each of one kernel) into libraries, which the stand-in then finds. Kept on disk. */
export function compileBatch(sources: Iterable<string>, width: 32 | 64): void {
  const all = [...new Set(sources)];
  const libraries: string[] = [];
  for (let i = 0; i < all.length; i += KERNELS_A_LIBRARY) {
    const text = batchText(all.slice(i, i + KERNELS_A_LIBRARY));
    libraries.push(
      built([cpp, width, text], (output) => {
        writeFileSync(`${output}.cpp`, text);
        execFileSync(cpp as string, [
          ...["-std=c++17", "-O1", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-w", "-D__HIPCC_RTC__"],
          ...["-DHIP_CPU_DEVICE_ONLY", `-DHIP_CPU_WAVEFRONT=${width}`],
          ...["-include", join(include, "hip/hip_runtime.h"), "-o", output, `${output}.cpp`],
        ]);
        rmSync(`${output}.cpp`);
      }),
    );
  }
  process.env["HIP_CPU_BATCH"] = libraries.join(":");
}

function batchText(sources: readonly string[]): string {
  const kernels = sources.map((source) => {
    const hash = hashOf(source);
    const name = /extern "C" __global__ void __launch_bounds__\(\d+\) (\w+)\(/.exec(source)?.[1];
    const own = source.replaceAll('extern "C" __global__', "__global__");
    return `namespace k${hash} {\n${own}\n}
extern "C" void hipCpuEntry_${hash}(void** given) { hipCpuApply(k${hash}::${name}, given); }`;
  });
  return `#include <utility>
template <typename... P, size_t... I> inline void hipCpuApply(void (*kernel)(P...), void** given, std::index_sequence<I...>) {
  kernel(*static_cast<P*>(given[I])...);
}
template <typename... P> inline void hipCpuApply(void (*kernel)(P...), void** given) {
  hipCpuApply(kernel, given, std::index_sequence_for<P...>());
}
extern "C" void hipCpuShared(char** from, char** to) { *from = __start_hip_lds; *to = __stop_hip_lds; }
${kernels.join("\n")}
`;
}

/** FNV-1a, 64 bits, as driver.cpp has it. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
