/** What is known of the built-in indices across the lanes of a subgroup, from the size of the workgroup alone. */

import type { BuiltinName } from "@evolver/kernel";
import { affine, alignmentOf, MAX_ALIGN, uniform, VARYING, type LanePattern } from "../lane-pattern.ts";

export interface KernelSize {
  readonly workgroup: readonly [number, number, number];
  /** The width of a subgroup. */
  readonly subgroup: number;
}

type Pattern = (size: KernelSize) => LanePattern;

/** The workgroup is one subgroup, so that what its subgroups have is the workgroup's. */
const isOneSubgroup = ({ workgroup: [x, y, z], subgroup }: KernelSize): boolean => x * y * z <= subgroup;

const ofTheWorkgroup: Pattern = () => uniform(true);

const localIndex: Pattern = (size) => {
  const single = isOneSubgroup(size);
  return affine(1, single, single ? MAX_ALIGN : size.subgroup);
};

/** An index along x: rows of the workgroup that are as long as subgroups, or multiples of that, give affine lanes. */
const alongX =
  (startOfWorkgroup: (x: number, width: number) => number): Pattern =>
  (size) => {
    const { workgroup, subgroup } = size;
    const [x, y, z] = workgroup;
    if (y * z === 1 || x % subgroup === 0)
      return affine(1, isOneSubgroup(size), startOfWorkgroup(x, subgroup));
    return x === 1 ? uniform(true) : VARYING;
  };

const alongY: Pattern = ({ workgroup: [x, y], subgroup }) => {
  if (y === 1) return uniform(true);
  return x % subgroup === 0 ? uniform(false) : VARYING;
};

const alongZ: Pattern = ({ workgroup: [x, y, z], subgroup }) => {
  if (z === 1) return uniform(true);
  return (x * y) % subgroup === 0 ? uniform(false) : VARYING;
};

export const builtinPatterns: Readonly<Record<BuiltinName, Pattern>> = Object.freeze({
  "workgroupId.x": ofTheWorkgroup,
  "workgroupId.y": ofTheWorkgroup,
  "workgroupId.z": ofTheWorkgroup,
  "numWorkgroups.x": ofTheWorkgroup,
  "numWorkgroups.y": ofTheWorkgroup,
  "numWorkgroups.z": ofTheWorkgroup,
  workgroupIndex: ofTheWorkgroup,
  "localId.x": alongX((_, width) => width),
  "localId.y": alongY,
  "localId.z": alongZ,
  // A workgroup starts at a multiple of its size.
  "globalId.x": alongX((x, width) => Math.min(width, Math.max(alignmentOf(x), 1))),
  "globalId.y": alongY,
  "globalId.z": alongZ,
  localIndex,
  subgroupId: (size) => uniform(isOneSubgroup(size), 1),
  lane: () => affine(1, true, MAX_ALIGN),
});
