/** Counts arithmetic while code is written, so that running code adds once for a run of operations. */

import { isFloat, ops } from "@evolver/kernel";
import type { OpNode } from "@evolver/kernel";
import { total } from "./counting.ts";

type Counter = Parameters<typeof total>[0];

export class Tally {
  /** What each counter gets for the subgroup, and for each active lane. */
  readonly #amounts = new Map<number, { once: number; each: number }>();

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

  /** The statements that add what was counted for `lanes` active lanes; starts anew. */
  take(lanes: string): string {
    let code = "";
    for (const [position, { once, each }] of this.#amounts)
      code += `C[${position}]+=${once > 0 ? once : each === 1 ? lanes : `${each}*${lanes}`};`;
    this.#amounts.clear();
    return code;
  }

  #add(counter: Counter, once: number, each: number): void {
    const position = total(counter);
    const amount = this.#amounts.get(position) ?? { once: 0, each: 0 };
    this.#amounts.set(position, { once: amount.once + once, each: amount.each + each });
  }
}
