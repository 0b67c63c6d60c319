/** What schemas of evidence are put together from. */

import * as v from "valibot";
import { finiteSchema, positiveSchema } from "@evolver/base";
import type { Axis, Point } from "@evolver/lab";

export const text = v.string();
export const flag = v.boolean();
export const number = finiteSchema;
export const positive = positiveSchema;
export const measured = v.literal("measured");

/**
 * Refuses a list in which two items have the same name.
 *
 * @param field where the name stands
 * @param scope what the name has to be unique within, besides the list
 */
export const once = <Item extends Readonly<Record<string, unknown>>>(
  field: keyof Item & string,
  scope: (item: Item) => string = () => "",
) =>
  v.rawCheck<Item[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const seen = new Set<string>();
    for (const [key, item] of dataset.value.entries()) {
      const name = JSON.stringify([scope(item), item[field]]);
      if (seen.has(name))
        addIssue({
          message: "it must be named once, not twice",
          input: item[field],
          path: pathTo(dataset.value, key, field),
        });
      seen.add(name);
    }
  });

/** Refuses items whose name is none of the known ones. */
export const knownIn = <Item extends Readonly<Record<string, unknown>>>(
  field: keyof Item & string,
  names: readonly string[],
  concerns: (item: Item) => boolean,
) =>
  v.rawCheck<Item[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [key, item] of dataset.value.entries()) {
      if (!concerns(item) || names.includes(String(item[field]))) continue;
      addIssue({
        message: `it must be one of ${names.join(", ")}`,
        input: item[field],
        path: pathTo(dataset.value, key, field),
      });
    }
  });

function pathTo<Item extends Readonly<Record<string, unknown>>>(
  items: Item[],
  key: number,
  field: keyof Item & string,
): [v.ArrayPathItem, v.ObjectPathItem] {
  const item = items[key] as Item;
  return [
    { type: "array", origin: "value", input: items, key, value: item },
    { type: "object", origin: "value", input: item, key: field, value: item[field] },
  ];
}

/** A point of a study's space; null for one of an older space, which lacks axes. */
export function pointIn(axes: readonly Axis[]): v.GenericSchema<unknown, Point | null> {
  const entries = axes.map(
    ({ name, values }) => [name, v.optional(typeof values[0] === "number" ? number : text)] as const,
  );
  return v.pipe(
    v.object(Object.fromEntries(entries)),
    v.transform((values) => {
      const isWhole = axes.every(({ name }) => values[name] !== undefined);
      return isWhole ? (values as Point) : null;
    }),
  );
}
