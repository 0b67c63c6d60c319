/** Asynchronous copies from buffers to shared memory, in groups of the invocation's own. CUDA: cp.async. */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import { elementBytes, type ElementType, type GlobalMemory } from "../ir/types.ts";
import { MutableBuffer, MutableView, SharedArray } from "./memory.ts";
import type { Recorder } from "./recorder.ts";
import { lift, type Bool, type Index } from "./scalar.ts";

/** What an asynchronous copy moves, from where to where. */
export interface CopyOptions<E extends ElementType> {
  readonly to: SharedArray<E>;
  /** Where the first element goes; its offset is a multiple of the width. */
  readonly at: readonly Index[];
  /** A buffer that can be read, or a view of one. */
  readonly from: Pick<MutableBuffer<E>, "get"> | Pick<MutableView<E>, "get">;
  /** Where the first element comes from; its offset is a multiple of the width. */
  readonly index: readonly Index[];
  /** Consecutive elements; the copy has 4, 8 or 16 bytes, so two-byte elements go by 2 or 4. */
  readonly width: 1 | 2 | 4;
  /** Where false, zeros are written and nothing is read. */
  readonly active?: Bool;
}

/** What the simulator checks of a group of copies. */
export interface CommitOptions {
  /**
   * Bytes that a group copies, summed over all invocations of the workgroup, zeros included; empty groups are exempt. The
   * simulator reports a group that copied another number of bytes.
   */
  readonly bytes?: number;
}

/** `gpu.copies`: asynchronous copies from buffers to shared memory, in groups. CUDA: cp.async. */
export class Copies {
  readonly #recorder: Recorder;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /**
   * Starts a copy. It is complete only when the invocation has awaited its group. Until then no invocation may access the
   * elements that it writes. Other invocations see them after a barrier that follows the await, or after a phase that the
   * copying invocation arrived at.
   */
  start<E extends ElementType>({ to, at, from, index, width, active }: CopyOptions<E>): void {
    const site = captureSite();
    const recorder = this.#recorder;
    if (!(to instanceof SharedArray))
      throw mismatch("a copy goes to an array in shared memory", site, "make it with gpu.shared(...)");
    if (!(from instanceof MutableBuffer) && !(from instanceof MutableView))
      throw mismatch("a copy comes from a buffer", site, "give a parameter buffer(...) or a view of one");
    const target = to.resolve(at, site);
    const source = (from as MutableBuffer<E>).resolve(index, site);
    const memory = source.memory as GlobalMemory;
    if (memory.access === "write")
      throw new EvolverError("ACCESS_DENIED", `buffer "${memory.name}" is declared "write"`, {
        where: [site.location],
        hint: `declare it buffer(${memory.element}) to copy from it`,
      });
    if (memory.element !== target.memory.element)
      throw mismatch(
        `"${memory.name}" holds ${memory.element} and "${target.memory.name}" ${target.memory.element}`,
        site,
        "a copy does not convert: give both sides one element type, or load, convert and store",
      );
    const bytes = width * elementBytes(memory.element);
    if (![1, 2, 4].includes(width) || bytes < 4)
      throw new EvolverError("INVALID_VECTOR", `a copy cannot move ${width} ${memory.element} at once`, {
        where: [site.location],
        hint: "a copy moves 4, 8 or 16 bytes: 1, 2 or 4 elements of f32, i32 and u32, 2 or 4 of f16 and bf16",
      });
    const condition = active === undefined ? null : recorder.use(lift(recorder, active, "bool"), site);
    if (condition !== null && condition.type !== "bool")
      throw mismatch(`active is a bool, not ${condition.type}`, site, "compare it: x.ne(0)");
    const limits = [
      ...(to.limits(at, width, site).limits ?? []),
      // What is not read may lie outside.
      ...(condition === null ? ((from as MutableBuffer<E>).limits(index, width, site).limits ?? []) : []),
    ];
    recorder.emit(
      {
        kind: "asyncCopy",
        from: memory,
        fromIndex: source.index,
        to: target.memory,
        toIndex: target.index,
        width,
        active: condition,
        ...(limits.length === 0 ? {} : { limits }),
      },
      site,
    );
  }

  /** Ends a group of the copies started since the last one; it may be empty. CUDA: cp.async.commit_group. */
  commit({ bytes }: CommitOptions = {}): void {
    const site = captureSite();
    if (bytes !== undefined) wantCount("bytes", bytes, 1, site);
    this.#recorder.emit({ kind: "commitCopies", bytes: bytes ?? null }, site);
  }

  /**
   * Waits until the invocation's own copies are complete, except those of its `newer` youngest groups. With `newer` 0 it
   * also waits for copies that no commit has put into a group yet. To see copies of other invocations, use a barrier after
   * it. CUDA: cp.async.wait_group.
   */
  await(newer = 0): void {
    const site = captureSite();
    wantCount("newer", newer, 0, site);
    this.#recorder.emit({ kind: "awaitCopies", newer }, site);
  }
}

/** Refuses what is not a whole number known while building. */
export function wantCount(what: string, value: unknown, min: number, site: Site): void {
  if (Number.isSafeInteger(value) && (value as number) >= min) return;
  throw new EvolverError("INVALID_LITERAL", `${what} is ${String(value)}`, {
    where: [site.location],
    hint: `give a whole number from ${min}, known when the kernel is built`,
  });
}

const mismatch = (what: string, site: Site, hint: string): EvolverError =>
  new EvolverError("TYPE_MISMATCH", what, { where: [site.location], hint });
