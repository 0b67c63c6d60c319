/**
 * Checks a kernel under several schedules: the fixed one first, then seeded ones. One launch tells what is wrong with what
 * happened in it; others let other things happen.
 */

import type { SourceLocation } from "@evolver/base";
import { deriveSeed, formatLocation } from "@evolver/base";
import type { Kernel, Params } from "@evolver/kernel";
import type { Counters } from "../core/counters.ts";
import type { Device, Launch } from "../core/device.ts";
import type { Finding, FindingAccess } from "../core/findings.ts";
import { openSim } from "./device.ts";
import { SimulationAborted } from "./error.ts";
import { differs, snapshot, type Snapshot } from "./outcomes.ts";
import type { SimOptions } from "./options.ts";
import type { LaunchProgress } from "./pace.ts";
import type { Observed, ObservedAtomic, SimProgram } from "./program.ts";

/** Traces are those of the first launch. */
export interface ExploreOptions extends Pick<
  SimOptions,
  "subgroup" | "maxSteps" | "signal" | "maxTraces" | "onTrace"
> {
  /** How many schedules to try, the fixed one included; 3 by default. */
  readonly schedules?: number;
  /** Told how far it is. */
  readonly onProgress?: (progress: ExploreProgress) => void;
}

/** How far an exploration is: the launch under way, and its schedule. */
export interface ExploreProgress extends LaunchProgress {
  /** The schedule under way, from 1 on, and how many there are. */
  readonly schedule: number;
  readonly schedules: number;
}

/** What all launches of an exploration showed. */
export interface Exploration {
  /** Different findings of all launches; a race seen from its other side is the same race. */
  readonly findings: readonly Finding[];
  /** Of a kernel without findings: that its result depends on the schedule, which may be meant. */
  readonly warnings: readonly Finding[];
  /** Of the first launch. */
  readonly counters: Counters | null;
  /** How many launches there were: small kernels whose invocations talk through atomics or phase barriers get more than one per schedule. */
  readonly launches: number;
  /** Where blocks begin that never ran, so that nothing is known of them. */
  readonly neverRan: readonly SourceLocation[];
  /** False where it was stopped (`signal`). */
  readonly complete: boolean;
}

/** Launches per seeded schedule, at most, and the executed instructions of lanes after which there are no more: about a second. */
const LAUNCHES = 24;
const ENOUGH_WORK = 4_000_000;

/**
 * Runs a kernel under several schedules on the simulator, and compares what they leave in its buffers.
 *
 * @param launch makes the arguments; called for each launch, with a device of its own, and must make the same contents each time
 * @throws EvolverError what compiling and launching throw, but not findings
 */
export async function explore<P extends Params>(
  kernel: Kernel<P>,
  launch: (device: Device) => Launch<P>,
  options: ExploreOptions = {},
): Promise<Exploration> {
  const { schedules = 3 } = options;
  const seen = new Seen();
  for (let schedule = 1; schedule <= schedules; schedule++) {
    let work = 0;
    for (let turn = 0; turn < LAUNCHES && (turn === 0 || work < ENOUGH_WORK); turn++) {
      const seed = schedule === 1 ? undefined : deriveSeed(schedule, "schedule", turn);
      const ran = await launchOnce(kernel, launch, seen, { ...options, schedule, schedules, seed });
      if (ran === null) return seen.result(false);
      // What took so long once would take as long again.
      if (ran.endless) return seen.result(true);
      work += ran.work;
      if (seed === undefined || !ran.varies) break;
    }
  }
  return seen.result(true);
}

interface Ran {
  /** Executed instructions of lanes. */
  readonly work: number;
  /** Whether another seed may make another result. */
  readonly varies: boolean;
  readonly endless: boolean;
}

interface OneLaunch
  extends Omit<ExploreOptions, "schedules">, Pick<ExploreProgress, "schedule" | "schedules"> {
  /** Undefined for the fixed order. */
  readonly seed: number | undefined;
}

