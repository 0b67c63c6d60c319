/**
 * Compiles a kernel to a WebAssembly module whose `run(arguments, shared, context, first, end)` runs workgroups `first`
 * to `end` − 1. At workgroup level: control flow around barriers, what is the same for the whole workgroup, and, for
 * every stretch between barriers, a loop over the subgroups. Stretches are written by control.ts.
 */

import { ELEMENT_BYTES } from "@evolver/kernel";
import type { KernelIR, Memory, Node, Value } from "@evolver/kernel";
import { visitNodes } from "@evolver/kernel";
import { AddressCache, loadWide } from "./access.ts";
import { ARGUMENTS, isSubgroupBuiltin } from "./builtins.ts";
import { classify } from "./classify.ts";
import { emitStretchBody } from "./control.ts";
import { Emitter, scalarWasm } from "./emitter.ts";
import { FunctionBuilder, type Label } from "./encoder.ts";
import { Helpers } from "./helpers.ts";
import { OP } from "./opcodes.ts";
import { emitScalar } from "./operations.ts";
import { Partition, workgroupLevelNodes, type Item, type Stretch } from "./partition.ts";
import { emitRun, emitScalarNode, isLaneNode, laneOperands } from "./runs.ts";

export interface CompiledKernel {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What a worker must set aside for a workgroup, in bytes. */
  readonly sharedBytes: number;
  readonly contextBytes: number;
  readonly argumentBytes: number;
}

export interface CompileOptions {
  /** Whether relaxed SIMD is there and its multiply-add rounds once. */
  readonly fusedMultiplyAdd: boolean;
  /** The most 64 KiB pages that the memory may grow to. */
  readonly maximumPages: number;
}

/** Constants used as vectors that are kept in locals of their own; the rest are written where they are used. */
const MAX_CONSTANT_LOCALS = 24;

export function compileKernel(ir: KernelIR, options: CompileOptions): CompiledKernel {
  const workgroupLevel = workgroupLevelNodes(ir);
  const forms = classify(ir, workgroupLevel);
  const partition = new Partition(ir, forms, workgroupLevel);
  const helpers = new Helpers(options.fusedMultiplyAdd);
  const sharedOffsets = new Map<Memory, number>();
  let sharedBytes = 0;
  for (const memory of ir.shared) {
    sharedOffsets.set(memory, sharedBytes);
    sharedBytes = align(sharedBytes + memory.length * ELEMENT_BYTES, 64);
  }
  const f = new FunctionBuilder({ params: ["i32", "i32", "i32", "i32", "i32"], results: [] });
  const e = new Emitter(ir, f, helpers, forms, partition, {
    shared: (memory) => sharedOffsets.get(memory) as number,
    exchange: 0,
  });
  const contextBytes = new KernelWriter(e).write();
  helpers.module.add(f, "run");
  return {
    bytes: helpers.module.encode(options.maximumPages),
    sharedBytes,
    contextBytes,
    argumentBytes: ARGUMENTS.params + 4 * ir.params.length,
  };
}

function align(bytes: number, to: number): number {
  return Math.ceil(bytes / to) * to;
}

interface WorkgroupLoop {
  readonly exit: Label;
  readonly next: Label;
}

class KernelWriter {
  readonly #e: Emitter;
  readonly #f: FunctionBuilder;
  readonly #subgroups: number;
  /** Offsets in a subgroup's part of the context area. */
  readonly #valueSlots = new Map<number, number>();
  readonly #variableSlots = new Map<number, number>();
  /** Bytes of the exchange area before the subgroups' parts, and of each part. */
  readonly #exchangeBytes: number;
  readonly #variableTypes: ReadonlyMap<number, "f32" | "i32" | "u32" | "bool">;
  #subgroupBytes = 0;

  constructor(e: Emitter) {
    this.#e = e;
    this.#f = e.f;
    const [x, y, z] = e.ir.workgroupSize;
    this.#subgroups = (x * y * z) / e.width;
    this.#exchangeBytes = 8 * e.width;
    this.#variableTypes = variableTypes(e.ir);
  }

