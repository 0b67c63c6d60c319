/**
 * Runs the workgroups of one launch through generated code: which begin, who goes on at each stop, and when all stop.
 *
 * Workgroups begin in the order of their index. Without a seed one runs after another. With one, kernels whose workgroups can
 * tell each other something by atomic operations have several under way at once, which take turns at their stops: how many, and who is next, is
 * the seed's.
 */

import { Random, deriveSeed } from "@evolver/base";
import type { ResolvedLaunch } from "../core/launch.ts";
import { total } from "./runtime/counting.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { WorkgroupRun } from "./runtime/schedule.ts";
import type { Progress, Schedule } from "./runtime/schedule.ts";
import type { MemoryRecord, Storage } from "./runtime/storage.ts";
import type { Subgroup } from "./runtime/subgroup.ts";
import type { SimTime } from "./runtime/time.ts";

/** Loop iterations that a subgroup runs between two stops. */
const QUANTUM = 1024;
const SEEDED_QUANTUM = 16;
/** With a seed, one in so many accesses to memory is a stop. */
const PREEMPTION = 8;
/** Stops of one workgroup, at most, before the launch looks at the others and at the time. */
const MOST_STEPS = 16;
/** Workgroups under way at once, at most; the seed says how many. */
const MOST_RESIDENT = 8;

/** What generated code is given of a launch: its parameter `launch`. Changes from workgroup to workgroup. */
interface GeneratedLaunch {
  readonly runtime: Runtime;
  readonly memories: readonly MemoryRecord[];
  readonly scalars: Readonly<Record<string, number>>;
  readonly quantum: number;
  workgroupX: number;
  workgroupY: number;
  workgroupZ: number;
  workgroupIndex: number;
  readonly countX: number;
  readonly countY: number;
  readonly countZ: number;
  /** Where a seed wants it: whether to stop here, and the lane that an atomic operation begins with. */
  preempt(): boolean;
  firstLane(): number;
  /** Which side of a branch goes first. */
  elseFirst(): boolean;
}

/** What generated code returns. */
export interface Generated {
  /** Has the code work for a workgroup from now on. */
  bind(launch: GeneratedLaunch): void;
  run(subgroup: Subgroup, launch: GeneratedLaunch): Generator<number, void, void>;
}

/** What a workgroup under way has for itself; workgroups that begin later take it over. */
export interface Place {
  readonly runtime: Runtime;
  readonly memories: readonly MemoryRecord[];
  readonly subgroups: readonly Subgroup[];
  /** Shared memory, which each workgroup begins with zeroed, whatever the checks say of reading it. */
  readonly shared: readonly Storage[];
}

export interface LaunchSetup {
  readonly generated: Generated;
  readonly totals: Float64Array;
  readonly time: SimTime;
  readonly seed: number | undefined;
  readonly maxSteps: number;
}

/** How many workgroups are under way at once in a launch, by its seed; one in a fixed order. */
export function residents(seed: number | undefined, workgroups: number): number {
  if (seed === undefined) return 1;
  return Math.min(workgroups, 2 + new Random(deriveSeed(seed, "residents")).below(MOST_RESIDENT - 1));
}

/**
 * Yields how many workgroups have finished, at points where the caller may leave the launch: often enough for a program that
 * wants to show it or to stop it.
 */
export function* runLaunch(
  launch: ResolvedLaunch,
  places: readonly Place[],
  setup: LaunchSetup,
): Generator<number, void, void> {
  const { time, seed } = setup;
  const random = seed === undefined ? null : new Random(seed);
  time.beginLaunch();
  const free = places.map((place) => new Resident(place, launch, random, setup));
  const order = launch.sample ?? { length: launch.workgroupCount };
  const underWay: Resident[] = [];
  let begun = 0;
  let finished = 0;
  let last: Resident | null = null;
  try {
    for (;;) {
      while (free.length > 0 && begun < order.length) {
        const resident = free.pop() as Resident;
        resident.begin(launch.sample === null ? begun : (launch.sample[begun] as number));
        begun++;
        underWay.push(resident);
        last = resident;
      }
      const able = underWay.filter(({ run }) => !run.isStuck);
      if (able.length === 0) {
        for (const resident of underWay) resident.fail(order.length - begun);
        return;
      }
      const awake = able.length === 1 ? able : able.filter(({ run }) => !run.isResting);
      const from = awake.length > 0 ? awake : able;
      const next = from[random === null || from.length === 1 ? 0 : random.below(from.length)] as Resident;
      if (next !== last) next.beginTurn();
      last = next;
      const progress = next.goOn(places.length > 1 ? random : null);
      if (progress === "failed") return;
      if (progress === "finished") {
        next.end(true);
        underWay.splice(underWay.indexOf(next), 1);
        free.push(next);
        finished++;
      }
      yield finished;
    }
  } finally {
    for (const resident of underWay) resident.end(false);
  }
}

