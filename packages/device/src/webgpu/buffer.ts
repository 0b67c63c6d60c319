/** Global memory of a WebGPU device. */

import { ELEMENT_BYTES, EvolverError, type ElementType } from "@evolver/kernel";
import type { TypedArrayOf } from "../device.ts";
import { arrayType, OwnedBuffer, type BufferOwner } from "../launch.ts";

/** Bindings of vec4 arrays need whole vectors; no kernel may touch the rest. */
const GRANULARITY = 16;

export interface WebgpuBufferOwner extends BufferOwner {
  readonly gpu: GPUDevice;
  /** Throws DEVICE_LOST once the device is. */
  assertUsable(): void;
}

export class WebgpuBuffer<E extends ElementType = ElementType> extends OwnedBuffer<E> {
  readonly buffer: GPUBuffer;
  readonly #device: WebgpuBufferOwner;
  /** Reported by the browser a while after the call; awaited before the buffer is first used. */
  readonly #outOfMemory: Promise<GPUError | null>;

  constructor(owner: WebgpuBufferOwner, element: E, contents: number | TypedArrayOf<E>) {
    const length = typeof contents === "number" ? contents : contents.length;
    super(owner, element, length);
    this.#device = owner;
    const bytes = Math.max(GRANULARITY, Math.ceil((length * ELEMENT_BYTES) / GRANULARITY) * GRANULARITY);
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    owner.gpu.pushErrorScope("out-of-memory");
    this.buffer = owner.gpu.createBuffer({ size: bytes, usage });
    this.#outOfMemory = owner.gpu.popErrorScope();
    this.#outOfMemory.catch(() => undefined);
    if (typeof contents !== "number" && length > 0) this.#upload(contents, 0);
  }

  /** Throws OUT_OF_DEVICE_MEMORY if the allocation failed. */
  async assertAllocated(): Promise<void> {
    if ((await this.#outOfMemory) === null) return;
    throw new EvolverError(
      "OUT_OF_DEVICE_MEMORY",
      `the GPU has no room for a buffer of ${this.length * ELEMENT_BYTES} bytes`,
      {
        hint: "free buffers with destroy(), close other programs on the GPU, or use smaller shapes",
      },
    );
  }

  override async write(data: TypedArrayOf<E>, offset = 0): Promise<void> {
    this.assertWritable(data, offset);
    this.#device.assertUsable();
    await this.assertAllocated();
    this.#upload(data, offset);
  }

  override async read(offset = 0, length?: number): Promise<TypedArrayOf<E>> {
    const count = this.lengthToRead(offset, length);
    this.#device.assertUsable();
    await this.assertAllocated();
    const ArrayType = arrayType(this.element);
    if (count === 0) return new ArrayType(0) as TypedArrayOf<E>;
    const { gpu } = this.#device;
    const bytes = count * ELEMENT_BYTES;
    const staging = gpu.createBuffer({
      size: bytes,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(this.buffer, offset * ELEMENT_BYTES, staging, 0, bytes);
    gpu.queue.submit([encoder.finish()]);
    try {
      await staging.mapAsync(GPUMapMode.READ);
      return new ArrayType(staging.getMappedRange().slice(0)) as TypedArrayOf<E>;
    } catch (error) {
      this.#device.assertUsable();
      throw new EvolverError("READ_FAILED", `a buffer of ${bytes} bytes could not be read back`, {
        cause: error,
      });
    } finally {
      staging.destroy();
    }
  }

  override destroy(): void {
    if (this.destroyed) return;
    super.destroy();
    this.buffer.destroy();
  }

  #upload(data: TypedArrayOf<E>, offset: number): void {
    if (data.length === 0) return;
    this.#device.gpu.queue.writeBuffer(
      this.buffer,
      offset * ELEMENT_BYTES,
      data as Float32Array<ArrayBuffer>,
    );
  }
}
