/** Those who share a row: the invocations of a workgroup, or the lanes of a subgroup. */

import { assertNever } from "@evolver/base";
import { f32, max, min, u32, type F32, type Gpu, type TypeDescriptor, type U32 } from "@evolver/kernel";
import { spread } from "./sweep.ts";
import { byWidth, type Reach } from "./vectors.ts";

export type TeamKind = "workgroup" | "subgroup";

export interface Team {
  /** Which team this is: its row. */
  readonly index: U32;
  readonly lane: U32;
  readonly lanes: number;
  /** Over all lanes of the team, and known to each. */
  sum(value: F32): F32;
  max(value: F32): F32;
  min(value: U32): U32;
}

/** The team that the invocation is of. All invocations of it have to take part in what it does. */
export function teamOf(gpu: Gpu, kind: TeamKind): Team {
  const { subgroup } = gpu;
  const sums: Fold<F32> = { all: (value) => subgroup.sum(value), two: (a, b) => a.add(b), neutral: 0 };
  const maxima: Fold<F32> = { all: (value) => subgroup.max(value), two: max, neutral: -Infinity };
  const minima: Fold<U32> = { all: (value) => subgroup.min(value), two: min, neutral: 0xffff_ffff };
  switch (kind) {
    case "subgroup":
      return {
        index: gpu.workgroupIndex.mul(gpu.numSubgroups).add(gpu.subgroupId),
        lane: gpu.lane,
        lanes: gpu.subgroupSize,
        sum: sums.all,
        max: maxima.all,
        min: minima.all,
      };
    case "workgroup":
      return {
        index: gpu.workgroupIndex,
        lane: gpu.localIndex,
        lanes: gpu.workgroupSize[0],
        sum: (value) => acrossSubgroups(gpu, value, sums),
        max: (value) => acrossSubgroups(gpu, value, maxima),
        min: (value) => acrossSubgroups(gpu, value, minima, u32),
      };
    default:
      return assertNever(kind, "team");
  }
}

/** Rows of so many columns, each of which a team has. */
interface Rows {
  readonly rows: U32;
  readonly columns: U32;
}

/** What a kernel that gives rows to teams chooses. */
export interface TeamChoices extends Reach {
  readonly threads: number;
  readonly team: TeamKind;
}

/** Free choices of a kernel that goes through each row once. */
export const streamTune = {
  threads: [128, 256, 512, 1024],
  team: ["workgroup", "subgroup"],
  width: [1, 2, 4],
  loads: [1, 2, 4, 8, 16],
} as const;

/**
 * Records the body for the row of each team. What it is given to move at a time is as chosen where vectors divide a row, and as many
 * single elements where they do not.
 *
 * @param body gets the place of its row's first element
 */
export function eachTeam<C extends TeamChoices>(
  gpu: Gpu,
  { rows, columns }: Rows,
  choices: C,
  body: (team: Team, base: U32, choices: C) => void,
): void {
  const team = teamOf(gpu, choices.team);
  gpu.if(team.index.lt(rows), () => {
    const base = team.index.mul(columns);
    byWidth(gpu, columns, choices, (fitting) => body(team, base, fitting));
  });
}

/** Workgroups with which each row has a team. */
export function teamLaunch(
  rows: number,
  { threads, team }: TeamChoices,
  { subgroup }: { readonly subgroup: number },
): readonly [number, number] {
  return spread(Math.ceil(rows / (team === "subgroup" ? threads / subgroup : 1)));
}

/** How values are combined: those of a subgroup, and two of one lane. */
interface Fold<V> {
  all(value: V): V;
  two(a: V, b: V): V;
  readonly neutral: number;
}

/** Each subgroup combines what all subgroups have come to, so that no second barrier is needed. */
function acrossSubgroups<V extends F32 | U32>(
  gpu: Gpu,
  value: V,
  { all, two, neutral }: Fold<V>,
  type: TypeDescriptor<"f32" | "u32"> = f32,
): V {
  const { numSubgroups, subgroupSize, lane } = gpu;
  const own = all(value);
  if (numSubgroups === 1) return own;
  const partial = gpu.shared(type as typeof f32, numSubgroups);
  gpu.if(lane.eq(0), () => partial.set(gpu.subgroupId, own as F32));
  gpu.barrier();
  const parts = Array.from(
    { length: Math.ceil(numSubgroups / subgroupSize) },
    (_, k) => partial.getOr(lane.add(k * subgroupSize), neutral) as V,
  );
  return all(parts.reduce((a, b) => two(a, b)));
}
