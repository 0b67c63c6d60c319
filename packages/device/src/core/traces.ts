/** What `gpu.trace` shows of a launch in the simulator. */

import type { SourceLocation } from "@evolver/base";

/** The values that one invocation showed at one time. */
export interface Trace {
  readonly label: string;
  /** In the order in which they were given; the components of a vector one after another. */
  readonly values: readonly (number | boolean)[];
  /** [x, y, z] of the workgroup. */
  readonly workgroup: readonly [number, number, number];
  /** The linear index of the invocation in its workgroup. */
  readonly invocation: number;
  readonly location: SourceLocation;
}

/** A trace as one line. */
export function formatTrace({ label, values, workgroup, invocation, location }: Trace): string {
  const where = `${location.file.slice(location.file.lastIndexOf("/") + 1)}:${location.line}`;
  const shown = values.length === 0 ? "" : `: ${values.map(String).join(", ")}`;
  return `${label}${shown} (invocation ${invocation} of workgroup [${workgroup.join(", ")}], ${where})`;
}
