/** The sizes of a problem, such as rows and columns, by name, and which values a kernel takes for each. */

import { EvolverError } from "@evolver/base";

/** A size that is not any whole number from 1 on. */
export interface SizeRule {
  /** The default, which is what is timed. */
  readonly value: number;
  /** It has to be a multiple of this number. */
  readonly multipleOf?: number;
  /** It has to be one of these. */
  readonly oneOf?: readonly number[];
}

/** Sizes by name: the default of each, or a rule. */
export type Sizes = Readonly<Record<string, number | SizeRule>>;

/** No sizes. */
export type NoSizes = Readonly<Record<never, number>>;

/** A value for each size. */
export type SizesOf<S extends Sizes> = { readonly [K in keyof S]: number };

/** The default of each size. */
export function defaultSizes<S extends Sizes>(sizes: S): SizesOf<S> {
  return mapped(sizes, ({ value }) => value);
}

/**
 * Wishes for small sizes, by how many a problem has: primes or the like, so that tiles and vectors leave a rest; different for each
 * size, so that mixed-up sizes show. Their product is some thousands, which a simulator does in a second.
 */
const RAGGED: readonly (readonly number[])[] = [
  [1009],
  [151, 97],
  [37, 23, 29],
  [13, 11, 17, 7],
  [7, 5, 11, 3, 9],
];

/** Small values that are no multiple of anything where that is allowed, and no larger than the defaults. */
export function raggedSizes<S extends Sizes>(sizes: S): SizesOf<S> {
  const count = Object.keys(sizes).length;
  const wishes = RAGGED[Math.min(count, RAGGED.length) - 1] ?? [];
  return mapped(sizes, (rule, i) => nearest(rule, wishes[i % wishes.length] as number));
}

/** The smallest that is allowed of each. */
export function leastSizes<S extends Sizes>(sizes: S): SizesOf<S> {
  return mapped(sizes, (rule) => nearest(rule, 1));
}

/** The allowed value that is nearest to a wish, and not above the default unless nothing else is allowed. */
export function nearestSize(rule: number | SizeRule, wish: number): number {
  return nearest(ruleOf(rule), wish);
}

function nearest({ value, multipleOf = 1, oneOf }: SizeRule, wish: number): number {
  if (oneOf !== undefined) {
    const fitting = oneOf.filter((each) => each <= value);
    const candidates = fitting.length > 0 ? fitting : oneOf;
    return candidates.reduce((best, each) => (Math.abs(each - wish) < Math.abs(best - wish) ? each : best));
  }
  const least = multipleOf;
  return Math.max(least, multipleOf * Math.floor(Math.min(wish, value) / multipleOf));
}

/** Why a size cannot have a value; null if it can. */
export function whyNotSize(name: string, rule: number | SizeRule, value: unknown): string | null {
  const { multipleOf = 1, oneOf } = ruleOf(rule);
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    return `${name} is ${JSON.stringify(value)}, and must be a whole number from 1 on`;
  if (oneOf !== undefined && !oneOf.includes(value as number))
    return `${name} is ${value}, and must be one of ${oneOf.join(", ")}`;
  if ((value as number) % multipleOf !== 0)
    return `${name} is ${value}, and must be a multiple of ${multipleOf}`;
  return null;
}

/**
 * Some sizes in full, with the defaults for the rest.
 *
 * @param what whose they are, for the message
 * @throws EvolverError INVALID_SIZE
 */
export function sized<S extends Sizes>(sizes: S, given: Partial<SizesOf<S>>, what: string): SizesOf<S> {
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(sizes, name) ? sizes[name] : undefined;
    const why =
      rule === undefined
        ? `there is no ${name}, only ${Object.keys(sizes).join(", ") || "no sizes at all"}`
        : whyNotSize(name, rule, value);
    if (why !== null) throw new EvolverError("INVALID_SIZE", `a size of ${what} is wrong: ${why}`);
  }
  return { ...defaultSizes(sizes), ...given };
}

/** What is wrong with `sizes`, for callers without types and for defaults that their own rule forbids; null if nothing. */
export function whyNoSizes(sizes: unknown): string | null {
  if (typeof sizes !== "object" || sizes === null || Array.isArray(sizes))
    return "`sizes` is not a record of sizes, such as { rows: 1024 }";
  for (const [name, rule] of Object.entries(sizes as Readonly<Record<string, unknown>>)) {
    const isRule = typeof rule === "object" && rule !== null && "value" in rule;
    if (typeof rule !== "number" && !isRule)
      return `\`sizes.${name}\` is neither a number nor a rule such as { value: 1024, multipleOf: 32 }`;
    const { value, multipleOf = 1, oneOf } = ruleOf(rule as number | SizeRule);
    if (!Number.isSafeInteger(multipleOf) || multipleOf < 1)
      return `\`sizes.${name}.multipleOf\` is not a whole number from 1 on`;
    if (oneOf !== undefined && (!Array.isArray(oneOf) || oneOf.length === 0))
      return `\`sizes.${name}.oneOf\` is not a list with at least one value`;
    const why = whyNotSize(name, rule as number | SizeRule, value);
    if (why !== null) return `of \`sizes\`, ${why}`;
  }
  return null;
}

const ruleOf = (rule: number | SizeRule): SizeRule => (typeof rule === "number" ? { value: rule } : rule);

function mapped<S extends Sizes>(sizes: S, of: (rule: SizeRule, index: number) => number): SizesOf<S> {
  return Object.fromEntries(
    Object.entries(sizes).map(([name, rule], i) => [name, of(ruleOf(rule), i)]),
  ) as SizesOf<S>;
}
