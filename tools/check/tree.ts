/**
 * The TypeScript files of a source tree and what each imports, read with a parser and without type-checking.
 * It knows npm workspaces and their `exports`; it is not a resolver of third-party packages.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseSync } from "oxc-parser";

export interface Import {
  /** As written between the quotes. */
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
  /** Erased before it runs: `import type`, `export type … from`. */
  readonly typeOnly: boolean;
  /** `import("…")`, which loads when reached and not before. */
  readonly dynamic: boolean;
  /** Path from the root, with `/`, of the file it leads to; null for packages outside the tree and Node's own modules. */
  readonly target: string | null;
}

export interface SourceFile {
  /** Path from the root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

export interface WorkspacePackage {
  readonly name: string;
  /** Folder from the root, with `/`. */
  readonly folder: string;
  /** Names under `dependencies`. */
  readonly dependencies: readonly string[];
  /** Subpath (`.`, `./cuda`) to a file, from the root. */
  readonly exports: ReadonlyMap<string, string>;
  /** Its field `evolver`: the layer that it stands on, and whether it also runs in a browser. */
  readonly layer: string | null;
  readonly browser: boolean;
}

export interface SourceTree {
  readonly root: string;
  readonly packages: readonly WorkspacePackage[];
  /** By path. */
  readonly files: ReadonlyMap<string, SourceFile>;
}

const SOURCES = [
  "packages/*/{src,test,bench,bin,conformance}/**/*.{ts,tsx,js}",
  "{tools,test,examples}/**/*.{ts,tsx,js}",
  "*.config.ts",
];

/** Reads every source file below `root`. Throws on a file that does not parse. */
export function readTree(root: string): SourceTree {
  const packages = globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .map((path) => readPackage(root, path));
  const files = new Map<string, SourceFile>();
  for (const found of globSync(SOURCES, {
    cwd: root,
    exclude: (name) => name === "node_modules",
  }).toSorted()) {
    const path = found.split(sep).join("/");
    const text = readFileSync(join(root, path), "utf8");
    files.set(path, { path, text, imports: readImports(root, packages, path, text) });
  }
  return { root, packages, files };
}

/** The package that a file belongs to, if it is below one. */
export function packageOf(tree: SourceTree, path: string): WorkspacePackage | undefined {
  return tree.packages.find((candidate) => path.startsWith(`${candidate.folder}/`));
}

/** `@scope/name/sub/path` split into its package and its subpath (`.` or `./sub/path`). */
export function splitSpecifier(specifier: string): { name: string; subpath: string } {
  const parts = specifier.split("/");
  const length = specifier.startsWith("@") ? 2 : 1;
  const rest = parts.slice(length).join("/");
  return { name: parts.slice(0, length).join("/"), subpath: rest === "" ? "." : `./${rest}` };
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly exports?: Record<string, string | Record<string, string>>;
  readonly evolver?: { readonly layer?: string; readonly browser?: boolean };
}

function readPackage(root: string, path: string): WorkspacePackage {
  const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest;
  const folder = dirname(path).split(sep).join("/");
  const exports = new Map<string, string>();
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    const file = typeof target === "string" ? target : target["default"];
    if (file !== undefined) exports.set(subpath, `${folder}/${file.replace(/^\.\//, "")}`);
  }
  const { name, dependencies = {}, evolver: { layer = null, browser = false } = {} } = manifest;
  return { name, folder, dependencies: Object.keys(dependencies), exports, layer, browser };
}

function readImports(
  root: string,
  packages: readonly WorkspacePackage[],
  path: string,
  text: string,
): Import[] {
  const parsed = parseSync(path, text);
  const broken = parsed.errors[0];
  if (broken) throw new SyntaxError(`${path}: ${broken.message}`);

  const imports: Import[] = [];
  const add = (specifier: string, start: number, typeOnly: boolean, dynamic: boolean): void => {
    const target = resolveImport(root, packages, path, specifier);
    imports.push({ specifier, line: lineAt(text, start), typeOnly, dynamic, target });
  };
  const { staticImports, staticExports, dynamicImports } = parsed.module;
  for (const statement of staticImports) {
    const typeOnly = /^import\s+type\b(?!\s*(?:,|from\b))/.test(text.slice(statement.start, statement.end));
    add(statement.moduleRequest.value, statement.start, typeOnly, false);
  }
  for (const statement of staticExports) {
    const from = statement.entries.find((entry) => entry.moduleRequest !== null)?.moduleRequest;
    const typeOnly = /^export\s+type\b/.test(text.slice(statement.start, statement.end));
    if (from) add(from.value, statement.start, typeOnly, false);
  }
  for (const expression of dynamicImports) {
    const { start, end } = expression.moduleRequest;
    const literal = /^(["'`])([^"'`$]+)\1$/.exec(text.slice(start, end));
    if (literal?.[2] !== undefined) add(literal[2], expression.start, false, true);
  }
  return imports;
}

function resolveImport(
  root: string,
  packages: readonly WorkspacePackage[],
  from: string,
  specifier: string,
): string | null {
  if (specifier.startsWith(".")) {
    const file = resolve(root, dirname(from), specifier);
    return existsSync(file) ? relative(root, file).split(sep).join("/") : null;
  }
  const { name, subpath } = splitSpecifier(specifier);
  return packages.find((candidate) => candidate.name === name)?.exports.get(subpath) ?? null;
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i !== -1 && i < offset; i = text.indexOf("\n", i + 1)) line++;
  return line;
}
