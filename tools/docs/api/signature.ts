/**
 * What people need to see of a declaration: its types and the comments of its members as the source has them, without bodies, without
 * values that are long, and without what is private.
 */

import type {
  Class,
  ClassElement,
  Declaration,
  Function as FunctionNode,
  MethodDefinition,
  PropertyDefinition,
  VariableDeclarator,
} from "oxc-parser";
import { docBefore, isInternal } from "./doc.ts";
import type { Declared, Module } from "./modules.ts";

export type Kind = "function" | "class" | "constant" | "interface" | "type";

/** Values of constants are shown up to so many lines. */
const VALUE_LINES = 12;

/** Default values of parameters are shown up to so many characters. */
const LONGEST_DEFAULT = 40;

/** Of the nodes of one name, a function's say more than a type's of the same name. */
export function kindOf({ nodes }: Declared): Kind {
  const kinds = nodes.map(({ node }) => kindOfNode(node));
  return kinds.find((kind) => kind !== "type" && kind !== "interface") ?? (kinds[0] as Kind);
}

/** All signatures of a name, one below the other. */
export function signatureOf({ name, module, nodes }: Declared): string {
  const overloaded = nodes.some(({ node }) => node.type === "TSDeclareFunction");
  return nodes
    .filter(({ node }) => !(overloaded && node.type === "FunctionDeclaration"))
    .map(({ node }) => signatureOfNode(module, name, node))
    .join("\n\n");
}

function kindOfNode(node: Declaration): Kind {
  switch (node.type) {
    case "TSInterfaceDeclaration":
      return "interface";
    case "TSTypeAliasDeclaration":
      return "type";
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return "function";
    case "ClassDeclaration":
      return "class";
    case "VariableDeclaration":
      return node.declarations.some(({ init }) => init?.type === "ArrowFunctionExpression")
        ? "function"
        : "constant";
    default:
      throw new Error(`an export is a ${node.type}, which the reference cannot show`);
  }
}

function signatureOfNode(module: Module, name: string, node: Declaration): string {
  const slice = (start: number, end: number): string => dedent(module, start, end);
  switch (node.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return slice(node.start, node.end);
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return functionHead(module, node);
    case "VariableDeclaration": {
      const declarator = node.declarations.find(({ id }) => id.type === "Identifier" && id.name === name);
      return declarator === undefined ? "" : variable(module, name, declarator);
    }
    case "ClassDeclaration":
      return classSignature(module, node);
    default:
      throw new Error(`an export is a ${node.type}, which the reference cannot show`);
  }
}

function functionHead(module: Module, node: FunctionNode): string {
  return withoutLongDefaults(module, dedent(module, node.start, node.body?.start ?? node.end), node.params)
    .replace(/^declare /, "")
    .replace(/^async /, "")
    .replace(/;$/, "");
}

