/** Improves tasks one after another, and times each champion beside its roofline and, in turns, beside another library. */

import { EvolverError, median } from "@evolver/base";
import { bindPlan, buildOf, isModelled, openDevice, type DeviceId } from "@evolver/device";
import { evolve, type EvolveResult, type Point, type Roof, type TimeKind } from "@evolver/lab";
import { findTask, taskStudy, tunableOfTask } from "./study.ts";
import { Peer, type PeerTimes } from "./torch.ts";

export interface TasksOptions {
  readonly ids: readonly string[];
  readonly device: string;
  /** Candidates for each task beside its baseline. */
  readonly trials: number;
  readonly seed: number;
  /** Where the records go. */
  readonly workspace: string;
  /** A machine profile, for the roofline. */
  readonly profile: string | null;
  /** The command of another library; see torch.ts. */
  readonly peer: string | null;
  /** Elements of the default sizes are divided by about so much; 1 for the sizes as they are. */
  readonly shrink: number;
  readonly signal?: AbortSignal;
  readonly onTask?: (id: string, done: number, total: number) => void;
}

export interface TaskReport {
  readonly id: string;
  readonly kind: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly baselineMs: number;
  readonly championMs: number;
  readonly speedup: number;
  readonly point: Point;
  /** The least time by the roofline, and how near the champion is to it; null where the machine is not known. */
  readonly roof: Roof | null;
  readonly shareOfRoof: number | null;
  readonly peer: PeerTimes | null;
  /** How often the champion is as fast as the faster of compiled and eager. */
  readonly ofPeer: number | null;
  readonly bottleneck: string;
  readonly error: number | null;
  readonly bound: number | null;
  readonly trials: number;
  readonly rejected: EvolveResult["rejected"];
}

export interface TasksReport {
  readonly device: string;
  readonly deviceName: string;
  readonly profile: string;
  readonly timeKind: TimeKind;
  /** The other library's version. */
  readonly peer: string | null;
  readonly tasks: readonly TaskReport[];
  readonly failures: readonly { readonly id: string; readonly why: string }[];
  /** Whether it was stopped: tasks that were not finished are left out. */
  readonly interrupted: boolean;
}

/** Rounds in which the champion and the other library take turns. */
const ROUNDS = 7;
/** Of a round. */
const BATCH_MS = 10;

/** A task that fails does not end the run. */
export async function runTasks(options: TasksOptions): Promise<TasksReport> {
  const reports: TaskReport[] = [];
  const failures: { id: string; why: string }[] = [];
  const isStopped = (): boolean => options.signal?.aborted === true;
  const peer = options.peer === null ? null : new Peer(options.peer);
  const about = {
    deviceName: options.device,
    profile: "",
    timeKind: "modelled" as TimeKind,
    peer: null as string | null,
  };
  try {
    for (const [index, id] of options.ids.entries()) {
      if (isStopped()) break;
      options.onTask?.(id, index, options.ids.length);
      try {
        const done = await runTask(id, options, peer);
        if (done === null) break;
        const { report, ...more } = done;
        reports.push(report);
        Object.assign(about, more, { peer: more.peer ?? about.peer });
      } catch (error) {
        if (isStopped()) break;
        failures.push({
          id,
          why: error instanceof EvolverError ? `${error.code}: ${error.what}` : String(error),
        });
      }
    }
    return { device: options.device, ...about, tasks: reports, failures, interrupted: isStopped() };
  } finally {
    peer?.close();
  }
}

