/** What `gpu.roles` is given. */

import { EvolverError } from "@evolver/base";
import type { Site } from "../ir/site.ts";

/** A role of `gpu.roles`. */
export interface RoleOptions {
  readonly name: string;
  /** How many subgroups run the role; roles get subgroups in order, from 0 on. */
  readonly subgroups: number;
  readonly body: () => void;
}

export function checkRoles(options: readonly RoleOptions[], numSubgroups: number, site: Site): void {
  if (!Array.isArray(options) || !options.every((role) => typeof role?.body === "function"))
    throw new EvolverError("INVALID_ROLES", "gpu.roles takes a list of roles", {
      where: [site.location],
      hint: 'write gpu.roles([{ name: "copy", subgroups: 1, body: () => … }, …])',
    });
  const wanted = options.reduce((total, role) => total + role.subgroups, 0);
  if (
    wanted > numSubgroups ||
    options.some(({ subgroups }) => !Number.isInteger(subgroups) || subgroups < 1)
  ) {
    throw new EvolverError(
      "INVALID_ROLES",
      `roles want ${wanted} subgroups of the ${numSubgroups} in the workgroup`,
      {
        where: [site.location],
        hint: "each role takes a whole number of subgroups, at least one; enlarge the workgroup or shrink a role",
      },
    );
  }
}
