/**
 * The modules of our packages as a parser reads them: what each declares, imports and exports, and where an exported name comes from.
 * For the reference in docs/api.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import {
  parseSync,
  type Comment,
  type Declaration,
  type ImportDeclaration,
  type ModuleExportName,
  type Program,
} from "oxc-parser";

const root = join(import.meta.dirname, "..", "..", "..");

/** A declaration at the top level of a module, exported or not. Overloads of a function are several nodes of one declaration. */
export interface Declared {
  readonly name: string;
  readonly module: Module;
  readonly nodes: readonly { readonly node: Declaration; readonly start: number }[];
}

/** `export * as name`. */
export interface Namespace {
  readonly module: Module;
  readonly members: ReadonlyMap<string, Declared>;
}

export type Exported = Declared | Namespace;

export interface Module {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly declared: ReadonlyMap<string, Declared>;
  /** By local name. */
  readonly imported: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}

export const isNamespace = (exported: Exported): exported is Namespace => "members" in exported;

/** A name for a declaration that is the same however it is reached. */
export const keyOf = ({ module, name }: Declared): string => `${module.path}#${name}`;

const modules = new Map<string, Module>();

/** Reads a module once. */
export function moduleAt(path: string): Module {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, path), "utf8");
  const { program, comments } = parseSync(path, text);
  const declared = new Map<string, Declared>();
  const imported = new Map<string, { readonly from: string; readonly name: string }>();
  const module: Module = { path, text, program, comments, declared, imported };
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") {
      for (const entry of importsOf(statement)) imported.set(entry.local, entry);
      continue;
    }
    const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (node === null || !isDeclaration(node)) continue;
    for (const name of namesOf(node)) {
      const nodes = [...(declared.get(name)?.nodes ?? []), { node, start: statement.start }];
      declared.set(name, { name, module, nodes });
    }
  }
  modules.set(path, module);
  return module;
}

const exported = new Map<string, Map<string, Exported>>();

/** What a module exports, by the name that others import. Read once. */
export function exportsOf(path: string): ReadonlyMap<string, Exported> {
  const known = exported.get(path);
  if (known !== undefined) return known;
  const module = moduleAt(path);
  const found = new Map<string, Exported>();
  exported.set(path, found);
  const add = (name: string, target: Exported | null): void => {
    if (target !== null) found.set(name, target);
  };
  for (const statement of module.program.body) {
    if (statement.type === "ExportAllDeclaration") {
      const target = resolveModule(path, statement.source.value);
      if (target === null) continue;
      if (statement.exported === null) for (const [name, entry] of exportsOf(target)) add(name, entry);
      else add(nameOf(statement.exported), { module: moduleAt(target), members: membersOf(target) });
    } else if (statement.type === "ExportNamedDeclaration") {
      const { source, declaration, specifiers } = statement;
      for (const { local, exported: outside } of specifiers)
        add(
          nameOf(outside),
          source === null
            ? resolveName(module, nameOf(local))
            : resolveImport(path, source.value, nameOf(local)),
        );
      if (declaration !== null && isDeclaration(declaration))
        for (const name of namesOf(declaration)) add(name, module.declared.get(name) ?? null);
    }
  }
  return found;
}

/** What a name means inside a module; null for names of the language, of its libraries and of packages that are not ours. */
export function resolveName(module: Module, name: string): Exported | null {
  const own = module.declared.get(name);
  if (own !== undefined) return own;
  const entry = module.imported.get(name);
  return entry === undefined ? null : resolveImport(module.path, entry.from, entry.name);
}

function resolveImport(path: string, from: string, name: string): Exported | null {
  const target = resolveModule(path, from);
  if (target === null) return null;
  return name === "*"
    ? { module: moduleAt(target), members: membersOf(target) }
    : (exportsOf(target).get(name) ?? null);
}

const membersOf = (path: string): Map<string, Declared> =>
  new Map([...exportsOf(path)].flatMap(([name, entry]) => (isNamespace(entry) ? [] : [[name, entry]])));

/** The file that an import names; null where it is not ours. */
function resolveModule(path: string, specifier: string): string | null {
  if (specifier.startsWith(".")) {
    const target = join(dirname(path), specifier).split(sep).join("/");
    return existsSync(join(root, target)) ? target : null;
  }
  const [, name, subpath = ""] = /^@evolver\/([\w-]+)(\/.+)?$/.exec(specifier) ?? [];
  return name === undefined ? null : (entriesOf(name).get(`.${subpath}`) ?? null);
}

/** The entry points of a package in packages/, by subpath, as paths from the root. */
export function entriesOf(folder: string): Map<string, string> {
  const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return new Map(
    Object.entries(manifest.exports).map(([subpath, file]) => [
      subpath,
      relative(root, join(root, "packages", folder, file))
        .split(sep)
        .join("/"),
    ]),
  );
}

function importsOf({ source, specifiers }: ImportDeclaration) {
  return specifiers.map((specifier) => ({
    local: specifier.local.name,
    from: source.value,
    name:
      specifier.type === "ImportSpecifier"
        ? nameOf(specifier.imported)
        : specifier.type === "ImportDefaultSpecifier"
          ? "default"
          : "*",
  }));
}

const nameOf = (name: ModuleExportName): string => ("name" in name ? name.name : name.value);

const DECLARATIONS = [
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "FunctionDeclaration",
  "TSDeclareFunction",
  "VariableDeclaration",
  "ClassDeclaration",
];

const isDeclaration = (node: { readonly type: string }): node is Declaration =>
  DECLARATIONS.includes(node.type);

function namesOf(node: Declaration): string[] {
  if (node.type === "VariableDeclaration")
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  return "id" in node && node.id !== null && "name" in node.id ? [node.id.name] : [];
}
