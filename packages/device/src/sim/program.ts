/** A kernel compiled for the simulator, and its launches. */

import { math } from "@evolver/kernel";
import type { KernelIR, Memory, Params } from "@evolver/kernel";
import type { Launch, Program, RunResult } from "../core/device.ts";
import { newArray } from "../core/arrays.ts";
import { HostBuffer } from "../core/buffer.ts";
import { resolveLaunch } from "../core/launch.ts";
import type { ResolvedLaunch } from "../core/launch.ts";
import { Codegen } from "./codegen.ts";
import type { GeneratedCode } from "./codegen.ts";
import * as collective from "./collective.ts";
import { newFields, newTotals, toCounters, total } from "./counting.ts";
import { accessesOf } from "./accesses.ts";
import type { SimDevice } from "./index.ts";
import { SimulationError } from "./error.ts";
import type { RaceMode } from "./checks.ts";
import { Random } from "@evolver/base";
import { Report } from "./report.ts";
import { Runtime } from "./runtime.ts";
import { runWorkgroup } from "./schedule.ts";
import { Storage, bound } from "./storage.ts";
import type { Binding } from "./storage.ts";
import { Subgroup } from "./subgroup.ts";

const QUANTUM = 1024;
const SEEDED_QUANTUM = 16;

/** What the generated source returns. */
interface Generated {
  run(subgroup: Subgroup, launch: object): Generator<number, void, void>;
  bind(runtime: Runtime, start: number, bindings: readonly Record<string, unknown>[]): void;
  setTime(now: number): void;
  getTime(): number;
  /** The workgroup met: time grows. */
  barrier(): void;
  /** Lets time grow, and returns it. */
  beginWorkgroup(): number;
  getChanges(): number;
  exchangeSerial(serial: number): number;
}

interface Compiled {
  readonly code: GeneratedCode;
  readonly generated: Generated;
  readonly totals: Float64Array;
  readonly subgroups: readonly Subgroup[];
}

export class SimProgram<P extends Params> implements Program<P> {
  readonly ir: KernelIR;
  readonly #device: SimDevice;
  readonly #compiled = new Map<RaceMode, Compiled>();
  readonly #shared: readonly Storage[];
  readonly #accesses: ReturnType<typeof accessesOf>;

  constructor(device: SimDevice, ir: KernelIR) {
    this.ir = ir;
    this.#device = device;
    this.#shared = ir.shared.map((memory) => new Storage(newArray(memory.element, memory.length)));
    this.#accesses = accessesOf(ir);
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const device = this.#device;
    const resolved = resolveLaunch(this.ir, launch as Launch, device, HostBuffer, true);
    device.renewTime();
    const mode = this.#raceMode;
    const compiled = this.#compile(mode);
    const bindings = this.#bind(compiled.code.memories, resolved, mode);
    const report = new Report(device.options.checks ? device.options.maxFindings : 0);
    compiled.totals.fill(0);
    this.#execute(compiled, resolved, bindings, report, mode);
    const counted = bindings.map(({ space, name, counts }) => ({ space, name, fields: counts }));
    const counters = device.options.counters ? toCounters(compiled.totals, counted) : null;
    const findings = report.findings();
    if (findings.length > 0 && device.options.onFinding === "throw")
      throw new SimulationError(this.ir.name, findings, counters);
    return { timeMs: null, counters, findings };
  }

