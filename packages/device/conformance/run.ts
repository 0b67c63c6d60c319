/** Runs conformance cases on a device. Free of Node and of any test runner. */

import type { ElementType, Kernel } from "@evolver/kernel";
import { bindPlan, buildOf, deviceRows, SimulationError, workgroupCounts } from "@evolver/device";
import type {
  AnyTypedArray,
  Device,
  DeviceBuffer,
  DeviceId,
  Finding,
  Plan,
  RunResult,
} from "@evolver/device";
import type { Capability, Case, KernelCase, Launched, Target } from "./case.ts";
import { cases } from "./cases/index.ts";
import { difference } from "./compare.ts";

const ALL: readonly Capability[] = [
  "progress",
  "subnormals",
  "exactDivision",
  "separateRounding",
  "specialLiterals",
  "ordering",
  "dynamicUniformity",
  "subgroups",
  "subgroupBarriers",
];

const NATIVE: readonly Capability[] = [
  "subnormals",
  "exactDivision",
  "separateRounding",
  "specialLiterals",
  "ordering",
  "dynamicUniformity",
  "subgroups",
  "subgroupBarriers",
];

/** What each device promises; the width alone says whether WebGPU has subgroups to build for. */
const PROMISES: Readonly<Record<DeviceId, readonly Capability[]>> = {
  sim: ALL,
  cpu: ALL,
  webgpu: ["subgroups"],
  cuda: NATIVE,
  hip: NATIVE,
};

export interface ConformanceOptions {
  /** Only cases whose name contains this. */
  readonly filter?: string;
  /** Called after each case. */
  readonly onResult?: (result: ConformanceResult) => void;
}

export interface ConformanceResult {
  readonly name: string;
  /** `skipped` where the device does not promise what the case needs. */
  readonly status: "passed" | "failed" | "skipped";
  readonly ms: number;
  /** What is wrong, or what the device does not promise; null for what passed. */
  readonly detail: string | null;
}

/** The device as cases see it. */
export function targetOf(device: Device): Target {
  const capabilities = PROMISES[device.id];
  const { hasSubgroups = true } = device as { readonly hasSubgroups?: boolean };
  return {
    id: device.id,
    width: device.subgroupSize,
    limits: device.limits,
    capabilities: new Set([
      ...capabilities.filter((name) => hasSubgroups || name !== "subgroups"),
      ...(device.forwardProgress ? (["forwardProgress"] as const) : []),
    ]),
  };
}

/** What the target does not promise of what the case needs, or null. */
export function missing(item: Case, target: Target): Capability | null {
  return item.needs?.find((name) => !target.capabilities.has(name)) ?? null;
}

/** Runs the cases one after another on a device, which stays open. */
export async function runConformance(
  device: Device,
  options: ConformanceOptions = {},
): Promise<ConformanceResult[]> {
  const target = targetOf(device);
  const results: ConformanceResult[] = [];
  for (const item of cases) {
    if (options.filter !== undefined && !item.name.includes(options.filter)) continue;
    const start = performance.now();
    const lacking = missing(item, target);
    const outcome =
      lacking === null
        ? await runCase(device, item).then(
            () => ({ status: "passed" as const, detail: null }),
            (error: unknown) => ({
              status: "failed" as const,
              detail: error instanceof Error ? error.message : String(error),
            }),
          )
        : { status: "skipped" as const, detail: `the ${device.id} device does not promise: ${lacking}` };
    const result = { name: item.name, ms: performance.now() - start, ...outcome };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}

/** Runs one case; throws what is wrong. */
export async function runCase(device: Device, item: Case): Promise<void> {
  const target = targetOf(device);
  if ("check" in item) return item.check(device, target);
  const buffers = new Map<string, DeviceBuffer>();
  try {
    await runKernelCase(device, item, target, buffers);
  } finally {
    if (!(device as { readonly closed?: boolean }).closed)
      for (const buffer of buffers.values()) buffer.destroy();
  }
}

async function runKernelCase(
  device: Device,
  item: KernelCase,
  target: Target,
  buffers: Map<string, DeviceBuffer>,
): Promise<void> {
  const prepared = item.prepare(target);
  const launches: readonly Launched[] = Array.isArray(prepared) ? prepared : [prepared as Launched];
  for (const launched of launches) {
    for (const [name, value] of Object.entries(launched.args)) {
      if (!isArray(value)) continue;
      buffers.get(name)?.destroy();
      buffers.set(name, device.createBuffer(elementOf(launched.kernel, name), value as never));
    }
    const plan = planOf(launched, device, buffers);
    const own = plan.buffers.map(({ name }) => [name, buffers.get(name) as DeviceBuffer] as const);
    const bound = await bindPlan(device, plan, { buffers: Object.fromEntries(own) });
    const findings = await findingsOf(bound.run());
    if (deviceRows[device.id].reports) checkFindings(findings, launched);
    for (const [name, expected] of Object.entries(launched.expected)) {
      const problem = difference(name, await bound.read(bufferOf(launched, name)), expected, target);
      if (problem !== null) throw new Error(problem);
    }
  }
}

/** The launch as a plan over the case's buffers, which all hold something already. */
function planOf(launched: Launched, device: Device, buffers: ReadonlyMap<string, DeviceBuffer>): Plan {
  const { kernel, workgroups, args } = launched;
  const names = Object.entries(args).flatMap(([name, value]) =>
    typeof value === "number" ? [] : [bufferOf(launched, name)],
  );
  const ir = (kernel as unknown as Kernel).build(buildOf(device));
  const written = ir.params.flatMap((param) =>
    param.kind === "buffer" && param.memory.access !== "read" ? [bufferOf(launched, param.name)] : [],
  );
  return {
    kernels: [ir],
    buffers: [...new Set(names)].map((name) => {
      const { element, length } = buffers.get(name) as DeviceBuffer;
      return { name, role: written.includes(name) ? "output" : "input", element, length };
    }),
    launches: [
      {
        kernel: 0,
        workgroups: workgroupCounts(workgroups),
        args: Object.fromEntries(
          Object.entries(args).map(([name, value]) => [
            name,
            typeof value === "number" ? value : { buffer: bufferOf(launched, name) },
          ]),
        ),
      },
    ],
  };
}

const isArray = (value: Launched["args"][string]): value is AnyTypedArray => ArrayBuffer.isView(value);

/** The name of the buffer that a parameter is given: its own, or that of an earlier launch. */
function bufferOf({ args }: Launched, name: string): string {
  const value = args[name];
  return typeof value === "object" && !isArray(value) ? value.from : name;
}

async function findingsOf(run: Promise<readonly RunResult[]>): Promise<readonly Finding[]> {
  try {
    return (await run).flatMap(({ findings }) => findings);
  } catch (error) {
    if (error instanceof SimulationError) return error.findings;
    throw error;
  }
}

function checkFindings(found: readonly Finding[], { findings = [] }: Launched): void {
  const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
  if (kinds.join() === [...findings].sort().join()) return;
  const first = found.find(({ kind }) => !findings.includes(kind));
  throw new Error(
    first === undefined
      ? `the simulator finds ${kinds.join(", ") || "nothing"}, not ${findings.join(", ")}`
      : `the simulator finds ${first.kind}: ${first.message}`,
  );
}

/** What a parameter of the kernel holds. */
function elementOf(kernel: Launched["kernel"], name: string): ElementType {
  const descriptor = (kernel as unknown as Kernel).params[name];
  if (descriptor?.kind !== "buffer") throw new Error(`parameter "${name}" is no buffer`);
  return descriptor.element;
}
