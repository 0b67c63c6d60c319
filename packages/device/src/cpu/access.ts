/**
 * Loads, stores and atomics. The form of the index decides: one scalar access for all lanes, vector accesses where
 * lanes touch neighbouring elements, and one access a lane otherwise. Lanes that are masked off read address 0, which
 * is always there, and write nothing. Elements of two bytes are f32 in lanes; pairs of them move as one word.
 */

import { elementBytes, isHalf } from "@evolver/kernel";
import type { AtomicNode, HalfType, LoadNode, Memory, StoreNode, Value } from "@evolver/kernel";
import type { Emitter, Mask } from "./emitter.ts";
import { OP } from "./opcodes.ts";

type Pair = readonly [number, number];

/** Addresses already computed in a run of nodes. */
export class AddressCache {
  readonly scalar = new Map<string, number>();
  readonly base = new Map<Memory, number>();
  /** Of the four lanes being written. */
  readonly lanes = new Map<string, number>();
  /** Locals that hold addresses of lanes, whether they do at the moment or not. */
  readonly laneLocals = new Map<string, number>();
}

/** From an index to bytes: the shift, and the size of an element. */
const shiftOf = ({ element }: Memory): number => (elementBytes(element) === 2 ? 1 : 2);
const sizeOf = ({ element }: Memory): number => elementBytes(element);
const halfOf = ({ element }: Memory): HalfType | null => (isHalf(element) ? element : null);

const key = (memory: Memory, root: Value): string => `${memory.space}:${memory.name}:${root.id}`;

/** Pushes the address of element 0; the constant part of the address is returned. */
function pushBase(e: Emitter, memory: Memory): number {
  if (memory.space === "shared") {
    e.f.get(e.sharedBase);
    return e.layout.shared(memory);
  }
  e.f.get(e.bases.get(memory) as number);
  return 0;
}

/** A local with the address for a scalar index (or lane 0's for an affine one), and bytes to add to it. */
function scalarAddress(e: Emitter, cache: AddressCache | null, memory: Memory, index: Value): Pair {
  const { root, offset } = e.partition.resolve(index);
  const id = key(memory, root);
  let local = cache?.scalar.get(id);
  const constant = memory.space === "shared" ? e.layout.shared(memory) : 0;
  if (local === undefined) {
    local = e.local("i32");
    pushBase(e, memory);
    e.pushScalar(root);
    e.f.i32(shiftOf(memory)).op(OP.i32Shl).op(OP.i32Add).set(local);
    cache?.scalar.set(id, local);
  }
  return [local, constant + sizeOf(memory) * offset];
}

/** A local with the addresses of four lanes, 0 for lanes that are masked off, and bytes to add to them. */
function laneAddresses(
  e: Emitter,
  cache: AddressCache | null,
  memory: Memory,
  index: Value,
  chunk: number,
  mask: Mask,
): Pair {
  const { root, offset } = e.partition.resolve(index);
  const constant = memory.space === "shared" ? e.layout.shared(memory) : 0;
  const id = key(memory, root);
  let local = cache?.lanes.get(id);
  if (local === undefined) {
    local = cache?.laneLocals.get(id) ?? e.local("v128");
    cache?.laneLocals.set(id, local);
    let base = cache?.base.get(memory);
    if (base === undefined) {
      base = e.local("v128");
      pushBase(e, memory);
      e.f.op(OP.i32x4Splat).set(base);
    }
    e.pushLanes(root, chunk);
    e.f.i32(shiftOf(memory)).op(OP.i32x4Shl).get(base).op(OP.i32x4Add);
    if (mask !== null) e.f.get(mask[chunk] as number).op(OP.v128And);
    e.f.set(local);
    cache?.lanes.set(id, local);
  }
  return [local, constant + sizeOf(memory) * offset];
}

