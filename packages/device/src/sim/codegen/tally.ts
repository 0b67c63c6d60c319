/** Counts arithmetic while code is written, so that running code adds once for a run of operations. */

import { isFloat, ops } from "@evolver/kernel";
import type { OpNode } from "@evolver/kernel";
import { positionName } from "../runtime/counting.ts";
import type { TotalName } from "../runtime/counting.ts";

export class Tally {
  /** What each counter gets for the subgroup, and for each active lane. */
  readonly #amounts = new Map<TotalName, { once: number; each: number }>();

  add({ op, operands, result }: OpNode): void {
    const { unit, flops } = ops[op];
    const special = unit === "special";
    this.#add(special ? "issuedSpecial" : "issuedArithmetic", 1, 0);
    if (!special && ![result, ...operands].some(({ type }) => isFloat(type)))
      this.#add("issuedInteger", 1, 0);
    if (!isFloat(result.type) || flops === 0) return;
    this.#add("flops", 0, flops);
    if (special) this.#add("specials", 0, 1);
  }

  /** The statements that add what was counted; then counting starts from zero again. `lanes` is an expression for the number of active lanes. */
  take(lanes: string): string {
    const lines = [...this.#amounts].map(([total, { once, each }]) => {
      const amount = once > 0 ? once : each === 1 ? lanes : `${each} * ${lanes}`;
      return `totals[${positionName(total)}] += ${amount};`;
    });
    this.#amounts.clear();
    return lines.join("\n");
  }

  #add(total: TotalName, once: number, each: number): void {
    const amount = this.#amounts.get(total) ?? { once: 0, each: 0 };
    this.#amounts.set(total, { once: amount.once + once, each: amount.each + each });
  }
}
