/** A kernel compiled to a WebGPU pipeline. Compiler messages are turned back to TypeScript lines. */

import { EvolverError } from "@evolver/base";
import type { SourceLocation } from "@evolver/base";
import { emitWgsl, type Emitted, type KernelIR, type Params } from "@evolver/kernel";
import type { ClockedProgram, Launch, RunResult } from "../core/device.ts";
import { assertOpen } from "../core/buffer.ts";
import { writeWord } from "../core/arrays.ts";
import { resolveLaunch, type ResolvedLaunch } from "../core/launch.ts";
import { WebgpuBuffer } from "./buffer.ts";
import type { WebgpuOwner } from "./owner.ts";

export class WebgpuProgram<P extends Params = Params> implements ClockedProgram<P> {
  readonly ir: KernelIR;
  readonly emitted: Emitted;
  readonly #device: WebgpuOwner;
  readonly #pipeline: GPUComputePipeline;

  private constructor(device: WebgpuOwner, ir: KernelIR, emitted: Emitted, pipeline: GPUComputePipeline) {
    this.#device = device;
    this.ir = ir;
    this.emitted = emitted;
    this.#pipeline = pipeline;
  }

  /** @throws EvolverError WGSL_REFUSED, SUBGROUPS_UNAVAILABLE, TOO_MANY_BUFFERS */
  static async create<P extends Params>(device: WebgpuOwner, ir: KernelIR): Promise<WebgpuProgram<P>> {
    const { gpu } = device;
    const emitted = emitWgsl(ir, { shaderF16: gpu.features.has("shader-f16") });
    if (/^enable subgroups;/m.test(emitted.source) && !device.hasSubgroups) {
      throw new EvolverError(
        "SUBGROUPS_UNAVAILABLE",
        `kernel "${ir.name}" uses subgroups, which this adapter does not have at a fixed width`,
        {
          where: [ir.site.location],
          hint: "use another browser or GPU, or write the kernel with shared memory and barriers instead",
        },
      );
    }
    const buffers = emitted.bindings.length;
    if (buffers > gpu.limits.maxStorageBuffersPerShaderStage) {
      throw new EvolverError(
        "TOO_MANY_BUFFERS",
        `kernel "${ir.name}" has ${buffers} buffers; this adapter allows ${gpu.limits.maxStorageBuffersPerShaderStage}`,
        {
          where: [ir.site.location],
          hint: "put several arrays into one buffer",
        },
      );
    }
    // Error scopes are a stack of the whole device: they close before anything else can run.
    gpu.pushErrorScope("validation");
    gpu.pushErrorScope("internal");
    const module = gpu.createShaderModule({ code: emitted.source, label: ir.name });
    const compiling = module.getCompilationInfo();
    const creating = gpu
      .createComputePipelineAsync({
        layout: gpu.createPipelineLayout({
          bindGroupLayouts: [gpu.createBindGroupLayout(layoutOf(emitted))],
        }),
        compute: { module, entryPoint: emitted.entryPoint },
        label: ir.name,
      })
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    const scopes = [gpu.popErrorScope(), gpu.popErrorScope()] as const;
    const [info, pipeline, internal, validation] = await Promise.all([compiling, creating, ...scopes]);
    const messages = info.messages.filter(({ type }) => type === "error");
    if (messages.length > 0 || pipeline instanceof Error || internal !== null || validation !== null) {
      device.assertUsable();
      throw refused(
        ir,
        emitted,
        messages,
        pipeline instanceof Error ? pipeline.message : (validation ?? internal)?.message,
      );
    }
    return new WebgpuProgram<P>(device, ir, emitted, pipeline);
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const { buffers } = this.#resolve(launch);
    return this.#device.exclusive(async () => {
      for (const buffer of Object.values(buffers)) await buffer.assertAllocated();
      return this.#run(this.#resolve(launch));
    });
  }

  async #run(resolved: ResolvedLaunch<WebgpuBuffer>): Promise<RunResult> {
    const device = this.#device;
    if (resolved.workgroupCount === 0) return { timeMs: 0, counters: null, findings: [] };
    device.gpu.pushErrorScope("validation");
    const { enqueue, free } = this.#bind(resolved);
    const timing = device.timeNow(enqueue);
    const error = device.gpu.popErrorScope();
    try {
      const timeMs = await timing;
      const refusal = await error;
      if (refusal === null) return { timeMs, counters: null, findings: [] };
      throw new EvolverError(
        "WEBGPU_ERROR",
        `WebGPU refuses the launch of "${this.ir.name}": ${refusal.message}`,
        { where: [this.ir.site.location] },
      );
    } finally {
      free();
    }
  }

  prepare(launch: Launch<P>): (() => void) | null {
    const resolved = this.#resolve(launch);
    return resolved.workgroupCount === 0 ? null : this.#bind(resolved).enqueue;
  }

  #resolve(launch: Launch<P>): ResolvedLaunch<WebgpuBuffer> {
    assertOpen(this.#device);
    this.#device.assertUsable();
    return resolveLaunch(
      this.ir,
      launch as Launch,
      this.#device,
      WebgpuBuffer as unknown as abstract new (...args: never[]) => WebgpuBuffer,
    );
  }

  #bind(resolved: ResolvedLaunch<WebgpuBuffer>): { enqueue: () => void; free: () => void } {
    const { gpu, limits } = { gpu: this.#device.gpu, limits: this.#device.gpu.limits };
    const { bindings, uniform } = this.emitted;
    const entries: GPUBindGroupEntry[] = bindings.map(({ name, binding }) => ({
      binding,
      resource: { buffer: (resolved.buffers[name] as WebgpuBuffer).buffer },
    }));
    let uniformBuffer: GPUBuffer | null = null;
    if (uniform !== null) {
      uniformBuffer = gpu.createBuffer({
        size: uniform.bytes,
        usage: GPUBufferUsage.UNIFORM,
        mappedAtCreation: true,
      });
      fillUniform(new DataView(uniformBuffer.getMappedRange()), uniform.fields, resolved);
      uniformBuffer.unmap();
      entries.push({ binding: uniform.binding, resource: { buffer: uniformBuffer } });
    }
    const group = gpu.createBindGroup({ layout: this.#pipeline.getBindGroupLayout(0), entries });
    const counts = foldWorkgroups(resolved.workgroupCount, limits.maxComputeWorkgroupsPerDimension);
    return {
      enqueue: () => this.#device.dispatch(this.#pipeline, group, counts),
      free: () => uniformBuffer?.destroy(),
    };
  }
}

/** All bindings, also those that the kernel never touches: WebGPU would leave them out by itself. */
function layoutOf({ bindings, uniform }: Emitted): GPUBindGroupLayoutDescriptor {
  const visibility = GPUShaderStage.COMPUTE;
  const entries = bindings.map(({ binding, readOnly, minBytes }): GPUBindGroupLayoutEntry => {
    const type = readOnly ? "read-only-storage" : "storage";
    return { binding, visibility, buffer: { type, minBindingSize: minBytes } };
  });
  if (uniform !== null) entries.push({ binding: uniform.binding, visibility, buffer: { type: "uniform" } });
  return { entries };
}

/** A grid of at least `count` workgroups with no axis beyond `limit`; the kernel knows the true count and stops there. */
export function foldWorkgroups(count: number, limit: number): [number, number, number] {
  if (count <= limit) return [count, 1, 1];
  const rows = Math.ceil(count / limit);
  if (rows <= limit) return [Math.ceil(count / rows), rows, 1];
  const layers = Math.ceil(rows / limit);
  return [limit, Math.ceil(rows / layers), layers];
}

function fillUniform(
  view: DataView,
  fields: NonNullable<Emitted["uniform"]>["fields"],
  resolved: ResolvedLaunch<WebgpuBuffer>,
): void {
  for (const { name, type, offset } of fields) {
    const axis = ["numWorkgroups.x", "numWorkgroups.y", "numWorkgroups.z"].indexOf(name);
    const value = axis >= 0 ? (resolved.workgroups[axis] as number) : (resolved.scalars[name] as number);
    writeWord(view, offset, type, value);
  }
}

function refused(
  ir: KernelIR,
  emitted: Emitted,
  messages: readonly GPUCompilationMessage[],
  other: string | undefined,
): EvolverError {
  const where = messages.flatMap((message): SourceLocation[] => {
    const location = emitted.lineMap[message.lineNum];
    return location ? [{ ...location, note: message.message.split("\n")[0] as string }] : [];
  });
  const what = messages[0]?.message ?? other ?? "no reason given";
  return new EvolverError("WGSL_REFUSED", `WebGPU refuses kernel "${ir.name}": ${what}`, {
    where: where.length > 0 ? where : [ir.site.location],
    hint: "see the shader with `npx evolver emit --target wgsl`",
  });
}
