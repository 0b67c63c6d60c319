/** Which keys a query sees. Positions and keys are i32: under a causal mask, key p is the last that position p sees. */

import type { Bool, I32 } from "@evolver/kernel";

export interface MaskRule {
  /**
   * The keys that some position from `first` to `last` sees lie in [from, to), a range within [0, keys). Where the
   * positions see none, to ≤ from.
   */
  range(first: I32, last: I32, keys: I32): { from: I32 | number; to: I32 };
  /** Whether the position sees a key of that range; null: it sees all of them. */
  sees(position: I32, key: I32): Bool | null;
  /** Whether all positions from `first` to `last` see all keys of [from, to); null: they do. */
  seesAll(first: I32, last: I32, from: I32, to: I32): Bool | null;
}
