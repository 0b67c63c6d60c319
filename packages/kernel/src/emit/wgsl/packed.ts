/**
 * Memory of f16 and bf16 that WGSL lacks, as arrays of words with two elements in each. Where single elements are
 * stored, words are atomic, so that two invocations that write the two halves of a word do not overwrite each other's.
 */

import type { HalfType, Memory } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { ofType } from "../core/helpers.ts";
import { surveyOf } from "../core/uses.ts";
import type { WgslMemory } from "./arrays.ts";

interface Packing {
  readonly type: HalfType;
  /** Words in an element of the array: 1, or 2 or 4 where all accesses are so wide. */
  readonly words: number;
  readonly isAtomic: boolean;
}

const WORD_BYTES = 4;

const one = simple("1u");

export class PackedMemories implements WgslMemory {
  readonly #code: Code;
  readonly #packings = new Map<Memory, Packing>();

  constructor(code: Code, memories: readonly Memory[]) {
    this.#code = code;
    const { singlyStored, accessWidths } = surveyOf(code.ir);
    for (const memory of memories) {
      const isAtomic = singlyStored.has(memory);
      const words = isAtomic ? 1 : Math.max(1, (accessWidths.get(memory) ?? 1) / 2);
      this.#packings.set(memory, { type: memory.element as HalfType, words, isAtomic });
      code.note(
        `memory of ${memory.element}: ${memory.name}`,
        isAtomic ? "packed in u32, single stores by two atomic operations" : "packed in u32",
        true,
      );
    }
  }

  has(memory: Memory): boolean {
    return this.#packings.has(memory);
  }

  bytesOf(memory: Memory): number {
    return this.#packing(memory).words * WORD_BYTES;
  }

  arrayType(memory: Memory, length: number | null): string {
    const { words, isAtomic } = this.#packing(memory);
    const element = isAtomic ? "atomic<u32>" : words === 1 ? "u32" : `vec${words}<u32>`;
    return length === null ? `array<${element}>` : `array<${element}, ${Math.ceil(length / words / 2)}>`;
  }

  load(memory: Memory, index: Operand): Expression {
    const packing = this.#packing(memory);
    if (typeof index.constant === "number") {
      const word = this.#word(memory, simple(`${index.constant >>> 1}u`));
      return this.#expanded(packing, word, index.constant % 2 === 1);
    }
    const at = this.#unsigned(index);
    return this.#halfOf(packing, this.#word(memory, infix(">>", at, one)), at);
  }

  store(memory: Memory, index: Operand, value: Operand): void {
    const { type } = this.#packing(memory);
    const at = this.#unsigned(index);
    const word = this.#code.element(memory, infix(">>", at, one));
    const name = this.#code.helper(`storeHalf${memory.space === "shared" ? "Workgroup" : "Storage"}`);
    this.#code.line(`${call(name, simple(`&${word.text}`), at, this.#bits(type, value)).text};`);
  }

  loadMany(memory: Memory, index: Operand, count: number): readonly Expression[] {
    const packing = this.#packing(memory);
    const { words: size } = packing;
    const words = this.#elements(packing, index, count).flatMap((element) => {
      const hint = `${memory.name}${size === 1 ? "Word" : "Vector"}`;
      const { text } = this.#code.bind(this.#word(memory, element), "u32", hint);
      return Array.from({ length: size }, (_, k) => simple(size === 1 ? text : `${text}.${"xyzw"[k]}`));
    });
    return Array.from({ length: count }, (_, k) =>
      this.#expanded(packing, words[k >> 1] as Expression, k % 2 === 1),
    );
  }

  storeMany(memory: Memory, index: Operand, values: readonly Operand[]): void {
    const packing = this.#packing(memory);
    const { type, words: size, isAtomic } = packing;
    const words = Array.from({ length: values.length / 2 }, (_, k) => {
      const [low, high] = [values[2 * k] as Operand, values[2 * k + 1] as Operand];
      return infix("|", this.#bits(type, low), infix("<<", this.#bits(type, high), simple("16u")));
    });
    this.#elements(packing, index, values.length).forEach((element, k) => {
      const { text } = this.#code.element(memory, element);
      const parts = words.slice(k * size, (k + 1) * size);
      const value = size === 1 ? (parts[0] as Expression) : call(`vec${size}<u32>`, ...parts);
      this.#code.line(isAtomic ? `atomicStore(&${text}, ${value.text});` : `${text} = ${value.text};`);
    });
  }

  uniformLoad(memory: Memory, index: Operand): Expression {
    const at = this.#unsigned(index);
    const word = this.#code.element(memory, infix(">>", at, one));
    return this.#halfOf(this.#packing(memory), call("workgroupUniformLoad", simple(`&${word.text}`)), at);
  }

  #packing(memory: Memory): Packing {
    return this.#packings.get(memory) as Packing;
  }

  /** A word, to read. */
  #word(memory: Memory, index: Expression): Expression {
    const element = this.#code.element(memory, index);
    return this.#packing(memory).isAtomic ? call("atomicLoad", simple(`&${element.text}`)) : element;
  }

  /** The elements of the array that an access of `count` from `index` on touches. */
  #elements({ words }: Packing, index: Operand, count: number): Expression[] {
    const size = 2 * words;
    const first =
      typeof index.constant === "number"
        ? simple(`${index.constant / size}u`)
        : infix(">>", index, simple(`${Math.log2(size)}u`));
    const parts = count / size;
    if (parts === 1) return [first];
    const base = this.#code.bind(index.type === "i32" ? call("u32", first) : first, "u32", "offset");
    return Array.from({ length: parts }, (_, k) => (k === 0 ? base : infix("+", base, simple(`${k}u`))));
  }

  /** An index as a name of type u32. */
  #unsigned(index: Operand): Expression {
    return this.#code.bind(index.type === "i32" ? call("u32", index) : index, "u32", "offset");
  }

  /** The element of a word that an index asks for. */
  #halfOf(packing: Packing, word: Expression, index: Expression): Expression {
    const shift = infix("*", simple("16u"), infix("&", index, one));
    return this.#expanded(packing, infix(">>", word, shift), false);
  }

  #expanded({ type }: Packing, word: Expression, isHigh: boolean): Expression {
    const bits = isHigh ? infix(">>", word, simple("16u")) : word;
    return call(this.#code.helper(ofType("expand", type)), bits);
  }

  #bits(type: HalfType, value: Operand): Expression {
    return call(this.#code.helper(ofType("bitsOf", type)), value);
  }
}
