/** For cases about what a device must refuse. */

import { EvolverError } from "@evolver/base";

/** Fails unless the action is refused with this code. */
export async function refuses(code: string, what: string, action: () => unknown): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof EvolverError && error.code === code) return;
    const given = error instanceof EvolverError ? error.code : String(error);
    throw new Error(`${what} is refused with ${given}, not with ${code}`, { cause: error });
  }
  throw new Error(`${what} is not refused (${code})`);
}
