/** A kernel compiled for the simulator: its code, and what a launch needs to know of its memories. */

import { Random, deriveSeed, type SourceLocation } from "@evolver/base";
import { atomicAccess, math, scalarTypes } from "@evolver/kernel";
import type { GlobalMemory, KernelIR, Memory, Node, Params, SharedMemory } from "@evolver/kernel";
import type { Launch, Program, RunResult } from "../core/device.ts";
import { newArray } from "../core/arrays.ts";
import { HostBuffer } from "../core/buffer.ts";
import type { BufferOwner } from "../core/buffer.ts";
import { resolveLaunch } from "../core/launch.ts";
import type { ResolvedLaunch } from "../core/launch.ts";
import { accessesOf } from "./analysis/accesses.ts";
import type { Accesses } from "./analysis/accesses.ts";
import { findGuards } from "./analysis/guards.ts";
import type { Guard } from "./analysis/guards.ts";
import { mayOriginate } from "./analysis/indeterminate.ts";
import type { RaceMode } from "./codegen/checks.ts";
import { generate } from "./codegen/codegen.ts";
import type { GeneratedCode } from "./codegen/codegen.ts";
import { SimulationAborted, SimulationError } from "./error.ts";
import { paced } from "./pace.ts";
import { residents, runLaunch } from "./launch.ts";
import type { Generated, Place } from "./launch.ts";
import { newFields, newTotals, toCounters } from "./runtime/counting.ts";
import type { ReleasedClocks } from "./runtime/happens-before.ts";
import { Gathered } from "./runtime/gathered.ts";
import { Report } from "./runtime/report.ts";
import { Runtime } from "./runtime/runtime.ts";
import { Storage, memoryRecord } from "./runtime/storage.ts";
import type { Binding } from "./runtime/storage.ts";
import { Subgroup } from "./runtime/subgroup.ts";
import { WeakMemory, type WriteHistories } from "./runtime/weak-memory.ts";
import { subgroupOperations } from "./runtime/subgroup-operations.ts";
import type { SimState } from "./state.ts";

/** An atomic operation of a kernel, and what it returned. */
export interface ObservedAtomic {
  readonly location: SourceLocation;
  readonly memory: string;
  readonly writes: boolean;
  /** Numbers that are the same where it returned the same, and the same to each invocation; 0 where nobody uses that. */
  readonly returned: number;
  readonly returnedTo: number;
}

/** What a program's launches did, all of them together. */
export interface Observed {
  /** Blocks of branches, loops and roles: where each begins, and whether it ran. Of blocks within one that did not run nothing is said. */
  readonly blocks: readonly { readonly location: SourceLocation; readonly ran: boolean }[];
  readonly atomics: readonly ObservedAtomic[];
  /** Whether one was stopped after `maxSteps` iterations of a loop. */
  readonly endless: boolean;
}

interface Compiled {
  readonly ran: Uint8Array;
  readonly returned: Int32Array;
  readonly returnedTo: Int32Array;
  readonly code: GeneratedCode;
  readonly generated: Generated;
  readonly totals: Float64Array;
  /** For each workgroup that is under way at once, made when first needed. */
  readonly rooms: Room[];
}

/** What a workgroup under way keeps its state in. */
interface Room {
  readonly subgroups: readonly Subgroup[];
  readonly shared: readonly Storage[];
}

/** What one run of a launch has shown. */
interface Ran extends Pick<RunResult, "findings" | "counters"> {
  /** Whether an output behind a guard has elements that nobody wrote. */
  readonly isIncomplete: boolean;
  readonly gathered: Gathered;
}

/** A kernel as JavaScript that checks and counts. */
export class SimProgram<P extends Params> implements Program<P> {
  readonly ir: KernelIR;
  readonly #device: BufferOwner;
  readonly #state: SimState;
  readonly #accesses: Accesses;
  readonly #raceMode: RaceMode;
  /** Whether several workgroups are under way at once. */
  readonly #interleaved: boolean;
  readonly #mayOriginate: boolean;
  readonly #guards: readonly Guard[];
  /** What launches have shown to be worth following: nodes that gave indeterminate values, and how far guards let pass. */
  #origins: ReadonlySet<Node> = new Set();
  #watchesGuards = false;
  #compiled: Compiled | null = null;
  #endless = false;

