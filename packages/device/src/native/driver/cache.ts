/** Machine code on disk, keyed by everything that it depends on. Node only. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { sha256 } from "@evolver/base";

export interface CompiledCode {
  readonly code: Uint8Array;
  /** "nvrtc 13.0", "hiprtc 6.2". */
  readonly compiler: string;
  readonly fromCache: boolean;
}

/** The first bytes of files that compilers make: ELF, or clang's bundle of several. Other files are damaged or not ours. */
const MAGIC = ["\x7fELF", "__CL"];

/**
 * Takes the code from the cache, or compiles and keeps it.
 *
 * @param folder of the cache: "cubin"
 * @param key what the code depends on beside the compiler
 */
export function compileCached(
  folder: string,
  compiler: string,
  key: readonly unknown[],
  compile: () => Uint8Array,
): CompiledCode {
  const hash = sha256(JSON.stringify([compiler, ...key]));
  const path = join(cacheRoot(), folder, `${hash}.${folder}`);
  const cached = readCached(path);
  if (cached !== null) return { code: cached, compiler, fromCache: true };
  const code = compile();
  writeCached(path, code);
  return { code, compiler, fromCache: false };
}

function cacheRoot(): string {
  const { EVOLVER_CACHE: chosen, XDG_CACHE_HOME: caches } = process.env;
  return chosen ?? join(caches ?? join(homedir(), ".cache"), "evolver");
}

function readCached(path: string): Uint8Array | null {
  try {
    const bytes = readFileSync(path);
    return MAGIC.includes(bytes.toString("latin1", 0, 4)) ? bytes : null;
  } catch {
    return null;
  }
}

/** A cache that cannot be written costs time, not correctness. */
function writeCached(path: string, bytes: Uint8Array): void {
  try {
    mkdirSync(join(path, ".."), { recursive: true });
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
  } catch {
    return;
  }
}
