/**
 * Where elements lie: the address that all lanes share, those of four lanes, and how the lanes of a chunk are addressed
 * one by one. Addresses computed once are kept for the run of nodes around.
 */

import { elementBytes } from "@evolver/kernel";
import type { LoadNode, Memory, StoreNode, Value } from "@evolver/kernel";
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
export const sizeOf = ({ element }: Memory): number => elementBytes(element);

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
export function scalarAddress(e: Emitter, cache: AddressCache | null, memory: Memory, index: Value): Pair {
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
export function laneAddresses(
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

/** How the four lanes of a chunk are addressed one by one. */
export class LaneAccess {
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
