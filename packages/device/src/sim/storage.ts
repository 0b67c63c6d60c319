/** The memory behind a buffer or a shared array, with what the checks and counters remember about its elements. */

import type { AnyTypedArray } from "../core/device.ts";
import { Readers } from "./readers.ts";

const NONE = new Int32Array(0);

/**
 * One for each buffer, whatever parameters it is passed for, so that aliases share it. The fields are explained in
 * checks.ts; arrays that a launch does not need stay empty.
 */
export class Storage {
  readonly array: AnyTypedArray;
  /** Marks of another generation mean nothing; see SimDevice. */
  generation = 0;
  /** Marks of counted sectors (global) or words (shared). */
  stamps = NONE;
  ws = NONE;
  wm = NONE;
  rs = NONE;
  r1 = NONE;
  r2 = NONE;
  rx = NONE;
  ro = NONE;
  /** The copy that is under way to each element: who started it and where, as in `wm`, plus 1; 0 for none. */
  flying = NONE;
  /** Of what landed for a phase: the invocation that had started the copy, and which generation of its copies (flights.ts). */
  carriers = NONE;
  /** How many copies are under way from each element, and the last that started: who and where, as in `wm`. */
  leaving = NONE;
  leavingMark = NONE;
  readers = new Readers(0);

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
    if (this.ws.length !== length) {
      this.ws = new Int32Array(length);
      this.wm = new Int32Array(length);
    }
    if (isRead && withClocks && this.readers.heads.length === 0) this.readers = new Readers(length);
    if (!isRead || withClocks || this.rs.length === length) return;
    this.rs = new Int32Array(length);
    this.r1 = new Int32Array(length);
    this.r2 = new Int32Array(length);
    this.rx = new Int32Array(length);
    this.ro = new Int32Array(length);
  }

  prepareCopies(withPhases: boolean): void {
    if (this.flying.length === 0) this.flying = new Int32Array(this.array.length);
    if (withPhases && this.carriers.length === 0) this.carriers = new Int32Array(this.array.length * 2);
  }

  /** No copy is under way any more. */
  land(): void {
    this.flying.fill(0);
    this.leaving.fill(0);
  }

  prepareSources(): void {
    if (this.leaving.length > 0) return;
    this.leaving = new Int32Array(this.array.length);
    this.leavingMark = new Int32Array(this.array.length);
  }

  /** Forgets everything that is marked with times or serial numbers. */
  forget(): void {
    for (const marks of [this.stamps, this.ws, this.rs, this.rx, this.readers.heads]) marks.fill(0);
  }
}

/** A storage as one launch of a program sees it under one name. */
export interface Binding {
  readonly name: string;
  readonly space: "global" | "shared";
  readonly storage: Storage;
  readonly counts: Float64Array;
  /** Whether accesses can be in error: somebody writes, or the memory starts uninitialised. */
  readonly checked: boolean;
  /** Whether anybody reads it other than atomically. */
  readonly isRead: boolean;
}

/** The flat object that generated code binds its variables from. */
export const bound = ({ storage, counts, checked, isRead }: Binding): Record<string, unknown> => ({
  array: storage.array,
  stamps: storage.stamps,
  ws: storage.ws,
  wm: storage.wm,
  rs: storage.rs,
  r1: storage.r1,
  r2: storage.r2,
  rx: storage.rx,
  ro: storage.ro,
  flying: storage.flying,
  carriers: storage.carriers,
  leaving: storage.leaving,
  leavingMark: storage.leavingMark,
  readers: storage.readers,
  heads: storage.readers.heads,
  counts,
  checked,
  isRead,
});