/** Computes before the lanes of a run what they share; must run where code is not conditional. */
export function prepareAccess(e: Emitter, cache: AddressCache, node: LoadNode | StoreNode, mask: Mask): void {
  const { memory, index } = node;
  const { root } = e.partition.resolve(index);
  const form = e.form(root);
  const width = node.kind === "load" ? node.results.length : node.values.length;
  if (form.kind === "affine" && usesScalarAddress(form.stride, width, mask)) {
    scalarAddress(e, cache, memory, index);
  } else if (!cache.base.has(memory)) {
    const base = e.local("v128");
    pushBase(e, memory);
    e.f.op(OP.i32x4Splat).set(base);
    cache.base.set(memory, base);
  }
}

function usesScalarAddress(stride: number, width: number, mask: Mask): boolean {
  if (mask === null) return stride > 0;
  return stride === 1 && width === 1;
}

/** A load at one address for all lanes: a scalar each, or a vector of it for users that want lanes only. */
export function loadScalar(e: Emitter, node: LoadNode, cache: AddressCache, asSplat: boolean): void {
  const [address, offset] = scalarAddress(e, cache, node.memory, node.index);
  const half = halfOf(node.memory);
  node.results.forEach((result, i) => {
    e.f.get(address);
    if (half !== null) {
      e.f
        .memory(OP.i32Load16U, offset + 2 * i, 1)
        .op(OP.i32x4Splat)
        .call(e.helpers.expand(half));
      if (!asSplat) {
        e.f.lane(OP.f32x4ExtractLane, 0);
        e.setScalar(result);
        return;
      }
      const local = e.local("v128");
      e.f.set(local);
      e.splats.set(result.id, local);
    } else if (asSplat) {
      const local = e.local("v128");
      e.f.memory(OP.v128Load32Splat, offset + 4 * i, 2).set(local);
      e.splats.set(result.id, local);
    } else {
      e.f.memory(result.type === "f32" ? OP.f32Load : OP.i32Load, offset + 4 * i, 2);
      e.setScalar(result);
    }
  });
}

/** A store of scalars at one address: all lanes would write the same. */
export function storeScalar(e: Emitter, node: StoreNode, cache: AddressCache): void {
  const [address, offset] = scalarAddress(e, cache, node.memory, node.index);
  node.values.forEach((value, i) => {
    e.f.get(address);
    if (isHalf(value.type)) {
      e.pushSplat(value);
      e.f.call(e.helpers.compress(value.type)).lane(OP.i32x4ExtractLane, 0);
      e.f.memory(OP.i32Store16, offset + 2 * i, 1);
      return;
    }
    e.pushScalar(value);
    e.f.memory(value.type === "f32" ? OP.f32Store : OP.i32Store, offset + 4 * i, 2);
  });
}

/** How the four lanes of a chunk are addressed one by one. */
class LaneAccess {
  readonly #e: Emitter;
  readonly #push: (lane: number) => number;

  constructor(
    e: Emitter,
    cache: AddressCache | null,
    node: { readonly memory: Memory; readonly index: Value },
    width: number,
    chunk: number,
    mask: Mask,
  ) {
    this.#e = e;
    const { root } = e.partition.resolve(node.index);
    const { kind, stride } = e.form(root);
    if (kind === "affine" && usesScalarAddress(stride, width, mask)) {
      const [address, offset] = scalarAddress(e, cache, node.memory, node.index);
      this.#push = (lane) => {
        e.f.get(address);
        return offset + sizeOf(node.memory) * stride * (4 * chunk + lane);
      };
    } else {
      const [addresses, offset] = laneAddresses(e, cache, node.memory, node.index, chunk, mask);
      this.#push = (lane) => {
        e.f.get(addresses).lane(OP.i32x4ExtractLane, lane);
        return offset;
      };
    }
  }

  /** Pushes a lane's address; gives the constant to add to it. */
  push(lane: number): number {
    return this.#push(lane);
  }

  /** Pushes a vector with the 4-byte element of each lane. */
  gather(): void {
    const { f } = this.#e;
    f.memory(OP.v128Load32Zero, this.#push(0), 2);
    for (let lane = 1; lane < 4; lane++) {
      const held = f.local("v128");
      f.set(held);
      const offset = this.#push(lane);
      f.get(held).memoryLane(OP.v128Load32Lane, offset, 2, lane);
      f.release(held);
    }
  }
}

