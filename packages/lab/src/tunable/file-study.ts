/** A study in a file of the user's: `evolver evolve my-kernel.ts`. The judge, another process, loads the file again. */

import { EvolverError, sha256 } from "@evolver/base";
import { tunableOf, TunablePlan, type Tunable } from "@evolver/device";
import { Kernel } from "@evolver/kernel";
import { fileOf, loadExports } from "../load-kernel.ts";
import { resolveOwnPackages } from "../own-packages.ts";
import { readInput } from "../study/read-input.ts";
import type { StudyInput } from "../study/option.ts";
import type { OpenStudy } from "../study/open-study.ts";
import type { Study } from "../study/study.ts";
import { openTunable, studyOf } from "./study.ts";

interface Named {
  readonly exportName: string;
  readonly tunable: Tunable;
}

/**
 * The study of a kernel, or of a plan, that a file exports.
 *
 * @param target "file.ts" or "file.ts#export"
 * @throws EvolverError FILE_NOT_FOUND, FILE_NOT_READABLE, FILE_NOT_LOADED, EXPORT_NOT_FOUND, EXPORT_MISSING, NO_STUDY, and what
 *   `tunableOf` throws
 */
export async function fileStudy(target: string): Promise<Study> {
  const path = fileOf(target);
  const { exportName, tunable } = await only(target);
  return studyOf(tunable, {
    module: import.meta.url,
    export: "study",
    input: { file: path, export: exportName, fileHash: await hashOf(path) },
  });
}

/**
 * What the judge opens: it finds file and export in the input.
 *
 * @public since the judge imports it by its name
 */
export const study = {
  async open(input: StudyInput, { id }: { readonly id: string }): Promise<OpenStudy> {
    const { file, export: exportName, fileHash } = input;
    if ((await hashOf(String(file))) !== fileHash)
      throw new EvolverError("INPUT_CHANGED", `${String(file)} has changed since this run began`, {
        hint: "start the run again; a changed file begins with a baseline of its own",
      });
    const { tunable } = await only(`${String(file)}#${String(exportName)}`);
    return openTunable(tunable, input, id);
  },
};

async function only(target: string): Promise<Named> {
  resolveOwnPackages();
  const all = await loadExports(target);
  const found = all.filter(([, value]) => value instanceof Kernel || value instanceof TunablePlan);
  const named = found.filter(
    ([, value]) => value instanceof TunablePlan || (value as Kernel).reference !== null,
  );
  const [first] = named.length > 0 ? named : found;
  if (first === undefined)
    throw new EvolverError("NO_STUDY", `${fileOf(target)} exports nothing to improve`, {
      hint: 'export a kernel with `tune` and `reference`, or a plan made with `tunable("name", …)`: `npx evolver new my-kernel` writes one',
    });
  if (named.length > 1)
    throw new EvolverError(
      "EXPORT_MISSING",
      `${target} exports ${named.length} kernels or plans with a reference; evolve takes one`,
      {
        hint: `name one of ${named.map(([name]) => `${target}#${name}`).join(", ")}`,
      },
    );
  const [exportName, value] = first;
  return { exportName, tunable: value instanceof TunablePlan ? value : tunableOf(value as Kernel) };
}

const hashOf = async (path: string): Promise<string> =>
  sha256(
    new TextDecoder().decode(
      await readInput(path, {
        code: "FILE_NOT_FOUND",
        hint: "give the path of a TypeScript file that exports a kernel",
      }),
    ),
  ).slice(0, 16);
