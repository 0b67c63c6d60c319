/** Built-in indices, all of type u32: one row each. */

export interface BuiltinRow {
  /** Among what the value differs: the same for a workgroup, for each subgroup, or for a lane only. */
  readonly differs: "workgroups" | "subgroups" | "lanes";
  /** Of a built-in with a component per axis: which one, 0 for x. Where the workgroup's extent is 1, the axis has one index. */
  readonly axis: 0 | 1 | 2 | null;
}

const alone = (differs: BuiltinRow["differs"]): BuiltinRow => ({ differs, axis: null });

type Axis = "x" | "y" | "z";
const byAxis = <N extends string>(
  name: N,
  differs: BuiltinRow["differs"],
): Readonly<Record<`${N}.${Axis}`, BuiltinRow>> =>
  ({
    [`${name}.x`]: { differs, axis: 0 },
    [`${name}.y`]: { differs, axis: 1 },
    [`${name}.z`]: { differs, axis: 2 },
  }) as Record<`${N}.${Axis}`, BuiltinRow>;

/** Subgroup s holds local indices s·W to s·W + W − 1 for subgroup width W. */
export const builtins = Object.freeze({
  ...byAxis("workgroupId", "workgroups"),
  ...byAxis("localId", "lanes"),
  ...byAxis("globalId", "lanes"),
  ...byAxis("numWorkgroups", "workgroups"),
  /** The linear index over x, then y, then z of the launch. */
  workgroupIndex: alone("workgroups"),
  localIndex: alone("lanes"),
  subgroupId: alone("subgroups"),
  /** The index in the subgroup. */
  lane: alone("lanes"),
});

/** The name of a built-in value, such as an index of the invocation. */
export type BuiltinName = keyof typeof builtins;