/** Four lanes of a load, into the locals given, one for each result. */
export function loadLanes(
  e: Emitter,
  node: LoadNode,
  cache: AddressCache,
  chunk: number,
  mask: Mask,
  into: readonly number[],
): void {
  const half = halfOf(node.memory);
  if (half === null) return loadWords(e, node, node.results.length, cache, chunk, mask, into);
  const { f } = e;
  if (into.length === 1) {
    loadHalves(e, node, cache, chunk, mask);
    f.call(e.helpers.expand(half)).set(into[0] as number);
    return;
  }
  const words = Array.from({ length: into.length / 2 }, () => f.local("v128"));
  loadWords(e, node, words.length, cache, chunk, mask, words);
  words.forEach((word, k) => {
    f.get(word).i32x4(Array<number>(4).fill(0xffff)).op(OP.v128And).call(e.helpers.expand(half));
    f.set(into[2 * k] as number);
    f.get(word).i32(16).op(OP.i32x4ShrU).call(e.helpers.expand(half));
    f.set(into[2 * k + 1] as number);
    f.release(word);
  });
}

/** Pushes four lanes of a load of single two-byte elements, in the low halves. */
function loadHalves(e: Emitter, node: LoadNode, cache: AddressCache, chunk: number, mask: Mask): void {
  const { f } = e;
  const { memory, index } = node;
  const form = e.form(e.partition.resolve(index).root);
  if (form.kind === "affine" && form.stride === 1) {
    const [address, offset] = scalarAddress(e, cache, memory, index);
    f.get(address);
    if (mask !== null)
      f.i32(0)
        .get(mask[chunk] as number)
        .op(OP.v128AnyTrue)
        .op(OP.select);
    f.memory(OP.v128Load64Zero, offset + 8 * chunk, 1).op(OP.i32x4ExtendLowI16x8U);
    return;
  }
  const access = new LaneAccess(e, cache, node, 1, chunk, mask);
  const held = f.local("v128");
  f.i32x4([0, 0, 0, 0]).set(held);
  for (let lane = 0; lane < 4; lane++) {
    const offset = access.push(lane);
    f.get(held)
      .memoryLane(OP.v128Load16Lane, offset, 1, 2 * lane)
      .set(held);
  }
  f.get(held);
  f.release(held);
}

/** Four lanes of a load of 1, 2 or 4 words each. */
function loadWords(
  e: Emitter,
  node: LoadNode,
  width: number,
  cache: AddressCache,
  chunk: number,
  mask: Mask,
  into: readonly number[],
): void {
  const { f } = e;
  const { memory, index } = node;
  const { root } = e.partition.resolve(index);
  const form = e.form(root);
  if (width === 1 && form.kind === "affine" && sizeOf(memory) * form.stride === 4) {
    const [address, offset] = scalarAddress(e, cache, memory, index);
    f.get(address);
    if (mask !== null)
      f.i32(0)
        .get(mask[chunk] as number)
        .op(OP.v128AnyTrue)
        .op(OP.select);
    f.memory(OP.v128Load, offset + 16 * chunk, 2).set(into[0] as number);
    return;
  }
  const access = new LaneAccess(e, cache, node, node.results.length, chunk, mask);
  if (width === 1) {
    access.gather();
    f.set(into[0] as number);
    return;
  }
  if (width === 2) {
    const pairs = [0, 2].map((lane) => {
      const pair = f.local("v128");
      f.memory(OP.v128Load64Zero, access.push(lane), 2).set(pair);
      const offset = access.push(lane + 1);
      f.get(pair).memoryLane(OP.v128Load64Lane, offset, 2, 1).set(pair);
      return pair;
    }) as [number, number];
    f.get(pairs[0])
      .get(pairs[1])
      .shuffle([0, 2, 4, 6])
      .set(into[0] as number);
    f.get(pairs[0])
      .get(pairs[1])
      .shuffle([1, 3, 5, 7])
      .set(into[1] as number);
    for (const pair of pairs) f.release(pair);
    return;
  }
  const rows = [0, 1, 2, 3].map((lane) => {
    const row = f.local("v128");
    f.memory(OP.v128Load, access.push(lane), 2).set(row);
    return row;
  });
  transpose(e, rows, into);
  for (const row of rows) f.release(row);
}