  #execute(
    { code, generated, totals, subgroups }: Compiled,
    launch: ResolvedLaunch,
    bindings: readonly Binding[],
    report: Report,
    mode: RaceMode,
  ): void {
    const device = this.#device;
    const { seed, maxSteps } = device.options;
    const random = seed === undefined ? null : new Random(seed);
    const rt = new Runtime(
      ...([
        report,
        bindings,
        code.sites,
        launch.workgroups,
        subgroups,
        this.ir.phaseBarriers,
        mode === "clocks",
      ] as const),
    );
    const [sizeX, sizeY, sizeZ] = this.ir.workgroupSize;
    const invocations = sizeX * sizeY * sizeZ;
    const [count_x, count_y, count_z] = launch.workgroups;
    const quantum = Math.min(random === null ? QUANTUM : SEEDED_QUANTUM, maxSteps);
    const width = this.ir.subgroupSize;
    const L = {
      ...{ x: 0, y: 0, z: 0, linear: 0, count_x, count_y, count_z, scalars: launch.scalars, quantum },
      preempt: (): boolean => random !== null && random.below(8) === 0,
      turn: (): number => (random === null ? 0 : random.below(width)),
    };
    generated.bind(rt, device.time, bindings.map(bound));
    generated.exchangeSerial(device.serial);
    generated.setTime(device.time);
    const schedule = {
      ...{ subgroups, rt, sites: code.sites, quantum, maxSteps },
      random: random === null ? null : (n: number): number => random.below(n),
      start: (subgroup: Subgroup) => generated.run(subgroup, L),
      changes: generated.getChanges,
      barrier: (whole: boolean): void => {
        if (whole) (totals[total("barriers")] as number)++;
        rt.barrier(generated.getTime());
        generated.barrier();
      },
    };
    const runOne = (linear: number): boolean => {
      const group = generated.beginWorkgroup();
      [L.x, L.y, L.z] = rt.workgroupId(linear);
      L.linear = linear;
      for (const { array } of this.#shared) array.fill(0);
      rt.beginWorkgroup(linear, group);
      (totals[total("workgroups")] as number)++;
      (totals[total("invocations")] as number) += invocations;
      const finished = runWorkgroup(schedule);
      rt.endWorkgroup(finished);
      return finished;
    };
    if (launch.sample === null) for (let i = 0; i < launch.workgroupCount && runOne(i); i++);
    else launch.sample.every(runOne);
    device.serial = generated.exchangeSerial(0);
    device.time = generated.getTime();
  }

  /** How launches can be checked: barrier intervals order everything unless something finer does. */
  get #raceMode(): RaceMode {
    if (!this.#device.options.checks) return "none";
    return this.#accesses.ordering ? "clocks" : "intervals";
  }

  #identity(memory: Memory, launch: ResolvedLaunch): object {
    return memory.space === "shared" ? memory : (launch.buffers[memory.name] as HostBuffer);
  }

  #bind(memories: readonly Memory[], launch: ResolvedLaunch, mode: RaceMode): Binding[] {
    const { counters } = this.#device.options;
    const written = new Set<object>();
    const read = new Set<object>();
    for (const [memory, use] of this.#accesses.memories) {
      const identity = this.#identity(memory, launch);
      if (use.writes) written.add(identity);
      if (use.reads) read.add(identity);
    }
    return memories.map((memory): Binding => {
      const { space, name } = memory;
      const identity = this.#identity(memory, launch);
      const storage =
        space === "global"
          ? this.#device.storageOf(identity as HostBuffer)
          : (this.#shared[this.ir.shared.indexOf(memory)] as Storage);
      this.#device.refresh(storage);
      const checked = mode !== "none" && (space === "shared" || written.has(identity));
      const isRead = read.has(identity);
      if (checked) storage.prepareHistory(isRead, mode === "clocks");
      if (this.#accesses.copied.has(memory)) storage.prepareCopies(this.ir.phaseBarriers.length > 0);
      if (this.#accesses.sources.has(memory)) storage.prepareSources();
      if (counters && space === "global") storage.prepareSectors();
      if (counters && space === "shared") storage.prepareWords();
      return { name, space, storage, counts: newFields(), checked, isRead };
    });
  }

  #compile(races: RaceMode): Compiled {
    const known = this.#compiled.get(races);
    if (known !== undefined) return known;
    const { checks, counters, seed } = this.#device.options;
    const code = new Codegen(this.ir, {
      ...{ races, checks, counters, seeded: seed !== undefined },
      copied: this.#accesses.copied,
      sources: this.#accesses.sources,
    }).generate();
    const totals = newTotals();
    const make = new Function("m", "sg", "C", code.source) as (
      m: object,
      sg: object,
      C: Float64Array,
    ) => Generated;
    const [x, y, z] = this.ir.workgroupSize;
    const count = Math.ceil((x * y * z) / this.ir.subgroupSize);
    const compiled: Compiled = {
      code,
      generated: make({ ...math }, { ...collective }, totals),
      totals,
      subgroups: Array.from({ length: count }, (_, index) => new Subgroup(index, [x, y, z], code.registers)),
    };
    this.#compiled.set(races, compiled);
    return compiled;
  }
}
