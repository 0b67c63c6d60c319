/**
 * A ring of stages in shared memory between invocations that fill them and invocations that use them, each at its own
 * speed: acquire → copy → commit on one side, wait → use → release on the other. It does not own the stages' memory, only
 * the two arrays of phase barriers that say which stages are full and which are empty.
 */

import { EvolverError } from "@evolver/base";
import { captureSite } from "../ir/site.ts";
import { wantCount } from "./copies.ts";
import { PhaseBarriers } from "./phase-barriers.ts";
import type { Recorder } from "./recorder.ts";
import { Scalar, type U32 } from "./scalar.ts";

/** What `gpu.pipeline` makes. */
export interface PipelineOptions {
  /** Fills that can be under way at once. */
  readonly stages: number;
  /** Invocations that commit each fill. */
  readonly producers: number;
  /** Invocations that release each fill. */
  readonly consumers: number;
  /** What the producers copy for a fill together, in bytes, zeros included; the simulator checks it. */
  readonly bytes?: number;
  readonly name?: string;
}

/**
 * `n` is the number of the fill, from 0 on. It is never reset, also not in a kernel that works on several tiles one after
 * the other. In a JavaScript loop at build time it may be a number.
 */
export class Pipeline {
  readonly stages: number;
  readonly #full: PhaseBarriers;
  readonly #empty: PhaseBarriers;

  /** @internal @throws EvolverError FORWARD_PROGRESS_UNAVAILABLE where the kernel is built for a device whose subgroups cannot wait */
  constructor(recorder: Recorder, options: PipelineOptions, forwardProgress: boolean) {
    const { stages, producers, consumers, bytes } = options;
    const site = captureSite();
    wantCount("stages", stages, 1, site);
    wantCount("producers", producers, 1, site);
    wantCount("consumers", consumers, 1, site);
    const name =
      options.name ?? recorder.freeName(site, `pipeline${recorder.phaseBarriers.length}`, ["Full", "Empty"]);
    const array = (suffix: string, arrivals: number, copied: { readonly bytes?: number }): PhaseBarriers =>
      new PhaseBarriers(
        recorder,
        { count: stages, arrivals, name: name + suffix, ...copied },
        forwardProgress,
        "gpu.pipeline()",
      );
    this.stages = stages;
    this.#full = array("Full", producers, bytes === undefined ? {} : { bytes });
    this.#empty = array("Empty", consumers, {});
  }

  /** The stage of a fill: n mod stages. */
  slot(n: number): number;
  slot(n: U32): U32;
  slot(n: U32 | number): U32 | number;
  slot(n: U32 | number): U32 | number {
    if (typeof n === "number") {
      wantCount("n", n, 0, captureSite());
      return n % this.stages;
    }
    wantWord(n);
    return n.remTrunc(this.stages);
  }

  /** Producer: waits until the stage of fill n is free. The first round finds all stages free. */
  acquire(n: U32 | number): void {
    const parity = this.#parity(n);
    this.#empty.wait(this.slot(n), typeof parity === "number" ? parity ^ 1 : parity.xor(1));
  }

  /** Producer: fill n is full when the copies that all producers started for it are complete. */
  commit(n: U32 | number): void {
    this.#full.arriveAfterCopies(this.slot(n));
  }

  /** Consumer: waits until fill n is full; its stage may then be read. */
  wait(n: U32 | number): void {
    this.#full.wait(this.slot(n), this.#parity(n));
  }

  /** Consumer: has finished reading fill n. */
  release(n: U32 | number): void {
    this.#empty.arrive(this.slot(n));
  }

  /** The parity of the phase that fill n completes: that of its round. */
  #parity(n: U32 | number): U32 | number {
    if (typeof n === "number") return Math.floor(n / this.stages) % 2;
    wantWord(n);
    return n.divTrunc(this.stages).and(1);
  }
}

function wantWord(n: U32): void {
  if (n instanceof Scalar && n.type === "u32") return;
  throw new EvolverError("TYPE_MISMATCH", "the number of a fill is a u32", {
    where: [captureSite().location],
    hint: "convert it with toU32()",
  });
}