/** Turns four vectors of four consecutive elements, one a lane, into four vectors of lanes; or back. */
function transpose(e: Emitter, rows: readonly number[], into: readonly number[]): void {
  const { f } = e;
  const [a, b, c, d] = rows as [number, number, number, number];
  const halves = [
    [a, b, [0, 4, 1, 5]],
    [c, d, [0, 4, 1, 5]],
    [a, b, [2, 6, 3, 7]],
    [c, d, [2, 6, 3, 7]],
  ] as const;
  const [ab0, cd0, ab1, cd1] = halves.map(([x, y, lanes]) => {
    const half = f.local("v128");
    f.get(x).get(y).shuffle(lanes).set(half);
    return half;
  }) as [number, number, number, number];
  f.get(ab0)
    .get(cd0)
    .shuffle([0, 1, 4, 5])
    .set(into[0] as number);
  f.get(ab0)
    .get(cd0)
    .shuffle([2, 3, 6, 7])
    .set(into[1] as number);
  f.get(ab1)
    .get(cd1)
    .shuffle([0, 1, 4, 5])
    .set(into[2] as number);
  f.get(ab1)
    .get(cd1)
    .shuffle([2, 3, 6, 7])
    .set(into[3] as number);
  for (const half of [ab0, cd0, ab1, cd1]) f.release(half);
}

/** Four lanes of a store. */
export function storeLanes(
  e: Emitter,
  node: StoreNode,
  cache: AddressCache,
  chunk: number,
  mask: Mask,
): void {
  const half = halfOf(node.memory);
  const { f } = e;
  if (half === null) {
    const push = node.values.map((value) => () => e.pushLanes(value, chunk));
    return storeWords(e, node, push, cache, chunk, mask);
  }
  const bits = node.values.map((value) => () => {
    e.pushLanes(value, chunk);
    f.call(e.helpers.compress(half));
  });
  if (bits.length === 1) return storeHalves(e, node, bits[0] as () => void, cache, chunk, mask);
  const words = Array.from({ length: bits.length / 2 }, (_, k) => () => {
    bits[2 * k]?.();
    bits[2 * k + 1]?.();
    f.i32(16).op(OP.i32x4Shl).op(OP.v128Or);
  });
  storeWords(e, node, words, cache, chunk, mask);
}

/** Four lanes of a store of single two-byte elements. */
function storeHalves(
  e: Emitter,
  node: StoreNode,
  push: () => void,
  cache: AddressCache,
  chunk: number,
  mask: Mask,
): void {
  const { f } = e;
  const { memory, index } = node;
  const form = e.form(e.partition.resolve(index).root);
  const active = mask === null ? null : (mask[chunk] as number);
  if (form.kind === "affine" && form.stride === 1) {
    const [address, offset] = scalarAddress(e, cache, memory, index);
    f.get(address);
    if (active === null) {
      push();
      push();
      f.op(OP.i16x8NarrowI32x4U).memoryLane(OP.v128Store64Lane, offset + 8 * chunk, 1, 0);
    } else {
      f.i32(offset + 8 * chunk).op(OP.i32Add);
      push();
      f.get(active).call(e.helpers.storeMaskedHalves());
    }
    return;
  }
  const [addresses, offset] = laneAddresses(e, cache, memory, index, chunk, mask);
  f.get(addresses);
  if (offset !== 0) f.i32x4([offset, offset, offset, offset]).op(OP.i32x4Add);
  push();
  if (active === null) f.i32x4([-1, -1, -1, -1]);
  else f.get(active);
  f.call(e.helpers.scatterHalves());
}

