/**
 * Runs the workgroups of one launch through generated code, one after another: who comes next, what each begins with, and
 * when all stop.
 */

import { Random } from "@evolver/base";
import type { ResolvedLaunch } from "../core/launch.ts";
import { total } from "./runtime/counting.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { runWorkgroup } from "./runtime/schedule.ts";
import type { Schedule } from "./runtime/schedule.ts";
import type { MemoryRecord, Storage } from "./runtime/storage.ts";
import type { Subgroup } from "./runtime/subgroup.ts";
import type { SimTime } from "./runtime/time.ts";

/** Loop iterations that a subgroup runs between two stops. */
const QUANTUM = 1024;
const SEEDED_QUANTUM = 16;
/** With a seed, one in so many accesses to memory is a stop. */
const PREEMPTION = 8;

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
}

/** What generated code returns. */
export interface Generated {
  bind(launch: GeneratedLaunch): void;
  run(subgroup: Subgroup, launch: GeneratedLaunch): Generator<number, void, void>;
}

export interface LaunchSetup {
  readonly generated: Generated;
  readonly runtime: Runtime;
  readonly memories: readonly MemoryRecord[];
  readonly subgroups: readonly Subgroup[];
  /** Shared memory, which each workgroup begins with zeroed, whatever the checks say of reading it. */
  readonly shared: readonly Storage[];
  readonly totals: Float64Array;
  readonly time: SimTime;
  readonly seed: number | undefined;
  readonly maxSteps: number;
}

export function runLaunch(launch: ResolvedLaunch, setup: LaunchSetup): void {
  const { generated, runtime, memories, subgroups, shared, totals, time, seed, maxSteps } = setup;
  const random = seed === undefined ? null : new Random(seed);
  const width = subgroups[0]?.all.mask.length ?? 1;
  const quantum = Math.min(random === null ? QUANTUM : SEEDED_QUANTUM, maxSteps);
  const [countX, countY, countZ] = launch.workgroups;
  const given: GeneratedLaunch = {
    ...{ runtime, memories, scalars: launch.scalars, quantum, countX, countY, countZ },
    ...{ workgroupX: 0, workgroupY: 0, workgroupZ: 0, workgroupIndex: 0 },
    preempt: () => random !== null && random.uint32() % PREEMPTION === 0,
    firstLane: () => (random === null ? 0 : random.uint32() % width),
  };
  time.beginLaunch();
  generated.bind(given);
  const count = (counter: Parameters<typeof total>[0], amount: number): void => {
    (totals[total(counter)] as number) += amount;
  };
  const schedule: Schedule = {
    ...{ subgroups, runtime, time, quantum, maxSteps },
    random: random === null ? null : (n) => random.below(n),
    start: (subgroup) => generated.run(subgroup, given),
    barrier: (whole) => {
      if (whole) count("barriers", 1);
      runtime.barrier(time.now);
      time.barrier();
    },
  };
  const invocations = subgroups.reduce((sum, { lanes }) => sum + lanes, 0);
  const runOne = (linear: number): boolean => {
    [given.workgroupX, given.workgroupY, given.workgroupZ] = runtime.context.workgroupId(linear);
    given.workgroupIndex = linear;
    for (const { array, shadow } of shared) {
      array.fill(0);
      shadow.fill(0);
    }
    runtime.beginWorkgroup(linear, time.beginWorkgroup());
    count("workgroups", 1);
    count("invocations", invocations);
    const finished = runWorkgroup(schedule);
    runtime.endWorkgroup(finished);
    return finished;
  };
  if (launch.sample === null) for (let i = 0; i < launch.workgroupCount && runOne(i); i++);
  else launch.sample.every(runOne);
}
