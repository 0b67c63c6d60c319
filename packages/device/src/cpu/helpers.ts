/**
 * Functions that the generated module calls for what takes more than a few instructions: portable mathematics, integer
 * division, masked stores and atomics. Each is added to the module when first needed.
 */

import { math } from "@evolver/kernel";
import type { AtomicOp, ElementType, HalfType } from "@evolver/kernel";
import { FunctionBuilder, ModuleBuilder } from "./encoder.ts";
import { compressBits, expandBits, roundDoubles, roundSingles } from "./half.ts";
import { OP, type WasmType } from "./opcodes.ts";

/** Functions of JavaScript that the module imports, f32 to f32. */
const IMPORTED_MATH = ["log", "log2", "sin", "cos", "tanh"] as const;
export type ImportedMath = (typeof IMPORTED_MATH)[number];

export type IntegerDivision = "divTrunc" | "divFloor" | "remTrunc" | "modFloor";

export class Helpers {
  readonly module = new ModuleBuilder();
  readonly #index = new Map<string, number>();
  readonly #fusedMultiplyAdd: boolean;

  constructor(fusedMultiplyAdd: boolean) {
    this.#fusedMultiplyAdd = fusedMultiplyAdd;
    for (const name of IMPORTED_MATH)
      this.#index.set(
        `import:${name}`,
        this.module.importFunction(name, { params: ["f32"], results: ["f32"] }),
      );
  }

  /** exp or exp2 of four lanes. */
  exponential(name: "exp" | "exp2"): number {
    return this.#helper(name, ["v128"], ["v128"], (f) => {
      const half = (high: boolean): void => {
        f.get(0);
        if (high) f.get(0).shuffle([2, 3, 2, 3]);
        f.op(OP.f64x2PromoteLowF32x4);
        if (name === "exp") f.f64x2(Math.LOG2E).op(OP.f64x2Mul);
        exp2OfDoubles(f);
        f.op(OP.f32x4DemoteF64x2Zero);
      };
      half(false);
      half(true);
      f.shuffle([0, 1, 4, 5]);
    });
  }

  rsqrt(): number {
    return this.#helper("rsqrt", ["v128"], ["v128"], (f) => {
      for (const high of [false, true]) {
        f.f64x2(1).get(0);
        if (high) f.get(0).shuffle([2, 3, 2, 3]);
        f.op(OP.f64x2PromoteLowF32x4).op(OP.f64x2Sqrt).op(OP.f64x2Div).op(OP.f32x4DemoteF64x2Zero);
      }
      f.shuffle([0, 1, 4, 5]);
    });
  }

  /** Emits a fused multiply-add of the three vectors on the stack. */
  fma(f: FunctionBuilder): void {
    if (this.#fusedMultiplyAdd) f.op(OP.f32x4RelaxedMadd);
    else f.call(this.#emulatedFma());
  }

  /** Emits `mask ? a : b` of the three vectors on the stack; every lane of the mask is all ones or all zeros. */
  select(f: FunctionBuilder): void {
    f.op(this.#fusedMultiplyAdd ? OP.i32x4RelaxedLaneselect : OP.v128Bitselect);
  }

  imported(name: ImportedMath): number {
    const scalar = this.#index.get(`import:${name}`) as number;
    return this.#helper(name, ["v128"], ["v128"], (f) => {
      f.get(0);
      for (let lane = 0; lane < 4; lane++) {
        f.get(0).lane(OP.f32x4ExtractLane, lane).call(scalar);
        f.lane(OP.f32x4ReplaceLane, lane);
      }
    });
  }

  /** Four lanes of an operation on two integers that only a scalar instruction does. */
  lanewise(name: string, scalar: (f: FunctionBuilder) => void): number {
    return this.#helper(`lanes:${name}`, ["v128", "v128"], ["v128"], (f) => {
      f.get(0);
      for (let lane = 0; lane < 4; lane++) {
        f.get(0).lane(OP.i32x4ExtractLane, lane).get(1).lane(OP.i32x4ExtractLane, lane);
        scalar(f);
        f.lane(OP.i32x4ReplaceLane, lane);
      }
    });
  }

  /** Integer division of two scalars by the rules of the language: nothing traps. */
  division(op: IntegerDivision, signed: boolean): number {
    return this.#helper(`${op}:${signed}`, ["i32", "i32"], ["i32"], (f) => {
      const remainder = op === "remTrunc" || op === "modFloor";
      f.get(1).op(OP.i32Eqz).if();
      if (remainder) f.i32(0);
      else f.get(0);
      f.op(OP.return);
      f.end();
      if (!signed) {
        f.get(0)
          .get(1)
          .op(remainder ? OP.i32RemU : OP.i32DivU);
        return;
      }
      // −2^31 / −1 would trap.
      f.get(1).i32(-1).op(OP.i32Eq).if();
      if (remainder) f.i32(0);
      else f.i32(0).get(0).op(OP.i32Sub);
      f.op(OP.return);
      f.end();
      const rest = f.local("i32");
      f.get(0).get(1).op(OP.i32RemS).set(rest);
      if (op === "remTrunc") {
        f.get(rest);
        return;
      }
      const quotient = (): FunctionBuilder => f.get(0).get(1).op(OP.i32DivS);
      if (op === "divTrunc") {
        quotient();
        return;
      }
      // Rounds down where there is a rest whose sign is not the divisor's.
      const adjust = f.local("i32");
      f.get(rest).i32(0).op(OP.i32Ne);
      f.get(rest).get(1).op(OP.i32Xor).i32(31).op(OP.i32ShrU);
      f.op(OP.i32And).set(adjust);
      if (op === "divFloor") {
        quotient().get(adjust).op(OP.i32Sub);
      } else {
        f.get(rest).get(1).i32(0).get(adjust).op(OP.select).op(OP.i32Add);
      }
    });
  }

  /** (address, value, mask): stores the lanes of four consecutive elements that the mask has. */
  storeMasked(): number {
    return this.#helper("storeMasked", ["i32", "v128", "v128"], [], (f) => {
      f.get(2).op(OP.i32x4AllTrue).if();
      f.get(0).get(1).memory(OP.v128Store, 0, 2);
      f.op(OP.return);
      f.end();
      for (let lane = 0; lane < 4; lane++) {
        f.get(2).lane(OP.i32x4ExtractLane, lane).if();
        f.get(0)
          .get(1)
          .memoryLane(OP.v128Store32Lane, 4 * lane, 2, lane);
        f.end();
      }
    });
  }

  /** (addresses, value, mask): stores the lanes that the mask has. */
  scatter(): number {
    return this.#helper("scatter", ["v128", "v128", "v128"], [], (f) => {
      for (let lane = 0; lane < 4; lane++) {
        f.get(2).lane(OP.i32x4ExtractLane, lane).if();
        f.get(0).lane(OP.i32x4ExtractLane, lane).get(1).memoryLane(OP.v128Store32Lane, 0, 2, lane);
        f.end();
      }
    });
  }

  /** (addresses, mask, operands…) → old values: an atomic operation of the lanes that the mask has, in order. */
  atomic(op: AtomicOp, element: ElementType): number {
    const operandCount = op === "load" ? 0 : op === "compareExchange" ? 2 : 1;
    const params: WasmType[] = ["v128", "v128", ...Array<WasmType>(operandCount).fill("v128")];
    return this.#helper(`atomic:${op}:${element}`, params, ["v128"], (f) => {
      const result = f.local("v128");
      for (let lane = 0; lane < 4; lane++) {
        f.get(1).lane(OP.i32x4ExtractLane, lane).if();
        const address = f.local("i32");
        f.get(0).lane(OP.i32x4ExtractLane, lane).set(address);
        const operand = (i: number): FunctionBuilder => f.get(2 + i).lane(OP.i32x4ExtractLane, lane);
        if (op === "store") {
          f.get(address);
          operand(0).memory(OP.i32AtomicStore, 0, 2);
        } else {
          const old = f.local("i32");
          atomicLane(f, op, element, address, old, operand);
          f.get(result).get(old).lane(OP.i32x4ReplaceLane, lane).set(result);
          f.release(old);
        }
        f.release(address);
        f.end();
      }
      f.get(result);
    });
  }

  /** a·b + c of three vectors of f32, rounded once to f32. */
  #emulatedFma(): number {
    return this.#fmaByDoubles("fma", (f) => f.op(OP.f32x4DemoteF64x2Zero));
  }

  /** a·b + c of three vectors of numbers exact in f16 or bf16, rounded once to that type. */
  fmaHalf(type: HalfType): number {
    return this.#fmaByDoubles(`fma:${type}`, (f) => {
      roundDoubles(f, type);
      f.op(OP.f32x4DemoteF64x2Zero);
    });
  }

  /** Rounds four f32 to f16 or bf16. */
  roundTo(type: HalfType): number {
    return this.#helper(`round:${type}`, ["v128"], ["v128"], (f) => roundSingles(f, type));
  }

  /** From 16 bits in the low half of each lane to the f32 of the same value. */
  expand(type: HalfType): number {
    return this.#helper(`expand:${type}`, ["v128"], ["v128"], (f) => expandBits(f, type));
  }

  /** From f32 that are exact in the type to their 16 bits, in the low half of each lane. */
  compress(type: HalfType): number {
    return this.#helper(`compress:${type}`, ["v128"], ["v128"], (f) => compressBits(f, type));
  }

  /** (addresses, bits, mask): stores the low halves of the lanes that the mask has. */
  scatterHalves(): number {
    return this.#helper("scatterHalves", ["v128", "v128", "v128"], [], (f) => {
      for (let lane = 0; lane < 4; lane++) {
        f.get(2).lane(OP.i32x4ExtractLane, lane).if();
        f.get(0)
          .lane(OP.i32x4ExtractLane, lane)
          .get(1)
          .memoryLane(OP.v128Store16Lane, 0, 1, 2 * lane);
        f.end();
      }
    });
  }

  /** (address, bits, mask): stores the low halves of four consecutive elements that the mask has. */
  storeMaskedHalves(): number {
    return this.#helper("storeMaskedHalves", ["i32", "v128", "v128"], [], (f) => {
      f.get(2).op(OP.i32x4AllTrue).if();
      f.get(0).get(1).get(1).op(OP.i16x8NarrowI32x4U).memoryLane(OP.v128Store64Lane, 0, 1, 0);
      f.op(OP.return);
      f.end();
      for (let lane = 0; lane < 4; lane++) {
        f.get(2).lane(OP.i32x4ExtractLane, lane).if();
        f.get(0)
          .get(1)
          .memoryLane(OP.v128Store16Lane, 2 * lane, 1, 2 * lane);
        f.end();
      }
    });
  }

  /** `finish` takes two doubles, rounded to odd, to two f32 in the low half of a vector. */
  #fmaByDoubles(name: string, finish: (f: FunctionBuilder) => void): number {
    return this.#helper(name, ["v128", "v128", "v128"], ["v128"], (f) => {
      const widened = (param: number, high: boolean): FunctionBuilder => {
        f.get(param);
        if (high) f.get(param).shuffle([2, 3, 2, 3]);
        return f.op(OP.f64x2PromoteLowF32x4);
      };
      const [product, sum, part, error, c] = [0, 0, 0, 0, 0].map(() => f.local("v128")) as [
        number,
        number,
        number,
        number,
        number,
      ];
      for (const high of [false, true]) {
        widened(0, high);
        widened(1, high).op(OP.f64x2Mul).set(product);
        widened(2, high).tee(c).get(product).op(OP.f64x2Add).set(sum);
        f.get(sum).get(product).op(OP.f64x2Sub).set(part);
        f.get(product).get(sum).get(part).op(OP.f64x2Sub).op(OP.f64x2Sub);
        f.get(c).get(part).op(OP.f64x2Sub).op(OP.f64x2Add).set(error);
        // Round to odd: where the sum is finite, inexact and even, step one unit towards the error.
        f.get(sum);
        f.get(error).f64x2(0).op(OP.f64x2Gt).get(sum).f64x2(0).op(OP.f64x2Gt).op(OP.v128Xor);
        f.i32x4([1, 0, 1, 0]).op(OP.v128Or);
        f.get(error).op(OP.f64x2Abs).f64x2(0).op(OP.f64x2Gt).op(OP.v128And);
        f.get(sum).op(OP.f64x2Abs).f64x2(Infinity).op(OP.f64x2Lt).op(OP.v128And);
        f.get(sum).i32x4([1, 0, 1, 0]).op(OP.v128And).f64x2(0).op(OP.i64x2Eq).op(OP.v128And);
        f.op(OP.i64x2Add);
        finish(f);
      }
      f.shuffle([0, 1, 4, 5]);
    });
  }

  #helper(
    name: string,
    params: readonly WasmType[],
    results: readonly WasmType[],
    write: (f: FunctionBuilder) => void,
  ): number {
    const known = this.#index.get(name);
    if (known !== undefined) return known;
    const f = new FunctionBuilder({ params, results });
    write(f);
    const index = this.module.add(f);
    this.#index.set(name, index);
    return index;
  }
}

