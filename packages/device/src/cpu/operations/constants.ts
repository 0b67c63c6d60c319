/**
 * Doubles that generated code reads from memory, in both halves of a vector: to read one is a single instruction, to make one
 * is three. They lie at fixed addresses below all buffers, where the device's memory holds them from the beginning.
 */

import { math } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import { OP } from "../wasm/opcodes.ts";

/** Lanes that are masked off read from address 0 on, so that anything may lie there. */
const FIRST_ADDRESS = 1024;
const PAIR_BYTES = 16;

const values: readonly number[] = [math.EXP2_MAX, math.EXP2_MIN, math.ROUND_MAGIC, ...math.EXP2_COEFFICIENTS];

/** The first address behind the constants. */
export const CONSTANTS_END = FIRST_ADDRESS + PAIR_BYTES * values.length;

export function writeConstants(memory: WebAssembly.Memory): void {
  const pairs = new Float64Array(memory.buffer, FIRST_ADDRESS, 2 * values.length);
  values.forEach((value, i) => pairs.fill(value, 2 * i, 2 * i + 2));
}

/** Pushes a vector of a double that is among the constants. */
export function pushConstant(f: FunctionBuilder, value: number): void {
  const index = values.indexOf(value);
  if (index < 0) throw new Error(`${value} is not among the constants in memory`);
  f.i32(0).memory(OP.v128Load, FIRST_ADDRESS + PAIR_BYTES * index, 4);
}
