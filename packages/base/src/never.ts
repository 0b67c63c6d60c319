/** The end of every switch over kinds, types, targets and devices. */

import { EvolverError } from "./errors.ts";

/**
 * Marks the place where no case is left. The compiler refuses the call as long as a case is missing; at run time it throws for
 * data that the types do not allow.
 *
 * @param what the thing that was switched over, for the message: "node kind"
 * @throws EvolverError INTERNAL_ERROR
 */
export function assertNever(value: never, what: string): never {
  throw new EvolverError("INTERNAL_ERROR", `there is no ${what} ${JSON.stringify(value)}`);
}
