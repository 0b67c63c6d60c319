/**
 * Vectorised stores. The pattern of the index decides: one store for all lanes where everything is uniform, vector
 * stores where lanes write neighbouring elements, and scatters otherwise. Lanes that are masked off write nothing. f32
 * lanes become elements of two bytes where the memory has such; pairs of them are written as one word.
 */

import { isHalf } from "@evolver/kernel";
import type { StoreNode } from "@evolver/kernel";
import { compress } from "../operations/half.ts";
import { representations, storedHalf } from "../operations/representation.ts";
import { OP } from "../wasm/opcodes.ts";
import {
  LaneAccess,
  maskOf,
  pushLaneAddresses,
  scalarAddress,
  type AddressCache,
  type Chunk,
} from "./address.ts";
import type { Emitter } from "./emitter.ts";
import { isContiguous } from "./loads.ts";
import { scatter, scatterHalves, storeMasked, storeMaskedHalves } from "./masked-stores.ts";
import { interleave } from "./transpose.ts";

/** Pushes four lanes of what is stored. */
type PushLanes = () => void;

/** A store of scalars at one address: all lanes would write the same. */
export function storeUniform(e: Emitter, node: StoreNode, cache: AddressCache): void {
  const [address, offset] = scalarAddress(e, cache, node);
  node.values.forEach((value, i) => {
    e.f.get(address);
    if (isHalf(value.type)) {
      e.pushSplat(value);
      e.f.call(compress(e.helpers, value.type)).lane(OP.i32x4ExtractLane, 0);
      e.f.memory(OP.i32Store16, offset + 2 * i, 1);
      return;
    }
    e.pushScalar(value);
    e.f.memory(representations[value.type].store, offset + 4 * i, 2);
  });
}

/** Four lanes of a store. */
export function storeLanes(chunk: Chunk, node: StoreNode): void {
  const { e } = chunk;
  const half = storedHalf[node.memory.element];
  if (half === null)
    return storeWords(
      chunk,
      node,
      node.values.map((value) => () => e.pushLanes(value, chunk.index)),
    );
  const bits = node.values.map((value) => () => {
    e.pushLanes(value, chunk.index);
    e.f.call(compress(e.helpers, half));
  });
  if (bits.length === 1) return storeHalves(chunk, node, bits[0] as PushLanes);
  const words = Array.from({ length: bits.length / 2 }, (_, k) => () => {
    bits[2 * k]?.();
    bits[2 * k + 1]?.();
    e.f.i32(16).op(OP.i32x4Shl).op(OP.v128Or);
  });
  storeWords(chunk, node, words);
}

/** Four lanes of a store of single two-byte elements, which are pushed in the low halves. */
function storeHalves(chunk: Chunk, node: StoreNode, push: PushLanes): void {
  const { e } = chunk;
  const { f } = e;
  const active = maskOf(chunk);
  if (isContiguous(e, node, 2)) {
    const [address, offset] = scalarAddress(e, chunk.cache, node);
    f.get(address);
    if (active === null) {
      push();
      push();
      f.op(OP.i16x8NarrowI32x4U).memoryLane(OP.v128Store64Lane, offset + 8 * chunk.index, 1, 0);
    } else {
      f.i32(offset + 8 * chunk.index).op(OP.i32Add);
      push();
      f.get(active).call(storeMaskedHalves(e.helpers));
    }
    return;
  }
  pushLaneAddresses(chunk, node);
  push();
  if (active === null) f.i32x4([-1, -1, -1, -1]);
  else f.get(active);
  f.call(scatterHalves(e.helpers));
}

/** Four lanes of a store of 1, 2 or 4 words each. */
function storeWords(chunk: Chunk, node: StoreNode, words: readonly PushLanes[]): void {
  const { e } = chunk;
  const { f } = e;
  const push = words[0] as PushLanes;
  const active = maskOf(chunk);
  if (words.length === 1 && isContiguous(e, node, 4)) {
    const [address, offset] = scalarAddress(e, chunk.cache, node);
    f.get(address);
    if (active === null) {
      push();
      f.memory(OP.v128Store, offset + 16 * chunk.index, 2);
    } else {
      f.i32(offset + 16 * chunk.index).op(OP.i32Add);
      push();
      f.get(active).call(storeMasked(e.helpers));
    }
  } else if (words.length === 1 && active !== null) {
    pushLaneAddresses(chunk, node);
    push();
    f.get(active).call(scatter(e.helpers));
  } else {
    storeRows(chunk, node, words);
  }
}

/** Stores the words of one lane after those of another. */
function storeRows(chunk: Chunk, node: StoreNode, words: readonly PushLanes[]): void {
  const { f } = chunk.e;
  const active = maskOf(chunk);
  const access = new LaneAccess(chunk, node, node.values.length);
  const columns = words.map((push) => {
    const column = f.local("v128");
    push();
    f.set(column);
    return column;
  });
  const rows = interleave(f, columns);
  for (let lane = 0; lane < 4; lane++) {
    if (active !== null) f.get(active).lane(OP.i32x4ExtractLane, lane).if();
    const offset = access.push(lane);
    if (words.length === 1) f.get(rows[0] as number).memoryLane(OP.v128Store32Lane, offset, 2, lane);
    else if (words.length === 2)
      f.get(rows[lane >> 1] as number).memoryLane(OP.v128Store64Lane, offset, 2, lane & 1);
    else f.get(rows[lane] as number).memory(OP.v128Store, offset, 2);
    if (active !== null) f.end();
  }
  for (const row of rows) f.release(row);
}
