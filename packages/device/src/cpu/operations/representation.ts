/**
 * How values of each scalar type are held in WebAssembly: in vectors of four lanes, in a local for all lanes together,
 * and in memory. f16 and bf16 are held as the f32 that they are exactly. A bool is a mask of all ones or all zeros in
 * lanes, and 1 or 0 as a scalar. An `index` is 32 bits.
 */

import { assertNever } from "@evolver/base";
import type { ElementType, HalfType, ScalarType } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import { OP } from "../wasm/opcodes.ts";

/** What instructions take the bits of a lane for. */
export type LaneType = "f32" | "i32" | "u32" | "bool";

export interface Representation {
  readonly lane: LaneType;
  /** The type of a local with one value for all lanes. */
  readonly scalar: "f32" | "i32";
  /** Instructions on such a value: from a lane of a vector, from memory and to memory. */
  readonly extractLane: number;
  readonly load: number;
  readonly store: number;
}

const float: Representation = {
  lane: "f32",
  scalar: "f32",
  extractLane: OP.f32x4ExtractLane,
  load: OP.f32Load,
  store: OP.f32Store,
};

const word = (lane: LaneType): Representation => ({
  lane,
  scalar: "i32",
  extractLane: OP.i32x4ExtractLane,
  load: OP.i32Load,
  store: OP.i32Store,
});

export const representations: Readonly<Record<ScalarType, Representation>> = Object.freeze({
  f32: float,
  f16: float,
  bf16: float,
  i32: word("i32"),
  u32: word("u32"),
  index: word("u32"),
  bool: word("bool"),
});

/** The elements that memory holds as 16 bits, to be expanded to f32 when they are read; null for those held as they are. */
export const storedHalf: Readonly<Record<ElementType, HalfType | null>> = Object.freeze({
  f32: null,
  i32: null,
  u32: null,
  f16: "f16",
  bf16: "bf16",
});

const scratch = new DataView(new ArrayBuffer(4));

/** The bits of a number in f32. */
function floatBits(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getInt32(0);
}

/** The 32 bits of a lane that holds a constant (a bool as 1 or 0). */
export function laneBits(type: ScalarType, constant: number): number {
  const { lane } = representations[type];
  switch (lane) {
    case "f32":
      return floatBits(constant);
    case "i32":
    case "u32":
      return constant;
    case "bool":
      return -constant;
    default:
      return assertNever(lane, "lane type");
  }
}

/** Turns the scalar on the stack into four lanes. */
export function splat(f: FunctionBuilder, type: ScalarType): void {
  const { lane } = representations[type];
  switch (lane) {
    case "f32":
      f.op(OP.f32x4Splat);
      return;
    case "i32":
    case "u32":
      f.op(OP.i32x4Splat);
      return;
    case "bool": {
      const value = f.local("i32");
      f.set(value).i32(0).get(value).op(OP.i32Sub);
      f.release(value);
      f.op(OP.i32x4Splat);
      return;
    }
    default:
      assertNever(lane, "lane type");
  }
}

/** Turns the four equal lanes on the stack into the scalar that they all hold. */
export function unsplat(f: FunctionBuilder, type: ScalarType): void {
  const { lane, extractLane } = representations[type];
  f.lane(extractLane, 0);
  if (lane === "bool") f.i32(1).op(OP.i32And);
}
