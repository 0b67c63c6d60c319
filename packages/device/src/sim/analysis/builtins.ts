/** Built-in indices: which of them lanes of a subgroup disagree on, and where generated code finds each. */

import type { BuiltinName, KernelIR } from "@evolver/kernel";

interface BuiltinRow {
  /** Whether lanes of a subgroup may have different values. */
  varies(ir: KernelIR): boolean;
  /** An expression for a value that all lanes have, in the generator. */
  readonly shared: string;
  /** One for the value of `lane`, in a loop over lanes. */
  readonly byLane: string;
  /** A variable of the generator that `byLane` uses, or null. */
  readonly from: string | null;
}

type Axis = "x" | "y" | "z";

const always = (): boolean => true;
const never = (): boolean => false;

/** Lanes go along x first, so that they share y, and z, where a row, or a plane, is whole subgroups. */
const AXIS_VARIES: Readonly<Record<Axis, BuiltinRow["varies"]>> = {
  x: always,
  y: ({ workgroupSize: [x], subgroupSize }) => x % subgroupSize !== 0,
  z: ({ workgroupSize: [x, y], subgroupSize }) => (x * y) % subgroupSize !== 0,
};

/** The same for all lanes of a workgroup or subgroup. */
const shared = (expression: string): BuiltinRow => ({
  varies: never,
  shared: expression,
  byLane: expression,
  from: null,
});

const localId = (axis: Axis): BuiltinRow => ({
  varies: AXIS_VARIES[axis],
  shared: `subgroup.local${axis.toUpperCase()}[0]`,
  byLane: `subgroup.local${axis.toUpperCase()}[lane]`,
  from: null,
});

const globalId = (axis: Axis): BuiltinRow => {
  const first = `first${axis.toUpperCase()}`;
  const local = localId(axis);
  return {
    varies: AXIS_VARIES[axis],
    shared: `(${first} + ${local.shared}) >>> 0`,
    byLane: `(${first} + ${local.byLane}) >>> 0`,
    from: first,
  };
};

export const builtins: { readonly [K in BuiltinName]: BuiltinRow } = {
  "workgroupId.x": shared("launch.workgroupX"),
  "workgroupId.y": shared("launch.workgroupY"),
  "workgroupId.z": shared("launch.workgroupZ"),
  "numWorkgroups.x": shared("launch.countX"),
  "numWorkgroups.y": shared("launch.countY"),
  "numWorkgroups.z": shared("launch.countZ"),
  workgroupIndex: shared("launch.workgroupIndex"),
  subgroupId: shared("subgroup.index"),
  "localId.x": localId("x"),
  "localId.y": localId("y"),
  "localId.z": localId("z"),
  "globalId.x": globalId("x"),
  "globalId.y": globalId("y"),
  "globalId.z": globalId("z"),
  localIndex: { varies: always, shared: "subgroup.base", byLane: "subgroup.base + lane", from: null },
  lane: { varies: always, shared: "0", byLane: "lane", from: null },
};
