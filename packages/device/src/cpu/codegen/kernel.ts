/**
 * Compiles a kernel to a WebAssembly module whose `run(arguments, shared, context, first, end)` runs workgroups `first`
 * to `end` − 1. At workgroup level: control flow around barriers, what is the same for the whole workgroup, and, for
 * every barrier-free region, a loop over the subgroups. Regions are written by control-flow.ts.
 */

import { assertNever } from "@evolver/base";
import { loopGuards, sharedMemoryBytes, visitNodes } from "@evolver/kernel";
import type { KernelIR, Memory, Node, Value } from "@evolver/kernel";
import { Dataflow } from "../analysis/dataflow.ts";
import { analyseDivergence } from "../analysis/divergence.ts";
import { isStraight } from "../analysis/node-classes.ts";
import { Partition, workgroupLevelNodes, type Region, type WorkgroupItem } from "../analysis/regions.ts";
import { emitScalar } from "../operations/emit.ts";
import { IMPORTED_MATH } from "../operations/mathematics.ts";
import { FunctionBuilder, type Label } from "../wasm/encoder.ts";
import { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";
import { AddressCache } from "./address.ts";
import { ARGUMENTS, subgroupBuiltin } from "./builtins.ts";
import { ContextArea, alignTo } from "./context.ts";
import { emitRegionBody } from "./control-flow.ts";
import { Emitter, type Mask } from "./emitter.ts";
import { pushRest } from "./loop-tests.ts";
import { loadAtWorkgroupLevel } from "./loads.ts";
import { emitScalarNode, emitStraightLine, isLaneNode, laneOperands } from "./straight-line.ts";

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
  const divergence = analyseDivergence(ir, workgroupLevel);
  const dataflow = new Dataflow(ir, divergence);
  const partition = new Partition(ir, divergence, dataflow, workgroupLevel);
  const helpers = new HelperFunctions(options.fusedMultiplyAdd, IMPORTED_MATH);
  const sharedOffsets = new Map<Memory, number>();
  let sharedBytes = 0;
  for (const memory of ir.shared) {
    sharedOffsets.set(memory, sharedBytes);
    sharedBytes = alignTo(sharedBytes + sharedMemoryBytes(memory), 64);
  }
  const f = new FunctionBuilder({ params: ["i32", "i32", "i32", "i32", "i32"], results: [] });
  const layout = { shared: (memory: Memory) => sharedOffsets.get(memory) as number, exchange: 0 };
  const e = new Emitter({ ir, f, helpers, divergence, dataflow, partition, layout });
  const contextBytes = new KernelWriter(e).write();
  helpers.module.add(f, "run");
  return {
    bytes: helpers.module.encode(options.maximumPages),
    sharedBytes,
    contextBytes,
    argumentBytes: ARGUMENTS.params + 4 * ir.params.length,
  };
}

interface WorkgroupLoop {
  readonly exit: Label;
  readonly next: Label;
}

class KernelWriter {
  readonly #e: Emitter;
  readonly #f: FunctionBuilder;
  readonly #subgroups: number;
  readonly #context: ContextArea;

  constructor(e: Emitter) {
    this.#e = e;
    this.#f = e.f;
    const [x, y, z] = e.ir.workgroupSize;
    this.#subgroups = Math.ceil((x * y * z) / e.width);
    this.#context = new ContextArea(e);
  }

  /** Writes the whole function; returns the size of the context area. */
  write(): number {
    const e = this.#e;
    const f = this.#f;
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
    return this.#context.exchangeBytes + this.#subgroups * this.#context.subgroupBytes;
  }

