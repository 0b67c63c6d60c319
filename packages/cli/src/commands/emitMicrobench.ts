/** `evolver emit microbench`: the microbenchmarks as C++ programs, for a GPU whose machine has its compiler and not us. */

import { mkdir, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { EvolverError, type EmitTarget } from "@evolver/kernel";
import { emitSuite, findTests } from "@evolver/microbench";
import { EXIT, printJson, printText } from "../output.ts";

export interface EmitMicrobenchOptions {
  readonly target: EmitTarget;
  readonly subgroup: number;
  readonly selftest: boolean;
  /** A file, or a folder for one file a test where the name has no extension. */
  readonly output: string | null;
  readonly json: boolean;
}

interface Written {
  readonly file: string | null;
  readonly tests: readonly string[];
  readonly source: string;
}

/** @param only the test after the slash, or null for all */
export async function emitMicrobench(only: string | null, options: EmitMicrobenchOptions): Promise<number> {
  const { target, subgroup, selftest, output, json } = options;
  if (!selftest || (target !== "cuda" && target !== "hip")) {
    throw new EvolverError("SELFTEST_TARGET", "microbenchmarks are emitted as self-tests for cuda or hip", {
      hint: "evolver emit microbench --target hip --subgroup 64 --selftest -o microbench.hip",
    });
  }
  const tests = findTests(only === null ? undefined : [only]);
  const extension = target === "cuda" ? ".cu" : ".hip";
  const suite = (chosen: typeof tests, path: string | null): Written => {
    const file = path === null ? "microbench" : basename(path, extname(path));
    return {
      file: path,
      tests: chosen.map(({ id }) => id),
      source: emitSuite(chosen, { target, subgroup, file }),
    };
  };
  const isFolder = output !== null && extname(output) === "";
  const written = isFolder
    ? tests.map((test) => suite([test], join(output, `microbench-${test.id}${extension}`)))
    : [suite(tests, output)];
  if (isFolder) await guard(output, () => mkdir(output, { recursive: true }));
  for (const { file, source } of written) if (file !== null) await guard(file, () => writeFile(file, source));
  if (json) printJson({ target, subgroup, files: written });
  else if (output === null) printText(written[0]?.source ?? "");
  else
    process.stderr.write(
      written.map(({ file }) => `${file}: its first lines say how to build it\n`).join(""),
    );
  return EXIT.done;
}

async function guard(path: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${path} cannot be written: ${what}`, {
      hint: "name a file or folder that may be written",
      cause: error,
    });
  }
}
