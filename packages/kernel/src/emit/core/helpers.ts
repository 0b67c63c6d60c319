/** Helper functions: texts by name, of which a file gets those that its kernel calls. */

import { scalarTypes, type ScalarType } from "../../ir/types.ts";

/** A text, and the helpers that the text itself uses. */
export interface Helper {
  readonly text: string;
  readonly needs?: readonly string[];
}

export type HelperTable = Readonly<Record<string, Helper>>;

/** Asks for a helper function, and gives its name. */
export type RequestHelper = (name: string) => string;

/** The name of a helper of which there is one for each type: roundF16. */
export const ofType = (name: string, type: ScalarType): string => `${name}${scalarTypes[type].suffix}`;

/** The texts of the wanted helpers and of all that these need, in the order of the table. */
export function helperTexts(table: HelperTable, wanted: ReadonlySet<string>): string[] {
  const all = new Set<string>();
  const add = (name: string): void => {
    if (all.has(name)) return;
    const helper = table[name];
    if (helper === undefined) throw new TypeError(`no helper "${name}"`);
    all.add(name);
    for (const need of helper.needs ?? []) add(need);
  };
  for (const name of wanted) add(name);
  return Object.entries(table).flatMap(([name, { text }]) => (all.has(name) ? [text] : []));
}
