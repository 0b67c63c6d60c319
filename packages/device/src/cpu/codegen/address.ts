/**
 * Where elements lie: the address that all lanes share, those of four lanes, and how the lanes of a chunk are addressed
 * one by one. Addresses computed once are kept for the straight-line sequence around.
 */

import { elementBytes } from "@evolver/kernel";
import type { LoadNode, Memory, StoreNode, Value } from "@evolver/kernel";
import type { LanePattern } from "../lane-pattern.ts";
import { OP } from "../wasm/opcodes.ts";
import type { Emitter, Mask } from "./emitter.ts";

/** Addresses already computed in a sequence of nodes. */
export class AddressCache {
  readonly scalar = new Map<string, number>();
  readonly base = new Map<Memory, number>();
  /** Of the four lanes being written. */
  readonly lanes = new Map<string, number>();
  /** Locals that hold addresses of lanes, whether they do at the moment or not. */
  readonly laneLocals = new Map<string, number>();
}

/** Four lanes of a subgroup that code is written for. */
export interface Chunk {
  readonly e: Emitter;
  /** They are lanes 4·index to 4·index + 3. */
  readonly index: number;
  readonly mask: Mask;
  /** Null where addresses are not kept. */
  readonly cache: AddressCache | null;
}

/** The mask of a chunk's lanes; null where all are active. */
export const maskOf = ({ mask, index }: Chunk): number | null =>
  mask === null ? null : (mask[index] as number);

/** A local with an address, or with those of four lanes, and bytes to add to it. */
type Address = readonly [local: number, offset: number];

/** What a load or store accesses. */
interface Accessed {
  readonly memory: Memory;
  readonly index: Value;
}

export const sizeOf = ({ element }: Memory): number => elementBytes(element);
/** From an index to bytes: by how many bits it is shifted. */
const shiftOf = (memory: Memory): number => Math.log2(sizeOf(memory));

/** Tells addresses apart that differ by more than a constant. */
export const addressKey = (memory: Memory, root: Value): string =>
  `${memory.space}:${memory.name}:${root.id}`;

/** Pushes the address of element 0, but for the constant part of it. */
function pushBase(e: Emitter, memory: Memory): void {
  e.f.get(memory.space === "shared" ? e.sharedBase : (e.bases.get(memory) as number));
}

const constantPart = (e: Emitter, memory: Memory): number =>
  memory.space === "shared" ? e.layout.shared(memory) : 0;

/** The address for a uniform index, or lane 0's for an affine one. */
export function scalarAddress(e: Emitter, cache: AddressCache | null, { memory, index }: Accessed): Address {
  const { root, offset } = e.dataflow.resolve(index);
  const key = addressKey(memory, root);
  let local = e.loopAddresses.get(key) ?? cache?.scalar.get(key);
  if (local === undefined) {
    local = e.local("i32");
    pushBase(e, memory);
    e.pushScalar(root);
    e.f.i32(shiftOf(memory)).op(OP.i32Shl).op(OP.i32Add).set(local);
    cache?.scalar.set(key, local);
  }
  return [local, constantPart(e, memory) + sizeOf(memory) * offset];
}

/** The addresses of four lanes, 0 for lanes that are masked off. */
function laneAddresses(chunk: Chunk, { memory, index }: Accessed): Address {
  const { e, cache } = chunk;
  const { root, offset } = e.dataflow.resolve(index);
  const key = addressKey(memory, root);
  let local = cache?.lanes.get(key);
  if (local === undefined) {
    local = cache?.laneLocals.get(key) ?? e.local("v128");
    cache?.laneLocals.set(key, local);
    const base = cache?.base.get(memory) ?? splatBase(e, memory);
    e.pushLanes(root, chunk.index);
    e.f.i32(shiftOf(memory)).op(OP.i32x4Shl).get(base).op(OP.i32x4Add);
    const mask = maskOf(chunk);
    if (mask !== null) e.f.get(mask).op(OP.v128And);
    e.f.set(local);
    cache?.lanes.set(key, local);
  }
  return [local, constantPart(e, memory) + sizeOf(memory) * offset];
}

/** A vector local with the address of element 0 in all lanes. */
function splatBase(e: Emitter, memory: Memory): number {
  const base = e.local("v128");
  pushBase(e, memory);
  e.f.op(OP.i32x4Splat).set(base);
  return base;
}

/** Pushes the addresses of four lanes with everything added. */
export function pushLaneAddresses(chunk: Chunk, accessed: Accessed): void {
  const [addresses, offset] = laneAddresses(chunk, accessed);
  chunk.e.f.get(addresses);
  if (offset !== 0) chunk.e.f.i32x4([offset, offset, offset, offset]).op(OP.i32x4Add);
}

/** Computes ahead what the chunks of a sequence share; must run where code is not conditional. */
export function prepareAccess(e: Emitter, cache: AddressCache, node: LoadNode | StoreNode, mask: Mask): void {
  const { memory, index } = node;
  const pattern = e.pattern(e.dataflow.resolve(index).root);
  const width = node.kind === "load" ? node.results.length : node.values.length;
  if (pattern.kind === "affine" && usesScalarAddress(pattern, width, mask)) scalarAddress(e, cache, node);
  else if (!cache.base.has(memory)) cache.base.set(memory, splatBase(e, memory));
}

/** Whether lanes with indices of a pattern are reached from one address: that of all, or that of lane 0. */
export function usesScalarAddress({ kind, stride }: LanePattern, width: number, mask: Mask): boolean {
  if (kind !== "affine") return kind === "uniform";
  if (mask === null) return stride > 0;
  return stride === 1 && width === 1;
}

/** How the four lanes of a chunk are addressed one by one. */
export class LaneAccess {
  readonly #e: Emitter;
  readonly #push: (lane: number) => number;

  /** @param width elements that each lane accesses */
  constructor(chunk: Chunk, accessed: Accessed, width: number) {
    const { e, cache, mask, index } = chunk;
    this.#e = e;
    const pattern = e.pattern(e.dataflow.resolve(accessed.index).root);
    const { kind, stride } = pattern;
    if (kind === "affine" && usesScalarAddress(pattern, width, mask)) {
      const [address, offset] = scalarAddress(e, cache, accessed);
      this.#push = (lane) => {
        e.f.get(address);
        return offset + sizeOf(accessed.memory) * stride * (4 * index + lane);
      };
    } else {
      const [addresses, offset] = laneAddresses(chunk, accessed);
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
