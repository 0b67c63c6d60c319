/**
 * Memory of types that WGSL has. A binding has one type, so that an array is made of vectors as wide as the narrowest access
 * to it, and wider accesses take several.
 */

import { elementBytes, type Memory, type ScalarType } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { surveyOf } from "../core/uses.ts";
import type { WgslMemory } from "./arrays.ts";

export class VectorMemories implements WgslMemory {
  readonly #code: Code;
  readonly #widths: ReadonlyMap<Memory, number>;

  constructor(code: Code) {
    this.#code = code;
    this.#widths = surveyOf(code.ir).accessWidths;
  }

  arrayType(memory: Memory, length: number | null): string {
    const width = this.#width(memory);
    const plain = memory.atomic && memory.element === "f32" ? "u32" : memory.element;
    const scalar = memory.atomic ? `atomic<${plain}>` : plain;
    const element = width === 1 ? scalar : `vec${width}<${plain}>`;
    return length === null ? `array<${element}>` : `array<${element}, ${Math.ceil(length / width)}>`;
  }

  bytesOf(memory: Memory): number {
    return elementBytes(memory.element) * this.#width(memory);
  }

  load(memory: Memory, index: Operand): Expression {
    return this.#code.element(memory, index);
  }

  store(memory: Memory, index: Operand, value: Operand): void {
    this.#code.line(`${this.#code.element(memory, index).text} = ${value.text};`);
  }

  loadMany(memory: Memory, index: Operand, count: number): readonly Expression[] {
    const code = this.#code;
    const width = this.#width(memory);
    this.#noteWidth("load", memory, count);
    if (width === 1) return this.#elements(memory, index, count);
    const parts = this.#vectors(memory, index, count / width).map((element) => {
      const name = code.names.take(`${memory.name}Vector`);
      code.line(`let ${name} = ${element.text};`);
      return name;
    });
    return Array.from({ length: count }, (_, k) =>
      simple(`${parts[Math.floor(k / width)]}.${"xyzw"[k % width]}`),
    );
  }

  storeMany(memory: Memory, index: Operand, values: readonly Operand[]): void {
    const code = this.#code;
    const width = this.#width(memory);
    this.#noteWidth("store", memory, values.length);
    if (width === 1) {
      this.#elements(memory, index, values.length).forEach((element, k) =>
        code.line(`${element.text} = ${(values[k] as Operand).text};`),
      );
      return;
    }
    this.#vectors(memory, index, values.length / width).forEach((element, k) => {
      const vector = call(`vec${width}<${memory.element}>`, ...values.slice(k * width, (k + 1) * width));
      code.line(`${element.text} = ${vector.text};`);
    });
  }

  uniformLoad(memory: Memory, index: Operand): Expression {
    return call("workgroupUniformLoad", simple(`&${this.#code.element(memory, index).text}`));
  }

  /** Elements in a vector of the array; WGSL has none of 8. */
  #width(memory: Memory): number {
    return Math.min(4, this.#widths.get(memory) ?? 1);
  }

  #noteWidth(action: string, memory: Memory, asked: number): void {
    const width = this.#width(memory);
    const parts = asked / width;
    const became =
      parts === 1 ? `vec${width}` : `${parts} ${action}s of ${width === 1 ? "a scalar" : `vec${width}`}`;
    const isWidest = width === 4;
    const why =
      parts === 1
        ? ""
        : isWidest
          ? ", the widest vectors"
          : `: ${memory.name} is also accessed ${width === 1 ? "singly" : "in pairs"}`;
    this.#code.note(
      `${action} of ${asked} consecutive ${memory.element} of ${memory.name}`,
      became + why,
      parts > 1,
    );
  }

  /** `count` scalars of an array of scalars. */
  #elements(memory: Memory, index: Operand, count: number): Expression[] {
    const base = this.#code.bind(index, index.type, "offset");
    return Array.from({ length: count }, (_, k) => this.#at(memory, base, index.type, k));
  }

  /** `count` elements of an array of vectors, from the one that holds the scalar at `index` on. */
  #vectors(memory: Memory, index: Operand, count: number): Expression[] {
    const width = this.#width(memory);
    const first =
      typeof index.constant === "number"
        ? simple(`${index.constant / width}u`)
        : infix(">>", index, simple(width === 4 ? "2u" : "1u"));
    if (count === 1) return [this.#code.element(memory, first)];
    const base = this.#code.bind(first, index.type, "offset");
    return Array.from({ length: count }, (_, k) => this.#at(memory, base, index.type, k));
  }

  #at(memory: Memory, base: Expression, type: ScalarType, k: number): Expression {
    const step = simple(`${k}${type === "i32" ? "i" : "u"}`);
    return this.#code.element(memory, k === 0 ? base : infix("+", base, step));
  }
}
