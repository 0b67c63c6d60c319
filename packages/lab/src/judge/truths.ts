/** Cases and the truth about them, kept for the candidates of a cycle, which are all judged on the same. */

import { canonicalJson } from "@evolver/base";
import type { Case } from "../study/case.ts";
import type { OpenStudy } from "../study/open-study.ts";
import type { JudgeDevices } from "./devices.ts";
import type { Outputs } from "../study/compare-outputs.ts";
import { PlanRunner } from "./runner.ts";

/** Cases to verify on, to verify on again and to time. */
const DATA_KEPT = 3;

/** Outputs of the baseline: of the objective, before timing, timed and after it. They are large. */
const ANSWERS_KEPT = 3;

/** Two sets of cases with some room: those of one cycle. */
const TRUTHS_KEPT = 32;

/** The cases of the last few seeds: the candidates of a cycle share them, and drawing large ones takes a while. */
export class Data {
  readonly #known = new Map<string, Case[]>();

  of(key: string, draw: () => Case[]): Case[] {
    let cases = this.#known.get(key);
    if (cases !== undefined) return cases;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= DATA_KEPT && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, (cases = draw()));
    return cases;
  }
}

/**
 * Keeps the truth about cases, because the candidates of a cycle are verified on the same data and the float64 reference is
 * most of a trial's work. Each cycle has new data, which no candidate knows.
 */
export class Truths {
  readonly #study: OpenStudy;
  readonly #known = new Map<string, ReturnType<OpenStudy["expected"]>>();

  constructor(study: OpenStudy) {
    this.#study = study;
  }

  of(input: Case): ReturnType<OpenStudy["expected"]> {
    const key = canonicalJson([input.id, input.seed, input.shape]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= TRUTHS_KEPT && oldest !== undefined) this.#known.delete(oldest);
    const expected = this.#study.expected(input);
    this.#known.set(key, expected);
    return expected;
  }
}

/**
 * The results of the study's own baseline, for cases whose truth is known only in part. The baseline is trusted more than
 * any candidate: the study provides it, and it was verified as the first trial.
 */
export class Answers {
  readonly #study: OpenStudy;
  readonly #devices: JudgeDevices;
  readonly #known = new Map<string, Outputs>();

  constructor(study: OpenStudy, devices: JudgeDevices) {
    this.#study = study;
    this.#devices = devices;
  }

  /** Throws what the device throws. */
  async of(input: Case): Promise<Outputs> {
    const key = canonicalJson([input.id, input.seed, input.shape]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { fast, waiting, timer } = this.#devices;
    const { subgroupSize: subgroup, forwardProgress } = timer;
    const plan = this.#study.plan(this.#study.baseline, input.shape, { subgroup, forwardProgress });
    const wait = plan.kernels.some(({ phaseBarriers }) => phaseBarriers.length > 0);
    const runner = await PlanRunner.create(plan, wait ? waiting : fast);
    try {
      const { outputs } = await runner.verify(input.inputs);
      const [oldest] = this.#known.keys();
      if (this.#known.size >= ANSWERS_KEPT && oldest !== undefined) this.#known.delete(oldest);
      // A device of this process may hand out its own memory.
      const copies = Object.entries(outputs).map(([name, values]) => [name, values.slice()] as const);
      const answer = Object.fromEntries(copies);
      this.#known.set(key, answer);
      return answer;
    } finally {
      runner.destroy();
    }
  }
}
