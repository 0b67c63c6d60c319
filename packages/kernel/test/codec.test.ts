/** Random kernels made from the rows of the schema, valid or not: what is written comes back the same. */

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decode } from "@evolver/kernel/internal";
import { serialise } from "@evolver/kernel";
import type { FieldShape } from "@evolver/kernel/internal";
import type { Block, KernelIR, Node, NodeKind } from "@evolver/kernel";
import { fieldsOf, schema } from "@evolver/kernel/internal";
import { fixedSite, type Site } from "@evolver/kernel";
import {
  allScalarTypes,
  elementTypes,
  variableTypes,
  wordTypes,
  type GlobalMemory,
  type Param,
  type PhaseBarrier,
  type SharedMemory,
  type Value,
  type Variable,
} from "@evolver/kernel";
import { visitNodes } from "@evolver/kernel";

const kinds = Object.keys(schema) as NodeKind[];
const MAX_DEPTH = 3;

const numbers = fc.oneof(
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity),
  fc.double(),
  fc.integer(),
  fc.float(),
);

class Generator {
  readonly #pick: fc.GeneratorValue;
  readonly #values: Value[] = [];
  readonly #variables: Variable[] = [];
  readonly #buffers: GlobalMemory[] = [];
  readonly #shared: SharedMemory[];
  readonly #barriers: PhaseBarrier[];
  #depth = 0;

  constructor(pick: fc.GeneratorValue) {
    this.#pick = pick;
    const named = (prefix: string) => (_: unknown, i: number) => `${prefix}${i}`;
    this.#shared = this.#some().map((_, i) => ({
      space: "shared",
      name: named("shared")(_, i),
      element: this.#of(elementTypes),
      length: this.#count(),
      atomic: pick(fc.boolean),
    }));
    this.#barriers = this.#some().map((_, i) => ({
      name: named("phases")(_, i),
      count: this.#count(),
      arrivals: this.#count(),
      bytes: this.#maybe(() => this.#count()),
    }));
  }

  kernel(): KernelIR {
    const params = this.#some().map((_, i): Param => {
      const name = `param${i}`;
      if (this.#pick(fc.boolean)) return { kind: "scalar", name, type: this.#of(wordTypes), lengthOf: null };
      const memory: GlobalMemory = {
        space: "global",
        name,
        element: this.#of(elementTypes),
        access: this.#of(["read", "write", "read_write"]),
        atomic: this.#pick(fc.boolean),
      };
      this.#buffers.push(memory);
      return { kind: "buffer", name, memory };
    });
    const body = this.#block();
    return {
      name: this.#pick(fc.string),
      params,
      shared: this.#shared,
      phaseBarriers: this.#barriers,
      workgroupSize: [this.#count(), this.#count(), this.#count()],
      subgroupSize: this.#count(),
      uniformity: this.#of(["static", "dynamic"]),
      body,
      valueCount: this.#values.length,
      variableCount: this.#variables.length,
      site: this.#site(),
    };
  }

  #site(): Site {
    const place = { file: this.#of(["a.ts", "b.ts"]), line: this.#count(), column: this.#count() };
    return fixedSite(this.#pick(fc.boolean) ? place : { ...place, note: this.#pick(fc.string) });
  }

  #block(): Block {
    this.#depth++;
    const nodes = (this.#depth > MAX_DEPTH ? [] : this.#some(6)).flatMap(() => this.#node() ?? []);
    this.#depth--;
    return { nodes };
  }

  /** A node of any kind, or null where it would need something that there is none of. */
  #node(): Node | null {
    const kind = this.#of(kinds);
    const defined = [this.#values.length, this.#variables.length] as const;
    const fields = fieldsOf(kind).map(([name, shape]) => [name, this.#field(shape)] as const);
    if (fields.some(([, held]) => held === undefined)) {
      [this.#values.length, this.#variables.length] = defined;
      return null;
    }
    return { kind, site: this.#site(), ...Object.fromEntries(fields) } as unknown as Node;
  }

  #field(shape: FieldShape): unknown {
    switch (shape.role) {
      case "use":
        return this.#any(this.#values);
      case "definition": {
        const value = { id: this.#values.length, type: this.#of(allScalarTypes) };
        this.#values.push(value);
        return value;
      }
      case "memory":
        return this.#any([...this.#buffers, ...this.#shared]);
      case "phaseBarrier":
        return this.#any(this.#barriers);
      case "variable": {
        if (shape.does !== "declare") return this.#any(this.#variables);
        const type = this.#of(variableTypes);
        const declared = { id: this.#variables.length, type, name: this.#pick(fc.string) };
        this.#variables.push(declared);
        return declared;
      }
      case "block":
        return this.#block();
      case "literal":
        return this.#pick(() => fc.oneof(numbers, fc.boolean()));
      case "text":
        return this.#pick(fc.string);
      case "count":
        return this.#count();
      case "choice":
        return this.#of(shape.choices);
      case "flag":
        return this.#pick(fc.boolean);
      case "numberOrFlag":
        return this.#pick(() => fc.oneof(fc.boolean(), fc.nat()));
      case "list": {
        const items = this.#some().map(() => this.#field(shape.of));
        return items.includes(undefined) ? [] : items;
      }
      case "optional":
        return this.#maybe(() => this.#field(shape.of) ?? null);
      case "record":
        return Object.fromEntries(Object.entries(shape.fields).map(([name, of]) => [name, this.#field(of)]));
    }
  }

  #count(): number {
    return this.#pick(fc.nat);
  }

  #some(most = 3): unknown[] {
    return Array.from({ length: this.#pick(fc.nat, { max: most }) });
  }

  #of<T>(choices: readonly T[]): T {
    return choices[this.#pick(fc.nat, { max: choices.length - 1 })] as T;
  }

  #any<T>(choices: readonly T[]): T | undefined {
    return choices.length === 0 ? undefined : this.#of(choices);
  }

  #maybe<T>(make: () => T): T | null {
    return this.#pick(fc.boolean) ? make() : null;
  }
}

test("what serialise wrote comes back the same, for nodes of every kind", () => {
  const seen = new Set<NodeKind>();
  fc.assert(
    fc.property(fc.gen(), (pick) => {
      const ir = new Generator(pick).kernel();
      visitNodes(ir.body, ({ kind }) => void seen.add(kind));
      const text = serialise(ir);
      const back = decode(text);
      expect(back).toEqual(ir);
      expect(serialise(back)).toBe(text);
    }),
    { numRuns: 300, seed: 8 },
  );
  expect([...seen].toSorted()).toEqual(kinds.toSorted());
});
