/** Looks up a row of a table that is complete by type, for a key from IR that the compiler did not check. */

import { EvolverError } from "@evolver/base";

/**
 * The row of a key. The compiler makes tables complete, so that a row is missing only in IR that was written by hand or
 * read from a file: such IR is refused here rather than compiled to something else.
 *
 * @param what the thing that the table has rows of, for the message: "operation"
 * @throws EvolverError INTERNAL_ERROR
 */
export function rowOf<K extends string, Row>(table: Readonly<Record<K, Row>>, key: K, what: string): Row {
  if (!Object.hasOwn(table, key))
    throw new EvolverError("INTERNAL_ERROR", `the cpu device has no ${what} ${JSON.stringify(key)}`);
  return table[key];
}

/** For a cell of a table that says "not for this type": the verifier refuses IR that gets here. */
export function refuseType(what: string, type: string): never {
  throw new EvolverError("INTERNAL_ERROR", `the cpu device has no ${what} of ${type}`);
}
