/** Memory in CUDA C++ and HIP C++: single elements by index, wide accesses as the vector types that both have. */

import { isHalf, type ElementType, type Memory } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { uniformLoadByAll } from "../core/defaults.ts";
import { atom, call, simple, type Expression, type Operand } from "../core/expression.ts";
import type { CopyCall, MemoryAccess } from "../core/target.ts";
import { cppType } from "./language.ts";

/** The vectors that wide accesses move; two-byte elements go in pairs, as words. */
const VECTORS: Readonly<Record<ElementType, string>> = {
  f32: "float",
  i32: "int",
  u32: "uint",
  f16: "uint",
  bf16: "uint",
};

function vectorType({ element }: Memory, width: number): string {
  const words = isHalf(element) ? width / 2 : width;
  return words === 1 ? "unsigned" : `${VECTORS[element]}${words}`;
}

/** Words out of two-byte elements. */
const pairs = (values: readonly Operand[]): Expression[] =>
  Array.from({ length: values.length / 2 }, (_, k) =>
    call("pack", values[2 * k] as Operand, values[2 * k + 1] as Operand),
  );

export function cppMemory(code: Code): MemoryAccess {
  const load: MemoryAccess["load"] = (memory, index) => code.element(memory, index);
  return {
    load,
    store: (memory, index, value) => code.line(`${code.element(memory, index).text} = ${value.text};`),
    loadMany(memory, index, count) {
      const { element } = memory;
      const type = vectorType(memory, count);
      code.note(`load of ${count} consecutive ${element} of ${memory.name}`, type, false);
      const name = code.names.take(`${memory.name}Vector`);
      const address = `&${code.element(memory, index).text}`;
      code.line(`const ${type} ${name} = *reinterpret_cast<const ${type}*>(${address});`);
      return Array.from({ length: count }, (_, k) => {
        if (!isHalf(element)) return simple(`${name}.${"xyzw"[k]}`);
        const word = count === 2 ? name : `${name}.${"xyzw"[k >> 1]}`;
        return atom(`${element}::from(${word}${k % 2 === 0 ? "" : " >> 16"})`);
      });
    },
    storeMany(memory, index, values) {
      const { element } = memory;
      const type = vectorType(memory, values.length);
      code.note(`store of ${values.length} consecutive ${element} of ${memory.name}`, type, false);
      const parts = isHalf(element) ? pairs(values) : values;
      const vector = parts.length === 1 ? (parts[0] as Expression) : call(`make_${type}`, ...parts);
      code.line(`*reinterpret_cast<${type}*>(&${code.element(memory, index).text}) = ${vector.text};`);
    },
    uniformLoad: uniformLoadByAll(code, load, () => code.line(WORKGROUP_BARRIER)),
  };
}

export const WORKGROUP_BARRIER = "__syncthreads();";

/** The call that starts a copy, in the width of one access. */
export function startCopy(code: Code, { node, to, from, active }: CopyCall): void {
  const type = node.width === 1 ? cppType(node.from.element) : vectorType(node.from, node.width);
  const [target, source] = [code.element(node.to, to).text, code.element(node.from, from).text];
  code.line(`${code.helper("startCopy")}<${type}>(&${target}, &${source}, ${active?.text ?? "true"});`);
}