  constructor(device: BufferOwner, state: SimState, ir: KernelIR) {
    this.ir = ir;
    this.#device = device;
    this.#state = state;
    this.#accesses = accessesOf(ir);
    this.#interleaved = state.options.seed !== undefined && this.#accesses.communicating;
    // Barrier intervals order everything unless something finer does, or workgroups take turns.
    const ordered = this.#accesses.ordering || this.#interleaved ? "clocks" : "intervals";
    this.#raceMode = state.options.checks ? ordered : "none";
    this.#mayOriginate = state.options.checks && mayOriginate(ir, this.#accesses.scratch);
    this.#guards = state.options.checks ? findGuards(ir) : [];
  }

  /** The JavaScript that executes a subgroup, with comments that name lines of TypeScript. */
  source(): string {
    return this.#generate(true).source;
  }

  /**
   * Where values turn out to be indeterminate, or an output to be incomplete, the launch runs again, with code that finds
   * out what comes of it: most launches are not, and pay nothing.
   */
  async run(launch: Launch<P>): Promise<RunResult> {
    const { options } = this.#state;
    const resolved = resolveLaunch(this.ir, launch as Launch, this.#device, HostBuffer, true);
    const mayRepeat = this.#mayOriginate || this.#guards.length > 0;
    const restore = mayRepeat ? this.#remember(resolved) : null;
    let ran = await this.#runOnce(resolved);
    if (restore !== null)
      while (this.#asksForMore(ran)) {
        this.#compiled = null;
        restore();
        ran = await this.#runOnce(resolved);
      }
    const { findings, counters, gathered } = ran;
    this.#endless ||= gathered.endless;
    for (const trace of gathered.traces) options.onTrace(trace);
    if (gathered.tracesLeftOut > 0 && options.maxTraces > 0)
      console.warn(`${this.ir.name}: ${gathered.tracesLeftOut} more traces, which maxTraces leaves out`);
    if (findings.length > 0 && options.onFinding === "throw")
      throw new SimulationError(this.ir.name, findings, counters);
    return { timeMs: null, counters, findings };
  }

  /** Whether a launch has shown something that its code did not follow; from now on it does. */
  #asksForMore({ gathered, isIncomplete }: Ran): boolean {
    const before = this.#origins.size;
    this.#origins = new Set([...this.#origins, ...gathered.indeterminate]);
    const begins = isIncomplete && !this.#watchesGuards;
    if (begins) this.#watchesGuards = true;
    return begins || this.#origins.size > before;
  }

