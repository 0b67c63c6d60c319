/** Global memory on a GPU, through its driver. */

import { elementBytes, type ElementType } from "@evolver/kernel";
import type { AnyTypedArray, TypedArrayOf } from "../../core/device.ts";
import { newArray } from "../../core/arrays.ts";
import { OwnedBuffer, type BufferOwner } from "../../core/buffer.ts";
import { GPU_ERROR, type GpuDriver, type Handle } from "./driver.ts";

export class GpuBuffer<E extends ElementType = ElementType> extends OwnedBuffer<E> {
  readonly #driver: GpuDriver;
  #pointer: Handle;

  constructor(owner: BufferOwner, driver: GpuDriver, element: E, contents: number | TypedArrayOf<E>) {
    const length = typeof contents === "number" ? contents : contents.length;
    super(owner, element, length);
    this.#driver = driver;
    // The driver refuses allocations of nothing; one element stands in, which no kernel may touch.
    const bytes = Math.max(4, Math.ceil((length * elementBytes(element)) / 4) * 4);
    this.#pointer = driver.out64((slot) => driver.call.memAlloc(slot, bytes), `a buffer of ${bytes} bytes`);
    if (typeof contents === "number") {
      if (length > 0) driver.check(driver.call.memsetD32(this.#pointer, 0, bytes / 4), "zeroing a buffer");
    } else this.#upload(contents, 0);
  }

  /** The address on the device. */
  get pointer(): Handle {
    return this.#pointer;
  }

  override async write(data: TypedArrayOf<E>, offset = 0): Promise<void> {
    this.assertWritable(data, offset);
    this.#driver.assertUsable();
    this.#upload(data, offset);
  }

  override async read(offset = 0, length?: number): Promise<TypedArrayOf<E>> {
    const count = this.lengthToRead(offset, length);
    this.#driver.assertUsable();
    const array = newArray(this.element, count);
    if (count > 0) {
      const source = this.#pointer + BigInt(offset * elementBytes(this.element));
      const code = this.#driver.call.memcpyDtoH(array, source, array.byteLength);
      this.#driver.check(code, "reading a buffer");
    }
    return array;
  }

  override destroy(): void {
    if (this.destroyed) return;
    super.destroy();
    // After a sticky error nothing can be freed; the process's end does it.
    if (this.#driver.lost === null) this.#driver.call.memFree(this.#pointer);
    this.#pointer = 0n;
  }

  #upload(data: AnyTypedArray, offset: number): void {
    if (data.length === 0) return;
    const destination = this.#pointer + BigInt(offset * elementBytes(this.element));
    const code = this.#driver.call.memcpyHtoD(destination, data, data.byteLength);
    if (code !== GPU_ERROR.success) this.#driver.check(code, "writing a buffer");
  }
}
