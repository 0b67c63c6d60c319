/** A kernel compiled for the simulator: its code, and what a launch needs to know of its memories. */

import { math, scalarTypes } from "@evolver/kernel";
import type { GlobalMemory, KernelIR, Memory, Node, Params } from "@evolver/kernel";
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
import { SimulationError } from "./error.ts";
import { runLaunch } from "./launch.ts";
import type { Generated } from "./launch.ts";
import { newFields, newTotals, toCounters } from "./runtime/counting.ts";
import { Report } from "./runtime/report.ts";
import { Runtime } from "./runtime/runtime.ts";
import { Storage, memoryRecord } from "./runtime/storage.ts";
import type { Binding } from "./runtime/storage.ts";
import { Subgroup } from "./runtime/subgroup.ts";
import { subgroupOperations } from "./runtime/subgroup-operations.ts";
import type { Traces } from "./runtime/traces.ts";
import type { SimState } from "./state.ts";

interface Compiled {
  readonly code: GeneratedCode;
  readonly generated: Generated;
  readonly totals: Float64Array;
  readonly subgroups: readonly Subgroup[];
}

/** What one run of a launch has shown. */
interface Ran extends Pick<RunResult, "findings" | "counters"> {
  /** Nodes that gave indeterminate values. */
  readonly indeterminate: ReadonlySet<Node>;
  /** Whether an output behind a guard has elements that nobody wrote. */
  readonly isIncomplete: boolean;
  readonly traces: Traces;
}

/** A kernel as JavaScript that checks and counts. */
export class SimProgram<P extends Params> implements Program<P> {
  readonly ir: KernelIR;
  readonly #device: BufferOwner;
  readonly #state: SimState;
  readonly #shared: readonly Storage[];
  readonly #accesses: Accesses;
  readonly #raceMode: RaceMode;
  readonly #mayOriginate: boolean;
  readonly #guards: readonly Guard[];
  /** What launches have shown to be worth following: nodes that gave indeterminate values, and how far guards let pass. */
  #origins: ReadonlySet<Node> = new Set();
  #watchesGuards = false;
  #compiled: Compiled | null = null;

  constructor(device: BufferOwner, state: SimState, ir: KernelIR) {
    this.ir = ir;
    this.#device = device;
    this.#state = state;
    this.#shared = ir.shared.map((memory) => new Storage(newArray(memory.element, memory.length)));
    this.#accesses = accessesOf(ir);
    // Barrier intervals order everything unless something finer does.
    const ordered = this.#accesses.ordering ? "clocks" : "intervals";
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
    let ran = this.#runOnce(resolved);
    if (restore !== null)
      while (this.#asksForMore(ran)) {
        this.#compiled = null;
        restore();
        ran = this.#runOnce(resolved);
      }
    const { findings, counters, traces } = ran;
    for (const trace of traces.kept) options.onTrace(trace);
    if (traces.leftOut > 0 && options.maxTraces > 0)
      console.warn(`${this.ir.name}: ${traces.leftOut} more traces, which maxTraces leaves out`);
    if (findings.length > 0 && options.onFinding === "throw")
      throw new SimulationError(this.ir.name, findings, counters);
    return { timeMs: null, counters, findings };
  }

  /** Whether a launch has shown something that its code did not follow; from now on it does. */
  #asksForMore({ indeterminate, isIncomplete }: Ran): boolean {
    const before = this.#origins.size;
    this.#origins = new Set([...this.#origins, ...indeterminate]);
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

  #runOnce(resolved: ResolvedLaunch): Ran {
    const { options, time } = this.#state;
    this.#state.renewTime();
    const { code, generated, totals, subgroups } = (this.#compiled ??= this.#compile());
    const bindings = this.#bind(code.memories, resolved);
    const report = new Report(options.checks ? options.maxFindings : 0);
    totals.fill(0);
    const runtime = new Runtime({
      ...{ report, bindings, time, subgroups, sites: code.sites, workgroups: resolved.workgroups },
      phaseBarriers: this.ir.phaseBarriers,
      withClocks: this.#raceMode === "clocks",
      guards: this.#watchedGuards,
      maxTraces: options.maxTraces,
    });
    runLaunch(resolved, {
      ...{ generated, runtime, subgroups, totals, time },
      memories: bindings.map(memoryRecord),
      shared: this.#shared,
      seed: options.seed,
      maxSteps: options.maxSteps,
    });
    if (report.findings().every(({ kind }) => kind !== "deadlock")) runtime.reach.report();
    const isIncomplete = bindings.some(
      ({ name, fresh, storage }) => fresh && this.#isGuarded(name) && storage.writeTime.includes(0),
    );
    const counted = bindings.map(({ space, name, counts }) => ({ space, name, fields: counts }));
    const counters = options.counters ? toCounters(totals, counted) : null;
    const { indeterminate } = runtime.context;
    const { traces } = runtime;
    return { findings: report.findings(), counters, indeterminate, isIncomplete, traces };
  }

  get #watchedGuards(): readonly Guard[] {
    return this.#watchesGuards ? this.#guards : [];
  }

  /** Whether a guard stands before stores to a buffer. */
  #isGuarded(name: string): boolean {
    return this.#guards.some(({ stores }) => [...stores.keys()].some((memory) => memory.name === name));
  }

  #bind(memories: readonly Memory[], launch: ResolvedLaunch): Binding[] {
    const { counters } = this.#state.options;
    const identity = (memory: Memory): object =>
      memory.space === "shared" ? memory : (launch.buffers[memory.name] as HostBuffer);
    const written = new Set<object>();
    const read = new Set<object>();
    for (const [memory, use] of this.#accesses.memories) {
      if (use.writes) written.add(identity(memory));
      if (use.reads) read.add(identity(memory));
    }
    return memories.map((memory): Binding => {
      const { space, name } = memory;
      const storage =
        space === "global"
          ? this.#state.storageOf(launch.buffers[name] as HostBuffer)
          : (this.#shared[this.ir.shared.indexOf(memory)] as Storage);
      this.#state.refresh(storage);
      const isChecked = space === "shared" || written.has(identity(memory));
      const checked = this.#raceMode !== "none" && isChecked;
      const isRead = read.has(identity(memory));
      if (checked) storage.prepareHistory(isRead, this.#raceMode === "clocks");
      const fresh = checked && space === "global" && this.#hasUnwritten(launch, memory, storage);
      if (this.#accesses.copied.has(memory)) storage.prepareCopiesInto(this.ir.phaseBarriers.length > 0);
      if (this.#accesses.sources.has(memory)) storage.prepareCopiesFrom();
      if (counters && space === "global") storage.prepareSectors();
      if (counters && space === "shared") storage.prepareWords();
      return { name, space, storage, counts: newFields(), checked, isRead, fresh };
    });
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
    const { checks, counters, seed } = this.#state.options;
    return generate(this.ir, {
      ...{ races: this.#raceMode, checks, counters, seeded: seed !== undefined, comments },
      copied: this.#accesses.copied,
      sources: this.#accesses.sources,
      scratch: this.#accesses.scratch,
      origins: this.#origins,
      guards: this.#watchedGuards,
    });
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
    };
    const [x, y, z] = this.ir.workgroupSize;
    const count = Math.ceil((x * y * z) / this.ir.subgroupSize);
    return {
      code,
      generated: make(environment),
      totals,
      subgroups: Array.from({ length: count }, (_, index) => new Subgroup(index, [x, y, z], code.registers)),
    };
  }
}
