/** What a tunable plan is verified on: sizes that leave a rest everywhere, the smallest sizes, and data that probe an edge. */

import { deriveSeed, type Json } from "@evolver/base";
import type { AnyTypedArray, Plan, PlanBuffer, PlanBuild, Problem, Tunable } from "@evolver/device";
import { baselineOf } from "@evolver/device";
import {
  leastSizes,
  nearestSize,
  raggedSizes,
  type ElementType,
  type HalfType,
  type SizeRule,
  type Sizes,
} from "@evolver/kernel";
import type { Case } from "../study/case.ts";
import { drawContents, flavours, type FlavourName } from "./data.ts";
import { canJudge } from "./truth.ts";

/** The shape of a case is the problem. A type alias, so that it is JSON. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type TunableShape = {
  readonly sizes: { readonly [name: string]: number };
  readonly scalars: { readonly [name: string]: number };
} & Json;

/** The problem that is timed, and what its plans are built for. */
export interface TunableObjective {
  readonly tunable: Tunable;
  readonly sizes: Problem["sizes"];
  readonly build: PlanBuild;
}

/** Wishes for sizes of some ten thousand elements, as `raggedSizes` has them of a thousand. */
const MEDIUM: readonly (readonly number[])[] = [
  [20_011],
  [307, 211],
  [101, 67, 83],
  [23, 29, 19, 31],
  [11, 13, 7, 9, 5],
];

/** Operations that the simulator is given for a case with every check: a second or less. */
const CHECKED = 2 ** 20;
/** Operations of cases of moderate sizes. */
const MODERATE = 2 ** 23;

/** Operations of a problem as far as its sizes tell, whoever solves it. */
export function costOf({ tunable, build }: TunableObjective, problem: Problem): number {
  const { buffers } = tunable.plan(problem, baselineOf(tunable), build);
  const elements = buffers.reduce((sum, { role, length }) => sum + (role === "scratch" ? 0 : length), 0);
  const volume = Object.values(problem.sizes).reduce((product, size) => product * size, 1);
  return Math.max(elements, volume, tunable.work(problem.sizes).flops ?? 0);
}

interface Probe {
  readonly kind: Case["kind"];
  readonly sizes: Problem["sizes"];
  readonly flavour: FlavourName;
  readonly scalars: Problem["scalars"];
}

/** All cases but the timed one, fresh for each seed. Data on which the reference leaves the range of f32 are left out. */
export function casesOf(objective: TunableObjective, seed: number): readonly Case<TunableShape>[] {
  const cases = new Map<string, Case<TunableShape>>();
  for (const probe of probesOf(objective)) {
    const made = caseOf(objective, probe, seed);
    if (cases.has(made.id)) continue;
    const { tunable } = objective;
    const plan = planOf(objective, made.shape);
    const request = { tunable, problem: made.shape, plan, inputs: made.inputs, seed };
    if (made.kind === "random" || canJudge(request)) cases.set(made.id, made);
  }
  return [...cases.values()];
}

/** The case that is timed. */
export function objectiveCaseOf(objective: TunableObjective, seed: number): Case<TunableShape> {
  const { sizes } = objective;
  const scalars = firstScalars(objective, sizes);
  const made = caseOf(objective, { kind: "random", sizes, flavour: "normal values", scalars }, seed);
  return { ...made, id: "objective", checks: "fast" };
}

/** A random case of moderate sizes, whose truth is always worked out. */
export function mediumCaseOf(objective: TunableObjective, seed: number): Case<TunableShape> {
  const sizes = within(objective, mediumSizes(rulesOf(objective)), MODERATE);
  const scalars = firstScalars(objective, sizes);
  return caseOf(objective, { kind: "random", sizes, flavour: "normal values", scalars }, seed);
}

/** The plan that a case is about, for the names and types of its buffers. */
export const planOf = ({ tunable, build }: TunableObjective, problem: Problem): Plan =>
  tunable.plan(problem, baselineOf(tunable), build);

