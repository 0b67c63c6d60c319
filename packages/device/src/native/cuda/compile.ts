/**
 * CUDA C++ to machine code: NVRTC where its library is found, else nvcc, with a cache on disk. A cubin is keyed by
 * everything that it depends on: source, options, compiler version. Node only.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { EvolverError } from "@evolver/base";
import { compileCached, type CompiledCode } from "../driver/cache.ts";
import { loadFirst } from "../driver/calls.ts";
import { bindRuntimeCompiler } from "../driver/runtime-compiler.ts";

export interface CompileRequest {
  readonly kernelName: string;
  readonly source: string;
  /** "sm_90a". */
  readonly architecture: string;
  /** In NVRTC's spelling: `--fmad=false`. */
  readonly options: readonly string[];
}

interface Compiler {
  readonly name: string;
  compile(request: CompileRequest): Uint8Array;
}

let found: Compiler | null = null;

/**
 * Compiles, or takes from the cache.
 * @throws EvolverError CUDA_COMPILER_MISSING, CUDA_COMPILE_FAILED (with the compiler's log)
 */
export function compileCuda(request: CompileRequest): CompiledCode {
  const compiler = (found ??= findCompiler());
  const { architecture, options, source } = request;
  const key = [architecture, options, source];
  return compileCached("cubin", compiler.name, key, () => compiler.compile(request));
}

function findCompiler(): Compiler {
  const compiler = loadNvrtc() ?? findNvcc();
  if (compiler !== null) return compiler;
  throw compilerMissing();
}

function loadNvrtc(): Compiler | null {
  const library = loadFirst(nvrtcCandidates());
  if ("error" in library) return null;
  const nvrtc = bindRuntimeCompiler(library, { prefix: "nvrtc", code: "CUBIN" }, compilerMissing);
  return {
    name: nvrtc.name,
    compile: (request) =>
      nvrtc.compile(
        request.source,
        `${request.kernelName}.cu`,
        [`--gpu-architecture=${request.architecture}`, "--std=c++17", ...request.options],
        (log) => compileFailed(request, log),
      ),
  };
}

/** The user's choice, then the loader's path, then where pip and the toolkit put it. */
function nvrtcCandidates(): string[] {
  const chosen = process.env["EVOLVER_NVRTC"];
  const names =
    process.platform === "win32"
      ? ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
      : ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
  const folders = [process.env["CUDA_PATH"], process.env["CUDA_HOME"], "/usr/local/cuda"].flatMap((root) =>
    root ? [join(root, "lib64")] : [],
  );
  const virtualEnvironment = process.env["VIRTUAL_ENV"] ?? "/opt/torch/.venv";
  for (const python of listFolder(join(virtualEnvironment, "lib"))) {
    const packages = join(virtualEnvironment, "lib", python, "site-packages", "nvidia");
    for (const name of listFolder(packages)) folders.push(join(packages, name, "lib"));
  }
  return [
    ...(chosen ? [chosen] : []),
    ...names,
    ...folders.flatMap((folder) =>
      names.map((name) => join(folder, name)).filter((path) => existsSync(path)),
    ),
  ];
}

function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function findNvcc(): Compiler | null {
  const path = (process.env["PATH"] ?? "")
    .split(delimiter)
    .concat("/usr/local/cuda/bin")
    .map((folder) => join(folder, "nvcc"))
    .find((file) => existsSync(file));
  if (path === undefined) return null;
  const version =
    /release (\d+\.\d+)/.exec(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1] ??
    "unknown";
  return {
    name: `nvcc ${version}`,
    compile(request) {
      const folder = mkdtempSync(join(tmpdir(), "evolver-nvcc-"));
      try {
        const source = join(folder, "kernel.cu");
        const output = join(folder, "kernel.cubin");
        writeFileSync(source, request.source);
        const generation = `arch=${request.architecture.replace("sm_", "compute_")},code=${request.architecture}`;
        const result = spawnSync(
          path,
          ["-cubin", "-std=c++17", "-gencode", generation, ...request.options, "-o", output, source],
          { encoding: "utf8" },
        );
        if (result.status !== 0)
          throw compileFailed(request, result.stderr || String(result.error ?? "no output"));
        return readFileSync(output);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** @param name a function that a library lacks which was found */
function compilerMissing(name?: string, cause?: unknown): EvolverError {
  const what =
    name === undefined
      ? "neither NVRTC (libnvrtc) nor nvcc is found"
      : `the NVRTC that is found has no ${name}`;
  return new EvolverError("CUDA_COMPILER_MISSING", what, {
    hint: "install the CUDA runtime compiler (pip install nvidia-cuda-nvrtc, or the toolkit), or set EVOLVER_NVRTC to libnvrtc.so's path",
    cause,
  });
}

function compileFailed(request: CompileRequest, log: string): EvolverError {
  return new EvolverError(
    "CUDA_COMPILE_FAILED",
    `the CUDA compiler refuses kernel "${request.kernelName}":\n${log.trim()}`,
    {
      hint: `write the source out with \`npx evolver emit --target cuda\`; if it is at fault, that is a fault of the emitter`,
    },
  );
}
