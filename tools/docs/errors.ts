/**
 * The list of error codes in docs/errors.md: every code that an EvolverError of the packages can have, with what it says and what
 * to do. Read from the source with a parser; … stands for what a message fills in.
 */

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, Visitor, type Argument, type Expression, type ObjectExpression } from "oxc-parser";

const root = join(import.meta.dirname, "..", "..");

export interface ErrorEntry {
  readonly code: string;
  /** Names of packages. */
  readonly packages: Set<string>;
  /** Messages, and after each what to do about it if it says so. */
  readonly says: Map<string, string>;
}

/** Codes that the source puts together from parts, or whose texts come from elsewhere, and what they say. */
const COMPOSED: Readonly<Record<string, readonly [string, string]>> = {
  CUDA_COMPILER_MISSING: ["device", "NVRTC, CUDA's run-time compiler, is not found or does not start"],
  CUDA_ERROR: ["device", "… failed: what CUDA's driver said"],
  FILE_NOT_FOUND: ["cli", "there is no file …<br>… is a folder, not a file"],
  HIP_ERROR: ["device", "… failed: what HIP's driver said"],
  INPUT_NOT_FOUND: ["attention", "there is no file …<br>… is a folder, not a file"],
  INVALID_SAFETENSORS: [
    "attention",
    "… is not a readable safetensors file; the text says what is wrong in it",
  ],
  PROFILE_NOT_FOUND: ["lab", "there is no file …<br>… is a folder, not a file"],
  UNKNOWN_COMMAND: ["cli", "unknown command '…'"],
  UNKNOWN_OPTION: ["cli", "unknown option '…'"],
};

/** First arguments that are codes from elsewhere, which stand in the list by their own right. */
const PASSED_ON = /^(?:code|\w+\.code)$/;

const CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

/** A function that makes an error of one code from its parameters. */
interface Maker {
  readonly code: string;
  readonly parameters: readonly string[];
  readonly what: Argument | undefined;
  readonly hint: Expression | null;
}

interface Source {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  readonly program: ReturnType<typeof parseSync>["program"];
}

/** All codes, in the order of the alphabet. @throws where the source makes an error whose code cannot be read */
export function errorCodes(): ErrorEntry[] {
  const sources = globSync("packages/*/src/**/*.ts", { cwd: root }).map((path): Source => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, program: parseSync(path, text).program };
  });
  const entries = new Map<string, ErrorEntry>();
  const add = (path: string, code: string, what: string, hint: string): void => {
    const entry = entries.get(code) ?? { code, packages: new Set(), says: new Map<string, string>() };
    entries.set(code, entry);
    entry.packages.add(path.split("/")[1] as string);
    if (/[A-Za-z]{3}/.test(what) && !entry.says.has(what)) entry.says.set(what, hint);
  };
  for (const [code, [name, what]] of Object.entries(COMPOSED)) add(`packages/${name}`, code, what, "");
  const makers = new Map(sources.map((source) => [source.path, makersOf(source)]));
  for (const source of sources) findErrors(source, makers, add);
  return [...entries.values()].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

type Add = (path: string, code: string, what: string, hint: string) => void;

function findErrors(
  { path, text, program }: Source,
  makers: ReadonlyMap<string, ReadonlyMap<string, Maker>>,
  add: Add,
): void {
  const known = new Map(makers.get(path));
  for (const statement of program.body) {
    if (statement.type !== "ImportDeclaration" || !statement.source.value.startsWith(".")) continue;
    const from = makers.get(join(dirname(path), statement.source.value));
    for (const { local } of statement.specifiers) {
      const maker = from?.get(local.name);
      if (maker !== undefined) known.set(local.name, maker);
    }
  }
  const error = (args: readonly Argument[]): void => {
    const [code, what, details] = args;
    if (code?.type === "Literal" && typeof code.value === "string")
      add(path, code.value, render(what), render(hintOf(details)));
    else if (
      code?.type === "TemplateLiteral" ||
      code === undefined ||
      PASSED_ON.test(text.slice(code.start, code.end))
    )
      return;
    else for (const literal of codesIn(text.slice(code.start, code.end))) add(path, literal, "", "");
  };
  new Visitor({
    NewExpression({ callee, arguments: args }) {
      if (callee.type === "Identifier" && callee.name === "EvolverError") error(args);
    },
    CallExpression({ callee, arguments: args }) {
      // The constructor of a class of errors, and a function that makes errors.
      if (callee.type === "Super" && isCode(args[0])) error(args);
      const maker = callee.type === "Identifier" ? known.get(callee.name) : undefined;
      if (maker === undefined) return;
      const given = new Map(maker.parameters.map((name, i) => [name, render(args[i])]));
      add(path, maker.code, render(maker.what, given), render(maker.hint, given));
    },
    Property({ key, value }) {
      // What a reader of files is told: { what: "the policy", code: "POLICY_INVALID", hint }; and tables of codes.
      if (isCode(value) && value.value.includes("_") && key.type === "Identifier" && key.name === "code")
        add(path, value.value, "", "");
      else if (isCode(value) && key.type === "Literal" && path.includes("/cli/"))
        add(path, value.value, "", "");
    },
    ObjectExpression(node) {
      const [code, what] = [propertyOf(node, "code"), propertyOf(node, "what")];
      if (!isCode(code) || what === null) return;
      const subject = render(what);
      const says =
        propertyOf(node, "file") === null ? subject : `${subject}: the text names the field that is wrong`;
      add(path, code.value, says, render(propertyOf(node, "hint")));
    },
  }).visit(program);
}

