/**
 * Barriers in shared memory whose phases complete one after another. Unlike with gpu.barrier(), an invocation that arrives
 * need not wait, and one that waits need not arrive. Subgroups with different roles pass data to each other with them.
 */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import type { PhaseBarrier, Value } from "../ir/types.ts";
import { wantCount } from "./copies.ts";
import { note, type Recorder } from "./recorder.ts";
import { lift, type U32 } from "./scalar.ts";

/** What `gpu.phaseBarriers` makes. */
export interface PhaseBarrierOptions {
  /** Barriers in the array. */
  readonly count: number;
  /** Arrivals that complete a phase: of invocations, one by one. */
  readonly arrivals: number;
  /** What the copies that complete a phase copy together, in bytes, zeros included; the simulator checks it. */
  readonly bytes?: number;
  readonly name?: string;
}

/** An array of barriers in shared memory that some invocations arrive at and others wait for. CUDA: mbarrier. */
export class PhaseBarriers {
  readonly #recorder: Recorder;
  readonly #barrier: PhaseBarrier;

  /** @internal @throws EvolverError FORWARD_PROGRESS_UNAVAILABLE where the kernel is built for a device whose subgroups cannot wait */
  constructor(
    recorder: Recorder,
    options: PhaseBarrierOptions,
    forwardProgress: boolean,
    what = "gpu.phaseBarriers()",
  ) {
    const { count, arrivals, bytes } = options;
    const site = captureSite();
    if (!forwardProgress)
      throw new EvolverError(
        "FORWARD_PROGRESS_UNAVAILABLE",
        `${what} needs subgroups that can wait for each other, and on the device that the kernel is built for they cannot`,
        {
          where: [site.location, note(recorder.site, "the kernel was defined here")],
          hint: "where gpu.forwardProgress is false, let all subgroups copy and use gpu.barrier() instead",
        },
      );
    wantCount("count", count, 1, site);
    wantCount("arrivals", arrivals, 1, site);
    if (bytes !== undefined) wantCount("bytes", bytes, 1, site);
    const name = options.name ?? recorder.freeName(site, `phases${recorder.phaseBarriers.length}`);
    this.#recorder = recorder;
    this.#barrier = recorder.declarePhaseBarrier({ name, count, arrivals, bytes: bytes ?? null });
  }

  get count(): number {
    return this.#barrier.count;
  }

  /** The invocation arrives: what it did before is visible to those who wait. CUDA: mbarrier.arrive. */
  arrive(index: U32 | number): void {
    this.#arrive(index, "now");
  }

  /**
   * The invocation arrives when the copies that it started since its last such arrival are complete, and need not wait
   * for them itself. CUDA: cp.async.mbarrier.arrive.noinc.
   */
  arriveAfterCopies(index: U32 | number): void {
    this.#arrive(index, "copies");
  }

  /**
   * Waits until the phase of this parity (0 or 1) is complete: with p phases completed, it returns when p mod 2 is not the
   * parity. So parity 0 waits for the first phase, and before that, parity 1 returns at once. CUDA: mbarrier.try_wait.parity.
   */
  wait(index: U32 | number, parity: U32 | number): void {
    const site = captureSite();
    const barrier = this.#barrier;
    const at = this.#index(index, site);
    this.#recorder.emit({ kind: "awaitPhase", barrier, index: at, parity: this.#word(parity, site) }, site);
  }

  #arrive(index: U32 | number, after: "now" | "copies"): void {
    const site = captureSite();
    const at = this.#index(index, site);
    this.#recorder.emit({ kind: "arrive", barrier: this.#barrier, index: at, after }, site);
  }

  #index(index: U32 | number, site: Site): Value {
    const { name, count } = this.#barrier;
    if (typeof index === "number" && index >= count)
      throw new EvolverError("INVALID_INDEX", `"${name}" has ${count} barriers, and none of index ${index}`, {
        where: [site.location],
      });
    return this.#word(index, site);
  }

  #word(operand: U32 | number, site: Site): Value {
    const recorder = this.#recorder;
    const value = recorder.within(site, () => recorder.use(lift(recorder, operand, "u32"), site));
    if (value.type === "u32") return value;
    throw new EvolverError("TYPE_MISMATCH", `a phase barrier takes u32, not ${value.type}`, {
      where: [site.location],
      hint: "convert with toU32()",
    });
  }
}
