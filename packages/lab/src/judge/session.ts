/**
 * The judge's work for one study: admission, and verdicts. Runs in the judge's process; a candidate's code never
 * does, only its plan, on devices that the judge opened.
 */

import { deviceRows, planHash, type Device, type Plan, type RunnablePlan } from "@evolver/device";
import { EvolverError, canonicalJson, deriveSeed } from "@evolver/base";
import { whyNotInSpace } from "../study/space.ts";
import { isTrusted, type Case, type Shape, type Truth } from "../study/case.ts";
import type { Measurement } from "../study/measurement.ts";
import type { OpenStudy } from "../study/open-study.ts";
import { failedVerdict } from "./verdict.ts";
import type { Candidate, CaseOutcome, Verdict, VerdictStatus } from "./verdict.ts";
import { buildModule } from "./builder.ts";
import { checkCandidatePlan, signatureOf } from "./candidate-plan.ts";
import { openJudgeDevices } from "./devices.ts";
import type { JudgeDevices } from "./devices.ts";
import type { Admission, JudgeRequest } from "./judge.ts";
import {
  compareOutputs,
  compareUnknown,
  ignoredInputs,
  needsBaseline,
  trivialAnswer,
} from "../study/compare-outputs.ts";
import { PlanRunner, faultOf, sameBits, type Run } from "./runner.ts";
import { Answers, Data, Truths } from "./truths.ts";
import type { Outputs } from "../study/compare-outputs.ts";

/** Runs on one set of buffers before the result is checked: a kernel that works only a few times must not pass. */
const STRESS_RUNS = 12;

/** Ends the judging of a candidate. */
class Rejection extends Error {
  readonly status: Exclude<VerdictStatus, "ok">;

  constructor(status: Exclude<VerdictStatus, "ok">, reason: string) {
    super(reason);
    this.status = status;
  }
}

export class Session {
  readonly #study: OpenStudy;
  readonly #devices: JudgeDevices;
  readonly #truths: Truths;
  readonly #answers: Answers;
  readonly #data = new Data();

  private constructor(study: OpenStudy, devices: JudgeDevices) {
    this.#study = study;
    this.#devices = devices;
    this.#truths = new Truths(study);
    this.#answers = new Answers(study, devices);
  }

  /** @param device what is evolved for: "sim" for modelled time, or a device with a clock */
  static async open(study: OpenStudy, device: string): Promise<Session> {
    return new Session(study, await openJudgeDevices(device));
  }

  /**
   * Makes sure that the study can't be fooled by answers that compute nothing.
   * @throws EvolverError STUDY_REFUSED
   */
  admit(check: boolean): Admission {
    const checks = check ? this.#checkStudy() : [];
    const { timer } = this.#devices;
    return {
      deviceName: timer.name,
      subgroup: timer.subgroupSize,
      forwardProgress: timer.forwardProgress,
      checks,
    };
  }

  #checkStudy(): string[] {
    const refuse = (what: string): never => {
      throw new EvolverError("STUDY_REFUSED", `The judge refuses the study: ${what}.`, {
        hint: "data from a file: values that are all alike, or beyond what f32 holds, cannot be judged; else the study is at fault: its tolerance must depend on the magnitude of the answer, and its data must vary",
      });
    };
    const [seed, otherSeed] = [deriveSeed(0, "admission", 1), deriveSeed(0, "admission", 2)];
    const cases = this.#casesOf(seed);
    const others = this.#casesOf(otherSeed);
    let random = 0;
    for (const input of cases) {
      const expected = this.#study.expected(input);
      if (Object.values(expected).some(isTrusted)) continue;
      for (const [name, truth] of Object.entries(expected) as [string, Truth][]) {
        const { values, bound } = truth;
        if (values.some(Number.isNaN)) refuse(`the truth of ${name} in case ${input.id} has a NaN`);
        const bounds = typeof bound === "number" ? [bound] : bound;
        if (!bounds.every((value) => value >= 0 && value < Infinity))
          refuse(`the tolerance of ${name} in case ${input.id} is not a finite number`);
      }
      if (input.kind !== "random") continue;
      random++;
      const trivial = trivialAnswer(expected);
      if (trivial !== null) refuse(`${trivial} in case ${input.id}`);
      const other = others.find(({ id }) => id === input.id);
      if (!other) refuse(`case ${input.id} does not exist with another seed`);
      else {
        const ignored = ignoredInputs(input, other, expected, (changed) => this.#study.expected(changed));
        if (ignored.length > 0)
          refuse(`the answer of case ${input.id} does not depend on ${ignored.join(", ")}`);
      }
    }
    if (random === 0) refuse("it has no case of random data");
    return [
      `The judge admitted the study: on ${random} random cases zeros, constants, the mean and permutations fail.`,
      "The answer depends on each input.",
    ];
  }

