/**
 * The `webgpu` device: any GPU that a browser's `navigator.gpu`, or Dawn in Node, offers. Nothing of Node in here; Node
 * opens it through dawn.node.ts.
 */

import { EvolverError } from "@evolver/base";
import { type ElementType, type Kernel, type KernelIR, type Params } from "@evolver/kernel";
import type { ClockedDevice, DeviceBuffer, DeviceLimits, TypedArrayOf } from "../core/device.ts";
import { buildFor } from "../core/build.ts";
import { assertOpen, checkBufferContents } from "../core/buffer.ts";
import { deviceRows } from "../core/device-rows.ts";
import { WebgpuBuffer } from "./buffer.ts";
import type { WebgpuOptions } from "./options.ts";
import type { WebgpuOwner } from "./owner.ts";
import { WebgpuProgram } from "./program.ts";
import { Timestamps } from "./timestamps.ts";

const OPTIONAL_FEATURES = ["subgroups", "timestamp-query", "shader-f16"] as const;

/** Limits that are raised to what the adapter has. */
const RAISED_LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
] as const;

/** Opens the adapter. @throws EvolverError WEBGPU_UNAVAILABLE with what is missing and what to do */
export async function openWebgpu(options: WebgpuOptions = {}): Promise<WebgpuDevice> {
  const gpu = options.gpu ?? (globalThis.navigator as Navigator | undefined)?.gpu;
  if (!gpu) {
    throw unavailable(
      "this JavaScript engine has no navigator.gpu",
      'use a browser with WebGPU on a secure page (https or localhost); under Node, openDevice("webgpu") of @evolver/device',
    );
  }
  const { powerPreference = "high-performance" } = options;
  const adapter = await gpu.requestAdapter({ powerPreference });
  if (!adapter)
    throw unavailable(
      "WebGPU finds no adapter",
      "check that the GPU's driver (Vulkan on Linux) is installed and that the browser allows it",
    );
  const requiredFeatures = OPTIONAL_FEATURES.filter((feature) => adapter.features.has(feature));
  const requiredLimits = Object.fromEntries(RAISED_LIMITS.map((name) => [name, adapter.limits[name]]));
  try {
    return new WebgpuDevice(
      adapter.info,
      await adapter.requestDevice({ requiredFeatures: requiredFeatures as GPUFeatureName[], requiredLimits }),
    );
  } catch (error) {
    throw unavailable(
      `WebGPU gives no device: ${error instanceof Error ? error.message : String(error)}`,
      "reload, or restart the browser",
      error,
    );
  }
}

function unavailable(what: string, hint: string, cause?: unknown): EvolverError {
  return new EvolverError("WEBGPU_UNAVAILABLE", what, { hint, cause });
}

