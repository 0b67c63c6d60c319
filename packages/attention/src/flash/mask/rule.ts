/**
 * Which keys a query sees. Positions and keys are i32: under a causal mask, key p is the last that position p sees.
 *
 * Sequences may be as long as i32 counts, so `position + right` could pass its end. Differences of keys and positions never do:
 * a position is less than `keys`, and `keys − position` is at most the number of queries.
 */

import type { I32 } from "@evolver/kernel";

/**
 * The keys that some position from `first` to `last` sees lie in [from, to), a range within [0, keys); a single position sees all
 * of that range. Where the positions see none, to ≤ from. Both ends grow with the position.
 */
export type MaskRule = (first: I32, last: I32, keys: I32) => { from: I32 | 0; to: I32 };
