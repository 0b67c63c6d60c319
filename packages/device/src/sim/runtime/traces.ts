/** Gathers the traces of one launch, in the order in which they happen. */

import type { ScalarType, TraceNode } from "@evolver/kernel";
import type { LaunchContext } from "./context.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";

/** Registers of one value, as generated code gives them: the file, and the position of lane 0. */
type Shown = readonly [file: ArrayLike<number>, at: number];

export class Traces {
  readonly #context: LaunchContext;
  readonly #most: number;

  /** @param most how many are kept */
  constructor(context: LaunchContext, most: number) {
    this.#context = context;
    this.#most = most;
  }

  add(subgroup: Subgroup, { mask }: LaneSet, site: number, shown: readonly Shown[]): void {
    const node = this.#context.node(site) as TraceNode;
    const { gathered } = this.#context;
    for (let lane = 0; lane < mask.length; lane++) {
      if (mask[lane] === 0) continue;
      if (gathered.traces.length >= this.#most) {
        gathered.tracesLeftOut++;
        continue;
      }
      gathered.traces.push({
        label: node.label,
        values: shown.map(([file, at], k) => decoded(file[at + lane] as number, node.values[k]?.type)),
        workgroup: this.#context.workgroup,
        invocation: subgroup.base + lane,
        location: node.site.location,
      });
    }
  }
}

function decoded(held: number, type: ScalarType | undefined): number | boolean {
  if (type === "bool") return held !== 0;
  return type === "u32" ? held >>> 0 : held;
}