  /** Writes the whole function; returns the size of the context area. */
  write(): number {
    const e = this.#e;
    const f = this.#f;
    this.#placeContext();
    [e.argumentBase, e.sharedBase, e.contextBase, e.workgroup] = [0, 1, 2, 3];
    e.scope(() => {
      e.subgroup = e.local("i32");
      e.subgroupContext = e.local("i32");
      e.ir.params.forEach((param, i) => {
        if (param.kind !== "buffer") return;
        const base = e.local("i32");
        f.get(e.argumentBase)
          .memory(OP.i32Load, ARGUMENTS.params + 4 * i, 2)
          .set(base);
        e.bases.set(param.memory, base);
      });
      this.#constants();
      const done = f.block();
      const again = f.loop();
      f.get(e.workgroup).get(4).op(OP.i32GeU);
      f.brIf(done);
      this.#items(e.partition.items, null);
      f.get(e.workgroup).i32(1).op(OP.i32Add).set(e.workgroup);
      f.br(again);
      f.end();
      f.end();
    });
    return this.#exchangeBytes + this.#subgroups * this.#subgroupBytes;
  }

  #placeContext(): void {
    const e = this.#e;
    const place = (lanes: boolean): number => {
      const offset = lanes ? align(this.#subgroupBytes, 16) : this.#subgroupBytes;
      this.#subgroupBytes = offset + (lanes ? 4 * e.width : 4);
      return offset;
    };
    for (const value of e.partition.contextValues.values()) {
      const lanes = e.form(value).kind === "lanes";
      const slot = place(lanes);
      this.#valueSlots.set(value.id, slot);
      if (lanes) e.spilled.set(value.id, slot);
    }
    for (const id of e.partition.contextVariables)
      this.#variableSlots.set(id, place(e.forms.variable(id).kind === "lanes"));
    // Values from outside a loop that the loop reads lane by lane are stored once, before it.
    const depths = loopDepths(e.ir);
    visitNodes(e.ir.body, (node) => {
      if (node.kind !== "subgroup" || (node.op !== "shuffle" && node.op !== "broadcast")) return;
      const [value, lane] = node.operands as [Value, Value];
      const definition = e.partition.definitions.get(value.id) as Node;
      if (e.form(lane).kind !== "scalar" || e.form(value).kind !== "lanes" || e.spilled.has(value.id)) return;
      if ((depths.get(definition) as number) >= (depths.get(node) as number)) return;
      e.spilled.set(value.id, place(true));
    });
    this.#subgroupBytes = align(this.#subgroupBytes, 16);
  }

