/** What the parts of the verifier share: its error, how rules report, and the shape of a name. */

import { EvolverError } from "@evolver/base";
import type { Site } from "../ir/site.ts";

export const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** For rules about names and sizes, which users choose. */
export const NAME_HINT = "use letters, digits and underscores, no digit first: names appear in emitted code";

const RULE_HINT =
  "kernels made by kernel(...) never break these rules: this is a bug in what made or changed the IR";

/** How a node's rules report what is wrong: it throws, and names the node. */
export type Fail = (what: string) => never;

/** An INVALID_IR error; the other place, if there is one, comes second. */
export function invalid(
  what: string,
  site: Site,
  {
    other,
    note,
    hint,
  }: { other?: Site | undefined; note?: string | undefined; hint?: string | undefined } = {},
): EvolverError {
  const where = [site.location];
  if (other) where.push({ ...other.location, ...(note === undefined ? {} : { note }) });
  return new EvolverError("INVALID_IR", `Invalid IR: ${what}.`, { where, hint: hint ?? RULE_HINT });
}
