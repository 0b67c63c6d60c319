/** Turns a random program into a kernel: everything it stores is its own, or exchanged across barriers. */

import * as language from "@evolver/kernel";
import { atomic, bf16, bool, buffer, f16, f32, fma, i32, kernel, select, u32 } from "@evolver/kernel";
import type { BF16, Bool, F16, F32, Gpu, I32, Kernel, U32, UniformityMode, Var } from "@evolver/kernel";
import {
  VARIABLES,
  type Expression,
  type NumberType,
  type Program,
  type Statement,
  type Type,
} from "./generate.ts";

/** Elements of the inputs, a power of two. */
export const INPUT_LENGTH = 256;
export const ATOMIC_LENGTH = 8;
/** Elements of the buffer of own slots, for each invocation. */
export const OWN = 4;

type AnyScalar = F32 | F16 | BF16 | I32 | U32 | Bool;
type Method = (...args: unknown[]) => AnyScalar;

const descriptors = { f32, f16, bf16, i32, u32, bool } as const;

const params = {
  xf: buffer(f32),
  xi: buffer(i32),
  xu: buffer(u32),
  xh: buffer(f16),
  xb: buffer(bf16),
  limit: u32,
  factor: f32,
  outF: buffer(f32, "write"),
  outI: buffer(i32, "write"),
  outU: buffer(u32, "write"),
  outH: buffer(f16, "write"),
  outB: buffer(bf16, "write"),
  own: buffer(f32, "read_write"),
  counters: buffer(atomic(u32)),
};

export type ProgramParams = typeof params;

export function recordProgram(
  program: Program,
  uniformity: UniformityMode = "dynamic",
): Kernel<ProgramParams> {
  const [x, y, z] = program.shape;
  const size = x * y * z;
  return kernel("random", { params, workgroup: [x, y, z], uniformity }, (symbols, gpu) => {
    const me = gpu.workgroupIndex.mul(size).add(gpu.localIndex);
    const shared = {
      f32: gpu.shared(f32, size),
      f16: gpu.shared(f16, size),
      bf16: gpu.shared(bf16, size),
      i32: gpu.shared(i32, size),
      u32: gpu.shared(u32, size),
    };
    const flag = gpu.shared(u32, 1);
    const make = <T extends Type>(type: T, init: (i: number) => never): Var<T>[] =>
      Array.from(
        { length: VARIABLES },
        (_, i) => gpu.var(descriptors[type] as never, init(i)) as unknown as Var<T>,
      );
    const variables: Record<Type, Var<never>[]> = {
      f32: make("f32", (i) => (i === 0 ? symbols.factor : symbols.xf.get(me.and(INPUT_LENGTH - 1))) as never),
      f16: make("f16", (i) => (i === 0 ? 1.5 : symbols.xh.get(me.and(INPUT_LENGTH - 1))) as never),
      bf16: make("bf16", (i) => (i === 0 ? 2.5 : symbols.xb.get(me.and(INPUT_LENGTH - 1))) as never),
      i32: make("i32", (i) => (i === 0 ? 3 : symbols.xi.get(me.and(INPUT_LENGTH - 1))) as never),
      u32: make("u32", (i) => (i === 0 ? symbols.limit : gpu.lane) as never),
      bool: make("bool", (i) => (i === 0 ? symbols.limit.gt(2) : gpu.lane.and(1).eq(0)) as never),
    } as never;
    const writer = new Writer(gpu, symbols as never, variables, me, size, shared as never, flag as never);
    writer.statements(program.body);
    for (let i = 0; i < VARIABLES; i++) {
      const at = me.mul(VARIABLES).add(i);
      symbols.outF.set(at, writer.read("f32", i) as F32);
      symbols.outI.set(
        at,
        select(
          writer.read("bool", i) as Bool,
          writer.read("i32", i) as I32,
          (writer.read("i32", i) as I32).xor(85),
        ),
      );
      symbols.outU.set(at, writer.read("u32", i) as U32);
      symbols.outH.set(at, writer.read("f16", i) as F16);
      symbols.outB.set(at, writer.read("bf16", i) as BF16);
    }
  });
}

interface Slots {
  get(index: unknown): AnyScalar;
  set(index: unknown, value: unknown): void;
  getVec(width: number, index: unknown): { at(k: number): AnyScalar };
  setVec(index: unknown, value: unknown): void;
}

/** The old value and the new one together, so that what happened before stays visible in the end. */
function mixed(type: Type, before: AnyScalar, value: AnyScalar): AnyScalar {
  if (type === "bool") return (before as Bool).xor(value as Bool);
  if (type === "f32" || type === "f16" || type === "bf16")
    return (before as F32).mul(0.5).add((value as F32).min(100).max(-100));
  return (before as U32).mul(31).add(value as U32);
}

