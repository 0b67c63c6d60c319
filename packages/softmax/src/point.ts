/** Points of the strategy space: one value for each axis, plain data. A rung of the ladder is a named point. */

/** A type alias, not an interface, so that a point is also a plain record of axis values. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type RowPoint = {
  /** Who computes a row: one invocation, or the lanes of a subgroup, whose reads then lie side by side. */
  readonly reader: "invocation" | "subgroup";
  /** Subgroups of a workgroup. */
  readonly subgroups: number;
  /** Elements that a read takes at most. Fewer where the columns are no multiple of it. */
  readonly vector: number;
  /**
   * How often the row is read from global memory: once for each thing that has to be known of it (three), once less by
   * finding two of them together (two, online), or once, to keep it in registers.
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

/** "a subgroup a row, 4 a workgroup, 4 elements a read, one pass" */
export function describePoint({ reader, subgroups, vector, passes }: RowPoint): string {
  const read = vector === 1 ? "1 element" : `${vector} elements`;
  const pass = passes === "one" ? "one pass" : `${passes} passes`;
  return `${reader === "subgroup" ? "a subgroup" : "an invocation"} a row, ${subgroups} ${subgroups === 1 ? "subgroup" : "subgroups"} a workgroup, ${read} a read, ${pass}`;
}
