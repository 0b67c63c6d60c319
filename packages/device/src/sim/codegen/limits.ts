/** Writes the JavaScript that checks indices dimension by dimension, where the end of a row lies inside the memory. */

import type { IndexLimit, Node } from "@evolver/kernel";
import type { Emitter } from "./emitter.ts";
import type { Scope } from "./scopes.ts";

export class LimitWriter {
  readonly #emitter: Emitter;

  constructor(emitter: Emitter) {
    this.#emitter = emitter;
  }

  /** What has to be checked of a node before it runs. */
  check(node: Node, scope: Scope): void {
    for (const limit of this.#emitter.limits.get(node) ?? []) this.#check(node, limit, scope);
  }

  #check(node: Node, limit: IndexLimit, scope: Scope): void {
    const emitter = this.#emitter;
    const { memory, dimension, index, width, extent, by } = limit;
    const uniform = (of: IndexLimit["index"]): string | null =>
      typeof of === "number" ? String(of) : emitter.uniform(of);
    const [at, end] = [uniform(index), uniform(extent)];
    const place = emitter.place(node, { memory: emitter.memory(memory).number, dimension, width, by });
    const report = `findings.beyondExtent(subgroup, ${scope.active}, ${place}, ${emitter.operand(index, scope)}, ${emitter.operand(extent, scope)});`;
    // Strides of 1 or 0 do not say how long rows are.
    const counts = by === "stride" && end !== null ? `${end} > 1 && ` : "";
    if (end === null) emitter.emit(report);
    else if (at !== null) emitter.emit(`if (${counts}!(${at} >= 0 && ${at} <= ${end} - ${width})) ${report}`);
    else {
      const { file, at: first } = emitter.registers(index as Exclude<IndexLimit["index"], number>, scope);
      emitter.emit(
        `if (${counts}exceeds(subgroup.${file}, ${first}, ${scope.active}, ${end} - ${width})) ${report}`,
      );
    }
  }
}