  /** Returns what puts back the contents that a launch is about to change. */
  #remember({ buffers }: ResolvedLaunch): () => void {
    const changed = this.ir.params.flatMap((param) =>
      param.kind === "buffer" && param.memory.access !== "read" ? [buffers[param.name] as HostBuffer] : [],
    );
    const saved = changed.map((buffer) => ({
      array: buffer.array.slice(),
      writeTime: buffer.isWholeWritten ? null : this.#state.storageOf(buffer).writeTime.slice(),
    }));
    return () => {
      for (const [i, buffer] of changed.entries()) {
        const { array, writeTime } = saved[i] as (typeof saved)[number];
        buffer.array.set(array as typeof buffer.array);
        if (writeTime !== null) this.#state.storageOf(buffer).restoreWrites(writeTime);
      }
    };
  }

  async #runOnce(resolved: ResolvedLaunch): Promise<Ran> {
    const { options, time } = this.#state;
    this.#state.renewTime();
    const { code, generated, totals, rooms } = (this.#compiled ??= this.#compile());
    const { sites } = code;
    const { workgroups } = resolved;
    const count = this.#interleaved
      ? residents(options.seed, resolved.sample?.length ?? resolved.workgroupCount)
      : 1;
    while (rooms.length < count) rooms.push(this.#room(code));
    // A launch that never ends is said without checks too.
    const report = new Report(options.checks ? options.maxFindings : 1, options.checks ? null : "deadlock");
    totals.fill(0);
    const counts = code.memories.map(newFields);
    const common = this.#bindGlobal(code.memories, resolved, counts);
    const gathered = new Gathered();
    const { seed, maxSteps, maxTraces } = options;
    const withClocks = this.#raceMode === "clocks";
    const facts = {
      ...{ report, gathered, time, sites, workgroups, maxTraces },
      phaseBarriers: this.ir.phaseBarriers,
      withClocks,
      guards: this.#watchedGuards,
    };
    const known = code.memories.map((): ReleasedClocks => new Map());
    const random = seed === undefined ? null : new Random(deriveSeed(seed, "weak memory"));
    const histories = code.memories.map(({ space }): WriteHistories | null =>
      space === "global" ? new Map() : null,
    );
    const places = rooms.slice(0, count).map(({ subgroups, shared }): Place => {
      const bindings = code.memories.map((memory, i) =>
        memory.space === "global"
          ? (common[i] as Binding)
          : this.#bindShared(memory, shared, counts[i] as Float64Array),
      );
      const released = known.map((clocks, i) => (common[i] === null ? new Map() : clocks));
      const weak = random === null ? null : new WeakMemory(time, random, { histories, released, withClocks });
      const runtime = new Runtime({ ...facts, bindings, subgroups, released, weak });
      return { runtime, memories: bindings.map(memoryRecord), subgroups, shared };
    });
    const steps = runLaunch(resolved, places, { generated, totals, time, seed, maxSteps });
    const of = resolved.sample?.length ?? resolved.workgroupCount;
    const aborted = await paced(steps, options, (finished) => ({
      workgroups: finished,
      of,
      findings: report.size,
    }));
    if (aborted) throw new SimulationAborted(this.ir.name, report.findings());
    const { runtime } = places[0] as Place;
    if (report.findings().every(({ kind }) => kind !== "deadlock")) runtime.reach.report();
    const isIncomplete = common.some(
      (binding) =>
        binding?.fresh === true && this.#isGuarded(binding.name) && binding.storage.writeTime.includes(0),
    );
    const counted = code.memories.map(({ space, name }, i) => ({
      ...{ space, name, fields: counts[i] as Float64Array },
    }));
    const counters = options.counters ? toCounters(totals, counted) : null;
    return { findings: report.findings(), counters, isIncomplete, gathered };
  }

  get #watchedGuards(): readonly Guard[] {
    return this.#watchesGuards ? this.#guards : [];
  }

  /** Whether a guard stands before stores to a buffer. */
  #isGuarded(name: string): boolean {
    return this.#guards.some(({ stores }) => [...stores.keys()].some((memory) => memory.name === name));
  }

  /** Buffers, which all workgroups share; null for shared memory. */
  #bindGlobal(
    memories: readonly Memory[],
    launch: ResolvedLaunch,
    counts: readonly Float64Array[],
  ): (Binding | null)[] {
    const { buffers } = launch;
    const written = new Set<HostBuffer>();
    const read = new Set<HostBuffer>();
    for (const [memory, use] of this.#accesses.memories) {
      if (memory.space === "shared") continue;
      if (use.writes) written.add(buffers[memory.name] as HostBuffer);
      if (use.reads) read.add(buffers[memory.name] as HostBuffer);
    }
    return memories.map((memory, i) => {
      if (memory.space === "shared") return null;
      const buffer = buffers[memory.name] as HostBuffer;
      const storage = this.#state.storageOf(buffer);
      const use = { isChecked: written.has(buffer), isRead: read.has(buffer) };
      const binding = this.#bind(memory, storage, { ...use, counts: counts[i] as Float64Array });
      return { ...binding, fresh: binding.checked && this.#hasUnwritten(launch, memory, storage) };
    });
  }

  #bindShared(memory: SharedMemory, shared: readonly Storage[], counts: Float64Array): Binding {
    const storage = shared[this.ir.shared.indexOf(memory)] as Storage;
    const isRead = this.#accesses.memories.get(memory)?.reads === true;
    return this.#bind(memory, storage, { isChecked: true, isRead, counts });
  }

  #bind(
    memory: Memory,
    storage: Storage,
    use: Pick<Binding, "isRead" | "counts"> & { readonly isChecked: boolean },
  ): Binding {
    const { isChecked, isRead, counts } = use;
    const { counters } = this.#state.options;
    const { space, name } = memory;
    this.#state.refresh(storage);
    const checked = this.#raceMode !== "none" && isChecked;
    if (checked) storage.prepareHistory(isRead, this.#raceMode === "clocks");
    if (this.#accesses.copied.has(memory)) storage.prepareCopiesInto(this.ir.phaseBarriers.length > 0);
    if (this.#accesses.sources.has(memory)) storage.prepareCopiesFrom();
    if (counters && space === "global") storage.prepareSectors();
    if (counters && space === "shared") storage.prepareWords();
    storage.readers.forget();
    return { name, space, storage, counts, checked, isRead, fresh: false };
  }

  /** Whether a buffer may have elements that nobody wrote before; what the host wrote counts. */
  #hasUnwritten({ buffers, sample }: ResolvedLaunch, memory: GlobalMemory, storage: Storage): boolean {
    const buffer = buffers[memory.name] as HostBuffer;
    // What the other workgroups would write is not known, and atomic operations leave no trace.
    if (sample !== null || memory.atomic) buffer.written.push([0, buffer.length]);
    if (buffer.isWholeWritten) return false;
    for (const [from, to] of buffer.written) storage.markWritten(from, to);
    return true;
  }

  #generate(comments: boolean): GeneratedCode {
    const { checks, counters, seed, observe } = this.#state.options;
    return generate(this.ir, {
      ...{ races: this.#raceMode, checks, counters, seeded: seed !== undefined, comments },
      observe,
      interleaved: this.#interleaved,
      weak: seed !== undefined,
      copied: this.#accesses.copied,
      sources: this.#accesses.sources,
      scratch: this.#accesses.scratch,
      origins: this.#origins,
      guards: this.#watchedGuards,
    });
  }

  /** Whether subgroups or workgroups can tell each other something between barriers, so that another order may do something else. */
  get varies(): boolean {
    return this.#accesses.atomics || this.ir.phaseBarriers.length > 0;
  }

  /** What the launches so far did, with the option `observe`. */
  get observed(): Observed {
    if (this.#compiled === null) return { blocks: [], atomics: [], endless: false };
    const { code, ran, returned, returnedTo } = this.#compiled;
    const isKnown = (block: number): boolean => block < 0 || ran[block] === 1;
    const blocks = code.blocks.flatMap(({ first, outer }, i) =>
      isKnown(outer) ? [{ location: first.site.location, ran: ran[i] === 1 }] : [],
    );
    const atomics = code.sites.flatMap((node, i) => {
      if (node.kind !== "atomic") return [];
      const { location } = node.site;
      const writes = atomicAccess[node.op] !== "read";
      const sums = { returned: returned[i] as number, returnedTo: returnedTo[i] as number };
      return [{ location, memory: node.memory.name, writes, ...sums }];
    });
    return { blocks, atomics, endless: this.#endless };
  }

  #compile(): Compiled {
    const { debug } = this.#state.options;
    const code = this.#generate(debug);
    const totals = newTotals();
    const name = debug ? `//# sourceURL=evolver-sim/${this.ir.name}.js\n` : "";
    const make = new Function("environment", code.source + name) as (environment: object) => Generated;
    const { time } = this.#state;
    const environment = {
      m: { ...math },
      scalarTypes,
      subgroupOperations,
      totals,
      time,
      ran: new Uint8Array(code.blocks.length),
      returned: new Int32Array(code.sites.length),
      returnedTo: new Int32Array(code.sites.length),
    };
    const { ran, returned, returnedTo } = environment;
    return { code, generated: make(environment), totals, ran, returned, returnedTo, rooms: [] };
  }

  #room({ registers }: GeneratedCode): Room {
    const [x, y, z] = this.ir.workgroupSize;
    const count = Math.ceil((x * y * z) / this.ir.subgroupSize);
    return {
      subgroups: Array.from({ length: count }, (_, index) => new Subgroup(index, [x, y, z], registers)),
      shared: this.ir.shared.map((memory) => new Storage(newArray(memory.element, memory.length))),
    };
  }
}
