/** `evolver emit microbench`: the microbenchmarks as C++ programs, for machines that have a GPU compiler but no Evolver. */

import { basename, extname, join } from "node:path";
import { EvolverError } from "@evolver/base";
import { emitTargets, isCppTarget, type EmitTarget } from "@evolver/kernel";
import { emitSuite, findTests } from "@evolver/machine";
import { EXIT, printJson, printText } from "../output.ts";
import { checkFile, checkFolder, writeOutput } from "../output-files.ts";

export interface EmitMicrobenchOptions {
  readonly target: EmitTarget;
  readonly subgroup: number;
  readonly selftest: boolean;
  /** A file; or, where the name has no extension, a folder that gets one file per test. */
  readonly output: string | null;
  readonly json: boolean;
}

interface Written {
  readonly file: string | null;
  readonly tests: readonly string[];
  readonly source: string;
}

/** @param path what follows `microbench/`: a test; null for all */
export async function emitMicrobench(path: string | null, options: EmitMicrobenchOptions): Promise<number> {
  const { target, subgroup, selftest, output, json } = options;
  if (!selftest || !isCppTarget(target)) {
    throw new EvolverError("SELFTEST_TARGET", "microbenchmarks are emitted as self-tests for cuda or hip", {
      hint: "npx evolver emit microbench --target hip --subgroup 64 --selftest -o microbench.hip",
    });
  }
  const tests = findTests(path === null ? undefined : [path]);
  const { extension } = emitTargets[target];
  const suite = (chosen: typeof tests, to: string | null): Written => {
    const file = to === null ? "microbench" : basename(to, extname(to));
    return {
      file: to,
      tests: chosen.map(({ id }) => id),
      source: emitSuite(chosen, { target, subgroup, file }),
    };
  };
  const isFolder = output !== null && extname(output) === "";
  if (isFolder) await checkFolder(output, /^microbench-/);
  else if (output !== null) await checkFile(output);
  const written = isFolder
    ? tests.map((test) => suite([test], join(output, `microbench-${test.id}.${extension}`)))
    : [suite(tests, output)];
  for (const { file, source } of written) if (file !== null) await writeOutput(file, source);
  if (json) printJson({ target, subgroup, files: written });
  else if (output === null) printText(written[0]?.source ?? "");
  else
    process.stderr.write(
      written.map(({ file }) => `${file}: its first lines say how to build it\n`).join(""),
    );
  return EXIT.done;
}