  /** Vectors of constants, made once. */
  #constants(): void {
    const e = this.#e;
    const used = new Set<Value>();
    visitNodes(e.ir.body, (node) => {
      if (!isStraight(node) || !isLaneNode(e, node)) return;
      for (const value of laneOperands(e, node)) if (e.pattern(value).constant !== undefined) used.add(value);
    });
    if (used.size > MAX_CONSTANT_LOCALS) return;
    for (const value of used) {
      const local = e.local("v128");
      e.pushConstantLanes(value, e.pattern(value).constant as number);
      this.#f.set(local);
      e.constants.set(value.id, local);
    }
  }

  #items(items: readonly WorkgroupItem[], loop: WorkgroupLoop | null): void {
    const e = this.#e;
    const f = this.#f;
    for (const item of items)
      switch (item.kind) {
        case "region":
          this.#region(item);
          break;
        case "uniformLoad":
          this.#bring(e.dataflow.resolve(item.node.index).root);
          loadAtWorkgroupLevel(e, item.node);
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
        default:
          assertNever(item, "item at workgroup level");
      }
  }

  #for(item: WorkgroupItem & { kind: "for" }): void {
    const e = this.#e;
    const f = this.#f;
    const { induction, from, to, step, direction } = item.node;
    for (const bound of [from, to, step]) this.#bring(bound);
    const local = e.local("i32");
    e.scalars.set(induction.id, local);
    e.pushScalar(from);
    f.set(local);
    // Regions in the body have their own places for a step or an end that is not the workgroup's.
    const [stepLocal, toLocal] = [e.local("i32"), e.local("i32")];
    e.pushScalar(step);
    f.set(stepLocal);
    e.pushScalar(to);
    f.set(toLocal);
    const { passesEnd, standsStill } = loopGuards(e.ir, item.node);
    const exit = f.block();
    if (standsStill) {
      f.get(stepLocal).op(OP.i32Eqz);
      f.brIf(exit);
    }
    const again = f.loop();
    emitScalar(direction === "up" ? "lt" : "gt", e.operationSite([induction, to], 0));
    f.op(OP.i32Eqz);
    f.brIf(exit);
    const next = f.block();
    e.scope(() => this.#items(item.body, { exit, next }));
    f.end();
    if (passesEnd) {
      pushRest(f, {
        direction,
        induction: () => f.get(local),
        to: () => f.get(toLocal),
        step: () => f.get(stepLocal),
      });
      f.op(OP.i32Eqz);
      f.brIf(exit);
    }
    f.get(local).get(stepLocal).op(OP.i32Add).set(local);
    f.br(again);
    f.end();
    f.end();
  }

  #while(item: WorkgroupItem & { kind: "while" }): void {
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
    if (this.#context.bring(value)) return;
    const builtin = subgroupBuiltin(e, value);
    if (builtin === null) return;
    this.#f.i32(0).set(e.subgroup);
    emitStraightLine(e, [builtin], null);
    if (e.pattern(value).kind !== "varying") return;
    this.#f.get((e.lanes.get(value.id) as readonly number[])[0] as number);
    this.#f.lane(OP.i32x4ExtractLane, 0);
    e.setScalar(value);
  }

  /** The lanes that exist, where the last subgroup has fewer than the width; null where all do. */
  #existing(): Mask {
    const e = this.#e;
    const [x, y, z] = e.ir.workgroupSize;
    const invocations = x * y * z;
    if (invocations % e.width === 0) return null;
    return Array.from({ length: e.chunks }, (_, k) => {
      const local = e.local("v128");
      this.#f.get(e.subgroup).i32(e.width).op(OP.i32Mul).op(OP.i32x4Splat);
      this.#f.i32x4([0, 1, 2, 3].map((i) => 4 * k + i)).op(OP.i32x4Add);
      this.#f.i32x4(Array<number>(4).fill(invocations)).op(OP.i32x4LtU).set(local);
      return local;
    });
  }

  #region(region: Region): void {
    const e = this.#e;
    const f = this.#f;
    const cache = new AddressCache();
    const rest: Node[] = [];
    for (const node of region.nodes) {
      if (isStraight(node) && e.partition.isHoisted(node)) {
        if (node.kind === "var") e.declareVariable(node.variable, null);
        emitScalarNode(e, node, cache);
      } else if (node.kind !== "builtin") {
        rest.push(node);
      }
    }
    if (rest.length === 0) return;
    e.scope(() => {
      f.i32(0).set(e.subgroup);
      f.get(e.contextBase).i32(this.#context.exchangeBytes).op(OP.i32Add).set(e.subgroupContext);
      const again = f.loop();
      e.scope(() => {
        this.#context.restore(rest);
        emitRegionBody(e, rest, this.#existing());
        this.#context.save(rest);
      });
      if (this.#subgroups > 1) {
        f.get(e.subgroupContext).i32(this.#context.subgroupBytes).op(OP.i32Add).set(e.subgroupContext);
        f.get(e.subgroup).i32(1).op(OP.i32Add).tee(e.subgroup).i32(this.#subgroups).op(OP.i32LtU);
        f.brIf(again);
      }
      f.end();
    });
  }
}
