/**
 * Runs a plan on buffers that the judge owns, and uses the same ones for each run: inputs are private copies that are checked
 * afterwards, outputs hold NaN before each run, and canary values lie behind each buffer's end.
 */

import { bindPlan, bitsOf, deviceRows, nans } from "@evolver/device";
import { scalarTypes, type ElementType } from "@evolver/kernel";
import type {
  AnyTypedArray,
  BoundPlan,
  Device,
  DeviceBuffer,
  Finding,
  Plan,
  PlanBuffer,
  RunnablePlan,
  RunResult,
  Sampling,
} from "@evolver/device";
import type { VerdictStatus } from "./verdict.ts";
import type { Outputs } from "../study/compare-outputs.ts";

export interface Run {
  readonly outputs: Outputs;
  /** What the plan did wrong; null if nothing. */
  readonly fault: Fault | null;
}

export interface Fault {
  readonly status: Exclude<VerdictStatus, "ok">;
  readonly reason: string;
}

type Inputs = Readonly<Record<string, AnyTypedArray>>;

/** A number that no kernel writes by chance; as 16 bits a NaN of either half type that no operation gives. */
const CANARY = { words: 0x4b1dfe0c, halves: 0x7fda } as const;
/** Elements of canary after each buffer: at least, at most. Large strides overshoot far. */
const FENCE = [256, 65_536] as const;

export class PlanRunner implements RunnablePlan {
  readonly plan: Plan;
  readonly device: Device;
  readonly #bound: BoundPlan;
  /** With canary values behind them. */
  readonly #buffers: ReadonlyMap<string, DeviceBuffer>;
  readonly #fenced: boolean;
  #poisonsScratch = false;
  /** Garbage as long as the longest buffer of each type, made once: it is written before every run. */
  readonly #garbage = new Map<ElementType, AnyTypedArray>();

  private constructor(bound: BoundPlan, buffers: ReadonlyMap<string, DeviceBuffer>, fenced: boolean) {
    this.plan = bound.plan;
    this.device = bound.device;
    this.#bound = bound;
    this.#buffers = buffers;
    this.#fenced = fenced;
  }

  /** Compiles and allocates. Throws what the device throws. */
  static async create(plan: Plan, device: Device): Promise<PlanRunner> {
    // The simulator sees every access beyond a buffer by itself, reads too, if the buffer has its true length.
    const fenced = !deviceRows[device.id].reports;
    const buffers = new Map<string, DeviceBuffer>();
    try {
      for (const buffer of plan.buffers) {
        const contents = initialContents(buffer, fenced ? fenceOf(buffer) : 0);
        buffers.set(buffer.name, device.createBuffer(buffer.element, contents as Float32Array<ArrayBuffer>));
      }
      const bound = await bindPlan(device, plan, { buffers: Object.fromEntries(buffers) });
      return new PlanRunner(bound, buffers, fenced);
    } catch (error) {
      for (const buffer of buffers.values()) buffer.destroy();
      throw error;
    }
  }

  /** One run from given inputs: prepares, launches, looks at everything. */
  async verify(inputs: Inputs): Promise<Run> {
    await this.load(inputs);
    await this.#fill(({ role }) => role === "output");
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
      if (this.#fenced) fault ??= overrun(buffer, contents);
      if (role === "output" || role === "inout")
        outputs[name] = numbersOf(buffer, contents.subarray(0, length));
      if (role === "input") fault ??= inputFault(name, contents, inputs[name] as AnyTypedArray);
      if (role === "scratch" && zeroed === "once") fault ??= leftFault(name, contents.subarray(0, length));
    }
    return { outputs, fault };
  }

  /** Copies inputs into the plan's buffers. */
  async load(inputs: Inputs): Promise<void> {
    for (const { name, role } of this.plan.buffers)
      if (role === "input" || role === "inout")
        await this.#buffer(name).write(inputs[name] as Float32Array<ArrayBuffer>);
  }

  /**
   * Whether scratch without `zeroed` is filled with garbage before each run, so that no run can use the results of an earlier
   * one. All timed runs have the same input, so data left in scratch could save the next run its work.
   */
  set poisonsScratch(on: boolean) {
    this.#poisonsScratch = on;
  }

