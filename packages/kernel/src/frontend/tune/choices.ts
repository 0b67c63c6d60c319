/**
 * Free choices of a kernel, such as the size of a tile: for each a list of values, of which the body is given one. The first
 * value is the default; a search tries the others.
 */

import { EvolverError } from "@evolver/base";

/** What a choice may be. */
export type Choice = number | string;

/** The values of each choice by its name, in an order in which neighbours are small steps. The first is the default. */
export type Tune = Readonly<Record<string, readonly Choice[]>>;

/** No choices. */
export type NoTune = Readonly<Record<never, readonly Choice[]>>;

/** One value for each choice, as a kernel's body is given them. */
export type Choices<T extends Tune> = { readonly [K in keyof T]: T[K][number] };

/** The first value of each. */
export function defaultChoices<T extends Tune>(tune: T): Choices<T> {
  return Object.fromEntries(
    Object.entries(tune).map(([name, values]) => [name, values[0] as Choice]),
  ) as Choices<T>;
}

/**
 * Some choices in full, with the defaults for the rest.
 *
 * @param what whose they are, for the message
 * @throws EvolverError UNKNOWN_CHOICE
 */
export function chosen<T extends Tune>(tune: T, given: Partial<Choices<T>>, what: string): Choices<T> {
  for (const [name, value] of Object.entries(given)) {
    const values = Object.hasOwn(tune, name) ? (tune[name] as readonly unknown[]) : null;
    if (values === null)
      throw new EvolverError("UNKNOWN_CHOICE", `${what} has no choice "${name}"`, {
        hint: `it has ${Object.keys(tune).join(", ") || "none"}`,
      });
    if (!values.includes(value))
      throw new EvolverError("UNKNOWN_CHOICE", `${name} of ${what} cannot be ${JSON.stringify(value)}`, {
        hint: `it can be ${values.join(", ")}`,
      });
  }
  return { ...defaultChoices(tune), ...given };
}

/** What is wrong with `tune`, for callers without types; null if nothing. */
export function whyNoTune(tune: unknown): string | null {
  if (typeof tune !== "object" || tune === null || Array.isArray(tune))
    return "`tune` is not a record of choices, such as { tile: [8, 16] }";
  for (const [name, values] of Object.entries(tune as Readonly<Record<string, unknown>>)) {
    if (!Array.isArray(values) || values.length === 0)
      return `\`tune.${name}\` is not a list with at least one value, such as [8, 16]`;
    const list: readonly unknown[] = values;
    if (!list.every((value) => typeof value === "string" || Number.isFinite(value)))
      return `\`tune.${name}\` has a value that is neither a number nor a text`;
    if (new Set(list).size !== list.length) return `\`tune.${name}\` has a value twice`;
  }
  return null;
}