function makersOf({ program }: Source): Map<string, Maker> {
  const found = new Map<string, Maker>();
  const look = (name: string, params: readonly unknown[], body: object): void => {
    const parameters = (params as readonly { readonly type: string; readonly name?: string }[]).map(
      (param) => param.name ?? "",
    );
    const collect = new Visitor({
      NewExpression({ callee, arguments: [code, what, details] }) {
        if (callee.type !== "Identifier" || callee.name !== "EvolverError" || !isCode(code)) return;
        const uses = identifiersIn(what);
        if (parameters.some((parameter) => uses.has(parameter)))
          found.set(name, { code: code.value, parameters, what, hint: hintOf(details) });
      },
    });
    collect.visit({ ...program, body: [{ type: "ExpressionStatement", expression: body }] } as never);
  };
  new Visitor({
    FunctionDeclaration(node) {
      if (node.id !== null) look(node.id.name, node.params, { ...node, type: "FunctionExpression" });
    },
    VariableDeclarator({ id, init }) {
      if (id.type === "Identifier" && init?.type === "ArrowFunctionExpression")
        look(id.name, init.params, init);
    },
  }).visit(program);
  return found;
}

function identifiersIn(node: Argument | undefined): Set<string> {
  if (node === undefined) return new Set();
  if (node.type === "Identifier") return new Set([node.name]);
  if (node.type === "TemplateLiteral")
    return new Set(node.expressions.flatMap((part) => (part.type === "Identifier" ? [part.name] : [])));
  return new Set();
}

const isCode = (node: unknown): node is { readonly type: "Literal"; readonly value: string } => {
  const { type, value } = (node ?? {}) as { readonly type?: string; readonly value?: unknown };
  return type === "Literal" && typeof value === "string" && CODE.test(value) && value.length > 3;
};

const codesIn = (text: string): string[] =>
  [...text.matchAll(/"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"/g)].map((match) => match[1] as string);

function propertyOf(node: ObjectExpression, name: string): Expression | null {
  for (const property of node.properties)
    if (property.type === "Property" && property.key.type === "Identifier" && property.key.name === name)
      return property.value as Expression;
  return null;
}

const hintOf = (details: Argument | undefined): Expression | null =>
  details?.type === "ObjectExpression" ? propertyOf(details, "hint") : null;

/** A text with … for what is filled in; empty where nothing is known. @param given values of parameters */
function render(node: Argument | null | undefined, given: ReadonlyMap<string, string> = new Map()): string {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : "…";
    case "TemplateLiteral":
      return node.quasis
        .map(
          ({ value }, i) =>
            `${value.cooked}${i < node.expressions.length ? inner(node.expressions[i], given) : ""}`,
        )
        .join("");
    case "BinaryExpression":
      return `${inner(node.left as Expression, given)}${inner(node.right, given)}`;
    case "ConditionalExpression":
      return render(node.consequent, given);
    case "Identifier":
      return given.get(node.name) ?? "";
    default:
      return "";
  }
}

const inner = (node: Expression | undefined, given: ReadonlyMap<string, string>): string =>
  (node?.type === "ConditionalExpression" ? "" : render(node, given)) || "…";

/** At most so many messages per code; the others are like them. */
const SHOWN = 3;

/** The table of docs/errors.md. */
export function errorTable(): string {
  const cell = (text: string): string =>
    text
      .replaceAll(/\s+/g, " ")
      .replaceAll("|", "\\|")
      .replaceAll(/<(?!br>)/g, "&lt;")
      .replaceAll("…….", "….");
  const rows = errorCodes().map(({ code, packages, says }) => {
    const shown = [...says].slice(0, SHOWN);
    const more = says.size > SHOWN ? "<br>and others" : "";
    const what = shown.map(([text]) => cell(text)).join("<br>") + more;
    const hints = [...new Set(shown.map(([, hint]) => cell(hint)).filter((hint) => hint !== ""))];
    return `| \`${code}\` | ${[...packages].toSorted().join(", ")} | ${what} | ${hints.join("<br>")} |`;
  });
  return ["| code | package | what it says | what to do |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