class Writer {
  readonly #gpu: Gpu;
  readonly #symbols: Record<string, Slots & Record<string, Method>>;
  readonly #variables: Record<Type, Var<never>[]>;
  readonly #me: U32;
  readonly #size: number;
  readonly #shared: Record<NumberType, Slots>;
  readonly #flag: Slots;
  readonly #inductions: U32[] = [];

  constructor(
    gpu: Gpu,
    symbols: Record<string, Slots & Record<string, Method>>,
    variables: Record<Type, Var<never>[]>,
    me: U32,
    size: number,
    shared: Record<NumberType, Slots>,
    flag: Slots,
  ) {
    this.#gpu = gpu;
    this.#symbols = symbols;
    this.#variables = variables;
    this.#me = me;
    this.#size = size;
    this.#shared = shared;
    this.#flag = flag;
  }

  read(type: Type, index: number): AnyScalar {
    return (this.#variables[type][index] as Var<never>).get() as AnyScalar;
  }

  #set(type: Type, index: number, value: AnyScalar): void {
    (this.#variables[type][index] as unknown as { set(value: AnyScalar): void }).set(value);
  }

  statements(list: readonly Statement[]): void {
    for (const statement of list) this.#statement(statement);
  }

  #statement(statement: Statement): void {
    const gpu = this.#gpu;
    switch (statement.kind) {
      case "set": {
        const { type, index } = statement;
        const value = this.#expression(type, statement.value);
        this.#set(type, index, statement.mix ? mixed(type, this.read(type, index), value) : value);
        return;
      }
      case "if":
        return gpu.if(
          this.#expression("bool", statement.condition) as Bool,
          () => this.statements(statement.then),
          () => this.statements(statement.else),
        );
      case "for":
        return this.#for(statement);
      case "while": {
        const turns = gpu.var(u32, 0);
        const limit = statement.limit;
        return gpu.while(
          () =>
            turns
              .get()
              .lt(limit)
              .and(this.#expression("bool", statement.condition) as Bool),
          () => {
            turns.add(1);
            this.statements(statement.body);
          },
        );
      }
      case "leave":
        return gpu.if(this.#expression("bool", statement.condition) as Bool, () => {
          if (statement.how === "break") gpu.break();
          else gpu.continue();
        });
      case "own": {
        const own = this.#symbols.own as Slots;
        const at = this.#me.mul(OWN);
        const value = this.#expression("f32", statement.value) as F32;
        if (statement.width === 1) {
          own.set(at, (own.get(at) as F32).add(value));
          return;
        }
        const vector = own.getVec(statement.width, at) as unknown as { add(other: F32): unknown };
        own.setVec(at, vector.add(value));
        return;
      }
      case "atomic": {
        const op = ["add", "min", "max", "or", "xor", "and"][statement.op] as string;
        const counters = this.#symbols.counters as Record<string, Method>;
        const at = (this.#expression("u32", statement.at) as U32).and(1).add((statement.op % 4) * 2);
        // Each kind of operation has its own elements, so that the order does not matter.
        if (statement.op < 4) counters[op]?.(at, this.#expression("u32", statement.value));
        return;
      }
      case "subgroup":
        return this.#subgroup(statement);
      case "exchange": {
        const { type } = statement;
        const slots = this.#shared[type];
        slots.set(gpu.localIndex, this.#expression(type, statement.value));
        const by = this.#expression("u32", statement.by) as U32;
        gpu.barrier();
        this.#set(type, 0, slots.get(gpu.localIndex.add(by.and(this.#size - 1)).and(this.#size - 1)));
        gpu.barrier();
        return;
      }
      case "shuffle": {
        const { op, type } = statement;
        const width = gpu.subgroupSize;
        let by = (this.#expression("u32", statement.by) as U32).and(width - 1);
        if (op === "broadcast") by = gpu.subgroup.broadcastFirst(by);
        // Lanes that would read outside the subgroup are sent to themselves.
        if (op === "shuffleUp") by = by.min(gpu.lane);
        if (op === "shuffleDown") by = by.min(gpu.lane.xor(width - 1));
        const shuffled = (gpu.subgroup as unknown as Record<string, Method>)[op]?.(
          this.#expression(type, statement.value),
          by,
        );
        return this.#set(type, 1, shuffled as AnyScalar);
      }
      case "uniformFor":
        return gpu.for({ from: 0, to: statement.count }, (i) => {
          this.#inductions.push(i);
          const exchanged = gpu.var(u32, i);
          this.statements(statement.body);
          this.#set("u32", 0, exchanged.get().add(this.read("u32", 0) as U32));
          if (statement.leaveAt !== null) gpu.if(i.eq(statement.leaveAt), () => gpu.break());
          this.#inductions.pop();
        });
      case "uniformIf": {
        let tested = this.#symbols.limit as unknown as U32;
        if (statement.shared) {
          gpu.if(gpu.localIndex.eq(0), () => this.#flag.set(0, gpu.workgroupIndex));
          tested = gpu.uniformLoad(this.#flag as never, 0) as unknown as U32;
        }
        return gpu.if(
          tested.lt(statement.limit),
          () => this.statements(statement.then),
          () => this.statements(statement.else),
        );
      }
      case "roles":
        if (gpu.numSubgroups < 2) return this.statements(statement.first);
        return gpu.roles([
          { name: "first", subgroups: 1, body: () => this.statements(statement.first) },
          { name: "second", subgroups: gpu.numSubgroups - 1, body: () => this.statements(statement.second) },
        ]);
    }
  }

  #for(statement: Statement & { kind: "for" }): void {
    const gpu = this.#gpu;
    const { step, down, count } = statement;
    const small = (expression: Expression): I32 => (this.#expression("i32", expression) as I32).modFloor(6);
    const from = statement.from === null ? gpu.constant(i32, 0) : small(statement.from);
    const length = typeof count === "number" ? gpu.constant(i32, count) : small(count);
    const range = down
      ? { from: from.add(length), to: from, step: -step }
      : { from, to: from.add(length), step };
    gpu.for(range, (i) => {
      this.#inductions.push(i.toU32());
      this.statements(statement.body);
      this.#inductions.pop();
    });
  }

  #subgroup(statement: Statement & { kind: "subgroup" }): void {
    const { op, type } = statement;
    const subgroup = this.#gpu.subgroup;
    if (op === "ballot") {
      const words = subgroup.ballot(this.#expression("bool", statement.condition) as Bool);
      return this.#set(
        "u32",
        1,
        words.reduce((a, b) => a.xor(b)),
      );
    }
    if (op === "any" || op === "all")
      return this.#set("bool", 1, subgroup[op](this.#expression("bool", statement.condition) as Bool));
    const value = this.#expression(type, statement.value);
    const result = (subgroup as unknown as Record<string, Method>)[op]?.(value) as AnyScalar;
    // Lanes may differ in the sign of a zero that is the smallest or largest.
    const isZero = type !== "i32" && type !== "u32" && (op === "min" || op === "max");
    return this.#set(type, 1, isZero ? (result as F32).add(0) : result);
  }

  #builtin(index: number): U32 {
    const gpu = this.#gpu;
    if (index >= 8 && this.#inductions.length > 0) return this.#inductions.at(-1) as U32;
    switch (index) {
      case 0:
        return gpu.lane;
      case 1:
        return gpu.localIndex;
      case 2:
        return gpu.subgroupId;
      case 3:
        return gpu.workgroupId.x;
      case 4:
        return gpu.localId.x;
      case 5:
        return gpu.localId.y;
      case 6:
        return gpu.globalId.x;
      case 7:
        return gpu.globalId.z;
      default:
        return gpu.workgroupIndex;
    }
  }

  #expression(type: Type, expression: Expression): AnyScalar {
    const gpu = this.#gpu;
    switch (expression.kind) {
      case "constant":
        return gpu.constant(descriptors[type] as never, expression.value as never) as AnyScalar;
      case "variable":
        return this.read(type, expression.index);
      case "builtin":
        return this.#builtin(expression.index);
      case "load": {
        const from = this.#symbols[
          { f32: "xf", f16: "xh", bf16: "xb", i32: "xi", u32: "xu", bool: "xi" }[type]
        ] as Slots;
        const { width } = expression;
        const at = (this.#expression("u32", expression.at) as U32).and(INPUT_LENGTH / width - 1);
        if (width === 1) return from.get(at);
        return from.getVec(width, at.mul(width)).at(expression.component % width);
      }
      case "unary": {
        const operand = this.#expression(expression.from, expression.a);
        const methods = operand as unknown as Record<string, Method>;
        if (expression.op === "bitcast") return (methods.bitcast as Method).call(operand, descriptors[type]);
        if (expression.op in methods) return (methods[expression.op] as Method).call(operand);
        return (language as unknown as Record<string, Method>)[expression.op]?.(operand) as AnyScalar;
      }
      case "binary": {
        const { op, from } = expression;
        const second = (op === "shl" || op === "shr") && from === "i32" ? "u32" : from;
        const operand = this.#expression(from, expression.a);
        const method = (operand as unknown as Record<string, Method>)[op] as Method;
        return method.call(operand, this.#expression(second, expression.b));
      }
      case "fma":
        return fma(
          this.#expression(expression.type, expression.a) as F32,
          this.#expression(expression.type, expression.b) as F32,
          this.#expression(expression.type, expression.c) as F32,
        );
      case "select":
        return select(
          this.#expression("bool", expression.condition) as Bool,
          this.#expression(type, expression.a) as F32,
          this.#expression(type, expression.b) as F32,
        );
    }
  }
}