/** @returns null where it was stopped */
async function runTask(id: string, options: TasksOptions, peer: Peer | null) {
  const { device, trials, seed, workspace, profile, signal } = options;
  const task = findTask(id);
  const study = await taskStudy(id);
  const tunable = await tunableOfTask(task);
  const sizes = shrunk(tunable.sizes, options.shrink);
  const input = { ...sizes, ...(profile === null ? {} : { profile }) };
  const result = await evolve(study, {
    input,
    device,
    cycles: 1,
    trialsPerCycle: trials,
    seed,
    workspace,
    signal,
  });
  if (result.interrupted) return null;
  const { champion, baseline, roof } = result;
  const point = champion.candidate.kind === "point" ? champion.candidate.point : {};
  const beside =
    peer === null || isModelled(device) ? null : await timeBeside(id, { device, point, sizes, peer });
  const championMs = beside?.ownMs ?? champion.timeMs;
  const fastest = beside === null ? null : fastestOf(beside.times);
  const report: TaskReport = {
    id,
    kind: task.kind,
    sizes,
    baselineMs: baseline.timeMs,
    championMs,
    speedup: result.speedup,
    point,
    roof: roof === null ? null : { timeMs: roof.timeMs, what: roof.what },
    shareOfRoof: roof === null ? null : roof.timeMs / championMs,
    peer: beside?.times ?? null,
    ofPeer: fastest === null ? null : fastest / championMs,
    bottleneck: result.explanation.bottleneck,
    error: champion.error,
    bound: champion.bound,
    trials: result.trials,
    rejected: result.rejected,
  };
  return {
    report,
    deviceName: beside?.deviceName ?? device,
    profile: result.profile,
    timeKind: result.timeKind,
    peer: beside?.version ?? null,
  };
}

const fastestOf = ({ eagerMs, compiledMs }: PeerTimes): number | null => {
  const times = [eagerMs, compiledMs].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
};

interface BesideOptions {
  readonly device: string;
  readonly point: Point;
  readonly sizes: Readonly<Record<string, number>>;
  readonly peer: Peer;
}

/** The champion and the other library in turns, on one device; medians. */
async function timeBeside(id: string, { device: deviceId, point, sizes, peer }: BesideOptions) {
  const ready = await peer.prepare(id, sizes);
  const tunable = await tunableOfTask(findTask(id));
  const opened = await (await taskStudy(id)).open(sizes, { id: deviceId });
  const device = await openDevice(deviceId as DeviceId);
  try {
    const { inputs, shape } = opened.objectiveCase(1);
    const plan = tunable.plan(shape as unknown as Parameters<typeof tunable.plan>[0], point, buildOf(device));
    const bound = await bindPlan(device, plan, { inputs });
    const count = Math.max(1, Math.min(500, Math.ceil(BATCH_MS / (await bound.time(3)))));
    const own: number[] = [];
    const others: PeerTimes[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      own.push(await bound.time(count));
      if (!("error" in ready)) others.push(await peer.time());
    }
    bound.destroy();
    const times: PeerTimes = {
      eagerMs: medianOf(others.map(({ eagerMs }) => eagerMs)),
      compiledMs: medianOf(others.map(({ compiledMs }) => compiledMs)),
    };
    return {
      ownMs: median(own),
      times,
      deviceName: device.name,
      version: "error" in ready ? null : ready.version,
    };
  } finally {
    await device.close();
  }
}

function medianOf(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : median(known);
}

/** Smaller sizes of the same kind: the largest size is halved until the problem is small enough. */
function shrunk(
  rules: Readonly<
    Record<
      string,
      number | { readonly value: number; readonly multipleOf?: number; readonly oneOf?: readonly number[] }
    >
  >,
  factor: number,
): Record<string, number> {
  const sizes = Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [name, typeof rule === "number" ? rule : rule.value]),
  );
  for (let left = factor; left > 1; left /= 2) {
    const halvable = Object.entries(sizes).filter(([name, value]) => {
      const rule = rules[name];
      const { multipleOf = 1, oneOf = null } = typeof rule === "object" ? rule : {};
      return (
        value % 2 === 0 && (value / 2) % multipleOf === 0 && (oneOf === null || oneOf.includes(value / 2))
      );
    });
    const [largest] = halvable.toSorted(([, a], [, b]) => b - a);
    if (largest === undefined) break;
    sizes[largest[0]] = largest[1] / 2;
  }
  return sizes;
}