function probesOf(objective: TunableObjective): Probe[] {
  const rules = rulesOf(objective);
  const least = leastSizes(rules);
  const ragged = within(objective, raggedSizes(rules), CHECKED);
  const even = evenSizes(rules, ragged);
  const medium = within(objective, mediumSizes(rules), MODERATE);
  const first = (sizes: Problem["sizes"]): Problem["scalars"] => firstScalars(objective, sizes);
  const probe = (kind: Case["kind"], sizes: Problem["sizes"], flavour: FlavourName): Probe => ({
    kind,
    sizes,
    flavour,
    scalars: first(sizes),
  });
  const names = Object.keys(rules);
  const thin = names.length < 2 ? [] : names.map((name) => ({ ...ragged, [name]: least[name] as number }));
  const others = (Object.keys(flavours) as FlavourName[]).filter((name) => name !== "normal values");
  return [
    probe("random", ragged, "normal values"),
    probe("random", medium, "normal values"),
    probe("random", even, "normal values"),
    probe("hostile", even, "few outliers"),
    probe("hostile", least, "normal values"),
    ...thin.map((sizes) => probe("hostile", sizes, "normal values")),
    ...others.map((flavour) => probe("hostile", ragged, flavour)),
    ...Object.entries(objective.tunable.scalars(ragged)).flatMap(([name, values]) =>
      values.slice(1).map((value): Probe => ({
        ...probe("hostile", ragged, "normal values"),
        scalars: { ...first(ragged), [name]: value },
      })),
    ),
  ];
}

/** Multiples of 4 near other sizes: kernels that move vectors where these divide a row take another path at odd ones. */
function evenSizes(rules: Sizes, sizes: Problem["sizes"]): Record<string, number> {
  const near = (name: string): number =>
    nearestSize(rules[name] as SizeRule, 4 * Math.ceil((sizes[name] as number) / 4));
  return Object.fromEntries(Object.keys(rules).map((name) => [name, near(name)]));
}

/** The sizes, or smaller ones where the problem takes more operations: where all pairs of elements meet, for example. */
function within(
  objective: TunableObjective,
  wanted: Record<string, number>,
  operations: number,
): Record<string, number> {
  const rules = rulesOf(objective);
  let sizes = wanted;
  for (let share = 0.7; share > 0.01; share *= 0.7) {
    const scalars = firstScalars(objective, sizes);
    if (costOf(objective, { sizes, scalars }) <= operations) break;
    sizes = Object.fromEntries(
      Object.entries(wanted).map(([name, size]) => [
        name,
        nearestSize(rules[name] as SizeRule, Math.max(1, Math.floor(size * share))),
      ]),
    );
  }
  return sizes;
}

/** Rules with the objective's sizes in place of the defaults: nothing is verified on larger ones. */
function rulesOf({ tunable, sizes }: TunableObjective): Readonly<Record<string, SizeRule>> {
  return Object.fromEntries(
    Object.entries(tunable.sizes).map(([name, rule]) => {
      const value = sizes[name] as number;
      return [name, typeof rule === "number" ? { value } : { ...rule, value }];
    }),
  );
}

function mediumSizes(rules: Sizes): Record<string, number> {
  const names = Object.keys(rules);
  const wishes = MEDIUM[Math.min(names.length, MEDIUM.length) - 1] ?? [];
  return Object.fromEntries(
    names.map((name, i) => [name, nearestSize(rules[name] as SizeRule, wishes[i % wishes.length] as number)]),
  );
}

function firstScalars({ tunable }: TunableObjective, sizes: Problem["sizes"]): Problem["scalars"] {
  const all = Object.entries(tunable.scalars(sizes));
  return Object.fromEntries(all.map(([name, values]) => [name, values[0] ?? 0]));
}

function caseOf(
  objective: TunableObjective,
  { kind, sizes, flavour, scalars }: Probe,
  caseSeed: number,
): Case<TunableShape> {
  const shape: TunableShape = { sizes: { ...sizes }, scalars: { ...scalars } };
  const { buffers } = planOf(objective, shape);
  const contents = objective.tunable.contents(sizes);
  const words = Object.entries({ ...sizes, ...scalars }).map(([name, value]) => `${name} ${value}`);
  const id = [flavour, ...words].join(", ");
  const seed = deriveSeed(caseSeed, id);
  const given = buffers.filter(({ role }) => role === "input" || role === "inout");
  const inputs = given.map((buffer): [string, AnyTypedArray] => [
    buffer.name,
    drawContents(buffer, contents[buffer.name], { flavour, seed }),
  ]);
  const outputs = buffers.filter(({ role }) => role === "output" || role === "inout");
  const halves = given.flatMap(({ name, element }): [string, HalfType][] =>
    isHalfType(element) ? [[name, element]] : [],
  );
  return {
    id,
    kind,
    seed: caseSeed,
    shape,
    inputs: Object.fromEntries(inputs),
    halves: Object.fromEntries(halves),
    outputs: Object.fromEntries(
      outputs.map(({ name, element, length }: PlanBuffer) => [name, { element, length }]),
    ),
    checks: costOf(objective, shape) <= CHECKED ? "full" : "fast",
  };
}

const isHalfType = (element: ElementType): element is HalfType => element === "f16" || element === "bf16";
