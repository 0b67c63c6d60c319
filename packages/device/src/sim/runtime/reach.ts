/**
 * How far invocations reach at branches that keep stores below an extent (analysis/guards.ts): where a launch stops short of
 * the extent, elements of an output stay unwritten.
 */

import type { Guard } from "../analysis/guards.ts";
import type { LaunchContext } from "./context.ts";
import { valueOf } from "./phases.ts";
import type { LaneOperand } from "./phases.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";

export class Reach {
  readonly #context: LaunchContext;
  readonly #guards: readonly Guard[];

  constructor(context: LaunchContext, guards: readonly Guard[]) {
    this.#context = context;
    this.#guards = guards;
  }

  /** Active lanes come to a guard. */
  see(subgroup: Subgroup, { mask }: LaneSet, guard: number, index: LaneOperand, extent: LaneOperand): void {
    const { orEqual } = this.#guards[guard] as Guard;
    const none = {
      most: -Infinity,
      extent: 0,
      invocation: 0,
      workgroup: this.#context.workgroup,
      refused: false,
    };
    const reached = (this.#context.gathered.reached[guard] ??= none);
    for (let lane = 0; lane < mask.length; lane++) {
      if (mask[lane] === 0) continue;
      const at = valueOf(index, lane);
      const end = valueOf(extent, lane) + (orEqual ? 1 : 0);
      if (at >= end) reached.refused = true;
      if (at <= reached.most) continue;
      reached.most = at;
      reached.extent = end;
      reached.invocation = subgroup.base + lane;
      reached.workgroup = this.#context.workgroup;
    }
  }

  /** At the end of the launch: reports guards that stopped short, where an output has elements that nobody wrote. */
  report(): void {
    for (const [i, { node, stores }] of this.#guards.entries()) {
      const reached = this.#context.gathered.reached[i];
      if (reached === undefined || reached.refused || reached.most + 1 >= reached.extent) continue;
      for (const [memory, store] of stores) {
        const binding = this.#context.bindings.find(
          ({ name, space }) => space === "global" && name === memory.name,
        );
        if (binding === undefined || !binding.fresh) continue;
        const missing = unwritten(binding.storage.writeTime);
        if (missing === null) continue;
        const message =
          `${missing} of buffer "${memory.name}" ${missing.startsWith("element ") ? "is" : "are"} never written: line ` +
          `${node.site.location.line} lets pass what is below ${reached.extent}, and this launch has nothing there beyond ${reached.most}`;
        const { invocation, workgroup } = reached;
        this.#context.report.add("output-not-written", message, null, [
          { action: "write", site: store.site, lanes: [invocation], workgroup },
        ]);
      }
    }
  }
}

/** The elements that nobody wrote, in words; null where there are none. */
function unwritten(writeTime: Int32Array): string | null {
  const first = writeTime.indexOf(0);
  if (first < 0) return null;
  const last = writeTime.lastIndexOf(0);
  if (first === last) return `element ${first}`;
  const count = writeTime.reduce((sum, time) => sum + (time === 0 ? 1 : 0), 0);
  return count === last - first + 1
    ? `elements ${first} to ${last}`
    : `${count} elements, the first ${first},`;
}
