/**
 * The part of buffers that all devices share: which device owns one, whether it may still be used, and which ranges may be
 * written and read. Each device keeps its memory in its own way; buffers in JavaScript's memory are here.
 */

import { EvolverError } from "@evolver/base";
import { elementBytes, type ElementType } from "@evolver/kernel";
import { arrayType, isElementType, newArray } from "./arrays.ts";
import type { AnyTypedArray, DeviceBuffer, DeviceId, DeviceLimits, TypedArrayOf } from "./device.ts";
import { invalid, shown } from "./invalid.ts";

/** What a buffer needs to know of the device that made it. */
export interface BufferOwner {
  readonly id: DeviceId;
  readonly forwardProgress: boolean;
  readonly limits: DeviceLimits;
  readonly closed: boolean;
}

/** Throws DEVICE_CLOSED after `close()`. */
export function assertOpen(owner: BufferOwner): void {
  if (!owner.closed) return;
  throw new EvolverError("DEVICE_CLOSED", `the ${owner.id} device is closed`, {
    hint: "open a device with openDevice(), and make its buffers and programs again",
  });
}

/** The part of a device buffer that all devices share: whose it is, and whether it may still be used. */
export abstract class OwnedBuffer<E extends ElementType = ElementType> implements DeviceBuffer<E> {
  readonly owner: BufferOwner;
  readonly element: E;
  readonly length: number;
  #destroyed = false;

  constructor(owner: BufferOwner, element: E, length: number) {
    this.owner = owner;
    this.element = element;
    this.length = length;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** Throws DEVICE_CLOSED or BUFFER_DESTROYED where the buffer may no longer be used. */
  assertUsable(): void {
    assertOpen(this.owner);
    if (!this.#destroyed) return;
    throw new EvolverError("BUFFER_DESTROYED", `the ${this.element} buffer of ${this.length} was destroyed`, {
      hint: "destroy a buffer only after the last run and read that use it",
    });
  }

  /** Throws INVALID_ARGUMENT unless data of this type and length may be written at the offset. */
  protected assertWritable(data: AnyTypedArray, offset: number): void {
    this.assertUsable();
    const expected = arrayType(this.element);
    if (!(data instanceof expected))
      throw invalid(`a buffer of ${this.element} takes a ${expected.name}, not ${shown(data)}`);
    if (!Number.isSafeInteger(offset) || offset < 0 || offset + data.length > this.length)
      throw invalid(
        `${data.length} elements at offset ${offset} do not fit into a buffer of ${this.length}`,
        "write at most length − offset elements",
      );
  }

  /** The number of elements to read; throws INVALID_ARGUMENT where they are not all in the buffer. */
  protected lengthToRead(offset: number, length = this.length - offset): number {
    this.assertUsable();
    const fits = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
    if (fits && offset + length <= this.length) return length;
    throw invalid(
      `${length} elements from ${offset} on are not all in a buffer of ${this.length}`,
      "read at most length − offset elements",
    );
  }

  abstract write(data: TypedArrayOf<E>, offset?: number): Promise<void>;
  abstract read(offset?: number, length?: number): Promise<TypedArrayOf<E>>;

  destroy(): void {
    this.#destroyed = true;
  }
}

/** A buffer in memory that JavaScript sees. The array may lie in a SharedArrayBuffer. */
export class HostBuffer<E extends ElementType = ElementType> extends OwnedBuffer<E> {
  /** The contents themselves, for the device that owns the buffer. Empty once destroyed. */
  array: TypedArrayOf<E>;
  /** Where the host has written, [from, to) each; the whole of a buffer that was made from data. */
  readonly written: [from: number, to: number][];

  constructor(owner: BufferOwner, element: E, array: TypedArrayOf<E>, isWritten = true) {
    super(owner, element, array.length);
    this.array = array;
    this.written = isWritten ? [[0, array.length]] : [];
  }

  get isWholeWritten(): boolean {
    return this.written.some(([from, to]) => from === 0 && to === this.length);
  }

  override async write(data: TypedArrayOf<E>, offset = 0): Promise<void> {
    this.assertWritable(data, offset);
    this.array.set(data, offset);
    if (!this.isWholeWritten) this.written.push([offset, offset + data.length]);
  }

  override async read(offset = 0, length?: number): Promise<TypedArrayOf<E>> {
    const count = this.lengthToRead(offset, length);
    const copy = newArray(this.element, count);
    copy.set(this.array.subarray(offset, offset + count));
    return copy;
  }

  override destroy(): void {
    super.destroy();
    this.array = newArray(this.element, 0);
  }
}

/** Makes a host buffer from a length (zeroed) or from data (copied), after checking both. */
export function createHostBuffer<E extends ElementType>(
  owner: BufferOwner,
  element: E,
  contents: number | TypedArrayOf<E>,
  shared = false,
): HostBuffer<E> {
  const length = checkBufferContents(owner, element, contents);
  const array = newArray(element, length, shared);
  if (typeof contents !== "number") array.set(contents);
  return new HostBuffer(owner, element, array, typeof contents !== "number");
}

/** The length in elements of a buffer to be made; throws DEVICE_CLOSED, INVALID_ARGUMENT or BUFFER_TOO_LARGE. */
export function checkBufferContents(
  owner: BufferOwner,
  element: ElementType,
  contents: number | AnyTypedArray,
): number {
  assertOpen(owner);
  if (!isElementType(element))
    throw invalid(`buffers hold f32, i32, u32, f16 or bf16, not ${shown(element)}`);
  const expected = arrayType(element);
  if (typeof contents !== "number" && !(contents instanceof expected))
    throw invalid(
      `a buffer of ${element} is made from a length or a ${expected.name}, not ${shown(contents)}`,
    );
  const length = typeof contents === "number" ? contents : contents.length;
  if (!Number.isSafeInteger(length) || length < 0)
    throw invalid(`a buffer's length is a whole number of elements from 0 on, not ${length}`);
  const bytes = length * elementBytes(element);
  if (bytes > owner.limits.maxBufferBytes)
    throw new EvolverError(
      "BUFFER_TOO_LARGE",
      `a buffer of ${bytes} bytes is beyond the ${owner.id} device's limit of ${owner.limits.maxBufferBytes}`,
      { hint: "split the data over several buffers" },
    );
  return length;
}
