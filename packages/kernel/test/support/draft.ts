/** IR written by hand, right or wrong, for tests of what reads it. Each node stands on a line of its own of /draft.ts. */

import { fixedSite } from "@evolver/kernel";
import type {
  Block,
  BuiltinName,
  GlobalMemory,
  KernelIR,
  Node,
  OpName,
  Param,
  PhaseBarrier,
  ScalarType,
  SharedMemory,
  Site,
  Value,
  Variable,
} from "@evolver/kernel";

type Unsited<N> = N extends Node ? Omit<N, "site"> : never;

export class Draft {
  readonly params: Param[] = [];
  readonly shared: SharedMemory[] = [];
  readonly phaseBarriers: PhaseBarrier[] = [];
  #front: Node[] = [];
  #nodes: Node[] = [];
  #values = 0;
  #variables = 0;
  #line = 1;

  site(): Site {
    return fixedSite({ file: "/draft.ts", line: this.#line++, column: 1 });
  }

  value(type: ScalarType): Value {
    return { id: this.#values++, type };
  }

  emit(node: Unsited<Node>): void {
    this.#nodes.push({ ...node, site: this.site() } as Node);
  }

  buffer(name: string, access: GlobalMemory["access"] = "read_write", atomic = false): GlobalMemory {
    const memory: GlobalMemory = { space: "global", name, element: "f32", access, atomic };
    this.params.push({ kind: "buffer", name, memory });
    return memory;
  }

  sharedMemory(name: string, element: SharedMemory["element"] = "f32", atomic = false): SharedMemory {
    const memory: SharedMemory = { space: "shared", name, element, length: 64, atomic };
    this.shared.push(memory);
    return memory;
  }

  phases(name: string, change: Partial<PhaseBarrier> = {}): PhaseBarrier {
    const barrier: PhaseBarrier = { name, count: 2, arrivals: 32, bytes: null, ...change };
    this.phaseBarriers.push(barrier);
    return barrier;
  }

  const(type: ScalarType, value: number | boolean): Value {
    const result = this.value(type);
    this.#front.push({ kind: "const", result, value, site: this.site() });
    return result;
  }

  builtin(builtin: BuiltinName): Value {
    const result = this.value("u32");
    this.#front.push({ kind: "builtin", builtin, result, site: this.site() });
    return result;
  }

  param(name: string, type: "f32" | "i32" | "u32"): Value {
    this.params.push({ kind: "scalar", name, type, lengthOf: null });
    const result = this.value(type);
    this.#front.push({ kind: "param", name, result, site: this.site() });
    return result;
  }

  op(op: OpName, operands: readonly Value[], type: ScalarType): Value {
    const result = this.value(type);
    this.emit({ kind: "op", op, operands, result });
    return result;
  }

  variable(type: Variable["type"] = "f32", name = `v${this.#variables}`): Variable {
    return { id: this.#variables++, type, name };
  }

  block(record: () => void): Block {
    const outer = this.#nodes;
    this.#nodes = [];
    record();
    const block = { nodes: this.#nodes };
    this.#nodes = outer;
    return block;
  }

  if(condition: Value, then: () => void, otherwise: () => void = () => {}): void {
    const site = this.site();
    const blocks = { then: this.block(then), else: this.block(otherwise) };
    this.#nodes.push({ kind: "if", condition, ...blocks, site });
  }

  for(to: Value, body: (i: Value) => void, change: Partial<Node & { kind: "for" }> = {}): void {
    const site = this.site();
    const zero = change.from ?? this.const(to.type, 0);
    const step = change.step ?? this.const(to.type, 1);
    const induction = change.induction ?? this.value(to.type);
    const common = { kind: "for", induction, to, direction: "up", unroll: false, site } as const;
    this.#nodes.push({ ...common, from: zero, step, body: this.block(() => body(induction)), ...change });
  }

  while(condition: () => Value, body: () => void): void {
    const site = this.site();
    let test: Value | undefined;
    const block = this.block(() => {
      test = condition();
    });
    const loop = { condition: block, test: test as unknown as Value, body: this.block(body) };
    this.#nodes.push({ kind: "while", ...loop, site });
  }

  ir(change: Partial<KernelIR> = {}): KernelIR {
    return {
      name: "draft",
      params: this.params,
      shared: this.shared,
      phaseBarriers: this.phaseBarriers,
      workgroupSize: [64, 1, 1],
      subgroupSize: 32,
      uniformity: "static",
      body: { nodes: [...this.#front, ...this.#nodes] },
      valueCount: this.#values,
      variableCount: this.#variables,
      site: fixedSite({ file: "/draft.ts", line: 0, column: 1 }),
      ...change,
    };
  }
}

/** The IR that `write` makes. */
export function draft(write: (d: Draft) => void, change: Partial<KernelIR> = {}): KernelIR {
  const d = new Draft();
  write(d);
  return d.ir(change);
}
