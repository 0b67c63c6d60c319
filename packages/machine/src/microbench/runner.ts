/**
 * Runs cases on a device: warm-up, as many iterations as fill the time that is wanted, interleaved repetitions, and in the
 * last of them the check of the results, by a kernel on the same device. Where a case has a loop, two lengths of it are
 * timed and the difference counts, so that neither the launch nor a cold cache is taken for the loop's own time.
 */

import {
  bindPlan,
  buildOf,
  isClocked,
  programFor,
  workgroupCounts,
  type BoundPlan,
  type Counters,
  type Device,
  type DeviceBuffer,
  type Plan,
  type PlanArgument,
} from "@evolver/device";
import { EvolverError, median, relativeSpread } from "@evolver/base";
import type { CaseCounters } from "./report.ts";
import { inUnit, workgroupsOf, type BufferSpec, type CaseSpec, type LaunchSpec } from "./spec.ts";

export interface RunnerOptions {
  readonly multiprocessors: number;
  /** Timed repetitions; 0 verifies only. */
  readonly repetitions: number;
  /** How long one timed launch of a loop should take, in milliseconds. */
  readonly targetMs: number;
}

export interface Outcome {
  readonly spec: CaseSpec;
  /** In the case's unit. */
  readonly value: number | null;
  readonly spread: number | null;
  readonly timeMs: number | null;
  readonly verified: boolean;
  /** What is wrong, or why it was skipped. */
  readonly note: string | null;
  readonly skipped: boolean;
  readonly counters: CaseCounters | null;
}

/** A case being measured. */
interface Running {
  readonly spec: CaseSpec;
  /** Iterations of the long and the short launch; 1 where there is no loop. */
  readonly lengths: readonly [long: number, short: number];
  readonly long: number[];
  readonly short: number[];
}

/** What a device says when it lacks something that a kernel needs, as opposed to failing. */
const LACKS: ReadonlySet<string> = new Set([
  "UNSUPPORTED_SUBGROUP",
  "SUBGROUPS_UNAVAILABLE",
  "WORKGROUP_TOO_LARGE",
  "SHARED_MEMORY_TOO_LARGE",
  "FORWARD_PROGRESS_UNAVAILABLE",
]);

const NO_INDEX = 0xffffffff;
const SHORT = 1 / 4;
/** A spread of times below which their differences are trusted. */
const STEADY = 0.15;

export class Runner {
  readonly #device: Device;
  readonly #options: RunnerOptions;
  readonly #buffers = new Map<string, DeviceBuffer>();
  #verdict: DeviceBuffer<"u32"> | null = null;

  constructor(device: Device, options: RunnerOptions) {
    this.#device = device;
    this.#options = options;
  }

  /** Gives back the buffers; the compiled programs stay. */
  release(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#buffers.clear();
    this.#verdict?.destroy();
    this.#verdict = null;
  }

