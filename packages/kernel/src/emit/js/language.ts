/** JavaScript's literals, declarations and typed arrays. */

import { scalarTypes, type ElementType } from "../../ir/types.ts";
import type { Language } from "../core/code.ts";
import { signed } from "../core/expression.ts";
import { jsHelpers } from "./helpers.ts";

/** The name of what holds elements of a type; those of two bytes are held as their bits. */
export const typedArray = (element: ElementType): string => scalarTypes[element].array.name;

export const jsLanguage: Language = {
  helpers: jsHelpers,
  takenNames: [],
  literal: (_type, value) => signed(Object.is(value, -0) ? "-0" : String(value)),
  declareValue: (name, _type, text) => `const ${name} = ${text};`,
  declareVariable: (name, type, text) => `let ${name} = ${text ?? (type === "bool" ? "false" : "0")};`,
};