  /** Prepares the scratch that asked for it each time, then all launches in order. */
  async run(sample?: Sampling): Promise<readonly RunResult[]> {
    await this.#fill((buffer) => this.#poisons(buffer));
    return this.#bound.run(sample);
  }

  get enqueue(): (() => void) | null {
    return this.plan.buffers.some((buffer) => this.#poisons(buffer)) ? null : this.#bound.enqueue;
  }

  /** Whether the buffer is filled with garbage before each run. */
  #poisons({ role, zeroed = false }: PlanBuffer): boolean {
    return this.#poisonsScratch && role === "scratch" && zeroed === false;
  }

  destroy(): void {
    this.#bound.destroy();
    for (const buffer of this.#buffers.values()) buffer.destroy();
  }

  async #fill(which: (buffer: PlanBuffer) => boolean): Promise<void> {
    for (const buffer of this.plan.buffers) {
      if (!which(buffer)) continue;
      const contents = this.#garbageOf(buffer.element).subarray(0, buffer.length);
      await this.#buffer(buffer.name).write(contents as Float32Array<ArrayBuffer>);
    }
  }

  #garbageOf(element: ElementType): AnyTypedArray {
    let garbage = this.#garbage.get(element);
    if (garbage === undefined) {
      const lengths = this.plan.buffers.map((buffer) => (buffer.element === element ? buffer.length : 0));
      this.#garbage.set(element, (garbage = nans(element, Math.max(...lengths))));
    }
    return garbage;
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

const bytesOf = ({ buffer, byteOffset, byteLength }: AnyTypedArray): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Whether two arrays hold the same bits. */
export const sameBits = (a: AnyTypedArray, b: AnyTypedArray): boolean => bytesOf(a).equals(bytesOf(b));

function inputFault(name: string, contents: AnyTypedArray, original: AnyTypedArray): Fault | null {
  const [now, before] = [bitsOf(contents), bitsOf(original)];
  if (bytesOf(now).subarray(0, before.byteLength).equals(bytesOf(before))) return null;
  for (let i = 0; i < before.length; i++)
    if (now[i] !== before[i])
      return { status: "input-modified", reason: `It changed its input: ${name}[${i}].` };
  return null;
}

/** A run could pass results to the next one through values that it leaves in scratch. */
function leftFault(name: string, contents: AnyTypedArray): Fault | null {
  const at = bitsOf(contents).findIndex((bits) => bits !== 0);
  if (at < 0) return null;
  const reason = `It left ${name}[${at}] = ${contents[at]}; scratch that is zeroed once must be zero again after each run.`;
  return { status: "invalid", reason };
}

/** Half-precision outputs are held as bits; they are compared as the numbers that they are. */
function numbersOf({ element }: PlanBuffer, contents: AnyTypedArray): AnyTypedArray {
  if (!(contents instanceof Uint16Array)) return contents;
  return Float32Array.from(contents, scalarTypes[element].decode);
}

const canaryOf = (array: AnyTypedArray): number =>
  array instanceof Uint16Array ? CANARY.halves : CANARY.words;

function overrun({ name, length }: PlanBuffer, contents: AnyTypedArray): Fault | null {
  const bits = bitsOf(contents);
  const canary = canaryOf(contents);
  for (let i = length; i < bits.length; i++)
    if (bits[i] !== canary)
      return {
        status: "out-of-bounds-write",
        reason: `It wrote ${name}[${i}], beyond the ${length} elements of that buffer.`,
      };
  return null;
}

const fenceOf = ({ length }: PlanBuffer): number => Math.min(FENCE[1], Math.max(FENCE[0], length));

/** Garbage, or zeros for scratch that is zeroed once, and canaries behind it. */
function initialContents({ role, element, length, zeroed }: PlanBuffer, fence: number): AnyTypedArray {
  const contents = nans(element, length + fence);
  const bits = bitsOf(contents);
  if (role === "scratch" && zeroed === "once") bits.fill(0, 0, length);
  bits.fill(canaryOf(contents), length);
  return contents;
}
