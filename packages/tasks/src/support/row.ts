/**
 * A row that a team goes through several times: held in registers after one read, or read again each time. What is computed of
 * it is written once.
 */

import { f32, max, select, type Bool, type F32, type Gpu, type U32 } from "@evolver/kernel";
import { sweep } from "./sweep.ts";
import type { Team, TeamChoices } from "./team.ts";
import { readVector, total, writeVector, type Reach, type Readable, type Writable } from "./vectors.ts";

/** Neighbours of the row that one invocation has. */
interface Part {
  readonly values: readonly F32[];
  /** The same places of another buffer. @param base the place there of the row's first element; 0 if absent */
  read(from: Readable, base?: U32): readonly F32[];
  write(to: Writable, values: readonly F32[], base?: U32): void;
}

/** What the team has of a row. All lanes have to call what combines. */
export interface Row {
  /** The sum of something of each element. */
  sum(term: (value: F32) => F32): F32;
  max(): F32;
  each(body: (part: Part) => void): void;
}

/** Where a row lies. */
export interface RowPlace {
  readonly gpu: Gpu;
  readonly team: Team;
  readonly from: Readable;
  /** Of its first element. */
  readonly base: U32;
  readonly columns: U32;
}

/** What a kernel that goes through its row several times chooses. */
export interface RowChoices extends TeamChoices {
  /** Whether the vectors in flight are the whole row, and stay in registers. */
  readonly held: "no" | "yes";
}

export const rowOf = (place: RowPlace, choices: RowChoices): Row =>
  choices.held === "yes" ? heldRow(place, choices) : streamedRow(place, choices);

/** Free choices of such a kernel. */
export const rowTune = {
  threads: [128, 256, 512, 1024],
  team: ["workgroup", "subgroup"],
  width: [1, 2, 4],
  loads: [1, 2, 4, 8, 16, 32],
  held: ["no", "yes"],
} as const;

/** Throws where the registers of a team do not hold a row. */
export function checkHeld(
  columns: number,
  choices: RowChoices,
  { subgroup }: { readonly subgroup: number },
): void {
  const { threads, team, width, loads, held } = choices;
  const most = (team === "subgroup" ? subgroup : threads) * width * loads;
  if (held === "yes" && columns > most)
    throw new Error(`a ${team} holds ${most} columns, fewer than ${columns}`);
}

function streamedRow({ gpu, team, from, base, columns }: RowPlace, reach: Reach): Row {
  const each = (body: (part: Part) => void): void =>
    sweep(gpu, team, columns, reach, (piece) => body({ ...piece, values: piece.read(from, base) }));
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

interface HeldPart extends Part {
  readonly inside: Bool;
}

function heldRow({ gpu, team, from, base, columns }: RowPlace, { width, loads }: Reach): Row {
  const parts = Array.from({ length: loads }, (_, k): HeldPart => {
    const column = team.lane.add(k * team.lanes).mul(width);
    const inside = column.lt(columns);
    const zeros = Array.from({ length: width }, () => gpu.constant(f32, 0));
    const read: Part["read"] = (buffer, first) => {
      const at = first === undefined ? column : first.add(column);
      return gpu.if(
        inside,
        () => [...readVector(buffer, at, width)],
        () => zeros,
      );
    };
    return {
      values: read(from, base),
      inside,
      read,
      write: (to, values, first) =>
        gpu.if(inside, () => writeVector(to, first === undefined ? column : first.add(column), values)),
    };
  });
  const kept = (change: (value: F32) => F32, otherwise: number): F32[] =>
    parts.flatMap(({ values, inside }) =>
      values.map((value) => select(inside, change(value), gpu.constant(f32, otherwise))),
    );
  return {
    each: (body) => parts.forEach((part) => body(part)),
    sum: (term) => team.sum(total(kept(term, 0))),
    max: () => team.max(kept((value) => value, -Infinity).reduce((a, b) => max(a, b))),
  };
}
