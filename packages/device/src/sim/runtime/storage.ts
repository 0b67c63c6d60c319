/** The memory behind a buffer or a shared array, with what the checks and counters remember about its elements. */

import type { AnyTypedArray } from "../../core/device.ts";
import { Readers } from "./readers.ts";

const NONE = new Int32Array(0);

/** A time before every launch (time.ts), and later than that of elements which nobody ever wrote. */
const BEFORE_ALL = 1;

/**
 * One for each buffer, whatever parameters it is passed for, so that aliases share it. Times and access ids (access-id.ts)
 * are of the last accesses to each element, for the checks (codegen/checks.ts); arrays that a launch does not need stay
 * empty.
 */
export class Storage {
  readonly array: AnyTypedArray;
  /** Marks of another generation mean nothing; see DeviceState. */
  generation = 0;
  /** Marks of counted sectors (global) or words (shared). */
  stamps = NONE;
  /** The last write: when, or 0 where there was none, and by whom. */
  writeTime = NONE;
  writer = NONE;
  /** The last interval in which it was read, and two readers of that interval; -1 where there is no second one. */
  readTime = NONE;
  reader = NONE;
  otherReader = NONE;
  /** The last read by an earlier workgroup. */
  earlierReadTime = NONE;
  earlierReader = NONE;
  /** The copy that is in flight to each element: its access id plus 1; 0 for none. */
  copyInto = NONE;
  /** Of what landed for a phase: the invocation that had started the copy, and which generation of its copies. */
  copyStarter = NONE;
  /** How many copies are in flight from each element, and the last that started. */
  copiesFrom = NONE;
  copyFrom = NONE;
  readers = new Readers(0);
  /** Of shared memory with values that are not determined: their shadows (shadows.ts). */
  shadow = NONE;

  constructor(array: AnyTypedArray) {
    this.array = array;
  }

  prepareSectors(): void {
    const sectors = (this.array.length >> 3) + 1;
    if (this.stamps.length < sectors) this.stamps = new Int32Array(sectors);
  }

  prepareWords(): void {
    if (this.stamps.length < this.array.length) this.stamps = new Int32Array(this.array.length);
  }

  /** Room for the history of every element; that of its readers only where there are any. */
  prepareHistory(isRead: boolean, withClocks: boolean): void {
    const { length } = this.array;
    if (this.writeTime.length !== length) {
      this.writeTime = new Int32Array(length);
      this.writer = new Int32Array(length);
    }
    if (isRead && withClocks && this.readers.heads.length === 0) this.readers = new Readers(length);
    if (!isRead || withClocks || this.readTime.length === length) return;
    this.readTime = new Int32Array(length);
    this.reader = new Int32Array(length);
    this.otherReader = new Int32Array(length);
    this.earlierReadTime = new Int32Array(length);
    this.earlierReader = new Int32Array(length);
  }

  /** Copies go to it. */
  prepareCopiesInto(withPhases: boolean): void {
    if (this.copyInto.length === 0) this.copyInto = new Int32Array(this.array.length);
    if (withPhases && this.copyStarter.length === 0) this.copyStarter = new Int32Array(this.array.length * 2);
  }

  /** Copies come from it. */
  prepareCopiesFrom(): void {
    if (this.copiesFrom.length > 0) return;
    this.copiesFrom = new Int32Array(this.array.length);
    this.copyFrom = new Int32Array(this.array.length);
  }

  /** Indeterminate values go to it. */
  prepareShadow(): void {
    if (this.shadow.length === 0) this.shadow = new Int32Array(this.array.length);
  }

  /** No copy is in flight any more. */
  forgetCopies(): void {
    this.copyInto.fill(0);
    this.copiesFrom.fill(0);
  }

  /** Counts elements as written before all launches. */
  markWritten(from: number, to: number): void {
    for (let i = from; i < to; i++) this.writeTime[i] ||= BEFORE_ALL;
  }

  /** Puts back what markWritten() and launches have changed since; none may have been known then. */
  restoreWrites(before: Int32Array): void {
    if (before.length === this.writeTime.length) this.writeTime.set(before);
    else this.writeTime.fill(0);
  }

  /** Forgets everything that is marked with times or stamps, apart from which elements were ever written. */
  forget(): void {
    const { stamps, writeTime, readTime, earlierReadTime, readers } = this;
    for (let i = 0; i < writeTime.length; i++) if (writeTime[i] !== 0) writeTime[i] = BEFORE_ALL;
    for (const marks of [stamps, readTime, earlierReadTime, readers.heads]) marks.fill(0);
  }
}

/** A storage as one launch of a program sees it under one name. */
export interface Binding {
  readonly name: string;
  readonly space: "global" | "shared";
  readonly storage: Storage;
  readonly counts: Float64Array;
  /** Whether accesses can be in error: it is written, or starts uninitialised. */
  readonly checked: boolean;
  /** Whether anybody reads it other than atomically. */
  readonly isRead: boolean;
  /** Whether it is a buffer in which elements that nobody wrote may not be read. */
  readonly fresh: boolean;
}

/** A binding as generated code has it: one flat record, whose fields it takes out where a function begins. */
export const memoryRecord = ({ storage, counts, checked, isRead, fresh }: Binding) => ({
  data: storage.array,
  length: storage.array.length,
  counts,
  checked,
  isRead,
  fresh,
  stamps: storage.stamps,
  writeTime: storage.writeTime,
  writer: storage.writer,
  readTime: storage.readTime,
  reader: storage.reader,
  otherReader: storage.otherReader,
  earlierReadTime: storage.earlierReadTime,
  earlierReader: storage.earlierReader,
  copyInto: storage.copyInto,
  copyStarter: storage.copyStarter,
  copiesFrom: storage.copiesFrom,
  copyFrom: storage.copyFrom,
  readers: storage.readers,
  readerHeads: storage.readers.heads,
});

export type MemoryRecord = ReturnType<typeof memoryRecord>;
