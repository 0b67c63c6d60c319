/**
 * HIP C++ to code objects by hiprtc, with a cache on disk. hiprtc is a library of ROCm's; EVOLVER_HIPRTC names another
 * path to it. Node only.
 */

import { EvolverError } from "@evolver/base";
import type { LibraryHandle } from "koffi";
import { compileCached, type CompiledCode } from "../driver/cache.ts";
import { loadFirst } from "../driver/calls.ts";
import { bindRuntimeCompiler, type RuntimeCompiler } from "../driver/runtime-compiler.ts";
import { rocmCandidates } from "./driver.ts";

export interface CompileRequest {
  readonly kernelName: string;
  readonly source: string;
  /** With its features, as the device names it: "gfx90a:sramecc+:xnack-". */
  readonly architecture: string;
  readonly options: readonly string[];
}

let found: RuntimeCompiler | null = null;

/**
 * Compiles, or takes from the cache.
 * @throws EvolverError HIP_COMPILER_MISSING, HIP_COMPILE_FAILED (with the compiler's log)
 */
export function compileHip(request: CompileRequest): CompiledCode {
  const compiler = (found ??= openHiprtc());
  const { architecture, options, source } = request;
  return compileCached("hsaco", compiler.name, [architecture, options, source], () =>
    compiler.compile(
      source,
      `${request.kernelName}.hip`,
      [`--offload-arch=${architecture}`, "-std=c++17", "-O3", ...options],
      (log) => compileFailed(request, log),
    ),
  );
}

const openHiprtc = (): RuntimeCompiler =>
  bindRuntimeCompiler(loadHiprtc(), { prefix: "hiprtc", code: "Code" }, (name, cause) =>
    compilerMissing(`hiprtc has no ${name}`, cause),
  );

/** Since ROCm 5.x a library of its own; before, part of libamdhip64. */
function loadHiprtc(): LibraryHandle {
  const names =
    process.platform === "win32"
      ? ["hiprtc0700.dll", "hiprtc0600.dll", "hiprtc.dll"]
      : [
          "libhiprtc.so",
          "libhiprtc.so.7",
          "libhiprtc.so.6",
          "libhiprtc.so.5",
          "libamdhip64.so",
          "libamdhip64.so.5",
        ];
  const library = loadFirst(rocmCandidates("EVOLVER_HIPRTC", names));
  if (!("error" in library)) return library;
  throw compilerMissing("HIP's run-time compiler (libhiprtc) is not found", library.error);
}

function compilerMissing(what: string, cause: unknown): EvolverError {
  return new EvolverError("HIP_COMPILER_MISSING", what, {
    hint: "install hiprtc (part of ROCm's HIP run time), or set EVOLVER_HIPRTC to libhiprtc.so's path",
    cause,
  });
}

function compileFailed(request: CompileRequest, log: string): EvolverError {
  return new EvolverError(
    "HIP_COMPILE_FAILED",
    `hiprtc refuses kernel "${request.kernelName}" for ${request.architecture}:\n${log.trim()}`,
    {
      hint: "write the source out with `npx evolver emit --target hip`; if it is at fault, that is a fault of the emitter",
    },
  );
}
