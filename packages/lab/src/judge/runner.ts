/**
 * Runs a plan on buffers that the judge owns, the same ones over and over: inputs are private copies that are looked
 * at afterwards, outputs hold NaN before each run, and beyond each buffer's end lie canaries.
 */

import { isClocked } from "@evolver/device";
import type {
  AnyTypedArray,
  ClockedProgram,
  Device,
  DeviceBuffer,
  Finding,
  Launch,
  Program,
  RunResult,
} from "@evolver/device";
import type { ElementType } from "@evolver/kernel";
import type { Plan, PlanArgument, PlanBuffer, PlanLaunch } from "../plan.ts";
import type { BoundPlan } from "../study/measurement.ts";
import type { VerdictStatus } from "./verdict.ts";
import type { Outputs } from "./outputs.ts";

export interface Run {
  readonly outputs: Outputs;
  /** What was done that must not be; null if nothing. */
  readonly fault: Fault | null;
}

export interface Fault {
  readonly status: Exclude<VerdictStatus, "ok">;
  readonly reason: string;
}

type Inputs = Readonly<Record<string, AnyTypedArray>>;

/** A NaN as f32 bits; as an integer, a number that no answer has by chance. */
const NAN_BITS = 0x7fc00000;
const CANARY = 0x4b1dfe0c;
/** Elements of canary after each buffer: at least, at most. Large strides overshoot far. */
const FENCE = [256, 65_536] as const;

export class PlanRunner implements BoundPlan {
  readonly plan: Plan;
  readonly device: Device;
  readonly #programs: readonly Program[];
  readonly #buffers: ReadonlyMap<string, DeviceBuffer>;
  readonly #fenced: boolean;
  #poisonsScratch = false;
  #enqueue: (() => void) | null = null;

  private constructor(
    plan: Plan,
    device: Device,
    programs: readonly Program[],
    buffers: ReadonlyMap<string, DeviceBuffer>,
    fenced: boolean,
  ) {
    this.plan = plan;
    this.device = device;
    this.#programs = programs;
    this.#buffers = buffers;
    this.#fenced = fenced;
  }

  /** Compiles and allocates. Throws what the device throws. */
  static async create(plan: Plan, device: Device): Promise<PlanRunner> {
    const programs: Program[] = [];
    for (const kernel of plan.kernels) programs.push(await device.compile(kernel));
    // The simulator sees every access beyond a buffer by itself, reads too, if the buffer has its true length.
    const fenced = device.id !== "sim";
    const buffers = new Map<string, DeviceBuffer>();
    for (const buffer of plan.buffers) {
      const { element, length } = buffer;
      const contents = allocate(element, length + (fenced ? fenceOf(buffer) : 0));
      fillFrom(contents, 0, buffer.role === "scratch" && buffer.zeroed === "once" ? 0 : NAN_BITS);
      fillFrom(contents, length, CANARY);
      buffers.set(buffer.name, device.createBuffer(element, contents as Float32Array<ArrayBuffer>));
    }
    return new PlanRunner(plan, device, programs, buffers, fenced);
  }

  /** One run from given inputs: prepares, launches, looks at everything. */
  async verify(inputs: Inputs): Promise<Run> {
    await this.load(inputs);
    await this.#fillOutputs();
    const findings = (await this.run()).flatMap((result) => result.findings);
    const { outputs, fault } = await this.look(inputs);
    return { outputs, fault: faultOf(findings) ?? fault };
  }

