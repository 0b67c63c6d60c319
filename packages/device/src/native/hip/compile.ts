/**
 * HIP C++ to code objects by hiprtc, with a cache on disk. hiprtc is a library of ROCm's; EVOLVER_HIPRTC names another
 * path to it. Node only.
 */

import { EvolverError } from "@evolver/base";
import type { LibraryHandle } from "koffi";
import { compileCached, type CompiledCode } from "../driver/cache.ts";
import { bind, loadFirst } from "../driver/calls.ts";
import { rocmCandidates } from "./driver.ts";

export interface CompileRequest {
  readonly kernelName: string;
  readonly source: string;
  /** With its features, as the device names it: "gfx90a:sramecc+:xnack-". */
  readonly architecture: string;
  readonly options: readonly string[];
}

interface Hiprtc {
  /** "hiprtc 6.2". */
  readonly name: string;
  compile(request: CompileRequest): Uint8Array;
}

let found: Hiprtc | null = null;

/**
 * Compiles, or takes from the cache.
 * @throws EvolverError HIP_COMPILER_MISSING, HIP_COMPILE_FAILED (with the compiler's log)
 */
export function compileHip(request: CompileRequest): CompiledCode {
  const compiler = (found ??= openHiprtc());
  const { architecture, options, source } = request;
  return compileCached("hsaco", compiler.name, [architecture, options, source], () =>
    compiler.compile(request),
  );
}

function openHiprtc(): Hiprtc {
  const library = loadHiprtc();
  const load = (signature: string): ((...args: unknown[]) => number) =>
    bind(library, signature, (name, cause) => compilerMissing(`hiprtc has no ${name}`, cause)) as never;
  const version = load("int hiprtcVersion(void *major, void *minor)");
  const create = load(
    "int hiprtcCreateProgram(void *program, const char *source, const char *name, int headers, uint64_t headerSources, uint64_t headerNames)",
  );
  const compile = load("int hiprtcCompileProgram(uint64_t program, int count, const char **options)");
  const logSize = load("int hiprtcGetProgramLogSize(uint64_t program, void *bytes)");
  const log = load("int hiprtcGetProgramLog(uint64_t program, void *log)");
  const codeSize = load("int hiprtcGetCodeSize(uint64_t program, void *bytes)");
  const code = load("int hiprtcGetCode(uint64_t program, void *code)");
  const destroy = load("int hiprtcDestroyProgram(void *program)");
  const numbers = new Int32Array(2);
  version(numbers.subarray(0, 1), numbers.subarray(1));
  const read = (program: bigint, size: typeof logSize, contents: typeof log): Uint8Array => {
    const bytes = new BigUint64Array(1);
    size(program, bytes);
    const buffer = new Uint8Array(Number(bytes[0]));
    if (buffer.length > 0) contents(program, buffer);
    return buffer;
  };
  return {
    name: `hiprtc ${numbers[0]}.${numbers[1]}`,
    compile(request) {
      const slot = new BigUint64Array(1);
      const created = create(slot, request.source, `${request.kernelName}.hip`, 0, 0, 0);
      if (created !== 0) throw compileFailed(request, `hiprtc gives error ${created} for the program`);
      const program = slot[0] as bigint;
      try {
        const options = [`--offload-arch=${request.architecture}`, "-std=c++17", "-O3", ...request.options];
        const failed = compile(program, options.length, options);
        if (failed === 0) return read(program, codeSize, code);
        const text = new TextDecoder().decode(read(program, logSize, log)).replaceAll("\0", "");
        throw compileFailed(request, text || `hiprtc gives error ${failed}`);
      } finally {
        destroy(slot);
      }
    },
  };
}

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
      hint: "write the source out with `evolver emit --target hip`; if it is at fault, that is a fault of the emitter",
    },
  );
}