/** 2^x of the two doubles on the stack, operation by operation as math.ts has it. */
function exp2OfDoubles(f: FunctionBuilder): void {
  const t = f.local("v128");
  const shifted = f.local("v128");
  const r = f.local("v128");
  // In this order a NaN stays.
  f.f64x2(math.EXP2_MAX).op(OP.f64x2Pmin).f64x2(math.EXP2_MIN).op(OP.f64x2Pmax).tee(t);
  f.f64x2(math.ROUND_MAGIC).op(OP.f64x2Add).set(shifted);
  f.get(t).get(shifted).f64x2(math.ROUND_MAGIC).op(OP.f64x2Sub).op(OP.f64x2Sub).set(r);
  f.f64x2(math.EXP2_COEFFICIENTS[11] as number);
  for (let k = 10; k >= 0; k--)
    f.get(r)
      .op(OP.f64x2Mul)
      .f64x2(math.EXP2_COEFFICIENTS[k] as number)
      .op(OP.f64x2Add);
  // The low bits of t + ROUND_MAGIC hold the integer exponent.
  f.get(shifted).i32x4([1023, 0, 1023, 0]).op(OP.i64x2Add).i32(52).op(OP.i64x2Shl).op(OP.f64x2Mul);
  for (const local of [t, shifted, r]) f.release(local);
}

