/** What a point's time is going to be, by the cost model, without running more than a tile of it on the simulator. */

import type { AttentionProblem, FlashPoint } from "@evolver/attention";
import type { Counters, Device, MachineProfile, ModelConstants, ModelledTime } from "@evolver/device";
import type { KernelIR } from "@evolver/kernel";
import { modelLaunch } from "./counters.ts";
import { Extrapolator } from "./extrapolate.ts";
import { attentionPlan, buildOf } from "./plan.ts";

/** What the model needs to know of a launch; with it, other profiles and constants cost nothing. */
export interface Foreseen {
  readonly counters: Counters;
  readonly tiles: number;
  model(machine: MachineProfile, constants?: ModelConstants): ModelledTime;
}

/** Remembers what it counted: the same point on other lengths of the same kind is quick. */
export class Foresight {
  readonly #sim: Device;
  readonly #extrapolator: Extrapolator;

  /** @param sim a device that counts; without checks it is quicker */
  constructor(sim: Device) {
    this.#sim = sim;
    this.#extrapolator = new Extrapolator(sim);
  }

  /**
   * @param known the launch's counters, where they have been counted before
   * @throws EvolverError what planning does, MASK_UNSUPPORTED under a window
   */
  async foresee(point: FlashPoint, problem: AttentionProblem, known?: Counters): Promise<Foreseen> {
    const plan = attentionPlan(point, problem, buildOf(this.#sim));
    const [launch] = plan.launches;
    const tileCount = launch?.args["tileCount"];
    const tiles = typeof tileCount === "number" ? tileCount : (launch?.workgroups[0] ?? 0);
    const counters = known ?? (await this.#extrapolator.launchCounters(point, problem, tiles));
    const kernel = plan.kernels[0] as KernelIR;
    return {
      counters,
      tiles,
      model: (machine, constants) => modelLaunch(plan, kernel, tiles, counters, machine, constants),
    };
  }
}
