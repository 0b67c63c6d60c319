/** Puts a plan on a device: compiles its kernels, makes the buffers that the caller did not give, and runs launches. */

import { EvolverError } from "@evolver/base";
import {
  isClocked,
  type AnyTypedArray,
  type ClockedProgram,
  type Device,
  type DeviceBuffer,
  type Launch,
  type LaunchGraph,
  type Program,
  type RunResult,
  type TypedArrayOf,
} from "../core/device.ts";
import { newArray } from "../core/arrays.ts";
import { invalid, shown } from "../core/invalid.ts";
import { givenParams } from "../core/launch.ts";
import { nans } from "./bits.ts";
import type { BindOptions, BoundPlan, LaunchChange, Sampling } from "./bound.ts";
import { checkLaunches, checkPlan } from "./check.ts";
import type { Plan, PlanArgument, PlanBuffer, PlanLaunch, PlanTypes } from "./plan.ts";
import { programFor } from "./programs.ts";

/**
 * Binds a plan to a device.
 *
 *     const bound = await bindPlan(device, plan, { inputs: { x } });
 *     await bound.run();
 *     const y = await bound.read("y");
 *     bound.destroy();
 *
 * @throws EvolverError PLAN_INVALID where the plan is not well-formed or leaves an output unwritten, PLAN_WRITES_INPUT, PLAN_READS_UNWRITTEN, PLAN_BUFFER where
 *   contents or an input are missing, a name is none of the plan's, or a buffer is of another type or too short;
 *   INVALID_ARGUMENT and ALIASED_BUFFER for what a launch would throw them; and what compiling and allocating throw. Nothing stays allocated then
 */
export async function bindPlan<B extends PlanTypes>(
  device: Device,
  plan: Plan<B>,
  options: BindOptions = {},
): Promise<BoundPlan<B>> {
  if (!isDevice(device))
    throw invalid(`bindPlan wants a device first, not ${shown(device)}`, 'open one: await openDevice("sim")');
  checkPlan(plan);
  checkGiven(plan, options);
  checkLaunches(plan, options.buffers);
  const programs: Program[] = [];
  for (const kernel of plan.kernels) programs.push(await programFor(device, kernel));
  const own = new Map<string, DeviceBuffer>();
  try {
    for (const buffer of plan.buffers)
      if (options.buffers?.[buffer.name] === undefined) own.set(buffer.name, create(device, buffer, options));
  } catch (error) {
    for (const buffer of own.values()) buffer.destroy();
    throw error;
  }
  return new Binding(
    device,
    plan,
    programs,
    own,
    options.buffers ?? {},
  ) as BoundPlan<PlanTypes> as BoundPlan<B>;
}

/** For callers without types, who may pass a device's name. */
const isDevice = (device: Partial<Device> | null | undefined): boolean =>
  typeof device?.compile === "function" && typeof device.createBuffer === "function";

function checkGiven(plan: Plan, options: BindOptions): void {
  const { buffers = {}, inputs = {} } = options;
  for (const [what, value] of Object.entries({ buffers, inputs }))
    if (typeof value !== "object" || value === null)
      throw wrong(`\`${what}\` is ${shown(value)}`, "pass a record by the names of the plan's buffers");
  const known = new Map(plan.buffers.map((buffer) => [buffer.name, buffer]));
  for (const [name, buffer] of Object.entries(buffers)) {
    const wanted = known.get(name);
    if (wanted === undefined) throw wrong(`the plan has no buffer "${name}"`, `it has ${listed(plan)}`);
    if (typeof (buffer as unknown) !== "object" || (buffer as unknown) === null)
      throw wrong(
        `the buffer given for "${name}" is ${shown(buffer)}`,
        "make it with createBuffer of the device",
      );
    if (buffer.element !== wanted.element || buffer.length < wanted.length)
      throw wrong(
        `the buffer given for "${name}" holds ${buffer.length} ${buffer.element}; the plan says ${wanted.length} ${wanted.element}`,
        "pass a buffer of that type which is at least as long",
      );
  }
  for (const name of Object.keys(inputs)) {
    const role = known.get(name)?.role;
    if (role !== undefined && isGiven(role)) continue;
    const names = plan.buffers.filter((buffer) => isGiven(buffer.role)).map((buffer) => buffer.name);
    throw wrong(
      `\`inputs\` has "${name}", which is ${role === undefined ? "no buffer" : `${role === "output" ? "an output" : role}`} of the plan`,
      `its inputs are ${names.join(", ") || "none"}`,
    );
  }
  for (const { name, role, element, length } of plan.buffers) {
    if (!isGiven(role) || buffers[name] !== undefined) continue;
    const contents = inputs[name];
    if (contents === undefined)
      throw wrong(
        `nothing is given for the input "${name}"`,
        "pass it in `inputs`, or a buffer in `buffers`",
      );
    if (!ArrayBuffer.isView(contents))
      throw wrong(
        `the contents of "${name}" are ${shown(contents)}`,
        `pass an array of ${length} ${element}`,
      );
    if (contents.length !== length)
      throw wrong(
        `the contents of "${name}" are ${contents.length} elements; the plan says ${length} ${element}`,
        "pass exactly as many",
      );
  }
}

/** Whether the user of a plan gives the contents. */
const isGiven = (role: PlanBuffer["role"]): boolean => role === "input" || role === "inout";