/** Four lanes of a store of 1, 2 or 4 words each, which the closures push. */
function storeWords(
  e: Emitter,
  node: StoreNode,
  words: readonly (() => void)[],
  cache: AddressCache,
  chunk: number,
  mask: Mask,
): void {
  const { f } = e;
  const { memory, index } = node;
  const width = words.length;
  const push = words[0] as () => void;
  const { root } = e.partition.resolve(index);
  const form = e.form(root);
  const active = mask === null ? null : (mask[chunk] as number);
  if (width === 1 && form.kind === "affine" && sizeOf(memory) * form.stride === 4) {
    const [address, offset] = scalarAddress(e, cache, memory, index);
    f.get(address);
    if (active === null) {
      push();
      f.memory(OP.v128Store, offset + 16 * chunk, 2);
    } else {
      f.i32(offset + 16 * chunk).op(OP.i32Add);
      push();
      f.get(active).call(e.helpers.storeMasked());
    }
    return;
  }
  if (width === 1 && active !== null) {
    const [addresses, offset] = laneAddresses(e, cache, memory, index, chunk, mask);
    f.get(addresses);
    if (offset !== 0) f.i32x4([offset, offset, offset, offset]).op(OP.i32x4Add);
    push();
    f.get(active).call(e.helpers.scatter());
    return;
  }
  const access = new LaneAccess(e, cache, node, node.values.length, chunk, mask);
  const columns = words.map((pushWord) => {
    const column = f.local("v128");
    pushWord();
    f.set(column);
    return column;
  });
  const rows = interleave(e, columns);
  for (let lane = 0; lane < 4; lane++) {
    if (active !== null) f.get(active).lane(OP.i32x4ExtractLane, lane).if();
    const offset = access.push(lane);
    if (width === 1) f.get(rows[0] as number).memoryLane(OP.v128Store32Lane, offset, 2, lane);
    else if (width === 2)
      f.get(rows[lane >> 1] as number).memoryLane(OP.v128Store64Lane, offset, 2, lane & 1);
    else f.get(rows[lane] as number).memory(OP.v128Store, offset, 2);
    if (active !== null) f.end();
  }
  for (const row of rows) f.release(row);
}

/** From a vector of lanes for each element to vectors with the elements of a lane together; takes over the locals. */
function interleave(e: Emitter, columns: number[]): number[] {
  if (columns.length === 1) return columns;
  const { f } = e;
  const rows = columns.map(() => f.local("v128"));
  if (columns.length === 2) {
    const [a, b] = columns as [number, number];
    f.get(a)
      .get(b)
      .shuffle([0, 4, 1, 5])
      .set(rows[0] as number);
    f.get(a)
      .get(b)
      .shuffle([2, 6, 3, 7])
      .set(rows[1] as number);
  } else {
    transpose(e, columns, rows);
  }
  for (const column of columns) f.release(column);
  return rows;
}

/** An atomic operation of every active lane, lane after lane. */
export function emitAtomic(e: Emitter, node: AtomicNode, mask: Mask): void {
  const { f } = e;
  const helper = e.helpers.atomic(node.op, node.memory.element);
  const result = node.result === null ? null : e.vectorLocals();
  e.scope(() => {
    for (let k = 0; k < e.chunks; k++) {
      const [addresses, offset] = laneAddresses(e, null, node.memory, node.index, k, mask);
      f.get(addresses);
      if (offset !== 0) f.i32x4([offset, offset, offset, offset]).op(OP.i32x4Add);
      if (mask === null) f.i32x4([-1, -1, -1, -1]);
      else f.get(mask[k] as number);
      for (const operand of node.operands) e.pushLanes(operand, k);
      f.call(helper);
      if (result === null) f.op(OP.drop);
      else f.set(result[k] as number);
    }
  });
  if (node.result === null || result === null) return;
  e.lanes.set(node.result.id, result);
  e.spill(node.result);
}

/** A load at one address at workgroup level. */
export function loadWide(e: Emitter, memory: Memory, index: Value, result: Value): void {
  const [address, offset] = scalarAddress(e, null, memory, index);
  const half = halfOf(memory);
  e.f.get(address);
  if (half === null) e.f.memory(result.type === "f32" ? OP.f32Load : OP.i32Load, offset, 2);
  else {
    e.f.memory(OP.i32Load16U, offset, 1).op(OP.i32x4Splat).call(e.helpers.expand(half));
    e.f.lane(OP.f32x4ExtractLane, 0);
  }
  e.setScalar(result);
}
