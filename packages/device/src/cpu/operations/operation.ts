/** The type of a row of the operation table: the code of one pure operation, for each representation of its operands. */

import type { ScalarType } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import type { PatternRule } from "./patterns.ts";
import type { LaneType } from "./representation.ts";

/** How the operands of an operation get onto the stack; each may be pushed more than once. */
interface Operands {
  readonly types: readonly ScalarType[];
  /** Pushes four lanes of the operand. */
  lanes(i: number): void;
  /** Pushes the operand's scalar; only where `isScalar`. */
  scalar(i: number): void;
  isScalar(i: number): boolean;
  /** The operand's value where it is known at build time. */
  constant(i: number): number | undefined;
}

/** Where an operation is written: the function, and what it may call and use. */
export interface OperationSite {
  readonly f: FunctionBuilder;
  readonly helpers: HelperFunctions;
  readonly operands: Operands;
}

/** Pushes the result of an operation. */
export type OperationCode = (site: OperationSite) => void;

/** The operation is not defined on the type: the verifier lets nothing get here. */
export const NONE = null;
/** There is no scalar code: the operation is done on four equal lanes. */
export const BY_LANES = "by lanes";

/** A number is the one instruction that does it, on all operands in order. */
export type LaneCell = number | OperationCode | typeof NONE;
export type ScalarCell = LaneCell | typeof BY_LANES;

type Cells<Cell> = Readonly<Record<LaneType, Cell>>;

export interface Operation {
  /** Four lanes at once, by the type of the first operand. */
  readonly lanes: Cells<LaneCell>;
  /** One value for all lanes, where all operands are uniform. */
  readonly scalar: Cells<ScalarCell>;
  /**
   * f16 and bf16 operands. `exact`: the result in f32 needs no rounding. `rounded`: it is rounded to the type of the
   * operands, which is right because the exact result of one operation (but an fma) never lies so close to a tie that
   * rounding to f32 first would show.
   */
  readonly half: "exact" | "rounded" | OperationCode | typeof NONE;
  /** The operand that the code for lanes takes as a scalar where it is uniform, if there is one. */
  readonly scalarOperand?: number;
  /** What patterns of the operands across lanes say of the result's. */
  readonly pattern: PatternRule;
}