  /** Vectors of constants, made once. */
  #constants(): void {
    const e = this.#e;
    const used = new Set<Value>();
    visitNodes(e.ir.body, (node) => {
      if (!isLaneNode(e, node)) return;
      for (const value of laneOperands(e, node)) if (e.form(value).constant !== undefined) used.add(value);
    });
    if (used.size > MAX_CONSTANT_LOCALS) return;
    for (const value of used) {
      const local = e.local("v128");
      e.pushConstantLanes(value, e.form(value).constant as number);
      this.#f.set(local);
      e.constants.set(value.id, local);
    }
  }

  #items(items: readonly Item[], loop: WorkgroupLoop | null): void {
    const e = this.#e;
    const f = this.#f;
    for (const item of items)
      switch (item.kind) {
        case "stretch":
          this.#stretch(item);
          break;
        case "uniformLoad":
          this.#bring(e.partition.resolve(item.node.index).root);
          loadWide(e, item.node.memory, item.node.index, item.node.result);
          break;
        case "if":
          this.#bring(item.node.condition);
          e.pushScalar(item.node.condition);
          f.if();
          e.scope(() => this.#items(item.then, loop));
          if (item.else.length > 0) {
            f.else();
            e.scope(() => this.#items(item.else, loop));
          }
          f.end();
          break;
        case "for":
          e.scope(() => this.#for(item));
          break;
        case "while":
          e.scope(() => this.#while(item));
          break;
        case "break":
          f.br((loop as WorkgroupLoop).exit);
          break;
        case "continue":
          f.br((loop as WorkgroupLoop).next);
          break;
      }
  }

  #for(item: Item & { kind: "for" }): void {
    const e = this.#e;
    const f = this.#f;
    const { induction, from, to, step, direction } = item.node;
    for (const bound of [from, to, step]) this.#bring(bound);
    const local = e.local("i32");
    e.scalars.set(induction.id, local);
    e.pushScalar(from);
    f.set(local);
    const exit = f.block();
    const again = f.loop();
    emitScalar(
      f,
      e.helpers,
      direction === "up" ? "lt" : "gt",
      [induction.type, induction.type],
      e.operands([induction, to], 0),
    );
    f.op(OP.i32Eqz);
    f.brIf(exit);
    const next = f.block();
    e.scope(() => this.#items(item.body, { exit, next }));
    f.end();
    f.get(local);
    e.pushScalar(step);
    f.op(OP.i32Add).set(local);
    f.br(again);
    f.end();
    f.end();
  }

  #while(item: Item & { kind: "while" }): void {
    const e = this.#e;
    const f = this.#f;
    const exit = f.block();
    const again = f.loop();
    this.#items(item.condition, null);
    this.#bring(item.node.test);
    e.pushScalar(item.node.test);
    f.op(OP.i32Eqz);
    f.brIf(exit);
    e.scope(() => this.#items(item.body, { exit, next: again }));
    f.br(again);
    f.end();
    f.end();
  }

  /** Makes a value usable as a scalar at workgroup level: what is not the workgroup's comes from its first lane. */
  #bring(value: Value): void {
    const e = this.#e;
    const slot = this.#valueSlots.get(value.id);
    if (slot !== undefined) {
      this.#f
        .get(e.contextBase)
        .memory(value.type === "f32" ? OP.f32Load : OP.i32Load, this.#exchangeBytes + slot, 2);
      e.setScalar(value);
      return;
    }
    const builtin = isSubgroupBuiltin(e, value);
    if (builtin === null) return;
    this.#f.i32(0).set(e.subgroup);
    emitRun(e, [builtin], null);
    if (e.form(value).kind !== "lanes") return;
    this.#f.get((e.lanes.get(value.id) as readonly number[])[0] as number);
    this.#f.lane(OP.i32x4ExtractLane, 0);
    e.setScalar(value);
  }

  #stretch(stretch: Stretch): void {
    const e = this.#e;
    const f = this.#f;
    const cache = new AddressCache();
    const rest: Node[] = [];
    for (const node of stretch.nodes) {
      if (e.partition.isWide(node)) {
        if (node.kind === "var") e.declareVariable(node.variable, null);
        emitScalarNode(e, node, cache);
      } else if (node.kind !== "builtin") {
        rest.push(node);
      }
    }
    if (rest.length === 0) return;
    e.scope(() => {
      f.i32(0).set(e.subgroup);
      f.get(e.contextBase).i32(this.#exchangeBytes).op(OP.i32Add).set(e.subgroupContext);
      const again = f.loop();
      e.scope(() => {
        const written = this.#restore(rest);
        emitStretchBody(e, rest);
        this.#save(written, rest);
      });
      if (this.#subgroups > 1) {
        f.get(e.subgroupContext).i32(this.#subgroupBytes).op(OP.i32Add).set(e.subgroupContext);
        f.get(e.subgroup).i32(1).op(OP.i32Add).tee(e.subgroup).i32(this.#subgroups).op(OP.i32LtU);
        f.brIf(again);
      }
      f.end();
    });
  }

  /** Loads what a stretch needs of earlier ones; returns the variables that it writes. */
  #restore(nodes: readonly Node[]): Set<number> {
    const e = this.#e;
    const f = this.#f;
    const own = new Set<number>();
    const needed = new Map<number, Value>();
    const reads = new Set<number>();
    const writes = new Set<number>();
    visitNodes({ nodes }, (node) => {
      for (const value of e.partition.operandsOf(node)) needed.set(value.id, value);
      if (node.kind === "varGet") reads.add(node.variable.id);
      if (node.kind === "varSet" || node.kind === "var") writes.add(node.variable.id);
      if (node.kind === "var") own.add(node.variable.id);
    });
    const builtins = new Set<Node>();
    const here = new Set(nodes);
    for (const value of needed.values()) {
      const builtin = isSubgroupBuiltin(e, value);
      if (builtin !== null) builtins.add(builtin);
      const slot = this.#valueSlots.get(value.id);
      if (slot === undefined || here.has(e.partition.definitions.get(value.id) as Node)) continue;
      if (e.form(value).kind === "lanes") {
        e.lanes.set(value.id, this.#loadLanes(slot));
      } else {
        f.get(e.subgroupContext).memory(value.type === "f32" ? OP.f32Load : OP.i32Load, slot, 2);
        e.setScalar(value);
      }
    }
    emitRun(e, [...builtins], null);
    for (const id of new Set([...reads, ...writes])) {
      const slot = this.#variableSlots.get(id);
      if (slot === undefined || own.has(id)) continue;
      e.variableMask.set(id, null);
      if (e.forms.variable(id).kind === "lanes") {
        e.variableLanes.set(id, this.#loadLanes(slot));
      } else {
        const type = scalarWasm(this.#variableType(id));
        const local = e.local(type);
        f.get(e.subgroupContext)
          .memory(type === "f32" ? OP.f32Load : OP.i32Load, slot, 2)
          .set(local);
        e.variableScalars.set(id, local);
      }
    }
    return writes;
  }

  #loadLanes(slot: number): number[] {
    const e = this.#e;
    return Array.from({ length: e.chunks }, (_, k) => {
      const local = e.local("v128");
      this.#f
        .get(e.subgroupContext)
        .memory(OP.v128Load, slot + 16 * k, 4)
        .set(local);
      return local;
    });
  }

  #save(written: ReadonlySet<number>, nodes: readonly Node[]): void {
    const e = this.#e;
    const f = this.#f;
    const here = new Set(nodes);
    for (const [id, value] of e.partition.contextValues) {
      // Lanes were stored where they were made.
      if (e.form(value).kind === "lanes" || !here.has(e.partition.definitions.get(id) as Node)) continue;
      f.get(e.subgroupContext);
      e.pushScalar(value);
      f.memory(value.type === "f32" ? OP.f32Store : OP.i32Store, this.#valueSlots.get(id) as number, 2);
    }
    for (const id of written) {
      const slot = this.#variableSlots.get(id);
      if (slot === undefined) continue;
      const lanes = e.variableLanes.get(id);
      if (e.forms.variable(id).kind === "lanes" && lanes !== undefined) {
        lanes.forEach((local, k) => {
          f.get(e.subgroupContext)
            .get(local)
            .memory(OP.v128Store, slot + 16 * k, 4);
        });
      } else {
        f.get(e.subgroupContext).get(e.variableScalars.get(id) as number);
        f.memory(this.#variableType(id) === "f32" ? OP.f32Store : OP.i32Store, slot, 2);
      }
    }
  }

  #variableType(id: number): "f32" | "i32" | "u32" | "bool" {
    return this.#variableTypes.get(id) as "f32" | "i32" | "u32" | "bool";
  }
}

function variableTypes(ir: KernelIR): Map<number, "f32" | "i32" | "u32" | "bool"> {
  const types = new Map<number, "f32" | "i32" | "u32" | "bool">();
  visitNodes(ir.body, (node) => {
    if (node.kind === "var") types.set(node.variable.id, node.variable.type);
  });
  return types;
}

/** How many loops stand around each node. */
function loopDepths(ir: KernelIR): Map<Node, number> {
  const depths = new Map<Node, number>();
  const walk = (nodes: readonly Node[], depth: number): void => {
    for (const node of nodes) {
      const isLoop = node.kind === "for" || node.kind === "while";
      const inner = isLoop ? depth + 1 : depth;
      depths.set(node, node.kind === "for" ? inner : depth);
      if (node.kind === "if") {
        walk(node.then.nodes, inner);
        walk(node.else.nodes, inner);
      } else if (node.kind === "for") {
        walk(node.body.nodes, inner);
      } else if (node.kind === "while") {
        walk(node.condition.nodes, inner);
        walk(node.body.nodes, inner);
      } else if (node.kind === "roles") {
        for (const role of node.roles) walk(role.body.nodes, inner);
      }
    }
  };
  walk(ir.body.nodes, 0);
  return depths;
}
