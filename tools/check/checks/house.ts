/**
 * Rules of the house that a parser can check: where interfaces are, how many parameters a function has, which cards `src`
 * names, how files are called, and what every package must have. Pure functions over a source tree; `check.ts` prints what they find.
 */

import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import type { Problem } from "../problem.ts";
import { lineAt, type SourceFile, type SourceTree } from "../tree.ts";

/** More than this many parameters are a record. */
const MOST_PARAMETERS = 5;

/** Product names of GPUs. */
const CARDS =
  /\b(?:[AHB][12]00|GB200|L4|L40S?|V100|T4|MI[23]\d\dX?|(?:RTX|GTX|Radeon|GeForce|Tesla)\b[ \w]*)\b/;

/** Where a card may be named: its profile, and what documents are made of. */
const NAMES_CARDS = [/^packages\/machine\/src\/profile\//, /^packages\/guide\//, /\/src\/study\/guide\//];

const inSource = ({ path }: SourceFile): boolean => /^packages\/[^/]+\/src\//.test(path);

/** Interfaces and types that live in an index.ts, which is a list of exports and nothing else. */
export function findTypesInIndex(tree: SourceTree): Problem[] {
  const problems: Problem[] = [];
  for (const file of tree.files.values()) {
    if (!inSource(file) || basename(file.path) !== "index.ts") continue;
    const found = (node: { readonly id: { readonly name: string }; readonly start: number }): void => {
      const message = `${node.id.name} lives in index.ts: give it its own file`;
      problems.push({ path: file.path, line: lineAt(file.text, node.start), message });
    };
    visit(file, { TSInterfaceDeclaration: found, TSTypeAliasDeclaration: found });
  }
  return problems;
}

/** Functions, methods and types of functions with too many parameters. */
export function findManyParameters(tree: SourceTree): Problem[] {
  const problems: Problem[] = [];
  for (const file of tree.files.values()) {
    if (!inSource(file)) continue;
    const found = (node: { readonly params: { readonly length: number }; readonly start: number }): void => {
      if (node.params.length <= MOST_PARAMETERS) return;
      const message = `${node.params.length} parameters, more than ${MOST_PARAMETERS}: take a record`;
      problems.push({ path: file.path, line: lineAt(file.text, node.start), message });
    };
    visit(file, {
      FunctionDeclaration: found,
      FunctionExpression: found,
      ArrowFunctionExpression: found,
      TSFunctionType: found,
      TSMethodSignature: found,
    });
  }
  return problems;
}

/** Cards named in `src`: a kernel and a device ask the machine, and are not written for one. */
export function findCards(tree: SourceTree): Problem[] {
  const problems: Problem[] = [];
  for (const file of tree.files.values()) {
    if (!inSource(file) || NAMES_CARDS.some((pattern) => pattern.test(file.path))) continue;
    for (const [index, line] of file.text.split("\n").entries()) {
      const card = CARDS.exec(line)?.[0];
      if (card !== undefined)
        problems.push({
          path: file.path,
          line: index + 1,
          message: `"${card.trim()}" is a card: take facts from the device or a machine profile`,
        });
    }
  }
  return problems;
}

/** Files whose names are not words in lower case with hyphens between them, as all others are. */
export function findFileNames(tree: SourceTree): Problem[] {
  return [...tree.files.keys()].flatMap((path) => {
    const name = basename(path);
    if (!/[A-Z_]/.test(name)) return [];
    const wanted = name.replaceAll(/_|(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase();
    return [{ path, line: 1, message: `call it ${wanted}` }];
  });
}

/** What every package has: a README with an example in TypeScript. */
export function findBarePackages(tree: SourceTree): Problem[] {
  return tree.packages.flatMap(({ name, folder }) => {
    const path = `${folder}/README.md`;
    const file = join(tree.root, path);
    if (!existsSync(file)) return [{ path, line: 1, message: `${name} has no README.md` }];
    const hasExample = /^```(?:ts|sh|console|text)\b/m.test(readFileSync(file, "utf8"));
    return hasExample ? [] : [{ path, line: 1, message: `${name}'s README.md has no example` }];
  });
}

function visit({ path, text }: SourceFile, visitor: ConstructorParameters<typeof Visitor>[0]): void {
  new Visitor(visitor).visit(parseSync(path, text).program);
}
