/** Atomic operations: one row each. What an order means is in nodes.ts. */

import type { Access } from "./types.ts";

/** What is known of an atomic operation. */
export interface AtomicRow {
  /** Operands beside the index: (expected, desired) for compareExchange. */
  readonly operands: 0 | 1 | 2;
  /** What it does with the memory. What reads gives the old value. */
  readonly access: Access;
  /** Whether it exists for f32. */
  readonly floats: boolean;
}

const define = <T extends Record<string, AtomicRow>>(rows: T): T => Object.freeze(rows);

/** The atomic operations, one row each. */
export const atomicOps = define({
  load: { operands: 0, access: "read", floats: true },
  store: { operands: 1, access: "write", floats: true },
  add: { operands: 1, access: "read_write", floats: true },
  min: { operands: 1, access: "read_write", floats: false },
  max: { operands: 1, access: "read_write", floats: false },
  and: { operands: 1, access: "read_write", floats: false },
  or: { operands: 1, access: "read_write", floats: false },
  xor: { operands: 1, access: "read_write", floats: false },
  exchange: { operands: 1, access: "read_write", floats: true },
  compareExchange: { operands: 2, access: "read_write", floats: false },
});

/** The name of an atomic operation. */
export type AtomicOp = keyof typeof atomicOps;

/** What each operation does with the memory. */
export const atomicAccess: Readonly<Record<AtomicOp, Access>> = Object.freeze(
  Object.fromEntries(Object.entries(atomicOps).map(([op, { access }]) => [op, access])) as Record<
    AtomicOp,
    Access
  >,
);