/** Returns null where it was stopped. */
async function launchOnce<P extends Params>(
  kernel: Kernel<P>,
  launch: (device: Device) => Launch<P>,
  seen: Seen,
  options: OneLaunch,
): Promise<Ran | null> {
  const { subgroup, maxSteps, signal, onProgress, maxTraces, onTrace, seed, schedule, schedules } = options;
  const device = openSim({
    onFinding: "collect",
    observe: true,
    ...tracesOf(seed, maxTraces),
    ...(onTrace === undefined ? {} : { onTrace }),
    ...(subgroup === undefined ? {} : { subgroup }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(signal === undefined ? {} : { signal }),
    ...(seed === undefined ? {} : { seed }),
    ...(onProgress === undefined
      ? {}
      : {
          onProgress: (progress: LaunchProgress) =>
            onProgress({ ...progress, schedule, schedules, findings: progress.findings + seen.size }),
        }),
  });
  let program: SimProgram<P> | null = null;
  try {
    program = await device.compile(kernel);
    const made = launch(device);
    const { findings, counters } = await program.run(made);
    const contents = await snapshot(program.ir, made.args as Readonly<Record<string, unknown>>);
    seen.add(findings, counters, program.observed, contents);
    return {
      work: device.instructions * device.subgroupSize,
      varies: program.varies,
      endless: program.observed.endless,
    };
  } catch (error) {
    if (!(error instanceof SimulationAborted)) throw error;
    seen.add(error.findings, null, program?.observed ?? null, null);
    return null;
  } finally {
    await device.close();
  }
}

/** One launch is enough to read: the one in the fixed order. */
const tracesOf = (seed: number | undefined, maxTraces: number | undefined): Pick<SimOptions, "maxTraces"> =>
  seed !== undefined ? { maxTraces: 0 } : maxTraces === undefined ? {} : { maxTraces };

/** What all launches so far have shown. */
class Seen {
  readonly #findings = new Map<string, Finding>();
  readonly #warnings: Finding[] = [];
  readonly #blocks = new Map<string, { readonly location: SourceLocation; ran: boolean }>();
  #first: { readonly contents: Snapshot; readonly atomics: Observed["atomics"] } | null = null;
  #counters: Counters | null = null;
  #launches = 0;

  get size(): number {
    return this.#findings.size;
  }

  add(
    findings: readonly Finding[],
    counters: Counters | null,
    observed: Observed | null,
    contents: Snapshot | null,
  ): void {
    this.#launches++;
    this.#counters ??= counters;
    for (const finding of findings) this.#addFinding(finding);
    for (const { location, ran } of observed?.blocks ?? []) {
      const key = formatLocation(location);
      const known = this.#blocks.get(key);
      if (known === undefined) this.#blocks.set(key, { location, ran });
      else known.ran ||= ran;
    }
    if (contents === null || observed === null) return;
    this.#first ??= { contents, atomics: observed.atomics };
    if (this.#findings.size === 0) this.#compare(contents, observed.atomics);
  }

  result(complete: boolean): Exploration {
    return {
      findings: [...this.#findings.values()],
      warnings: this.#findings.size === 0 ? this.#warnings : [],
      counters: this.#counters,
      launches: this.#launches,
      neverRan: [...this.#blocks.values()].filter(({ ran }) => !ran).map(({ location }) => location),
      complete,
    };
  }

  #addFinding(finding: Finding): void {
    const places = finding.accesses.map(({ location }) => formatLocation(location));
    const key = `${finding.kind} ${places.toSorted().join(" ")}`;
    if (!this.#findings.has(key)) this.#findings.set(key, finding);
  }

  /** With the first launch. */
  #compare(contents: Snapshot, atomics: Observed["atomics"]): void {
    if (this.#first === null || this.#warnings.length > 0) return;
    const first = this.#first;
    const difference = differs(first.contents, contents);
    if (difference === null) return;
    const changed = (what: "returned" | "returnedTo"): ObservedAtomic[] =>
      atomics.filter((atomic, i) => atomic[what] !== first.atomics[i]?.[what]);
    const returned = changed("returned");
    const differing = returned.length > 0 ? returned : changed("returnedTo");
    const memories = new Set(differing.map(({ memory }) => memory));
    if (differing.length === 0) memories.add(difference.buffer);
    const updates = atomics.filter(
      (atomic) => atomic.writes && memories.has(atomic.memory) && !differing.includes(atomic),
    );
    if (differing.length + updates.length === 0) return;
    const why =
      differing.length > 0
        ? "what an atomic operation returns depends on who comes first"
        : "what an atomic operation leaves depends on who comes last";
    const side = (action: string, { location }: ObservedAtomic): FindingAccess => ({
      ...{ action, location, lanes: [], workgroup: [0, 0, 0] },
    });
    this.#warnings.push({
      kind: "schedule-dependent-result",
      message: `${difference.message}: ${why}, and nothing orders them`,
      accesses: oncePerLine([
        ...differing.map((atomic) => side("depends", atomic)),
        ...updates.map((atomic) => side("update", atomic)),
      ]),
      count: 1,
    });
  }
}

/** The first of each line. */
function oncePerLine(accesses: readonly FindingAccess[]): FindingAccess[] {
  const first = new Map<string, FindingAccess>();
  for (const access of accesses) {
    const line = formatLocation(access.location);
    if (!first.has(line)) first.set(line, access);
  }
  return [...first.values()];
}