const DIRECT: Partial<Record<AtomicOp, number>> = {
  add: OP.i32AtomicAdd,
  and: OP.i32AtomicAnd,
  or: OP.i32AtomicOr,
  xor: OP.i32AtomicXor,
  exchange: OP.i32AtomicExchange,
};

/** One lane's atomic operation: sets `old`. */
function atomicLane(
  f: FunctionBuilder,
  op: AtomicOp,
  element: ElementType,
  address: number,
  old: number,
  operand: (i: number) => FunctionBuilder,
): void {
  f.get(address);
  if (op === "load") {
    f.memory(OP.i32AtomicLoad, 0, 2).set(old);
    return;
  }
  if (op === "compareExchange") {
    operand(0);
    operand(1).memory(OP.i32AtomicCompareExchange, 0, 2).set(old);
    return;
  }
  const direct = DIRECT[op];
  if (direct !== undefined && !(op === "add" && element === "f32")) {
    operand(0).memory(direct, 0, 2).set(old);
    return;
  }
  // Compute from the old value and try to put the new one in its place.
  const seen = f.local("i32");
  f.memory(OP.i32AtomicLoad, 0, 2).set(old);
  const again = f.loop();
  f.get(old).set(seen);
  f.get(address).get(seen);
  if (op === "add") {
    f.get(seen).op(OP.f32ReinterpretI32);
    operand(0).op(OP.f32ReinterpretI32).op(OP.f32Add).op(OP.i32ReinterpretF32);
  } else {
    const less = element === "i32" ? OP.i32LtS : OP.i32LtU;
    const greater = element === "i32" ? OP.i32GtS : OP.i32GtU;
    f.get(seen);
    operand(0);
    f.get(seen);
    operand(0)
      .op(op === "min" ? less : greater)
      .op(OP.select);
  }
  f.memory(OP.i32AtomicCompareExchange, 0, 2).tee(old).get(seen).op(OP.i32Ne);
  f.brIf(again);
  f.end();
  f.release(seen);
}
