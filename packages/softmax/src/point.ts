/** Points of the strategy space: one value for each axis, plain data. A rung of the ladder is a named point. */

/** A type alias, not an interface, so that a point is also a plain record of axis values. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type RowPoint = {
  /** Who computes a row: one invocation, or the lanes of a subgroup, whose reads then lie side by side. */
  readonly reader: "invocation" | "subgroup";
  /** Subgroups of a workgroup. */
  readonly subgroups: number;
  /** The most elements per read. Fewer where the number of columns is no multiple of it. */
  readonly vector: number;
  /**
   * How often the row is read from global memory: three times, once for each of two statistics and once for the result;
   * twice, where both statistics are found in one pass (online); or once, where the row is then kept in registers.
   */
  readonly passes: "three" | "two" | "one";
};

type Axes = {
  readonly [K in keyof RowPoint]: { readonly name: K; readonly values: readonly RowPoint[K][] };
}[keyof RowPoint];

/** The axes of the space with their values in order; neighbours are small steps. */
export const axes: readonly Axes[] = Object.freeze([
  { name: "reader", values: ["invocation", "subgroup"] },
  { name: "subgroups", values: [1, 2, 4, 8] },
  { name: "vector", values: [1, 2, 4] },
  { name: "passes", values: ["three", "two", "one"] },
] as const);

/** "one subgroup per row, 4 subgroups per workgroup, 4 elements per read, one pass" */
export function describePoint({ reader, subgroups, vector, passes }: RowPoint): string {
  const read = vector === 1 ? "1 element" : `${vector} elements`;
  const pass = passes === "one" ? "one pass" : `${passes} passes`;
  const groups = `${subgroups} ${subgroups === 1 ? "subgroup" : "subgroups"}`;
  return `one ${reader} per row, ${groups} per workgroup, ${read} per read, ${pass}`;
}
