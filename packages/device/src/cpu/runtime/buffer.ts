/** A buffer in the memory that all threads of the cpu device share. */

import { elementBytes } from "@evolver/kernel";
import type { ElementType } from "@evolver/kernel";
import type { TypedArrayOf } from "../../core/device.ts";
import { arrayType } from "../../core/arrays.ts";
import { HostBuffer, type BufferOwner } from "../../core/buffer.ts";
import type { DeviceMemory } from "./memory.ts";

export class CpuBuffer<E extends ElementType = ElementType> extends HostBuffer<E> {
  /** In bytes, in the device's memory. */
  readonly address: number;
  readonly #memory: DeviceMemory;

  constructor(owner: BufferOwner, memory: DeviceMemory, element: E, length: number) {
    const address = memory.allocate(length * elementBytes(element));
    // Growing a shared memory leaves earlier views valid.
    const array = new (arrayType(element))(memory.memory.buffer, address, length);
    super(owner, element, array as TypedArrayOf<E>);
    this.address = address;
    this.#memory = memory;
  }

  override destroy(): void {
    if (!this.destroyed) this.#memory.free(this.address);
    super.destroy();
  }
}
