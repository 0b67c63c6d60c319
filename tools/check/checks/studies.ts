/**
 * Only its library and the registry may name a study, so that a new study needs one folder and one line. A pure function over
 * a source tree, like those in layers.ts.
 */

import type { Problem } from "../problem.ts";
import { packageOf, splitSpecifier } from "../tree.ts";
import type { SourceFile, SourceTree } from "../tree.ts";

/** One line of the registry: `softmax: () => import("@evolver/softmax/study"),`. */
const ENTRY = /^\s*"?([\w-]+)"?: \(\) => import\("([^"]+)\/study"\)/gm;

interface Entry {
  readonly name: string;
  /** The package of its library. */
  readonly library: string;
}

/** Code of packages that names a study of the registry, or imports one, where it must not. */
export function findStudyNames(tree: SourceTree): Problem[] {
  const entries = [...tree.files.values()]
    .filter((file) => isRegistry(tree, file))
    .flatMap(({ text }) => [...text.matchAll(ENTRY)])
    .map(([, name = "", library = ""]): Entry => ({ name, library }));
  const problems: Problem[] = [];
  for (const file of tree.files.values()) {
    if (!/^packages\/[^/]+\/(?:src|bin)\//.test(file.path) || isRegistry(tree, file)) continue;
    const owner = packageOf(tree, file.path);
    for (const { specifier, line } of file.imports) {
      const { name, subpath } = splitSpecifier(specifier);
      if (subpath === "./study" && name !== owner?.name)
        problems.push({ path: file.path, line, message: `"${specifier}": ask the registry for studies` });
    }
    for (const { name, library } of entries) {
      if (owner?.name === library) continue;
      for (const line of linesThatName(file.text, name))
        problems.push({ path: file.path, line, message: `it names the study "${name}": ask the registry` });
    }
  }
  return problems;
}

function isRegistry(tree: SourceTree, { path }: SourceFile): boolean {
  return packageOf(tree, path)?.layer === "registry" && path.includes("/src/");
}

/** Where the name is a whole string, comes before a rung ("name/k01"), or is an argument of a command. */
function linesThatName(text: string, name: string): number[] {
  const named = new RegExp(
    `["'\`]${name}(?:/[^"'\`]*)?["'\`]|\\b(?:evolve|ladder|guide|emit|compare) ${name}\\b`,
  );
  return text.split("\n").flatMap((line, at) => (named.test(line) ? [at + 1] : []));
}
