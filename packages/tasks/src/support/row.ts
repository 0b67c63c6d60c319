/**
 * A row that a team goes through several times: held in registers after one read, or read again each time. What is computed of
 * it is written once.
 */

import { f32, max, select, type F32, type Gpu, type U32, type ViewOptions } from "@evolver/kernel";
import { sweep } from "./sweep.ts";
import { eachTeam, teamLaunch, type Team, type TeamChoices } from "./team.ts";
import { readVector, total, writeVector, type Reach, type Source, type Target } from "./vectors.ts";

/** Free choices of a kernel that goes through its rows several times. */
export const rowTune = {
  threads: [128, 256, 512, 1024],
  team: ["workgroup", "subgroup"],
  width: [1, 2, 4],
  loads: [1, 2, 4, 8, 16, 32],
  held: ["no", "yes"],
} as const;

interface RowChoices extends TeamChoices {
  /** Whether the vectors in flight are the whole row, and stay in registers. */
  readonly held: "no" | "yes";
}

/** Elements of the row that one invocation has. */
interface Part {
  readonly values: readonly F32[];
  /** The same places of another buffer. @param base the place there of the row's first element; 0 if absent */
  read(from: Source, base?: U32): readonly F32[];
  write(to: Target, values: readonly F32[], base?: U32): void;
}

/** What the team has of a row. All lanes have to call what combines. */
export interface Row {
  /** The sum of something of each element. */
  sum(term: (value: F32) => F32): F32;
  max(): F32;
  each(body: (part: Part) => void): void;
}

/** Where rows lie. */
interface Rows {
  readonly x: Source;
  readonly rows: U32;
  readonly columns: U32;
}

/** Workgroups with which each row has a team. @throws Error where the registers of a team do not hold a row */
export function rowLaunch(
  { rows, columns }: { readonly rows: number; readonly columns: number },
  choices: RowChoices,
  build: { readonly subgroup: number },
): readonly [number, number] {
  const { threads, team, width, loads, held } = choices;
  const most = (team === "subgroup" ? build.subgroup : threads) * width * loads;
  if (held === "yes" && columns > most)
    throw new Error(`a ${team} holds ${most} columns, fewer than ${columns}`);
  return teamLaunch(rows, choices, build);
}

/** Records the body for each row. @param body gets the place of the row's first element */
export function eachRow(
  gpu: Gpu,
  { x, rows, columns }: Rows,
  choices: RowChoices,
  body: (row: Row, base: U32) => void,
): void {
  eachTeam(gpu, { rows, columns }, choices, (team, base, reach) => {
    const place: RowPlace = { gpu, team, x, base, columns };
    if (choices.held === "no") return body(streamedRow(place, reach), base);
    const guarded = (): void => body(heldRow(place, reach, false), base);
    // Where vectors do not divide a row, it does not fill the registers either.
    if (reach.width < choices.width) return guarded();
    // A row that does needs no test for its end, so that loads follow each other at once.
    gpu.if(
      columns.eq(team.lanes * reach.width * reach.loads),
      () => body(heldRow(place, reach, true), base),
      guarded,
    );
  });
}

interface RowPlace {
  readonly gpu: Gpu;
  readonly team: Team;
  readonly x: Source;
  readonly base: U32;
  readonly columns: U32;
}

function streamedRow({ gpu, team, x, base, columns }: RowPlace, reach: Reach): Row {
  const each = (body: (part: Part) => void): void =>
    sweep(gpu, team, columns, reach, ({ read, write }) => body({ values: read(x, base), read, write }));
  return {
    each,
    sum(term) {
      const own = gpu.var(f32, 0, "sum");
      each(({ values }) => own.add(total(values.map(term))));
      return team.sum(own.get());
    },
    max() {
      const own = gpu.var(f32, -Infinity, "maximum");
      each(({ values }) => own.set(max(own.get(), ...values)));
      return team.max(own.get());
    },
  };
}

/** @param isFull whether all lanes have all their vectors within the row */
function heldRow({ gpu, team, x, base, columns }: RowPlace, { width, loads }: Reach, isFull: boolean): Row {
  const own = team.lane.mul(width);
  const vectors = Array.from({ length: loads }, (_, k) => {
    const start = k * team.lanes * width;
    return { start, inside: isFull ? null : own.add(start).lt(columns) };
  });
  const from = (first: U32 | undefined): ViewOptions => ({
    strides: [1],
    offset: first === undefined ? own : first.add(own),
  });
  const zeros = Array.from({ length: width }, () => gpu.constant(f32, 0));
  const read: Part["read"] = (buffer, first) => {
    const here = buffer.view(from(first));
    return vectors.flatMap(({ start, inside }) => {
      const get = (): F32[] => [...readVector(here, start, width)];
      return inside === null ? get() : gpu.if(inside, get, () => zeros);
    });
  };
  const write: Part["write"] = (buffer, values, first) => {
    const here = buffer.view(from(first));
    for (const [k, { start, inside }] of vectors.entries()) {
      const set = (): void => writeVector(here, start, values.slice(k * width, (k + 1) * width));
      if (inside === null) set();
      else gpu.if(inside, set);
    }
  };
  /** With a number in place of what is beyond the row. */
  const kept = (values: readonly F32[], otherwise: number): readonly F32[] =>
    values.map((value, i) => {
      const inside = vectors[Math.floor(i / width)]?.inside ?? null;
      return inside === null ? value : select(inside, value, gpu.constant(f32, otherwise));
    });
  const values = read(x, base);
  return {
    each: (body) => body({ values, read, write }),
    sum: (term) => team.sum(total(kept(values.map(term), 0))),
    max: () => team.max(kept(values, -Infinity).reduce((a, b) => max(a, b))),
  };
}