/** A WebGPU adapter, in Node or in a browser. */
export class WebgpuDevice implements ClockedDevice, WebgpuOwner {
  readonly id = "webgpu";
  readonly name: string;
  readonly subgroupSize: number;
  readonly forwardProgress: boolean = deviceRows.webgpu.forwardProgress;
  readonly limits: DeviceLimits;
  readonly gpu: GPUDevice;
  readonly hasSubgroups: boolean;
  readonly #timestamps: Timestamps | null;
  readonly #buffers = new Set<WebgpuBuffer>();
  /** What the browser reported outside any call of ours; thrown at the next synchronisation. */
  readonly #uncaptured: string[] = [];
  #pass: GPUComputePassEncoder | null = null;
  #lost: string | null = null;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(info: GPUAdapterInfo, gpu: GPUDevice) {
    this.gpu = gpu;
    this.name =
      [info.vendor, info.architecture, info.description].filter((text) => text !== "").join(" ") ||
      "WebGPU adapter";
    const [low, high] = [info.subgroupMinSize ?? 4, info.subgroupMaxSize ?? 128];
    // Where the width varies from kernel to kernel there is none to build for, and subgroup operations are refused.
    const fixed = gpu.features.has("subgroups") && low === high;
    this.hasSubgroups = fixed;
    this.subgroupSize = fixed ? low : 32;
    const { limits } = gpu;
    this.limits = {
      subgroupSizes: [this.subgroupSize],
      maxInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
      maxSharedBytes: limits.maxComputeWorkgroupStorageSize,
      maxBufferBytes: Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize),
      maxWorkgroups: Math.min(limits.maxComputeWorkgroupsPerDimension ** 3, 2 ** 32 - 1),
    };
    this.#timestamps = gpu.features.has("timestamp-query") ? new Timestamps(gpu) : null;
    void gpu.lost.then((loss) => {
      this.#lost = loss.message || loss.reason;
    });
    gpu.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      this.#uncaptured.push((event as GPUUncapturedErrorEvent).error.message);
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether `time` reads the GPU's own clock; if not, it is the wall clock around the work. */
  get hasClock(): boolean {
    return this.#timestamps !== null;
  }

  assertUsable(): void {
    assertOpen(this);
    if (this.#lost === null) return;
    throw new EvolverError("DEVICE_LOST", `the webgpu device was lost: ${this.#lost}`, {
      hint: 'open it again with openDevice("webgpu"); buffers and programs of the lost one are gone. A kernel that runs for seconds is cut off by the driver: launch less at a time',
    });
  }

  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): DeviceBuffer<E> {
    checkBufferContents(this, element, contents);
    this.assertUsable();
    const buffer = new WebgpuBuffer(this, element, contents);
    this.#buffers.add(buffer);
    return buffer;
  }

  async compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<WebgpuProgram<P>> {
    const ir = buildFor(kernel, this, this.subgroupSize);
    this.assertUsable();
    return WebgpuProgram.create<P>(this, ir);
  }

  /** Records a dispatch: into the pass being timed, or into a submission of its own. */
  dispatch(
    pipeline: GPUComputePipeline,
    group: GPUBindGroup,
    counts: readonly [number, number, number],
  ): void {
    this.assertUsable();
    if (this.#pass !== null) return record(this.#pass, pipeline, group, counts);
    const encoder = this.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    record(pass, pipeline, group, counts);
    pass.end();
    this.gpu.queue.submit([encoder.finish()]);
  }

  /** Runs actions one after another, in the order of the calls: there is one clock, and one pass being timed. */
  exclusive<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async time(enqueue: () => void): Promise<number> {
    this.assertUsable();
    return this.exclusive(() => this.timeNow(enqueue));
  }

  /** As `time`, for an action that is exclusive already. Everything is recorded before the first wait. */
  async timeNow(enqueue: () => void): Promise<number> {
    this.assertUsable();
    const encoder = this.gpu.createCommandEncoder();
    this.#pass = encoder.beginComputePass(
      this.#timestamps === null ? {} : { timestampWrites: this.#timestamps.writes },
    );
    try {
      enqueue();
    } finally {
      this.#pass.end();
      this.#pass = null;
    }
    this.#timestamps?.resolve(encoder);
    const commands = encoder.finish();
    const start = performance.now();
    this.gpu.queue.submit([commands]);
    await this.synchronize();
    return this.#timestamps === null ? performance.now() - start : this.#timestamps.read();
  }

  async synchronize(): Promise<void> {
    await this.gpu.queue.onSubmittedWorkDone();
    this.assertUsable();
    const [first] = this.#uncaptured.splice(0);
    if (first !== undefined)
      throw new EvolverError("WEBGPU_ERROR", `WebGPU refuses what was enqueued: ${first}`);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.clear();
    this.#timestamps?.destroy();
    this.gpu.destroy();
  }
}

function record(
  pass: GPUComputePassEncoder,
  pipeline: GPUComputePipeline,
  group: GPUBindGroup,
  [x, y, z]: readonly [number, number, number],
): void {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(x, y, z);
}
