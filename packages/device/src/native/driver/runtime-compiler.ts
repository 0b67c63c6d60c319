/**
 * A vendor's compiler as a library, from source to machine code in memory: NVRTC and hiprtc have the same calls under other
 * names. Where the libraries are, and what a failure means, is cuda/compile.ts's and hip/compile.ts's. Node only.
 */

import type { EvolverError } from "@evolver/base";
import type { LibraryHandle } from "koffi";
import { bind, type ForeignFunction } from "./calls.ts";

interface CompilerNames {
  /** What its functions begin with: "nvrtc". */
  readonly prefix: string;
  /** How those that give the code end: "CUBIN". */
  readonly code: string;
}

export interface RuntimeCompiler {
  /** "nvrtc 13.0". */
  readonly name: string;
  /**
   * @param file the source's name, for the log
   * @throws what `failed` makes of the log
   */
  compile(source: string, file: string, options: readonly string[], failed: CompileFailed): Uint8Array;
}

/** @param log what the compiler says, or at least the number of its error */
type CompileFailed = (log: string) => EvolverError;

/** @param missing makes the error for a function that the library lacks */
export function bindRuntimeCompiler(
  library: LibraryHandle,
  { prefix, code }: CompilerNames,
  missing: (name: string, cause: unknown) => Error,
): RuntimeCompiler {
  const load = (call: string): ((...args: unknown[]) => number) =>
    bind(library, `int ${prefix}${call}`, missing) as ForeignFunction as never;
  const version = load("Version(void *major, void *minor)");
  const create = load(
    "CreateProgram(void *program, const char *source, const char *name, int headers, uint64_t headerSources, uint64_t headerNames)",
  );
  const compile = load("CompileProgram(uint64_t program, int count, const char **options)");
  const logSize = load("GetProgramLogSize(uint64_t program, void *bytes)");
  const log = load("GetProgramLog(uint64_t program, void *log)");
  const codeSize = load(`Get${code}Size(uint64_t program, void *bytes)`);
  const contents = load(`Get${code}(uint64_t program, void *code)`);
  const destroy = load("DestroyProgram(void *program)");
  const numbers = new Int32Array(2);
  version(numbers.subarray(0, 1), numbers.subarray(1));
  const read = (program: bigint, size: typeof logSize, into: typeof log): Uint8Array => {
    const bytes = new BigUint64Array(1);
    size(program, bytes);
    const buffer = new Uint8Array(Number(bytes[0]));
    if (buffer.length > 0) into(program, buffer);
    return buffer;
  };
  return {
    name: `${prefix} ${numbers[0]}.${numbers[1]}`,
    compile(source, file, options, failed) {
      const slot = new BigUint64Array(1);
      const created = create(slot, source, file, 0, 0, 0);
      if (created !== 0) throw failed(`${prefix} gives error ${created} for the program`);
      const program = slot[0] as bigint;
      try {
        const error = compile(program, options.length, options);
        if (error === 0) return read(program, codeSize, contents);
        const text = new TextDecoder().decode(read(program, logSize, log)).replaceAll("\0", "");
        throw failed(text || `${prefix} gives error ${error}`);
      } finally {
        destroy(slot);
      }
    },
  };
}
