/**
 * The reference of the host API: what `@evolver/device` exports, with its types and comments as the source has them. Read with a
 * parser, so that docs/host-api.md is never behind the code.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { parseSync, type Comment, type Declaration, type MethodDefinition, type Program } from "oxc-parser";

export interface ApiEntry {
  readonly name: string;
  /** Below packages/device/src. */
  readonly file: string;
  /** The comment before it, without its stars; null where it has none. */
  readonly doc: string | null;
  /** The declaration without bodies and values. */
  readonly signature: string;
}

const root = join(import.meta.dirname, "..", "..");
const SOURCE = join(root, "packages", "device", "src");

/** The generated blocks of docs/host-api.md, and the files, or folders, whose exports each has. */
const API_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  "api-open": ["open.ts", "cpu/", "webgpu/", "core/native-options.ts", "core/device-rows.ts"],
  "api-run": ["core/device.ts", "core/buffer.ts"],
  "api-check": ["sim/", "core/findings.ts", "core/traces.ts"],
  "api-counters": ["core/counters.ts"],
  "api-plans": [
    "plan/build.ts",
    "plan/bind.ts",
    "plan/bound.ts",
    "plan/plan.ts",
    "plan/check.ts",
    "plan/programs.ts",
    "plan/wire.ts",
    "plan/bits.ts",
  ],
  "api-tunable": ["plan/tunable.ts", "plan/tunable-kernel.ts"],
  "api-half": ["core/half.ts"],
  "api-ladder": ["core/claims.ts", "plan/rungs.ts", "core/residency.ts"],
};

/** The text of each block of docs/host-api.md. */
export function apiBlocks(): Map<string, string> {
  const entries = hostApi();
  return new Map(
    Object.entries(API_BLOCKS).map(([block, places]) => [
      block,
      places
        .flatMap((place) => entries.filter(({ file }) => isAt(file, place)))
        .map(describe)
        .join("\n\n"),
    ]),
  );
}

/** Null for an export that stands in none. */
export function blockOf({ file }: ApiEntry): string | null {
  return (
    Object.entries(API_BLOCKS).find(([, places]) => places.some((place) => isAt(file, place)))?.[0] ?? null
  );
}

const isAt = (file: string, place: string): boolean =>
  place.endsWith("/") ? file.startsWith(place) : file === place;

/** Everything that `@evolver/device` exports, by file and in the order of each file. */
export const hostApi = (): ApiEntry[] => [...exportsOf(join(SOURCE, "index.ts")).values()];

function describe({ name, doc, signature }: ApiEntry): string {
  const text = doc === null ? "" : `${doc}\n\n`;
  return `### \`${name}\`\n\n${text}\`\`\`typescript\n${signature}\n\`\`\``;
}

interface Module {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
}

function read(path: string): Module {
  const text = readFileSync(path, "utf8");
  const { program, comments } = parseSync(path, text);
  return { path, text, program, comments };
}

/** What a module exports, by name. */
function exportsOf(path: string): Map<string, ApiEntry> {
  const module = read(path);
  const found = new Map<string, ApiEntry>();
  const from = (specifier: string): Map<string, ApiEntry> => {
    const target = join(dirname(path), specifier);
    if (!existsSync(target)) throw new Error(`${path} exports from ${specifier}, which is no file`);
    return exportsOf(target);
  };
  for (const statement of module.program.body) {
    if (statement.type === "ExportAllDeclaration") {
      for (const [name, entry] of from(statement.source.value)) found.set(name, entry);
    } else if (statement.type === "ExportNamedDeclaration") {
      const { source, declaration, start } = statement;
      if (source !== null) {
        const all = from(source.value);
        for (const { local, exported } of statement.specifiers) {
          const entry = all.get(nameOf(local));
          if (entry === undefined)
            throw new Error(`${path} exports ${nameOf(local)}, which ${source.value} has not`);
          found.set(nameOf(exported), entry);
        }
      } else if (declaration !== null)
        for (const [name, signature] of signaturesOf(module, declaration)) {
          // Of several signatures of a function the last one has the body.
          const file = relative(SOURCE, path).split(sep).join("/");
          found.set(name, { name, file, doc: docBefore(module, start), signature });
        }
    }
  }
  return found;
}

const nameOf = (name: { readonly type: string; readonly name?: string; readonly value?: string }): string =>
  name.name ?? name.value ?? "";

/** The names that a declaration declares, each with what people need to see of it. */
function signaturesOf({ text }: Module, declaration: Declaration): [name: string, signature: string][] {
  const slice = (start: number, end: number): string => text.slice(start, end).trim();
  switch (declaration.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [[declaration.id.name, slice(declaration.start, declaration.end)]];
    case "FunctionDeclaration":
    case "TSDeclareFunction": {
      const end = declaration.body?.start ?? declaration.end;
      return [[declaration.id?.name ?? "", slice(declaration.start, end).replace(/^async /, "")]];
    }
    case "VariableDeclaration":
      return declaration.declarations.flatMap(({ id, init }): [string, string][] => {
        if (id.type !== "Identifier") return [];
        if (init?.type === "ArrowFunctionExpression") {
          const head = slice(init.start, init.body.start)
            .replace(/^async /, "")
            .replace(/\s*=>$/, "");
          return [[id.name, `function ${id.name}${head}`]];
        }
        const value = init?.type === "Literal" ? ` = ${slice(init.start, init.end)}` : "";
        return [[id.name, `const ${slice(id.start, id.end)}${value}`]];
      });
    case "ClassDeclaration": {
      const members = declaration.body.body.flatMap((member) => {
        if (member.type !== "PropertyDefinition" && member.type !== "MethodDefinition") return [];
        if (member.key.type === "PrivateIdentifier" || (member.accessibility ?? "public") !== "public")
          return [];
        if (member.type === "PropertyDefinition")
          return [`  ${slice(member.start, member.value?.start ?? member.end).replace(/ =$/, ";")}`];
        const { kind, value } = member as MethodDefinition;
        if (kind === "constructor") return [];
        return [`  ${slice(member.start, value.body?.start ?? member.end)};`.replace(/^ {2}async /, "  ")];
      });
      const head = slice(declaration.start, declaration.body.start);
      return [[declaration.id?.name ?? "", [`${head} {`, ...members, "}"].join("\n")]];
    }
    default:
      throw new Error(`an export is a ${declaration.type}, which the reference cannot show`);
  }
}

/** The text of the comment that ends right before a place. */
function docBefore({ text, comments }: Module, start: number): string | null {
  const own = comments.findLast(
    ({ type, value, end }) =>
      type === "Block" &&
      value.startsWith("*") &&
      end <= start &&
      /^\s*(?:\/\/[^\n]*\s*)?$/.test(text.slice(end, start)),
  );
  if (own === undefined) return null;
  const lines = own.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  return tagged(lines.join("\n").trim());
}

/** Parameters and errors as lists. */
const tagged = (doc: string): string =>
  doc
    .replaceAll(/\n*^@throws EvolverError /gm, "\n\nThrows ")
    .replaceAll(/(?<=\S)\s+@throws EvolverError /g, "\n\nThrows ")
    .replaceAll(/^@(?:param|typeParam) (\w+) /gm, "- `$1`: ")
    .replaceAll(/^@returns /gm, "Gives ")
    .trim();
