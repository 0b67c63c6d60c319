/** JavaScript's literals, declarations and typed arrays. */

import type { ElementType } from "../../ir/types.ts";
import type { Language } from "../core/code.ts";
import { signed } from "../core/expression.ts";
import { jsHelpers } from "./helpers.ts";

/** What holds elements of a type; those of two bytes are held as their bits. */
export const TYPED_ARRAYS: Readonly<Record<ElementType, string>> = {
  f32: "Float32Array",
  i32: "Int32Array",
  u32: "Uint32Array",
  f16: "Uint16Array",
  bf16: "Uint16Array",
};

export const jsLanguage: Language = {
  helpers: jsHelpers,
  takenNames: [],
  literal: (_type, value) => signed(Object.is(value, -0) ? "-0" : String(value)),
  declareValue: (name, _type, text) => `const ${name} = ${text};`,
  declareVariable: (name, type, text) => `let ${name} = ${text ?? (type === "bool" ? "false" : "0")};`,
};
