/** What calls were given, for callers without types: is it what is wanted, and what is it called in messages. */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import { variableTypes } from "../ir/types.ts";

/** A name of a type or of a thing with its article: "an f32", "a u32". */
export const withArticle = (name: string): string =>
  `${/^[aeiou]|^f(32|16)/.test(name) && name !== "u32" ? "an" : "a"} ${name}`;

/** A descriptor of a type, not its name. */
export function wantType(given: unknown, what: string, types: readonly string[] = variableTypes): void {
  const type = (given as { readonly type?: unknown } | null | undefined)?.type;
  if ((types as readonly unknown[]).includes(type)) return;
  throw new EvolverError("NOT_A_TYPE", `${what} takes a type first, not ${kindOf(given)}`, {
    where: [captureSite(true).location],
    hint: `types are ${types.join(", ")}, imported from @evolver/kernel: write f32, not "f32"`,
  });
}

export function wantFunction(given: unknown, what: string, example: string): void {
  if (typeof given === "function") return;
  throw new EvolverError("NOT_A_FUNCTION", `${what} takes a function, not ${kindOf(given)}`, {
    where: [captureSite(true).location],
    hint: `write ${example}: the function records what it does`,
  });
}

/** A value that a kernel's body made or was given: of this build or of another, which is refused elsewhere. */
export function wantValue(given: unknown, site: Site): void {
  if (typeof given === "object" && given !== null && "recorder" in given && "frame" in given) return;
  const literal = typeof given === "number" || typeof given === "boolean";
  throw new EvolverError("NOT_A_VALUE", `${kindOf(given)} stands where a run-time value is wanted`, {
    where: [site.location],
    hint: literal
      ? `make a run-time value of it: gpu.constant(${typeof given === "number" ? "f32" : "bool"}, ${given})`
      : adviceFor(given),
  });
}

/** Of both kinds, with and without async. */
export const isGenerator = (value: unknown): boolean =>
  typeof value === "object" && value !== null && GENERATORS.includes(Object.prototype.toString.call(value));

const GENERATORS: readonly string[] = ["[object Generator]", "[object AsyncGenerator]"];

const KINDS: Readonly<Record<string, string>> = {
  Var: "a variable",
  RegisterArray: "an array of registers",
  SharedArray: "a shared array",
  MutableBuffer: "a buffer",
  MutableView: "a view",
  MutableStructs: "a buffer of structs",
  AtomicArray: "an atomic array",
  Vec: "a vector",
  Array: "a JavaScript array",
  Object: "a JavaScript object",
};

/** What was given, for messages. */
export function kindOf(given: unknown): string {
  if (given === undefined || given === null) return `JavaScript's ${String(given)}`;
  if (typeof given !== "object") return `a JavaScript ${typeof given}`;
  const type = (given as { readonly type?: unknown }).type;
  const name = given.constructor?.name ?? "Object";
  return KINDS[name] ?? (typeof type === "string" ? withArticle(type) : `a JavaScript ${name}`);
}

/** What may have been meant by something that is no value. */
export function adviceFor(given: unknown): string {
  const has = (name: string): boolean => typeof given === "object" && given !== null && name in given;
  if (has("get")) return "read it: acc.get(), x.get(i)";
  if (has("components")) return "use setVec, or a component: .at(0), .x";
  if (has("x") && has("y")) return "take one of its components: .x, .y or .z";
  return "give a run-time value or a JavaScript number";
}
