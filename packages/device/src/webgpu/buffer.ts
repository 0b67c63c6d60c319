/** Global memory of a WebGPU device. */

import { EvolverError } from "@evolver/base";
import { elementBytes, type ElementType } from "@evolver/kernel";
import type { TypedArrayOf } from "../core/device.ts";
import { arrayType, newArray } from "../core/arrays.ts";
import { OwnedBuffer } from "../core/buffer.ts";
import type { WebgpuBufferOwner } from "./owner.ts";

/** Bindings of vec4 arrays need whole vectors; no kernel may touch the rest. */
const GRANULARITY = 16;
/** Copies start and end with whole words. */
const COPY_GRANULARITY = 4;

export class WebgpuBuffer<E extends ElementType = ElementType> extends OwnedBuffer<E> {
  readonly buffer: GPUBuffer;
  readonly #device: WebgpuBufferOwner;
  /** Reported by the browser a while after the call; awaited before the buffer is first used. */
  readonly #outOfMemory: Promise<GPUError | null>;

  constructor(owner: WebgpuBufferOwner, element: E, contents: number | TypedArrayOf<E>) {
    const length = typeof contents === "number" ? contents : contents.length;
    super(owner, element, length);
    this.#device = owner;
    const bytes = Math.max(
      GRANULARITY,
      Math.ceil((length * elementBytes(element)) / GRANULARITY) * GRANULARITY,
    );
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
      `the GPU has no room for a buffer of ${this.length * elementBytes(this.element)} bytes`,
      {
        hint: "free buffers with destroy(), close other programs on the GPU, or use smaller shapes",
      },
    );
  }

  override async write(data: TypedArrayOf<E>, offset = 0): Promise<void> {
    this.assertWritable(data, offset);
    this.#device.assertUsable();
    await this.assertAllocated();
    const start = offset * elementBytes(this.element);
    const end = start + data.byteLength;
    const isWhole = start % COPY_GRANULARITY === 0 && end % COPY_GRANULARITY === 0;
    if (
      isWhole ||
      data.length === 0 ||
      (start % COPY_GRANULARITY === 0 && offset + data.length === this.length)
    )
      return this.#upload(data, offset);
    // An element beside the data shares a word with it.
    const first = offset - (offset % 2);
    const words = Math.ceil((offset - first + data.length) / 2);
    const contents = await this.read(first, Math.min(this.length - first, 2 * words));
    contents.set(data, offset - first);
    this.#upload(contents, first);
  }

  override async read(offset = 0, length?: number): Promise<TypedArrayOf<E>> {
    const count = this.lengthToRead(offset, length);
    this.#device.assertUsable();
    await this.assertAllocated();
    const ArrayType = arrayType(this.element);
    if (count === 0) return new ArrayType(0) as TypedArrayOf<E>;
    const { gpu } = this.#device;
    const bytes = count * elementBytes(this.element);
    const start = offset * elementBytes(this.element);
    const lead = start % COPY_GRANULARITY;
    const size = Math.ceil((lead + bytes) / COPY_GRANULARITY) * COPY_GRANULARITY;
    const staging = gpu.createBuffer({
      size,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(this.buffer, start - lead, staging, 0, size);
    gpu.queue.submit([encoder.finish()]);
    try {
      await staging.mapAsync(GPUMapMode.READ);
      return new ArrayType(staging.getMappedRange().slice(lead, lead + bytes)) as TypedArrayOf<E>;
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
    let whole = data;
    if (data.byteLength % COPY_GRANULARITY !== 0) {
      whole = newArray(this.element, data.length + 1);
      whole.set(data);
    }
    this.#device.gpu.queue.writeBuffer(
      this.buffer,
      offset * elementBytes(this.element),
      whole as Float32Array<ArrayBuffer>,
    );
  }
}