/** A workgroup under way. */
class Resident {
  readonly run: WorkgroupRun;
  readonly #place: Place;
  readonly #given: GeneratedLaunch;
  readonly #setup: LaunchSetup;
  readonly #invocations: number;
  #linear = 0;
  /** Its own among the device's times while others have their turn. */
  #workgroupStart = 0;
  #lastBarrier = 0;

  constructor(place: Place, launch: ResolvedLaunch, random: Random | null, setup: LaunchSetup) {
    const { runtime, memories, subgroups } = place;
    const { time, maxSteps, generated, seed } = setup;
    const width = subgroups[0]?.all.mask.length ?? 1;
    const quantum = Math.min(random === null ? QUANTUM : SEEDED_QUANTUM, maxSteps);
    const [countX, countY, countZ] = launch.workgroups;
    const given: GeneratedLaunch = {
      ...{ runtime, memories, scalars: launch.scalars, quantum, countX, countY, countZ },
      ...{ workgroupX: 0, workgroupY: 0, workgroupZ: 0, workgroupIndex: 0 },
      preempt: () => random !== null && random.uint32() % PREEMPTION === 0,
      firstLane: () => (random === null ? 0 : random.uint32() % width),
      elseFirst: () => random !== null && random.below(2) === 1,
    };
    const schedule: Schedule = {
      ...{ subgroups, runtime, time, quantum, maxSteps },
      random: random === null ? null : (n) => random.below(n),
      sleepy: seed !== undefined && new Random(deriveSeed(seed, "sleep")).below(2) === 1,
      start: (subgroup) => generated.run(subgroup, given),
      barrier: (whole) => {
        if (whole) this.#count("barriers", 1);
        runtime.barrier(time.now);
        time.barrier();
      },
    };
    this.run = new WorkgroupRun(schedule);
    this.#place = place;
    this.#given = given;
    this.#setup = setup;
    this.#invocations = subgroups.reduce((sum, { lanes }) => sum + lanes, 0);
  }

  begin(linear: number): void {
    const { runtime, shared } = this.#place;
    const { time, generated } = this.#setup;
    const given = this.#given;
    this.#linear = linear;
    [given.workgroupX, given.workgroupY, given.workgroupZ] = runtime.context.workgroupId(linear);
    given.workgroupIndex = linear;
    for (const { array, shadow } of shared) {
      array.fill(0);
      shadow.fill(0);
    }
    time.beginWorkgroup(linear);
    runtime.beginWorkgroup(linear, time.now);
    generated.bind(given);
    this.#keepTimes();
    this.#count("workgroups", 1);
    this.#count("invocations", this.#invocations);
    this.run.begin();
  }

  /** Goes on after others did. */
  beginTurn(): void {
    const { time, generated } = this.#setup;
    time.beginTurn(this.#linear);
    time.workgroupStart = this.#workgroupStart;
    time.lastBarrier = this.#lastBarrier;
    this.#place.runtime.beginTurn(time.now);
    generated.bind(this.#given);
  }

  /** @param random whether to let others go on at a stop; without it, it runs for a while */
  goOn(random: Random | null): Progress {
    let progress = this.run.step();
    for (let steps = 1; progress === "running" && steps < MOST_STEPS; steps++) {
      if (random !== null && random.below(2) === 0) break;
      progress = this.run.step();
    }
    this.#keepTimes();
    return progress;
  }

  /** It waits for something that nobody does. */
  fail(notBegun: number): void {
    this.run.fail(notBegun);
  }

  /** @param finished whether it came to its end */
  end(finished: boolean): void {
    if (!finished) this.run.stop();
    this.#place.runtime.endWorkgroup(finished);
  }

  #keepTimes(): void {
    this.#workgroupStart = this.#setup.time.workgroupStart;
    this.#lastBarrier = this.#setup.time.lastBarrier;
  }

  #count(counter: Parameters<typeof total>[0], amount: number): void {
    (this.#setup.totals[total(counter)] as number) += amount;
  }
}
