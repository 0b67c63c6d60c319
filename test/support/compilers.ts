/** The compilers that emitted code is given to, where the machine has them. Node only, as all tests are. */

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export interface NamedSource {
  readonly name: string;
  readonly source: string;
}

export interface Compiled {
  readonly ok: boolean;
  /** What the compiler said. */
  readonly log: string;
  readonly output: Uint8Array;
}

function findProgram(name: string, ...folders: readonly string[]): string | null {
  const all = [...(process.env["PATH"] ?? "").split(delimiter), ...folders];
  return all.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

export const nvcc = findProgram("nvcc", "/usr/local/cuda/bin");
export const clang = findProgram("clang-19");
const gcc = findProgram("g++");
/** A C++ compiler for this machine. */
export const cpp = findProgram("clang++-19") ?? gcc;
/** Our own small HIP for processors. */
export const hipCpu = join(import.meta.dirname, "hip-cpu");

/** Several sources as one file, each (unless it is alone) in a namespace of its own: compilers start slowly. */
function together(sources: readonly NamedSource[]): string {
  const [only] = sources;
  if (sources.length === 1 && only !== undefined) return only.source;
  return sources.map(({ name, source }) => `namespace ${name}_file {\n${source}\n}`).join("\n");
}

function compile(program: string, extension: string, source: string, options: readonly string[]): Compiled {
  const folder = mkdtempSync(join(tmpdir(), "evolver-emit-"));
  try {
    const input = join(folder, `all.${extension}`);
    const output = join(folder, "out");
    writeFileSync(input, source);
    const result = spawnSync(program, [...options, "-o", output, input], { encoding: "utf8" });
    const ok = result.status === 0 && existsSync(output);
    return {
      ok,
      log: `${result.stdout ?? ""}${result.stderr ?? ""}`,
      output: ok ? readFileSync(output) : new Uint8Array(),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Machine code for each architecture ("sm_90a"), by nvcc. */
export function compileCuda(
  sources: readonly NamedSource[],
  architectures: readonly string[],
  options: readonly string[] = [],
): Compiled {
  const targets = architectures.flatMap((name) => [
    "-gencode",
    `arch=${name.replace("sm_", "compute_")},code=${name}`,
  ]);
  const all = ["-fatbin", "-std=c++17", "--threads", "2", ...targets, ...options];
  return compile(nvcc as string, "cu", together(sources), all);
}

/** Assembly for an AMD GPU ("gfx942"), by clang without ROCm. Unrolling that does not work out is no fault. */
export function compileHip(
  sources: readonly NamedSource[],
  architecture: string,
  options: readonly string[] = [],
): Compiled {
  const all = [
    "-x",
    "hip",
    "--cuda-device-only",
    "-nogpulib",
    "-nogpuinc",
    "-O2",
    "-Wall",
    "-Wno-pass-failed",
  ];
  return compile(clang as string, "hip", together(sources), [
    ...all,
    `--offload-arch=${architecture}`,
    ...options,
    "-S",
  ]);
}

/** PTX as text, by nvcc. */
export function compilePtx({ source }: NamedSource, options: readonly string[] = []): string {
  const all = ["-ptx", "-std=c++17", "-arch=sm_80", ...options];
  return new TextDecoder().decode(compile(nvcc as string, "cu", source, all).output);
}

/** Machine code for one architecture ("sm_90a") as an ELF file, by nvcc. */
export function compileCubin(
  { source }: NamedSource,
  architecture: string,
  options: readonly string[] = [],
): Uint8Array {
  const all = ["-cubin", "-std=c++17", `-arch=${architecture}`, ...options];
  const { ok, log, output } = compile(nvcc as string, "cu", source, all);
  if (!ok) throw new Error(log);
  return output;
}

export interface WgslCompiler {
  /** Errors and warnings, one per line; empty if there are none. */
  check(source: string): Promise<string>;
  /** The first error of making a pipeline, or null. */
  checkPipeline(source: string): Promise<string | null>;
  close(): void;
}

/** Dawn's instance must outlive everything made from it. */
const instances: GPU[] = [];

/** Dawn with no GPU behind it: all of WebGPU's validation. Null where the package does not load. */
export async function openWgsl(): Promise<WgslCompiler | null> {
  let webgpu: typeof import("webgpu");
  try {
    webgpu = await import("webgpu");
  } catch {
    return null;
  }
  Object.assign(globalThis, webgpu.globals);
  const gpu = webgpu.create(["backend=null", "enable-dawn-features=allow_unsafe_apis"]);
  instances.push(gpu);
  const adapter = (await gpu.requestAdapter()) as GPUAdapter;
  const device = await adapter.requestDevice({
    requiredFeatures: ["subgroups", "shader-f16"],
    requiredLimits: {
      maxComputeInvocationsPerWorkgroup: adapter.limits.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupStorageSize: adapter.limits.maxComputeWorkgroupStorageSize,
    },
  });
  const scoped = async <T>(make: () => T): Promise<T> => {
    device.pushErrorScope("validation");
    const made = make();
    await device.popErrorScope();
    return made;
  };
  return {
    async check(source) {
      const module = await scoped(() => device.createShaderModule({ code: source }));
      const { messages } = await module.getCompilationInfo();
      const lines = source.split("\n");
      return messages
        .map(({ type, lineNum, message }) => `${type}: ${message} | ${lines[lineNum - 1]?.trim()}`)
        .join("\n");
    },
    async checkPipeline(source) {
      device.pushErrorScope("validation");
      device.createComputePipeline({
        layout: "auto",
        compute: { module: device.createShaderModule({ code: source }) },
      });
      return (await device.popErrorScope())?.message ?? null;
    },
    close: () => device.destroy(),
  };
}

/**
 * Both halves of a HIP program by clang without ROCm, into objects: for the host with declarations in place of HIP's
 * header, for the GPU with the names that the file itself brings.
 */
export function compileHipHost(source: string, subgroup: number): Compiled {
  const folder = mkdtempSync(join(tmpdir(), "evolver-hip-host-"));
  try {
    const names = /#else\n(\/\/ What this file needs[^]*?)#endif\n\n#pragma/.exec(source)?.[1] ?? "";
    // Before the names, some of which are macros that the standard headers would stumble over.
    const standard = (source.match(/^#include <\w+>$/gm) ?? []).map((line) => `${line}\n`).join("");
    mkdirSync(join(folder, "hip"));
    copyFileSync(join(import.meta.dirname, "hip-declarations.h"), join(folder, "hip", "declarations.h"));
    writeFileSync(
      join(folder, "hip", "hip_runtime.h"),
      `#pragma once\n${standard}${names}#include "declarations.h"\n`,
    );
    const architecture = subgroup === 32 ? "gfx1100" : "gfx942";
    const both = ["--cuda-host-only", "--cuda-device-only"].map((half) =>
      compile(clang as string, "hip", source, [
        ...["-x", "hip", "-std=c++17", "-nogpulib", "-nogpuinc", "-O1", "-Wall", "-Wno-pass-failed"],
        ...[half, `--offload-arch=${architecture}`, `-I${folder}`, "-S"],
      ]),
    ) as [Compiled, Compiled];
    return {
      ok: both.every(({ ok }) => ok),
      log: both.map(({ log }) => log).join(""),
      output: both[1].output,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface HipRun {
  readonly status: number | null;
  readonly output: string;
}

/**
 * Builds a HIP program for this machine's processor, and runs it there.
 *
 * @param orders in which lanes run between the places where they meet: "ascending", "descending" or a seed; one run each
 */
export function runHip(source: string, subgroup: 32 | 64, orders = ["ascending"]): HipRun[] {
  const folder = mkdtempSync(join(tmpdir(), "evolver-hip-run-"));
  try {
    const [input, program] = [join(folder, "program.hip"), join(folder, "program")];
    writeFileSync(input, source);
    const options = ["-x", "c++", "-std=c++17", "-O1", "-Wall", "-Wno-unknown-pragmas"];
    const built = spawnSync(
      cpp as string,
      [...options, `-DHIP_CPU_WAVEFRONT=${subgroup}`, `-I${join(hipCpu, "include")}`, "-o", program, input],
      { encoding: "utf8" },
    );
    if (built.status !== 0 || built.stderr !== "") return [{ status: null, output: built.stderr }];
    return orders.map((order) => {
      const env = { ...process.env, HIP_CPU_ORDER: order };
      const { status, stdout, stderr } = spawnSync(program, [], { encoding: "utf8", env, timeout: 60_000 });
      return { status, output: stdout + stderr };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
