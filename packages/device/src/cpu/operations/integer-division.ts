/** Integer division by the rules of the language: it rounds as the operation says, and nothing traps. */

import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";

export type IntegerDivision = "divTrunc" | "divFloor" | "remTrunc" | "modFloor";

export const isQuotient = (op: IntegerDivision): boolean => op === "divTrunc" || op === "divFloor";
export const roundsDown = (op: IntegerDivision): boolean => op === "divFloor" || op === "modFloor";

/** The function of two scalars. */
export function division(helpers: HelperFunctions, op: IntegerDivision, signed: boolean): number {
  return helpers.define(`${op}:${signed}`, ["i32", "i32"], ["i32"], (f) => {
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