  /** Launches something once, and waits. */
  async launch(spec: LaunchSpec, provided: Readonly<Record<string, number>> = {}): Promise<Counters | null> {
    const [result] = await (await this.#bind(spec, provided)).run();
    return result?.counters ?? null;
  }

  /** Measures and verifies the cases; in the order given. */
  async measure(cases: readonly CaseSpec[], progress: (id: string) => void = () => {}): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (let at = 0; at < cases.length;) {
      let end = at;
      while (end < cases.length && cases[end]?.alone !== true) end++;
      end = Math.max(end, at + 1);
      outcomes.push(...(await this.#measureTogether(cases.slice(at, end), progress)));
      at = end;
    }
    return outcomes;
  }

  async #measureTogether(cases: readonly CaseSpec[], progress: (id: string) => void): Promise<Outcome[]> {
    const ready = new Map<CaseSpec, Running | string>();
    for (const spec of cases) {
      progress(spec.id);
      ready.set(spec, await this.#prepare(spec));
    }
    const running = [...ready.values()].filter((entry) => typeof entry !== "string");
    for (let repetition = 0; repetition < this.#options.repetitions - 1; repetition++)
      for (const entry of running) await this.#repeat(entry);
    const outcomes: Outcome[] = [];
    for (const [spec, entry] of ready)
      outcomes.push(typeof entry === "string" ? skipped(spec, entry) : await this.#finish(entry));
    return outcomes;
  }

  /** Compiles, warms up and finds how long the loop has to be; gives the reason where the device lacks something. */
  async #prepare(spec: CaseSpec): Promise<Running | string> {
    try {
      await programFor(this.#device, spec.launch.kernel);
    } catch (error) {
      if (error instanceof EvolverError && LACKS.has(error.code))
        return error.message.split("\n")[0] as string;
      throw error;
    }
    const lengths = await this.#lengths(spec);
    return { spec, lengths, long: [], short: [] };
  }

  async #lengths({ iterations, launch, before, batch, wall }: CaseSpec): Promise<[number, number]> {
    for (const spec of before) await this.launch(spec);
    const { repetitions, targetMs } = this.#options;
    const least = iterations?.min ?? 1;
    if (repetitions === 0) return [iterations === undefined ? 1 : Math.max(2, least), 1];
    if (iterations === undefined) {
      await this.#time(launch, 1, batch ?? 1, wall === true);
      return [1, 1];
    }
    let count = Math.min(4 * least, iterations.max);
    for (;;) {
      // Twice, for the first time may have had something to compile or to wake up.
      const once = await this.#time(launch, count, 1, false);
      const timeMs = Math.min(once, await this.#time(launch, count, 1, false));
      if (timeMs >= targetMs / 2 || count >= iterations.max) break;
      const factor = Math.min(16, Math.max(2, targetMs / Math.max(timeMs, 1e-3)));
      count = Math.min(iterations.max, Math.ceil(count * factor));
    }
    return [count, Math.max(least, Math.floor(count * SHORT))];
  }

  async #repeat({ spec, lengths, long, short }: Running): Promise<void> {
    const { launch, batch = 1, wall = false, iterations } = spec;
    if (iterations !== undefined) short.push(await this.#time(launch, lengths[1], batch, wall));
    long.push(await this.#time(launch, lengths[0], batch, wall));
  }

  /** The last repetition: on fresh buffers, and with a look at what came out. */
  async #finish(entry: Running): Promise<Outcome> {
    const { spec, lengths, long, short } = entry;
    const { launch, batch = 1, wall = false } = spec;
    for (const reset of spec.before) await this.launch(reset);
    let counters: Counters | null = null;
    if (this.#options.repetitions === 0) counters = await this.launch(launch, { iterations: lengths[0] });
    else long.push(await this.#time(launch, lengths[0], batch, wall));
    const note = await this.#verify(spec, lengths[0]);
    const workgroups =
      spec.whole === true ? 1 : workgroupsOf(launch.workgroups, this.#options.multiprocessors);
    const timeMs = long.length === 0 ? null : median(long);
    let value: number | null = null;
    if (timeMs !== null) {
      const [longest, shortest] = lengths;
      // On a noisy machine a difference of two times means nothing; then the whole launch counts.
      const isSteady =
        short.length > 0 && longest > shortest && Math.max(...[long, short].map(relativeSpread)) < STEADY;
      const slope = isSteady ? (timeMs - median(short)) / (longest - shortest) : 0;
      const msEach = slope > 0 ? slope : timeMs / longest / batch;
      value = inUnit(spec.unit, (spec.work * workgroups) / (msEach / 1000));
    }
    const spread = long.length === 0 ? null : relativeSpread(long);
    const counted = counters === null ? null : countersOf(counters);
    return { spec, value, spread, timeMs, verified: note === null, note, skipped: false, counters: counted };
  }

  /** Null if the results are right. */
  async #verify({ check, batch = 1 }: CaseSpec, iterations: number): Promise<string | null> {
    this.#verdict ??= this.#device.createBuffer("u32", 2);
    await this.#verdict.write(Uint32Array.of(0, NO_INDEX));
    await this.launch(check, { iterations, launches: this.#options.repetitions === 0 ? 1 : batch });
    const [wrong, first] = (await this.#verdict.read()) as unknown as [number, number];
    return wrong === 0 ? null : `${wrong} wrong results, the first at index ${first}`;
  }

  /** Milliseconds of `batch` launches in a row. */
  async #time(spec: LaunchSpec, iterations: number, batch: number, wall: boolean): Promise<number> {
    const bound = await this.#bind(spec, { iterations });
    if (!wall) return (await bound.time(batch)) * batch;
    const { enqueue } = bound;
    const device = this.#device;
    if (enqueue === null || !isClocked(device)) {
      const start = performance.now();
      for (let k = 0; k < batch; k++) await bound.run();
      return performance.now() - start;
    }
    await device.synchronize();
    const start = performance.now();
    for (let k = 0; k < batch; k++) enqueue();
    await device.synchronize();
    return performance.now() - start;
  }

  /** A launch as a plan on the runner's own buffers. */
  #bind(
    { kernel, workgroups, args }: LaunchSpec,
    provided: Readonly<Record<string, number>>,
  ): Promise<BoundPlan> {
    const buffers: Record<string, DeviceBuffer> = {};
    const given = Object.keys(kernel.params).map((name): [string, PlanArgument] => {
      const value = args[name] ?? provided[name];
      if (typeof value === "number") return [name, value];
      if (value !== undefined) buffers[value.name] = this.#buffer(value);
      else if (name === "verdict" && this.#verdict !== null) buffers[name] = this.#verdict;
      return [name, { buffer: value?.name ?? name }];
    });
    const plan: Plan = {
      kernels: [kernel.build(buildOf(this.#device))],
      buffers: Object.entries(buffers).map(([name, { element, length }]) => ({
        name,
        role: "scratch",
        element,
        length,
      })),
      launches: [
        {
          kernel: 0,
          workgroups: workgroupCounts(workgroupsOf(workgroups, this.#options.multiprocessors)),
          args: Object.fromEntries(given),
        },
      ],
    };
    return bindPlan(this.#device, plan, { buffers });
  }

  #buffer({ name, element, length }: BufferSpec): DeviceBuffer {
    const known = this.#buffers.get(name);
    if (known !== undefined) {
      if (known.element === element && known.length === length) return known;
      throw new EvolverError("BUFFER_MISMATCH", `two cases describe the buffer "${name}" differently`);
    }
    const made = this.#device.createBuffer(element, length);
    this.#buffers.set(name, made);
    return made;
  }
}

function skipped(spec: CaseSpec, note: string): Outcome {
  return {
    spec,
    value: null,
    spread: null,
    timeMs: null,
    verified: true,
    note,
    skipped: true,
    counters: null,
  };
}

function countersOf(counters: Counters): CaseCounters {
  const { globalReadBytes, globalWriteBytes, globalSectors, sharedPasses, sharedConflicts } = counters;
  const { barriers, flops, globalAtomics, sharedAtomics } = counters;
  const atomics = globalAtomics + sharedAtomics;
  return {
    globalReadBytes,
    globalWriteBytes,
    globalSectors,
    sharedPasses,
    sharedConflicts,
    barriers,
    flops,
    atomics,
  };
}
