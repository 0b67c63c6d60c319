/**
 * Loads, stores and atomics. The form of the index decides: one scalar access for all lanes, vector accesses where
 * lanes touch neighbouring elements, and one access a lane otherwise. Lanes that are masked off read address 0, which
 * is always there, and write nothing. Elements of two bytes are f32 in lanes; pairs of them move as one word.
 */

import { isHalf } from "@evolver/kernel";
import type { AtomicNode, HalfType, LoadNode, Memory, StoreNode, Value } from "@evolver/kernel";
import { LaneAccess, laneAddresses, scalarAddress, sizeOf, type AddressCache } from "./address.ts";
import type { Emitter, Mask } from "./emitter.ts";
import { interleave, transpose } from "./interleave.ts";
import { OP } from "./opcodes.ts";

const halfOf = ({ element }: Memory): HalfType | null => (isHalf(element) ? element : null);

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
