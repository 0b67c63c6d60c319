/**
 * Vectorised loads. The pattern of the index decides: one load for all lanes where it is uniform, vector loads where
 * lanes read neighbouring elements, and gathers otherwise. Lanes that are masked off read address 0, which is always
 * there. Elements of two bytes become f32 in lanes; pairs of them are read as one word.
 */

import type { HalfType, LoadNode, Memory, UniformLoadNode, Value } from "@evolver/kernel";
import { expand } from "../operations/half.ts";
import { representations, storedHalf } from "../operations/representation.ts";
import { OP } from "../wasm/opcodes.ts";
import { LaneAccess, maskOf, scalarAddress, sizeOf, type AddressCache, type Chunk } from "./address.ts";
import type { Emitter } from "./emitter.ts";
import { transpose } from "./transpose.ts";

/** A load at one address for all lanes: a scalar each, or (`asSplat`) a vector of it for users that want lanes only. */
export function loadUniform(e: Emitter, node: LoadNode, cache: AddressCache, asSplat: boolean): void {
  const [address, offset] = scalarAddress(e, cache, node);
  const half = storedHalf[node.memory.element];
  node.results.forEach((result, i) => {
    e.f.get(address);
    if (half !== null) {
      pushHalf(e, half, offset + 2 * i);
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
      e.f.memory(representations[result.type].load, offset + 4 * i, 2);
      e.setScalar(result);
    }
  });
}

/** The load of a `uniformLoad`, at workgroup level. */
export function loadAtWorkgroupLevel(e: Emitter, node: UniformLoadNode): void {
  const [address, offset] = scalarAddress(e, null, node);
  const half = storedHalf[node.memory.element];
  e.f.get(address);
  if (half === null) e.f.memory(representations[node.result.type].load, offset, 2);
  else {
    pushHalf(e, half, offset);
    e.f.lane(OP.f32x4ExtractLane, 0);
  }
  e.setScalar(node.result);
}

/** Pops an address and pushes the element of two bytes there, as f32 in all lanes. */
function pushHalf(e: Emitter, half: HalfType, offset: number): void {
  e.f.memory(OP.i32Load16U, offset, 1).op(OP.i32x4Splat).call(expand(e.helpers, half));
}

/** Four lanes of a load, into the locals given, one for each result. */
export function loadLanes(chunk: Chunk, node: LoadNode, into: readonly number[]): void {
  const { e } = chunk;
  const { f } = e;
  const half = storedHalf[node.memory.element];
  if (half === null) return loadWords(chunk, node, into);
  if (into.length === 1) {
    loadHalves(chunk, node);
    f.call(expand(e.helpers, half)).set(into[0] as number);
    return;
  }
  const words = Array.from({ length: into.length / 2 }, () => f.local("v128"));
  loadWords(chunk, node, words);
  words.forEach((word, k) => {
    f.get(word).i32x4(Array<number>(4).fill(0xffff)).op(OP.v128And).call(expand(e.helpers, half));
    f.set(into[2 * k] as number);
    f.get(word).i32(16).op(OP.i32x4ShrU).call(expand(e.helpers, half));
    f.set(into[2 * k + 1] as number);
    f.release(word);
  });
}

/** Pushes four lanes of a load of single two-byte elements, in the low halves. */
function loadHalves(chunk: Chunk, node: LoadNode): void {
  const { e } = chunk;
  const { f } = e;
  if (isContiguous(e, node, 2)) {
    pushContiguousAddress(chunk, node, (offset) => f.memory(OP.v128Load64Zero, offset + 8 * chunk.index, 1));
    f.op(OP.i32x4ExtendLowI16x8U);
    return;
  }
  const access = new LaneAccess(chunk, node, 1);
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
function loadWords(chunk: Chunk, node: LoadNode, into: readonly number[]): void {
  const { f } = chunk.e;
  if (into.length === 1 && isContiguous(chunk.e, node, 4)) {
    pushContiguousAddress(chunk, node, (offset) => f.memory(OP.v128Load, offset + 16 * chunk.index, 2));
    f.set(into[0] as number);
    return;
  }
  const access = new LaneAccess(chunk, node, node.results.length);
  if (into.length === 1) {
    access.gather();
    f.set(into[0] as number);
  } else if (into.length === 2) {
    loadPairs(chunk.e, access, into);
  } else {
    const rows = [0, 1, 2, 3].map((lane) => {
      const row = f.local("v128");
      f.memory(OP.v128Load, access.push(lane), 2).set(row);
      return row;
    });
    transpose(f, rows, into);
    for (const row of rows) f.release(row);
  }
}

/** Two words of each of four lanes. */
function loadPairs({ f }: Emitter, access: LaneAccess, into: readonly number[]): void {
  const pairs = [0, 2].map((lane) => {
    const pair = f.local("v128");
    f.memory(OP.v128Load64Zero, access.push(lane), 2).set(pair);
    const offset = access.push(lane + 1);
    f.get(pair).memoryLane(OP.v128Load64Lane, offset, 2, 1).set(pair);
    return pair;
  }) as [number, number];
  [
    [0, 2, 4, 6],
    [1, 3, 5, 7],
  ].forEach((lanes, i) =>
    f
      .get(pairs[0])
      .get(pairs[1])
      .shuffle(lanes)
      .set(into[i] as number),
  );
  for (const pair of pairs) f.release(pair);
}

/** Whether neighbouring lanes access neighbouring things of so many bytes. */
export function isContiguous(
  e: Emitter,
  { memory, index }: { readonly memory: Memory; readonly index: Value },
  bytes: number,
): boolean {
  const { kind, stride } = e.pattern(e.dataflow.resolve(index).root);
  return kind === "affine" && sizeOf(memory) * stride === bytes;
}

/** Reads a vector from lane 0's address: where no lane is active, from address 0. */
function pushContiguousAddress(chunk: Chunk, node: LoadNode, load: (offset: number) => void): void {
  const { f } = chunk.e;
  const [address, offset] = scalarAddress(chunk.e, chunk.cache, node);
  f.get(address);
  const mask = maskOf(chunk);
  if (mask !== null) f.i32(0).get(mask).op(OP.v128AnyTrue).op(OP.select);
  load(offset);
}