  async close(): Promise<void> {
    for (const device of new Set(Object.values(this.#devices) as Device[])) await device.close();
  }

  /** The objective's case among the others; ids are unique. */
  #casesOf(seed: number): Case[] {
    return this.#data.of(`cases ${seed}`, () => {
      const objective = this.#study.objectiveCase(seed);
      const cases = this.#study.cases(seed).filter(({ id }) => id !== objective.id);
      return [...cases, objective];
    });
  }

  #timedCase(seed: number): Case {
    const [only] = this.#data.of(`timed ${seed}`, () => [this.#study.objectiveCase(seed)]);
    return only as Case;
  }

  async judge(request: JudgeRequest): Promise<Verdict> {
    const bench = new Bench(this.#devices, this.#truths, this.#answers);
    try {
      return await this.#judge(request, bench);
    } catch (error) {
      if (error instanceof Rejection) return bench.verdict(error.status, error.message);
      throw error;
    } finally {
      bench.destroy();
    }
  }

  async #judge(request: JudgeRequest, bench: Bench): Promise<Verdict> {
    const { candidate, seed, known } = request;
    if (candidate.kind === "point") {
      const why = whyNotInSpace(this.#study.space, candidate.point);
      if (why !== null) throw new Rejection("invalid", why);
    }
    const first = this.#casesOf(deriveSeed(seed, "verify"));
    const second = this.#casesOf(deriveSeed(seed, "verify again"));
    const objective = first.at(-1) as Case;
    const plans = await this.#build(candidate, [...first, ...second]);
    bench.setPlans(plans);

    const plan = bench.planOf(objective);
    bench.hash = planHash(plan);
    const earlier = known[bench.hash];
    if (earlier !== undefined) throw new Rejection("duplicate", `It does the same as trial ${earlier}.`);

    for (const input of first.slice(0, -1)) await bench.verify(input, "verify");
    const outputs = await bench.verify(objective, "verify");
    await bench.stressRepeat(smallestOf(first));
    await bench.repeat(objective, objective.checks === "fast" ? outputs : null);
    const measurement = await this.#measure(bench, plan, request);
    // A point's code is the study's own: of its objective, the data that were timed are enough.
    const again = candidate.kind === "point" ? second.slice(0, -1) : second;
    for (const input of again) if (input.kind === "random") await bench.verify(input, "verify-after-timing");
    // Or it could do less on some data, and hope that it is timed on those and verified on others.
    await bench.verify(this.#timedCase(deriveSeed(seed, "time")), "verify-after-timing");
    return { ...bench.verdict("ok", ""), ...measurement };
  }

  /** A plan for each distinct shape among the cases, by the shape's text. */
  async #build(candidate: Candidate, cases: readonly Case[]): Promise<Map<string, Plan>> {
    const byShape = new Map(cases.map((input) => [canonicalJson(input.shape), input]));
    const inputs = [...byShape.values()];
    const plans = await this.#plansOf(
      candidate,
      inputs.map(({ shape }) => shape),
    );
    for (const [i, input] of inputs.entries()) {
      try {
        checkCandidatePlan(plans[i] as Plan, signatureOf(input));
      } catch (error) {
        throw new Rejection("invalid", messageOf(error));
      }
    }
    return new Map([...byShape.keys()].map((key, i) => [key, plans[i] as Plan]));
  }

  async #plansOf(candidate: Candidate, shapes: readonly Shape[]): Promise<Plan[]> {
    const { subgroupSize: subgroup, forwardProgress } = this.#devices.timer;
    try {
      if (candidate.kind === "module")
        return await buildModule(candidate, shapes, { subgroup, forwardProgress });
      return shapes.map((shape) => this.#study.plan(candidate.point, shape, { subgroup, forwardProgress }));
    } catch (error) {
      throw new Rejection(isOfPlan(error) ? "invalid" : "build-failed", messageOf(error));
    }
  }

  async #measure(
    bench: Bench,
    plan: Plan,
    { candidate, champion, seed }: JudgeRequest,
  ): Promise<Pick<Verdict, "timeMs" | "timeKind" | "noise" | "championTimeMs" | "counters" | "details">> {
    const input = this.#timedCase(deriveSeed(seed, "time"));
    const { timer } = this.#devices;
    const own = await bench.bound(input, plan, timer);
    const rival =
      champion === null || !deviceRows[timer.id].measures
        ? null
        : await PlanRunner.create((await this.#plansOf(champion, [input.shape]))[0] as Plan, timer);
    try {
      for (const runner of rival === null ? [own] : [own, rival]) {
        runner.poisonsScratch = true;
        await runner.load(input.inputs);
      }
      const watched: RunnablePlan = {
        plan,
        device: timer,
        enqueue: own.enqueue,
        async run(sample) {
          const results = await own.run(sample);
          const fault = faultOf(results.flatMap(({ findings }) => findings));
          if (fault !== null) throw new Rejection(fault.status, `While it was timed: ${fault.reason}`);
          return results;
        },
      };
      const point = candidate.kind === "point" ? candidate.point : null;
      const context = { candidate: watched, champion: rival, point, seed: deriveSeed(seed, "measure") };
      const measurement = await launching(() => this.#study.measure(context));
      const { fault } = await own.look(input.inputs);
      if (fault !== null) throw new Rejection(fault.status, `After it was timed: ${fault.reason}`);
      return checkedMeasurement(measurement);
    } finally {
      own.poisonsScratch = false;
      rival?.destroy();
    }
  }
}

/** One candidate's programs and buffers, kept over all its runs, and what came of them. */
class Bench {
  readonly #devices: JudgeDevices;
  readonly #truths: Truths;
  readonly #answers: Answers;
  readonly #runners = new Map<string, PlanRunner>();
  readonly #outcomes: CaseOutcome[] = [];
  #plans: ReadonlyMap<string, Plan> = new Map();
  hash: string | null = null;

  constructor(devices: JudgeDevices, truths: Truths, answers: Answers) {
    this.#devices = devices;
    this.#truths = truths;
    this.#answers = answers;
  }

  setPlans(plans: ReadonlyMap<string, Plan>): void {
    this.#plans = plans;
  }

  planOf({ shape }: Case): Plan {
    return this.#plans.get(canonicalJson(shape)) as Plan;
  }

  /** @returns what was right */
  async verify(input: Case, stage: CaseOutcome["stage"]): Promise<Outputs> {
    const plan = this.planOf(input);
    const device = input.checks === "full" ? this.#devices.simulator : this.#fastFor(plan);
    const runner = await this.bound(input, plan, device);
    const { outputs, fault } = await launching(() => runner.verify(input.inputs));
    const expected = this.#truths.of(input);
    const { error, bound, problem } = compareOutputs(outputs, expected);
    this.#outcomes.push({ case: input.id, seed: input.seed, stage, device: device.id, error, bound });
    const when =
      stage === "verify-after-timing" ? " after timing" : stage === "repeat" ? " when run again" : "";
    const where = `In case ${input.id} (seed ${input.seed})${when}: `;
    if (fault !== null) throw new Rejection(fault.status, where + fault.reason);
    if (problem !== null) throw new Rejection("wrong-result", where + problem);
    if (!needsBaseline(expected)) return outputs;
    const trusted = await launching(() => this.#answers.of(input));
    const differs = compareUnknown(outputs, trusted, expected);
    if (differs !== null) throw new Rejection("wrong-result", where + differs);
    return outputs;
  }

  /** Many runs in a row on the same buffers, then a look at the last. */
  async stressRepeat(input: Case): Promise<void> {
    const plan = this.planOf(input);
    const runner = await this.bound(input, plan, this.#fastFor(plan));
    await runner.load(input.inputs);
    for (let i = 0; i < STRESS_RUNS; i++) await launching(() => runner.run());
    await this.verify({ ...input, checks: "fast" }, "repeat");
  }

  /** The same input again must give the same bits, in spite of whatever ran between. @param once as `verify` gave it there */
  async repeat(input: Case, once: Outputs | null): Promise<void> {
    const plan = this.planOf(input);
    const runner = await this.bound(input, plan, this.#fastFor(plan));
    const run = (): Promise<Run> => launching(() => runner.verify(input.inputs));
    const first = once ?? (await run()).outputs;
    const twice = await run();
    for (const [name, values] of Object.entries(first)) {
      const again = twice.outputs[name];
      if (again !== undefined && sameBits(values, again)) continue;
      const at = values.findIndex((value, i) => !Object.is(value, again?.[i]));
      if (at >= 0)
        throw new Rejection(
          "nondeterministic",
          `In case ${input.id} the same input gave ${name}[${at}] = ${values[at]}, then ${again?.[at]}.`,
        );
    }
  }

  async bound(input: Case, plan: Plan, device: Device): Promise<PlanRunner> {
    const key = `${device === this.#devices.simulator ? "checked" : "fast"} ${canonicalJson(input.shape)}`;
    let runner = this.#runners.get(key);
    if (!runner) {
      runner = await launching(() => PlanRunner.create(plan, device));
      this.#runners.set(key, runner);
    }
    return runner;
  }

  /** Subgroups that wait for each other need a device where they can. */
  #fastFor(plan: Plan): Device {
    const wait = plan.kernels.some(({ phaseBarriers }) => phaseBarriers.length > 0);
    return wait ? this.#devices.waiting : this.#devices.fast;
  }

  verdict(status: VerdictStatus, reason: string): Verdict {
    let worst: CaseOutcome | null = null;
    for (const outcome of this.#outcomes)
      if (ratioOf(outcome) > (worst ? ratioOf(worst) : -1)) worst = outcome;
    return {
      ...failedVerdict("invalid", reason),
      status,
      hash: this.hash,
      error: worst?.error ?? null,
      bound: worst?.bound ?? null,
      cases: this.#outcomes,
    };
  }

  destroy(): void {
    for (const runner of this.#runners.values()) runner.destroy();
  }
}

/** What a device refuses while it compiles, allocates or launches is the candidate's fault. */
async function launching<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rejection) throw error;
    throw new Rejection(isOfPlan(error) ? "invalid" : "launch-failed", messageOf(error));
  }
}

/** Whether a plan itself is at fault, whatever device it is for. */
const isOfPlan = (error: unknown): boolean =>
  error instanceof EvolverError &&
  ["PLAN_INVALID", "PLAN_WRITES_INPUT", "PLAN_READS_UNWRITTEN"].includes(error.code);

function checkedMeasurement(
  measurement: Measurement,
): Pick<Verdict, "timeMs" | "timeKind" | "noise" | "championTimeMs" | "counters" | "details"> {
  const { timeMs, timeKind, noise, championTimeMs, counters, details } = measurement;
  if (!(timeMs > 0 && timeMs < Infinity))
    throw new Rejection("invalid", `Its time came out as ${timeMs} ms.`);
  return { timeMs, timeKind, noise, championTimeMs, counters, details: details ?? {} };
}

function ratioOf({ error, bound }: CaseOutcome): number {
  if (error === null || bound === null) return -1;
  return bound === 0 ? (error === 0 ? 0 : Infinity) : error / bound;
}

function smallestOf(cases: readonly Case[]): Case {
  const sizeOf = ({ inputs }: Case): number =>
    Object.values(inputs).reduce((sum, { length }) => sum + length, 0);
  const random = cases.filter(({ kind }) => kind === "random");
  return random.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0] as Case;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
