/** Predicts a point's time with the cost model, from runs of a single tile on the simulator. */

import { attentionPlan, type AttentionProblem, type FlashPoint } from "@evolver/attention";
import type { MachineProfile, ModelConstants, ModelledTime } from "@evolver/machine";
import { buildOf, type Counters, type Device, type MemoryCounters } from "@evolver/device";
import type { KernelIR } from "@evolver/kernel";
import { modelLaunch } from "@evolver/lab";
import { Extrapolator } from "./extrapolate.ts";

/** The model's input for a launch. It can be used again with other profiles and constants. */
export interface Prediction {
  readonly counters: Counters;
  readonly tiles: number;
  model(machine: MachineProfile, constants?: ModelConstants): ModelledTime;
}

/** Elements of the widest access. */
const WIDEST = 4;

/** Tiles in shared memory that are read along the head dimension and whose rows all start at a multiple of 16 bytes. */
function alignedTiles({ stage, layout, rowLanes }: FlashPoint): readonly string[] {
  const keys = stage === "shared" && layout === "row-major" ? ["k_tile"] : [];
  return layout === "row-major" || rowLanes === 1 ? [...keys, "q_tile"] : keys;
}

/** The counters with one array's in place of its own. */
function withMemory(counters: Counters, name: string, other: MemoryCounters | undefined): Counters {
  const own = counters.memory[name];
  if (own === undefined || other === undefined) return counters;
  return {
    ...counters,
    sharedPasses: counters.sharedPasses + other.passes - own.passes,
    sharedConflicts: counters.sharedConflicts + other.conflicts - own.conflicts,
    issuedMemory: counters.issuedMemory + other.readRequests - own.readRequests,
    memory: { ...counters.memory, [name]: other },
  };
}

/** Remembers what it counted: the same point on other lengths of the same kind is quick. */
export class TimePredictor {
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
  async predict(point: FlashPoint, problem: AttentionProblem, known?: Counters): Promise<Prediction> {
    const plan = attentionPlan(point, problem, buildOf(this.#sim));
    const [launch] = plan.launches;
    const tileCount = launch?.args["tileCount"];
    const tiles = typeof tileCount === "number" ? tileCount : (launch?.workgroups[0] ?? 0);
    const counters = known ?? (await this.#compiledCounters(point, problem, tiles));
    const kernel = plan.kernels[0] as KernelIR;
    return {
      counters,
      tiles,
      model: (machine, constants) =>
        modelLaunch({ plan, kernel, workgroups: tiles, counters }, machine, constants),
    };
  }

  /**
   * In unrolled loops compilers merge neighbouring reads to one wide read, where they can see that it is aligned: in tiles
   * without padding. The cost of those tiles is then that of the point with wider reads.
   */
  async #compiledCounters(point: FlashPoint, problem: AttentionProblem, tiles: number): Promise<Counters> {
    const counters = await this.#extrapolator.launchCounters(point, problem, tiles);
    const vector = Math.min(WIDEST, point.vector * point.unroll);
    const aligned = alignedTiles(point);
    if (vector === point.vector || aligned.length === 0) return counters;
    const wide = await this.#extrapolator.launchCounters({ ...point, vector }, problem, tiles);
    return aligned.reduce((sum, name) => withMemory(sum, name, wide.memory[name]), counters);
  }
}