function variable(module: Module, name: string, { id, init }: VariableDeclarator): string {
  const head = `const ${dedent(module, id.start, id.end)}`;
  if (id.type === "Identifier" && id.typeAnnotation) return head;
  if (init?.type === "ArrowFunctionExpression") {
    const arrow = withoutLongDefaults(module, dedent(module, init.start, init.body.start), init.params)
      .replace(/^async /, "")
      .replace(/\s*=>\s*\(?$/, "");
    return `function ${name}${arrow}`;
  }
  if (!init) return head;
  const value = dedent(module, init.start, init.end);
  return value.split("\n").length > VALUE_LINES ? head : `${head} = ${value}`;
}

function classSignature(module: Module, node: Class): string {
  const overloaded = new Set(
    node.body.body.flatMap((member) =>
      isMethod(member) && member.value.body === null ? [nameIn(module, member)] : [],
    ),
  );
  const members = node.body.body
    .filter(
      (member) => !(isMethod(member) && member.value.body !== null && overloaded.has(nameIn(module, member))),
    )
    .flatMap((member) => classMember(module, member));
  const head = dedent(module, node.start, node.body.start);
  if (members.length === 0) return `${head} {}`;
  const lines = members.flatMap(({ doc, text }) => (doc === "" ? [text] : [doc, text]));
  return [`${head} {`, ...lines.map((line) => line.replace(/^(?=.)/gm, "  ")), "}"].join("\n");
}

const isMethod = (member: ClassElement): member is MethodDefinition => member.type === "MethodDefinition";

const nameIn = (module: Module, { key }: MethodDefinition): string => dedent(module, key.start, key.end);

function classMember(
  module: Module,
  member: ClassElement,
): { readonly doc: string; readonly text: string }[] {
  if (
    member.type !== "PropertyDefinition" &&
    member.type !== "MethodDefinition" &&
    member.type !== "TSAbstractMethodDefinition" &&
    member.type !== "TSAbstractPropertyDefinition"
  )
    return [];
  if (member.key.type === "PrivateIdentifier" || (member.accessibility ?? "public") !== "public") return [];
  if (member.computed && !/dispose/i.test(dedent(module, member.key.start, member.key.end))) return [];
  const comment = docBefore(module, member.start);
  if (comment !== null && isInternal(comment.text)) return [];
  // A constructor without a comment is called by the package alone.
  if ("kind" in member && member.kind === "constructor" && comment === null) return [];
  const doc = comment === null ? "" : dedent(module, comment.start, comment.end);
  const text =
    member.type === "MethodDefinition" || member.type === "TSAbstractMethodDefinition"
      ? method(module, member as MethodDefinition)
      : property(module, member as PropertyDefinition);
  return [{ doc, text }];
}

function method(module: Module, { start, end, value }: MethodDefinition): string {
  const head = withoutLongDefaults(module, dedent(module, start, value.body?.start ?? end), value.params);
  return `${withoutModifiers(head).replace(/;$/, "")};`;
}

function property(module: Module, { start, end, key, value, typeAnnotation }: PropertyDefinition): string {
  if (value?.type === "ArrowFunctionExpression" && !typeAnnotation) {
    const head = dedent(module, value.start, value.body.start).replace(/\s*=>\s*\(?$/, "");
    return `${dedent(module, key.start, key.end)}${head};`;
  }
  const isPlain = value?.type === "Literal" && !typeAnnotation;
  const text = dedent(module, start, isPlain ? end : (value?.start ?? end));
  return `${withoutModifiers(text).replace(/\s*=$/, "").replace(/;$/, "")};`;
}

const withoutModifiers = (text: string): string =>
  text.replace(/^((?:static |abstract |readonly )*)(?:(?:override|declare|async) )+/, "$1");

/** A default value is shown where it is short and says something outside; else the parameter is shown as optional. */
function withoutLongDefaults(module: Module, head: string, params: FunctionNode["params"]): string {
  let text = head;
  for (const param of params) {
    if (param.type !== "AssignmentPattern" || param.left.type !== "Identifier") continue;
    const value = module.text.slice(param.right.start, param.right.end);
    if (value.length <= LONGEST_DEFAULT && !value.includes("#")) continue;
    const { name, typeAnnotation } = param.left;
    const type = typeAnnotation ? dedent(module, typeAnnotation.start, typeAnnotation.end) : "";
    text = text.replace(dedent(module, param.start, param.end), () => `${name}?${type}`);
  }
  return text;
}

/** A piece of source, moved to the left as far as its last line is indented. */
function dedent({ text }: Module, start: number, end: number): string {
  const before = /[^\n]*$/.exec(text.slice(0, start))?.[0] ?? "";
  const indent = /^ */.exec(before)?.[0].length ?? 0;
  return text
    .slice(start, end)
    .replace(new RegExp(`\\n {0,${indent}}`, "g"), "\n")
    .replace(/^[ \t]*\/\/ (?:oxlint|eslint|@ts)-[^\n]*\n/gm, "")
    .trim();
}
