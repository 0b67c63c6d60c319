/** The space that a study searches: its axes, and a candidate as one value on each of them. */

/** One value for each axis of the space. */
export type Point = Readonly<Record<string, number | string>>;

/** A named choice. The values are ordered: neighbours in the list are small steps. */
export interface Axis {
  readonly name: string;
  readonly values: readonly (number | string)[];
}

/** The points that a search may choose from. */
export interface Space<P extends Point = Point> {
  readonly axes: readonly Axis[];
  /** Why the point can't be built, in one sentence; null if it can. Cheap: called for thousands of points. */
  whyInvalid(point: P): string | null;
}