function create(
  device: Device,
  { name, role, element, length, zeroed }: PlanBuffer,
  options: BindOptions,
): DeviceBuffer {
  const contents: unknown = isGiven(role)
    ? options.inputs?.[name]
    : options.fill === "nan" && !zeroed
      ? nans(element, length)
      : length;
  return device.createBuffer(element, contents as number);
}

class Binding implements BoundPlan {
  readonly plan: Plan;
  readonly device: Device;
  readonly buffers: Readonly<Record<string, DeviceBuffer>>;
  readonly #programs: readonly Program[];
  readonly #own: ReadonlyMap<string, DeviceBuffer>;
  readonly #zeroed: readonly PlanBuffer[];
  #enqueue: (() => void) | null = null;

  constructor(
    device: Device,
    plan: Plan,
    programs: readonly Program[],
    own: ReadonlyMap<string, DeviceBuffer>,
    given: Readonly<Record<string, DeviceBuffer>>,
  ) {
    this.device = device;
    this.plan = plan;
    this.buffers = Object.freeze({ ...Object.fromEntries(own), ...given });
    this.#programs = programs;
    this.#own = own;
    this.#zeroed = plan.buffers.filter(({ role, zeroed }) => role === "scratch" && zeroed === true);
  }

  async run(sample?: Sampling): Promise<readonly RunResult[]> {
    for (const { name, element, length } of this.#zeroed)
      await this.#buffer(name).write(newArray(element, length));
    const results: RunResult[] = [];
    for (const [i, launch] of this.plan.launches.entries()) {
      const chosen = sample?.(i) ?? null;
      const request = this.#request(launch);
      results.push(
        await this.#program(launch).run(chosen === null ? request : { ...request, sample: chosen }),
      );
    }
    return results;
  }

  runChanged({ launch: index = 0, workgroups, args, sample }: LaunchChange): Promise<RunResult> {
    const launch = this.plan.launches[index];
    if (launch === undefined)
      throw new EvolverError("PLAN_INVALID", `the plan has no launch ${index}`, {
        hint: `it has ${this.plan.launches.length}`,
      });
    const request = this.#request(launch);
    return this.#program(launch).run({
      workgroups: workgroups ?? request.workgroups,
      args: { ...request.args, ...args },
      ...(sample !== undefined && { sample }),
    });
  }

  get enqueue(): (() => void) | null {
    if (!isClocked(this.device) || this.#zeroed.length > 0) return null;
    return (this.#enqueue ??= this.#prepare());
  }

  async time(executions = 1): Promise<number> {
    const { device, enqueue } = this;
    if (enqueue !== null && isClocked(device)) {
      const totalMs = await device.time(() => {
        for (let i = 0; i < executions; i++) enqueue();
      });
      return totalMs / executions;
    }
    let totalMs = 0;
    for (let i = 0; i < executions; i++) totalMs += await this.#timeOnce();
    return totalMs / executions;
  }

  async read(name: string): Promise<AnyTypedArray> {
    const buffer = this.plan.buffers.find((each) => each.name === name);
    if (buffer === undefined) throw wrong(`the plan has no buffer "${name}"`, `it has ${listed(this.plan)}`);
    return this.#buffer(name).read(0, buffer.length);
  }

  async write(name: string, data: AnyTypedArray): Promise<void> {
    await this.#buffer(name).write(data as TypedArrayOf<"f32">);
  }

  capture(): LaunchGraph | null {
    const { device, enqueue } = this;
    return enqueue !== null && isClocked(device) ? (device.capture?.(enqueue) ?? null) : null;
  }

  destroy(): void {
    for (const buffer of this.#own.values()) buffer.destroy();
  }

  async #timeOnce(): Promise<number> {
    const start = performance.now();
    const results = await this.run();
    const around = performance.now() - start;
    let totalMs = 0;
    for (const { timeMs } of results) {
      if (timeMs === null) return around;
      totalMs += timeMs;
    }
    return totalMs;
  }

  /** The launches, checked once. */
  #prepare(): () => void {
    const launches = this.plan.launches.flatMap((launch) => {
      const program = this.#program(launch) as ClockedProgram;
      return program.prepare(this.#request(launch)) ?? [];
    });
    const [only] = launches;
    if (only !== undefined && launches.length === 1) return only;
    return () => {
      for (const launch of launches) launch();
    };
  }

  #request({ kernel, workgroups, args: given }: PlanLaunch): Launch {
    const params = givenParams(this.plan.kernels[kernel] as Plan["kernels"][number]);
    const args: Record<string, number | DeviceBuffer> = {};
    for (const { name } of params) {
      const argument = given[name] as PlanArgument;
      args[name] = typeof argument === "number" ? argument : this.#buffer(argument.buffer);
    }
    return { workgroups, args } as Launch;
  }

  #program({ kernel }: PlanLaunch): Program {
    return this.#programs[kernel] as Program;
  }

  #buffer(name: string): DeviceBuffer {
    const buffer = this.buffers[name];
    if (buffer !== undefined) return buffer;
    throw wrong(`the plan has no buffer "${name}"`, `it has ${listed(this.plan)}`);
  }
}

const listed = ({ buffers }: Plan): string => buffers.map(({ name }) => name).join(", ") || "none";

function wrong(what: string, hint: string): EvolverError {
  return new EvolverError("PLAN_BUFFER", what, { hint });
}
