/**
 * Operations over the active invocations of a subgroup of width W: one row each, as ops.ts has them for pure operations.
 *
 * - `sum`, `min`, `max` combine as a butterfly: for o = W/2, W/4, …, 1: v[l] = v[l] ∘ v[l xor o]; inactive lanes hold
 *   the identity. The order is part of the meaning, so that sums of floating-point numbers agree bit for bit; in f16 and
 *   bf16 each step rounds.
 * - `inclusiveSum`: for o = 1, 2, …, W/2: v[l] = l ≥ o ? v[l − o] + v[l] : v[l] (all lanes at once); `exclusiveSum`
 *   is that shifted up by one lane, lane 0 holding 0.
 * - `ballot` has ⌈W/32⌉ u32 results, lane l being bit l mod 32 of word ⌊l/32⌋.
 * - `broadcast(v, lane)`, `shuffle(v, lane)`, `shuffleXor(v, mask)`, `shuffleUp(v, n)` (from l − n), `shuffleDown(v, n)`
 *   (from l + n): second operand u32. What an inactive lane gives, or one outside the subgroup, is indeterminate: the
 *   simulator reports it where it reaches a result, an address or a decision. On devices of ours it is the
 *   invocation's own value.
 */

import { isFloat, scalarTypes, type ScalarType } from "./types.ts";

/** What is known of a subgroup operation. */
export interface SubgroupRow {
  /** Result types at a subgroup width, or null if it does not take the operands. */
  results(operands: readonly ScalarType[], width: number): readonly ScalarType[] | null;
  /**
   * Whether lanes may get different results: never; only where they name different lanes in the second operand; or always.
   */
  readonly differs: "never" | "bySecondOperand" | "always";
  /** Whether all lanes get the same bits. The minimum of +0 and −0 is either of them, from lane to lane. */
  agrees(type: ScalarType): boolean;
  /** Whether the result is made of the values of all lanes, so that it matters which of them take part. */
  readonly combines: boolean;
  /** What inactive lanes hold; null where their values do not come in. A bool is 0 or 1. */
  identity(type: ScalarType): number | null;
  /** A word for its result, for names in emitted code. */
  readonly noun: string;
}

type Results = SubgroupRow["results"];

const isNumeric = (type: ScalarType | undefined): type is ScalarType =>
  type !== undefined && scalarTypes[type].element;

const sameAsOnly: Results = ([first, ...rest]) => (rest.length === 0 && isNumeric(first) ? [first] : null);

const sameAsFirst: Results = ([first, second, ...rest]) =>
  rest.length === 0 && isNumeric(first) && second === "u32" ? [first] : null;

const ofBool =
  (results: (width: number) => readonly ScalarType[]): Results =>
  ([first, ...rest], width) =>
    rest.length === 0 && first === "bool" ? results(width) : null;

const none = (): null => null;
const always = (): boolean => true;
const never = (): boolean => false;

const vote = (noun: string, identity: number): SubgroupRow => ({
  results: ofBool(() => ["bool"]),
  differs: "never",
  agrees: always,
  combines: true,
  identity: () => identity,
  noun,
});

const extreme = (noun: string, limit: "least" | "greatest"): SubgroupRow => ({
  results: sameAsOnly,
  differs: "never",
  agrees: (type) => !isFloat(type),
  combines: true,
  identity: (type) => scalarTypes[type][limit],
  noun,
});

const scan = (noun: string): SubgroupRow => ({
  results: sameAsOnly,
  differs: "always",
  agrees: never,
  combines: true,
  identity: () => 0,
  noun,
});

const shuffle: SubgroupRow = {
  results: sameAsFirst,
  differs: "always",
  agrees: never,
  combines: false,
  identity: none,
  noun: "shuffled",
};

const define = <K extends string>(rows: Record<K, SubgroupRow>): Readonly<Record<K, SubgroupRow>> =>
  Object.freeze(rows);

/** The operations between the invocations of a subgroup, one row each. */
export const subgroupOps = define({
  sum: {
    results: sameAsOnly,
    differs: "never",
    agrees: always,
    combines: true,
    identity: () => 0,
    noun: "total",
  },
  min: extreme("smallest", "greatest"),
  max: extreme("largest", "least"),
  any: vote("anyLane", 0),
  all: vote("allLanes", 1),
  ballot: {
    results: ofBool((width) => Array.from({ length: Math.ceil(width / 32) }, () => "u32")),
    differs: "never",
    agrees: always,
    combines: true,
    identity: () => 0,
    noun: "ballot",
  },
  broadcast: { ...shuffle, differs: "bySecondOperand" },
  broadcastFirst: { ...shuffle, results: sameAsOnly, differs: "never", agrees: always },
  shuffle,
  shuffleXor: shuffle,
  shuffleUp: shuffle,
  shuffleDown: shuffle,
  inclusiveSum: scan("inclusiveSum"),
  exclusiveSum: scan("exclusiveSum"),
});

/** The name of a subgroup operation. */
export type SubgroupOp = keyof typeof subgroupOps;

/** Result types of a subgroup operation at a width, or null if it does not exist or take the operands. */
export const subgroupResults = (
  op: SubgroupOp,
  operands: readonly ScalarType[],
  width: number,
): readonly ScalarType[] | null =>
  Object.hasOwn(subgroupOps, op) ? subgroupOps[op].results(operands, width) : null;
