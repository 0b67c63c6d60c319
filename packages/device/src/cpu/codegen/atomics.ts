/** Atomic operations: every active lane does its own, one after another, in a helper function for each operation and type. */

import { atomicOps } from "@evolver/kernel";
import type { AtomicNode, AtomicOp, ElementType } from "@evolver/kernel";
import { refuseType, rowOf } from "../lookup.ts";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP, type WasmType } from "../wasm/opcodes.ts";
import { pushLaneAddresses } from "./address.ts";
import type { Emitter, Mask } from "./emitter.ts";

/** One lane's operation in a helper function. */
interface Lane {
  readonly f: FunctionBuilder;
  /** A local with the address. */
  readonly address: number;
  /** The local for the old value. */
  old(): number;
  /** Pushes the bits of an operand. */
  operand(i: number): FunctionBuilder;
}

/** Does the operation, and sets the old value where the operation gives it. */
type AtomicCode = (lane: Lane) => void;

/** Memory of two bytes per element has no atomic operations. */
const NONE = null;
type Cells = Readonly<Record<ElementType, AtomicCode | typeof NONE>>;

const cells = (f32: Cells["f32"], i32: Cells["i32"], u32: Cells["u32"]): Cells => ({
  f32,
  i32,
  u32,
  f16: NONE,
  bf16: NONE,
});

const load: AtomicCode = ({ f, address, old }) => {
  f.get(address).memory(OP.i32AtomicLoad, 0, 2).set(old());
};

const store: AtomicCode = ({ f, address, operand }) => {
  f.get(address);
  operand(0).memory(OP.i32AtomicStore, 0, 2);
};

const compareExchange: AtomicCode = ({ f, address, old, operand }) => {
  f.get(address);
  operand(0);
  operand(1).memory(OP.i32AtomicCompareExchange, 0, 2).set(old());
};

const instruction =
  (code: number): AtomicCode =>
  ({ f, address, old, operand }) => {
    f.get(address);
    operand(0).memory(code, 0, 2).set(old());
  };

/** Computes from the old value and tries to put the new one in its place, until it is still the old one. */
const retried =
  (pushNew: (lane: Lane, seen: number) => void): AtomicCode =>
  (lane) => {
    const { f, address } = lane;
    const old = lane.old();
    const seen = f.local("i32");
    f.get(address).memory(OP.i32AtomicLoad, 0, 2).set(old);
    const again = f.loop();
    f.get(old).set(seen);
    f.get(address).get(seen);
    pushNew(lane, seen);
    f.memory(OP.i32AtomicCompareExchange, 0, 2).tee(old).get(seen).op(OP.i32Ne);
    f.brIf(again);
    f.end();
    f.release(seen);
  };

const addFloats = retried(({ f, operand }, seen) => {
  f.get(seen).op(OP.f32ReinterpretI32);
  operand(0).op(OP.f32ReinterpretI32).op(OP.f32Add).op(OP.i32ReinterpretF32);
});

/** The one for which `comparison` with the other holds. */
const extremum = (comparison: number): AtomicCode =>
  retried(({ f, operand }, seen) => {
    f.get(seen);
    operand(0);
    f.get(seen);
    operand(0).op(comparison).op(OP.select);
  });

const integers = (code: AtomicCode): Cells => cells(NONE, code, code);
const words = (code: AtomicCode): Cells => cells(code, code, code);

const atomics: Readonly<Record<AtomicOp, Cells>> = Object.freeze({
  load: words(load),
  store: words(store),
  exchange: words(instruction(OP.i32AtomicExchange)),
  compareExchange: integers(compareExchange),
  add: cells(addFloats, instruction(OP.i32AtomicAdd), instruction(OP.i32AtomicAdd)),
  min: cells(NONE, extremum(OP.i32LtS), extremum(OP.i32LtU)),
  max: cells(NONE, extremum(OP.i32GtS), extremum(OP.i32GtU)),
  and: integers(instruction(OP.i32AtomicAnd)),
  or: integers(instruction(OP.i32AtomicOr)),
  xor: integers(instruction(OP.i32AtomicXor)),
});

/** An atomic operation of every active lane, lane after lane. */
export function emitAtomic(e: Emitter, node: AtomicNode, mask: Mask): void {
  const { f } = e;
  const helper = atomicHelper(e.helpers, node.op, node.memory.element);
  const result = node.result === null ? null : e.vectorLocals();
  e.scope(() => {
    for (let k = 0; k < e.chunks; k++) {
      pushLaneAddresses({ e, index: k, mask, cache: null }, node);
      if (mask === null) f.i32x4([-1, -1, -1, -1]);
      else f.get(mask[k] as number);
      for (const operand of node.operands) e.pushLanes(operand, k);
      f.call(helper);
      if (result === null) f.op(OP.drop);
      else f.set(result[k] as number);
    }
  });
  if (node.result === null || result === null) return;
  e.lanes.set(node.result.id, result);
  e.spill(node.result);
}

/** (addresses, mask, operands…) → old values, or zeros where there are none: of the lanes that the mask has, in order. */
function atomicHelper(helpers: HelperFunctions, op: AtomicOp, element: ElementType): number {
  const code = rowOf(atomics, op, "atomic operation")[element];
  if (code === NONE) return refuseType(`atomic operation ${op}`, element);
  const row = atomicOps[op];
  const params: WasmType[] = ["v128", "v128", ...Array<WasmType>(row.operands).fill("v128")];
  return helpers.define(`atomic:${op}:${element}`, params, ["v128"], (f) => {
    const result = f.local("v128");
    for (let lane = 0; lane < 4; lane++) {
      f.get(1).lane(OP.i32x4ExtractLane, lane).if();
      const address = f.local("i32");
      f.get(0).lane(OP.i32x4ExtractLane, lane).set(address);
      let oldLocal: number | null = null;
      const old = (): number => (oldLocal ??= f.local("i32"));
      code({ f, address, old, operand: (i) => f.get(2 + i).lane(OP.i32x4ExtractLane, lane) });
      if (row.access !== "write") f.get(result).get(old()).lane(OP.i32x4ReplaceLane, lane).set(result);
      if (oldLocal !== null) f.release(oldLocal);
      f.release(address);
      f.end();
    }
    f.get(result);
  });
}