  /** What the buffers hold now, and whether something is in them that must not be. @param inputs as loaded */
  async look(inputs: Inputs): Promise<Run> {
    const outputs: Record<string, AnyTypedArray> = {};
    let fault: Fault | null = null;
    for (const buffer of this.plan.buffers) {
      const { name, length, role, zeroed } = buffer;
      const contents = await this.#buffer(name).read();
      if (this.#fenced) fault ??= this.#overrun(buffer, contents);
      if (role === "output") outputs[name] = contents.subarray(0, length);
      if (role === "input") fault ??= inputFault(name, contents, inputs[name] as AnyTypedArray);
      if (role === "scratch" && zeroed === "once") fault ??= leftFault(name, contents.subarray(0, length));
    }
    return { outputs, fault };
  }

  /** Copies inputs into the plan's buffers. */
  async load(inputs: Inputs): Promise<void> {
    for (const { name, role } of this.plan.buffers)
      if (role === "input") await this.#buffer(name).write(inputs[name] as Float32Array<ArrayBuffer>);
  }

  /**
   * Whether scratch that asked for nothing is filled with garbage before each run, so that no run finds what an earlier
   * one left, other than zeros. Timed runs all have the same input: what one left there could spare the next its work.
   */
  set poisonsScratch(on: boolean) {
    this.#poisonsScratch = on;
  }

  /** Zeroes the scratch that asked for it each time, then all launches in order. */
  async run(sample?: (launch: number) => readonly number[] | null): Promise<readonly RunResult[]> {
    for (const buffer of this.plan.buffers) {
      if (!this.#renews(buffer)) continue;
      const contents = allocate(buffer.element, buffer.length);
      if (buffer.zeroed !== true) fillFrom(contents, 0, NAN_BITS);
      await this.#buffer(buffer.name).write(contents as Float32Array<ArrayBuffer>);
    }
    const results: RunResult[] = [];
    for (const [i, launch] of this.plan.launches.entries()) {
      const chosen = sample?.(i) ?? null;
      const request = this.#request(launch);
      const program = this.#programs[launch.kernel] as Program;
      results.push(await program.run(chosen === null ? request : { ...request, sample: chosen }));
    }
    return results;
  }

  get enqueue(): (() => void) | null {
    if (!isClocked(this.device) || this.plan.buffers.some((buffer) => this.#renews(buffer))) return null;
    return (this.#enqueue ??= this.#prepare());
  }

  /** Whether the buffer is written to before each run. */
  #renews({ role, zeroed }: PlanBuffer): boolean {
    return role === "scratch" && zeroed !== "once" && (zeroed === true || this.#poisonsScratch);
  }

  /** The launches, checked once. */
  #prepare(): () => void {
    const launches = this.plan.launches.flatMap((launch) => {
      const program = this.#programs[launch.kernel] as ClockedProgram;
      return program.prepare(this.#request(launch)) ?? [];
    });
    return () => {
      for (const launch of launches) launch();
    };
  }

  #request({ kernel, workgroups, args: given }: PlanLaunch): Launch {
    const { ir } = this.#programs[kernel] as Program;
    const args: Record<string, number | DeviceBuffer> = {};
    for (const { name } of ir.params) {
      const argument = given[name] as PlanArgument;
      args[name] = typeof argument === "number" ? argument : this.#buffer(argument.buffer);
    }
    return { workgroups, args } as Launch;
  }

  destroy(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
  }

  async #fillOutputs(): Promise<void> {
    for (const { name, role, element, length } of this.plan.buffers) {
      if (role !== "output") continue;
      const contents = allocate(element, length);
      fillFrom(contents, 0, NAN_BITS);
      await this.#buffer(name).write(contents as Float32Array<ArrayBuffer>);
    }
  }

  #overrun({ name, length }: PlanBuffer, contents: AnyTypedArray): Fault | null {
    const words = wordsOf(contents);
    for (let i = length; i < words.length; i++)
      if (words[i] !== CANARY)
        return {
          status: "out-of-bounds-write",
          reason: `It wrote ${name}[${i}], beyond the ${length} elements of that buffer.`,
        };
    return null;
  }

  #buffer(name: string): DeviceBuffer {
    return this.#buffers.get(name) as DeviceBuffer;
  }
}

/** What findings of the simulator mean for a candidate. */
export function faultOf(findings: readonly Finding[]): Fault | null {
  // Writing outside is the graver of two findings.
  const outside = findings.find(
    ({ kind, accesses }) => kind === "out-of-bounds" && accesses[0]?.action !== "read",
  );
  const finding = outside ?? findings[0];
  if (!finding) return null;
  const place = finding.accesses[0]?.location;
  const where = place ? ` (${place.file}:${place.line})` : "";
  const more = findings.length > 1 ? ` And ${findings.length - 1} more.` : "";
  return {
    status: outside ? "out-of-bounds-write" : "findings",
    reason: `${finding.kind}: ${finding.message}${where}${more}`,
  };
}

function inputFault(name: string, contents: AnyTypedArray, original: AnyTypedArray): Fault | null {
  const now = wordsOf(contents);
  const before = wordsOf(original);
  for (const [i, word] of before.entries())
    if (now[i] !== word) return { status: "input-modified", reason: `It changed its input: ${name}[${i}].` };
  return null;
}

/** What a kernel leaves in scratch is how one run could tell the next something. */
function leftFault(name: string, contents: AnyTypedArray): Fault | null {
  const at = wordsOf(contents).findIndex((word) => word !== 0);
  if (at < 0) return null;
  const reason = `It left ${name}[${at}] = ${contents[at]}; scratch that is zeroed once must be zero again after each run.`;
  return { status: "invalid", reason };
}

function fenceOf({ length }: PlanBuffer): number {
  return Math.min(FENCE[1], Math.max(FENCE[0], length));
}

function allocate(element: ElementType, length: number): AnyTypedArray {
  return element === "f32"
    ? new Float32Array(length)
    : element === "i32"
      ? new Int32Array(length)
      : new Uint32Array(length);
}

function fillFrom(array: AnyTypedArray, from: number, bits: number): void {
  wordsOf(array).fill(bits, from);
}

function wordsOf(array: AnyTypedArray): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}
