/**
 * What a tool needs to verify, measure and improve anybody's kernels: plans for any choices and sizes, data for them, and the
 * truth about their results. A kernel with `tune`, `sizes` and `reference` is one (tunable-kernel.ts); several launches are one with
 * `tunable`.
 */

import { EvolverError } from "@evolver/base";
import {
  captureSite,
  chosen,
  defaultChoices,
  siteOfThrown,
  sized,
  whyNoSizes,
  whyNoTune,
  type Choice,
  type Choices,
  type Contents,
  type NoSizes,
  type NoTune,
  type ProblemWork,
  type Round,
  type Site,
  type Sizes,
  type SizesOf,
  type Tune,
} from "@evolver/kernel";
import type { Plan, PlanBuild, PlanTypes } from "./plan.ts";

/** Which problem of a kind: its sizes, and the scalars that may have several values. */
export interface Problem {
  readonly sizes: Readonly<Record<string, number>>;
  readonly scalars: Readonly<Record<string, number>>;
}

/** A value for each choice. */
export type Choosing = Readonly<Record<string, Choice>>;

/** Plans for any choices and sizes, with data and the truth. */
export interface Tunable {
  readonly name: string;
  /** Where it is defined. */
  readonly site: Site;
  readonly tune: Tune;
  readonly sizes: Sizes;
  /** Choices with a name. */
  readonly variants: Readonly<Record<string, Choosing>>;
  /** What the problem takes, where its author says so. */
  work(sizes: Problem["sizes"]): ProblemWork;
  /** The values of the scalars that have several. */
  scalars(sizes: Problem["sizes"]): Readonly<Record<string, readonly number[]>>;
  /** @throws what the author's code throws where there is no such plan */
  plan(problem: Problem, choices: Choosing, build: PlanBuild): Plan;
  /** What the buffers hold that a plan is given. Those that are left out are made up. */
  contents(sizes: Problem["sizes"]): Readonly<Record<string, Contents>>;
  /** The outputs by name. @param inputs as float64, by name */
  reference(
    inputs: Readonly<Record<string, Float64Array>>,
    problem: Problem,
    round: Round,
  ): Readonly<Record<string, ArrayLike<number> | undefined>>;
}

/** What `tunable` is given. */
export interface TunableOptions<B extends PlanTypes, T extends Tune, S extends Sizes> {
  /** Free choices, such as `{ tile: [8, 16, 32] }`. The first value of each is the default. */
  readonly tune?: T;
  /** Sizes of the problem with their defaults. */
  readonly sizes?: S;
  /** The launches for sizes and choices. An error that it throws says why there are none. */
  plan(sizes: SizesOf<S>, choices: Choices<T>, build: PlanBuild): Plan<B>;
  /** What inputs hold. Those that are left out are normal floats and any integers. */
  contents?(sizes: SizesOf<S>): { readonly [K in keyof B]?: Contents };
  /** The truth, in plain TypeScript on float64: the plan's outputs by name. See `Reference` about `round`. */
  reference(
    inputs: { readonly [K in keyof B]: Float64Array },
    sizes: SizesOf<S>,
    round: Round,
  ): { readonly [K in keyof B]?: ArrayLike<number> };
  /** The work that the problem takes. */
  work?(sizes: SizesOf<S>): ProblemWork;
  /** Choices with a name. */
  readonly variants?: Readonly<Record<string, Partial<Choices<T>>>>;
}

/**
 * Several launches that are improved as one.
 *
 * @throws EvolverError INVALID_KERNEL where choices or sizes are wrong
 */
export function tunable<B extends PlanTypes, const T extends Tune = NoTune, const S extends Sizes = NoSizes>(
  name: string,
  options: TunableOptions<B, T, S>,
): TunablePlan {
  const site = captureSite(false, tunable);
  const { tune = {}, sizes = {} } = options;
  const why =
    whyNoTune(tune) ??
    whyNoSizes(sizes) ??
    (typeof options.plan === "function" ? null : "it has no `plan`") ??
    (typeof options.reference === "function" ? null : "it has no `reference`");
  if (why !== null)
    throw new EvolverError("INVALID_KERNEL", `"${name}": ${why}`, {
      where: [site.location],
      hint: 'write tunable("name", { sizes, tune, plan(sizes, choices, build) { … }, reference(inputs, sizes, round) { … } })',
    });
  return new TunablePlan(name, site, options as unknown as AnyTunableOptions);
}

type AnyTunableOptions = TunableOptions<PlanTypes, Tune, Sizes>;

/** What `tunable` gives. */
export class TunablePlan implements Tunable {
  readonly name: string;
  readonly site: Site;
  readonly tune: Tune;
  readonly sizes: Sizes;
  readonly variants: Tunable["variants"];
  readonly #options: AnyTunableOptions;

  constructor(name: string, site: Site, options: AnyTunableOptions) {
    this.name = name;
    this.site = site;
    this.tune = options.tune ?? {};
    this.sizes = options.sizes ?? {};
    this.variants = fullVariants(this, options.variants ?? {});
    this.#options = options;
  }

  work(sizes: Problem["sizes"]): ProblemWork {
    return this.#options.work?.(sizes) ?? {};
  }

  scalars(): Readonly<Record<string, readonly number[]>> {
    return {};
  }

  plan({ sizes }: Problem, choices: Choosing, build: PlanBuild): Plan {
    const all = sized(this.sizes, sizes, `"${this.name}"`);
    return callAuthor(`the plan of "${this.name}"`, this.site, () => this.#options.plan(all, choices, build));
  }

  contents(sizes: Problem["sizes"]): Readonly<Record<string, Contents>> {
    const call = () => this.#options.contents?.(sizes) ?? {};
    return callAuthor(`\`contents\` of "${this.name}"`, this.site, call) as Readonly<
      Record<string, Contents>
    >;
  }

  reference(
    inputs: Readonly<Record<string, Float64Array>>,
    { sizes }: Problem,
    round: Round,
  ): Readonly<Record<string, ArrayLike<number> | undefined>> {
    const call = () => this.#options.reference(inputs, sizes, round);
    return callAuthor(`the reference of "${this.name}"`, this.site, call) ?? {};
  }
}

/**
 * Calls a function of a kernel's author, and says of what it throws where that was.
 *
 * @param what which function it is: `the reference of "matmul"`
 * @throws EvolverError FUNCTION_THREW
 */
export function callAuthor<T>(what: string, site: Site, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof EvolverError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new EvolverError("FUNCTION_THREW", `${what} threw: ${message}`, {
      where: error instanceof Error ? [siteOfThrown(error).location] : [site.location],
      hint: "correct it; where it throws to say that choices do not fit together, the first choices must fit all sizes",
      cause: error,
    });
  }
}

/** Named choices in full. */
export function fullVariants(
  { name, tune }: { readonly name: string; readonly tune: Tune },
  variants: Readonly<Record<string, Partial<Choices<Tune>>>>,
): Tunable["variants"] {
  return Object.fromEntries(
    Object.entries(variants).map(([id, choices]) => [
      id,
      chosen(tune, choices as Choices<Tune>, `"${name}", variant "${id}",`),
    ]),
  );
}

/** The choices that a search begins with. */
export const baselineOf = ({ tune }: Tunable): Choosing => defaultChoices(tune);
