/**
 * The elements of one row, as those lanes have them that share it. What is computed of them is said once, in map and fold:
 * streamed elements are read again each time that they are looked at, held ones stay in registers.
 */

import { f32, select, u32, Vec, type Bool, type F32, type Gpu, type U32 } from "@evolver/kernel";
import type { Geometry } from "./fit.ts";

interface Source {
  get(index: U32): F32;
  getVec<N extends 2 | 4>(width: N, index: U32): Vec<"f32", N>;
}

interface Target {
  set(index: U32, value: F32): void;
  setVec(index: U32, value: Vec<"f32", 2 | 4>): void;
}

/** Where the row lies, and which of its elements this lane has. */
export interface RowPlace {
  readonly gpu: Gpu;
  readonly geometry: Geometry;
  readonly columns: number;
  /** Of the row's first element. */
  readonly base: U32;
  /** This lane's place among those that share the row. */
  readonly lane: U32 | null;
}

/** Neighbouring elements of the row that were read together. */
interface Group {
  readonly values: readonly F32[];
  /** A value where the group is one of the row's, a number for lanes that read beyond it. */
  where(value: F32, otherwise: number): F32;
}

export interface Elements {
  map(change: (value: F32) => F32): Elements;
  /** Gives each group of this lane's elements to the body; it may be in a loop at run time, so what adds up is a variable. */
  forEach(body: (group: Group) => void): void;
  write(to: Target): void;
}

export function streamedRow(place: RowPlace, from: Source, change = (value: F32): F32 => value): Elements {
  const { gpu, geometry } = place;
  const each = (body: (values: readonly F32[], index: U32) => void): void => {
    gpu.for({ from: 0, to: geometry.steps }, (step) => {
      const column = columnOf(place, step.mul(geometry.lanes * geometry.vector));
      const visit = (): void => {
        const index = place.base.add(column);
        body(read(from, index, geometry).map(change), index);
      };
      if (geometry.ragged) gpu.if(column.lt(place.columns), visit);
      else visit();
    });
  };
  return {
    map: (next) => streamedRow(place, from, (value) => next(change(value))),
    forEach: (body) => each((values) => body({ values, where: (value) => value })),
    write: (to) => each((values, index) => write(to, index, values)),
  };
}

/** Reads the row once. Lanes beyond its end have zeros. */
export function heldRow(place: RowPlace, from: Source): Elements {
  const { gpu, geometry, base, columns } = place;
  const span = geometry.lanes * geometry.vector;
  const groups = Array.from({ length: geometry.steps }, (_, step): HeldGroup => {
    const column = columnOf(place, gpu.constant(u32, step * span));
    const index = base.add(column);
    if ((step + 1) * span <= columns) return { index, inside: null, values: read(from, index, geometry) };
    const inside = column.lt(columns);
    const values = gpu.if(
      inside,
      () => read(from, index, geometry),
      () => Array.from({ length: geometry.vector }, () => gpu.constant(f32, 0)),
    );
    return { index, inside, values };
  });
  return heldGroups(gpu, groups);
}

interface HeldGroup {
  readonly index: U32;
  /** Null where all lanes are within the row. */
  readonly inside: Bool | null;
  readonly values: readonly F32[];
}

function heldGroups(gpu: Gpu, groups: readonly HeldGroup[]): Elements {
  return {
    map: (change) =>
      heldGroups(
        gpu,
        groups.map((group) => ({ ...group, values: group.values.map(change) })),
      ),
    forEach(body) {
      for (const { values, inside } of groups)
        body({
          values,
          where: (value, otherwise) => (inside === null ? value : select(inside, value, otherwise)),
        });
    },
    write(to) {
      for (const { values, index, inside } of groups)
        if (inside === null) write(to, index, values);
        else gpu.if(inside, () => write(to, index, values));
    },
  };
}

function columnOf({ geometry, lane }: RowPlace, first: U32): U32 {
  return lane === null ? first : lane.mul(geometry.vector).add(first);
}

function read(from: Source, index: U32, { vector }: Geometry): readonly F32[] {
  return vector === 1 ? [from.get(index)] : from.getVec(vector, index).components;
}

function write(to: Target, index: U32, values: readonly F32[]): void {
  const [first] = values;
  if (values.length === 1 && first !== undefined) to.set(index, first);
  else to.setVec(index, new Vec(values.length as 2 | 4, values));
}
