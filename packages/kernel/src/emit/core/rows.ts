/** The shape of an operation table: one row an operation and target, complete by type. */

import type { OpName } from "../../ir/ops.ts";
import type { ScalarType } from "../../ir/types.ts";
import type { Expression, Operand } from "./expression.ts";

/** What a row may ask of the emitter. */
interface RowContext {
  /** The type of the result. */
  readonly result: ScalarType;
  /** Asks for a helper function of the target's text table, and gives its name. */
  helper(name: string): string;
  /** Makes an entry in the lowering report. */
  note(request: string, became: string, fallback: boolean): void;
}

export type Row = (operands: readonly Operand[], context: RowContext) => Expression;

export type OpTable = Readonly<Record<OpName, Row>>;

/** Helper functions that emitted code may need, by name: text, and the helpers that the text itself uses. */
export interface Helper {
  readonly text: string;
  readonly needs?: readonly string[];
}

export type HelperTable = Readonly<Record<string, Helper>>;

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
  return Object.keys(table)
    .filter((name) => all.has(name))
    .map((name) => (table[name] as Helper).text);
}
