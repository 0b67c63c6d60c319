/** The attention ladder on one input: every rung verified, counted, timed and held to its claims. */

import {
  attentionTruth,
  compareWithTruth,
  fitPoint,
  forwardFlops,
  ladder,
  rungById,
  runClaims,
  type AttentionTruth,
  type Rung,
} from "@evolver/attention";
import {
  h200Datasheet,
  openDevice,
  type AnyTypedArray,
  type Device,
  type DeviceBuffer,
  type MachineProfile,
} from "@evolver/device";
import { EvolverError } from "@evolver/kernel";
import type { BoundPlan, Plan } from "@evolver/lab";
import type { LadderOptions, LadderReport, RungReport } from "../report.ts";
import { objectiveCase } from "./cases.ts";
import { countPlan } from "./counters.ts";
import { openAttentionInput, parseAttentionInput, type OpenedInput } from "./input.ts";
import { attentionPlan } from "./plan.ts";

/** @throws EvolverError UNKNOWN_RUNG, LADDER_DEVICE, and what the input throws */
export async function attentionLadder(options: LadderOptions): Promise<LadderReport> {
  if (options.device !== "sim") {
    throw new EvolverError("LADDER_DEVICE", `the ladder cannot be timed on ${options.device} yet`, {
      hint: "leave --device out: times are then modelled from the simulator's counters",
    });
  }
  const rungs = options.rungs === null ? ladder : options.rungs.map((id) => rungById(id));
  const input = await openAttentionInput(
    await parseAttentionInput({ shape: options.shape, input: options.input }),
  );
  const sim = await openDevice("sim", { subgroup: h200Datasheet.subgroupSize });
  const cpu = await openDevice("cpu");
  try {
    const judge = new RungJudge(input, sim, cpu, h200Datasheet, options.seed);
    const reports: RungReport[] = [];
    for (const [done, rung] of rungs.entries()) {
      options.onRung?.(`${rung.id} ${rung.title}`, done, rungs.length);
      reports.push(await judge.report(rung));
    }
    return {
      study: "attention",
      device: "sim",
      timeKind: "modelled",
      profile: h200Datasheet.name,
      input: input.title,
      rungs: reports,
    };
  } finally {
    await sim.close();
    await cpu.close();
  }
}

/** Holds the truth about the input, computed once for all rungs. */
class RungJudge {
  readonly #input: OpenedInput;
  readonly #sim: Device;
  readonly #cpu: Device;
  readonly #profile: MachineProfile;
  readonly #seed: number;
  readonly #data: Readonly<Record<string, AnyTypedArray>>;
  readonly #truth: AttentionTruth;

  constructor(input: OpenedInput, sim: Device, cpu: Device, profile: MachineProfile, seed: number) {
    this.#input = input;
    this.#sim = sim;
    this.#cpu = cpu;
    this.#profile = profile;
    this.#seed = seed;
    this.#data = objectiveCase(input, seed).inputs;
    this.#truth = attentionTruth(
      input.problem,
      this.#data as { q: Float32Array; k: Float32Array; v: Float32Array },
    );
  }

  async report(rung: Rung): Promise<RungReport> {
    const { problem } = this.#input;
    const point = fitPoint(rung.point, problem, this.#sim.subgroupSize);
    const { counters, modelled, workgroups, sampledWorkgroups } = await this.#onDevice(
      point,
      this.#sim,
      (bound) => countPlan(bound, problem, this.#profile, this.#seed),
    );
    const comparison = await this.#onDevice(point, this.#cpu, async (bound, buffers) => {
      await bound.run();
      const [o, lse] = [await buffers["o"]?.read(), await buffers["lse"]?.read()] as [
        Float32Array,
        Float32Array,
      ];
      return compareWithTruth(problem, this.#truth, { o, lse });
    });
    return {
      id: rung.id,
      title: rung.title,
      idea: rung.idea,
      verified: comparison.pass,
      error: comparison.error,
      bound: comparison.bound,
      timeMs: modelled.timeMs,
      tflops: forwardFlops(problem) / modelled.timeMs / 1e9,
      counters,
      workgroups,
      sampledWorkgroups,
      bottleneck: modelled.bottleneck,
      claims: await runClaims(this.#sim, rung),
      found: rung.found,
    };
  }

  /** The rung's plan on buffers of a device: inputs loaded, outputs NaN. */
  async #onDevice<R>(
    point: Rung["point"],
    device: Device,
    work: (bound: BoundPlan, buffers: Readonly<Record<string, DeviceBuffer>>) => Promise<R>,
  ): Promise<R> {
    const plan = attentionPlan(point, this.#input.problem, device.subgroupSize);
    const buffers = this.#buffersOf(plan, device);
    const [kernel] = plan.kernels;
    const [launch] = plan.launches;
    if (kernel === undefined || launch === undefined)
      throw new EvolverError("PLAN_INVALID", "The plan launches nothing.");
    const args = Object.fromEntries(
      Object.entries(launch.args).map(([name, argument]) => [
        name,
        typeof argument === "number" ? argument : buffers[argument.buffer],
      ]),
    );
    try {
      const program = await device.compile(kernel);
      const run: BoundPlan["run"] = async (sample) => {
        const chosen = sample?.(0) ?? null;
        const request = {
          workgroups: launch.workgroups,
          args: args as never,
          ...(chosen === null ? {} : { sample: chosen }),
        };
        return [await program.run(request)];
      };
      return await work({ plan, device, run }, buffers);
    } finally {
      for (const buffer of Object.values(buffers)) buffer.destroy();
    }
  }

  #buffersOf(plan: Plan, device: Device): Record<string, DeviceBuffer> {
    return Object.fromEntries(
      plan.buffers.map(({ name, role, length }) => {
        const contents =
          role === "input"
            ? (this.#data[name] as Float32Array<ArrayBuffer>)
            : new Float32Array(length).fill(Number.NaN);
        return [name, device.createBuffer("f32", contents)];
      }),
    );
  }
}
