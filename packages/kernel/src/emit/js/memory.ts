/** Memory in JavaScript: typed arrays, one element at a time. Elements of two bytes are held as their bits. */

import { isHalf, type Memory } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { uniformLoadByAll } from "../core/defaults.ts";
import { call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { ofType } from "../core/helpers.ts";
import type { MemoryAccess } from "../core/target.ts";

export function jsMemory(code: Code, barrier: () => void): MemoryAccess {
  const load: MemoryAccess["load"] = (memory, index) => {
    const element = code.element(memory, index);
    if (!isHalf(memory.element)) return element;
    return call(code.helper(ofType("expand", memory.element)), element);
  };
  const store: MemoryAccess["store"] = (memory, index, value) => {
    const { element } = memory;
    const { text } = isHalf(element) ? call(code.helper(ofType("bitsOf", element)), value) : value;
    code.line(`${code.element(memory, index).text} = ${text};`);
  };
  const request = (action: string, memory: Memory, count: number): string =>
    `${action} of ${count} consecutive ${memory.element} of ${memory.name}`;
  return {
    load,
    store,
    loadMany(memory, index, count) {
      const base = { ...index, ...code.bind(index, "index", "offset") };
      code.note(request("load", memory, count), `${count} scalar loads`, true);
      return Array.from({ length: count }, (_, k) => load(memory, at(base, k)));
    },
    storeMany(memory, index, values) {
      const base = { ...index, ...code.bind(index, "index", "offset") };
      code.note(request("store", memory, values.length), `${values.length} scalar stores`, true);
      values.forEach((value, k) => store(memory, at(base, k), value));
    },
    uniformLoad: uniformLoadByAll(code, load, barrier),
  };
}

/** The k-th element after one. */
const at = (base: Operand, k: number): Operand =>
  k === 0 ? base : { ...base, ...plus(base, k), constant: null };

const plus = (base: Expression, k: number): Expression => infix("+", base, simple(String(k)));
