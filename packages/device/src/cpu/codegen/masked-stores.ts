/**
 * Stores of some of four lanes. Masks have all ones in the lanes that store. Addresses are a scalar where the four
 * elements are neighbours, and a vector otherwise; elements are words, or 16 bits in the low halves of lanes.
 */

import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";

/** (address, value, mask): stores the lanes of four consecutive elements that the mask has. */
export function storeMasked(helpers: HelperFunctions): number {
  return helpers.define("storeMasked", ["i32", "v128", "v128"], [], (f) => {
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
export function scatter(helpers: HelperFunctions): number {
  return helpers.define("scatter", ["v128", "v128", "v128"], [], (f) => {
    for (let lane = 0; lane < 4; lane++) {
      f.get(2).lane(OP.i32x4ExtractLane, lane).if();
      f.get(0).lane(OP.i32x4ExtractLane, lane).get(1).memoryLane(OP.v128Store32Lane, 0, 2, lane);
      f.end();
    }
  });
}

/** (addresses, bits, mask): stores the low halves of the lanes that the mask has. */
export function scatterHalves(helpers: HelperFunctions): number {
  return helpers.define("scatterHalves", ["v128", "v128", "v128"], [], (f) => {
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
export function storeMaskedHalves(helpers: HelperFunctions): number {
  return helpers.define("storeMaskedHalves", ["i32", "v128", "v128"], [], (f) => {
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
