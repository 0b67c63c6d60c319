/** The end of every switch over kinds, types, targets and devices. */

import { EvolverError } from "./errors.ts";

/**
 * Where no case is left: the compiler refuses the call as long as one is, and data that came from outside the types is
 * refused when it gets here.
 *
 * @param what the thing that was switched over, for the message: "node kind"
 * @throws EvolverError INTERNAL_ERROR
 */
export function assertNever(value: never, what: string): never {
  throw new EvolverError("INTERNAL_ERROR", `there is no ${what} ${JSON.stringify(value)}`);
}
