/**
 * Subgroup operations. Reductions and scans combine whole vectors first and lanes of one vector last, in the order
 * that the language prescribes. What reads another lane by a run-time index goes through memory of the context area.
 */

import { isFloat } from "@evolver/kernel";
import type { ScalarType, SubgroupNode, Value } from "@evolver/kernel";
import { floatBits, type Emitter, type Mask } from "./emitter.ts";
import { OP } from "./opcodes.ts";
import { emitLanes, type Operands } from "./operations.ts";

export function emitSubgroup(e: Emitter, node: SubgroupNode, mask: Mask): void {
  const value = node.operands[0] as Value;
  const result = node.results[0] as Value;
  switch (node.op) {
    case "sum":
    case "min":
    case "max":
      reduce(e, node.op, value, mask);
      e.f.lane(isFloat(value.type) ? OP.f32x4ExtractLane : OP.i32x4ExtractLane, 0);
      e.setScalar(result);
      return;
    case "any":
    case "all":
      vote(e, node.op, value, mask);
      e.setScalar(result);
      return;
    case "ballot":
      node.results.forEach((word, i) => {
        pushBallotWord(e, i, (k) => pushActive(e, value, k, mask));
        e.setScalar(word);
      });
      return;
    case "broadcastFirst":
      pushFirstActive(e, mask);
      loadLane(e, value);
      e.setScalar(result);
      return;
    case "inclusiveSum":
    case "exclusiveSum":
      scan(e, value, result, node.op === "exclusiveSum", mask);
      break;
    case "broadcast":
    case "shuffle":
      if (e.form(node.operands[1] as Value).kind === "scalar") {
        fromOneLane(e, value, node.operands[1] as Value);
        e.setScalar(result);
        return;
      }
      fromLanes(e, node, mask);
      break;
    case "shuffleXor":
    case "shuffleUp":
    case "shuffleDown":
      fromLanes(e, node, mask);
      break;
  }
  e.spill(result);
}

/** Pushes a mask of lanes that are active and hold true. */
function pushActive(e: Emitter, value: Value, chunk: number, mask: Mask): void {
  e.pushLanes(value, chunk);
  if (mask !== null) e.f.get(mask[chunk] as number).op(OP.v128And);
}

function identity(op: "sum" | "min" | "max", type: ScalarType): number {
  if (op === "sum") return 0;
  if (isFloat(type)) return floatBits(op === "min" ? Infinity : -Infinity);
  if (type === "i32") return op === "min" ? 0x7fffffff : -0x80000000;
  return op === "min" ? -1 : 0;
}

/** Vector locals with the value in active lanes and the operation's identity in the others. */
function activeOrIdentity(e: Emitter, op: "sum" | "min" | "max", value: Value, mask: Mask): number[] {
  const { f } = e;
  const bits = identity(op, value.type);
  return Array.from({ length: e.chunks }, (_, k) => {
    const local = e.local("v128");
    e.pushLanes(value, k);
    if (mask !== null) {
      f.i32x4([bits, bits, bits, bits]).get(mask[k] as number);
      e.helpers.select(f);
    }
    f.set(local);
    return local;
  });
}

/** Pushes a ∘ b for vectors that the closures push. */
function combine(e: Emitter, op: "sum" | "min" | "max", type: ScalarType, push: (i: number) => void): void {
  const operands: Operands = {
    lanes: push,
    scalar: push,
    isScalar: () => false,
    constant: () => undefined,
  };
  emitLanes(e.f, e.helpers, op === "sum" ? "add" : op, [type, type], operands);
}

/** Pushes a vector whose lane 0 holds the butterfly's result for lane 0. */
function reduce(e: Emitter, op: "sum" | "min" | "max", value: Value, mask: Mask): void {
  const { f } = e;
  e.scope(() => {
    const parts = activeOrIdentity(e, op, value, mask);
    for (let half = e.chunks / 2; half >= 1; half /= 2)
      for (let k = 0; k < half; k++) {
        combine(e, op, value.type, (i) => f.get(parts[i === 0 ? k : k + half] as number));
        f.set(parts[k] as number);
      }
    const last = parts[0] as number;
    const shuffled = e.local("v128");
    for (const order of [
      [2, 3, 0, 1],
      [1, 0, 3, 2],
    ]) {
      f.get(last).get(last).shuffle(order).set(shuffled);
      combine(e, op, value.type, (i) => f.get(i === 0 ? last : shuffled));
      f.set(last);
    }
    f.get(last);
  });
}

function vote(e: Emitter, op: "any" | "all", value: Value, mask: Mask): void {
  const { f } = e;
  for (let k = 0; k < e.chunks; k++) {
    if (op === "any") pushActive(e, value, k, mask);
    else {
      // Active lanes that hold false.
      if (mask === null) f.i32x4([-1, -1, -1, -1]);
      else f.get(mask[k] as number);
      e.pushLanes(value, k);
      f.op(OP.v128AndNot);
    }
    if (k > 0) f.op(OP.v128Or);
  }
  f.op(OP.v128AnyTrue);
  if (op === "all") f.op(OP.i32Eqz);
}

/** Pushes bits 32·word to 32·word + 31 of the masks that `push` gives for each chunk. */
function pushBallotWord(e: Emitter, word: number, push: (chunk: number) => void): void {
  const { f } = e;
  const last = Math.min(e.chunks, 8 * word + 8);
  for (let k = 8 * word; k < last; k++) {
    push(k);
    f.op(OP.i32x4Bitmask);
    if (k > 8 * word)
      f.i32(4 * (k - 8 * word))
        .op(OP.i32Shl)
        .op(OP.i32Or);
  }
}

/** Pushes the index of the first active lane. */
function pushFirstActive(e: Emitter, mask: Mask): void {
  const { f } = e;
  if (mask === null) {
    f.i32(0);
    return;
  }
  const words = Math.ceil(e.width / 32);
  const word = f.local("i32");
  const first = f.local("i32");
  f.i32(0).set(first);
  for (let i = words - 1; i >= 0; i--) {
    pushBallotWord(e, i, (k) => f.get(mask[k] as number));
    f.set(word);
    f.get(word).op(OP.i32Ctz);
    if (i > 0) f.i32(32 * i).op(OP.i32Add);
    f.get(first).get(word).op(OP.select).set(first);
  }
  f.get(first);
  f.release(word);
  f.release(first);
}

/** Stores the lanes of a value in the exchange area and gives where they lie. */
function store(e: Emitter, push: (chunk: number) => void): { base: number; offset: number } {
  for (let k = 0; k < e.chunks; k++) {
    e.f.get(e.contextBase);
    push(k);
    e.f.memory(OP.v128Store, e.layout.exchange + 16 * k, 4);
  }
  return { base: e.contextBase, offset: e.layout.exchange };
}

/** Pops a lane index and pushes that lane of the value as a scalar. */
function loadLane(e: Emitter, value: Value): void {
  const { f } = e;
  const index = f.local("i32");
  // Out of range is the caller's error; here it must only stay inside the area.
  f.i32(e.width - 1)
    .op(OP.i32And)
    .set(index);
  if (e.form(value).kind === "scalar") {
    e.pushScalar(value);
  } else {
    const at = e.spilled.get(value.id);
    const { base, offset } =
      at === undefined ? store(e, (k) => e.pushLanes(value, k)) : { base: e.subgroupContext, offset: at };
    f.get(base).get(index).i32(2).op(OP.i32Shl).op(OP.i32Add);
    f.memory(isFloat(value.type) ? OP.f32Load : OP.i32Load, offset, 2);
  }
  f.release(index);
}

function fromOneLane(e: Emitter, value: Value, lane: Value): void {
  const { constant } = e.form(lane);
  if (constant === undefined || constant >= e.width) {
    e.pushScalar(lane);
    loadLane(e, value);
    return;
  }
  e.pushLanes(value, constant >> 2);
  e.f.lane(isFloat(value.type) ? OP.f32x4ExtractLane : OP.i32x4ExtractLane, constant & 3);
}

/** Shuffles with a source lane for each lane; a source that is none gives the lane's own value. */
function fromLanes(e: Emitter, node: SubgroupNode, mask: Mask): void {
  const [value, selector] = node.operands as [Value, Value];
  const [result] = node.results as [Value];
  const { f } = e;
  const into = e.vectorLocals();
  const { constant } = e.form(selector);
  if (node.op === "shuffleXor" && constant !== undefined && constant < e.width && mask === null) {
    const order = [0, 1, 2, 3].map((i) => i ^ (constant & 3));
    into.forEach((local, k) => {
      e.pushLanes(value, k ^ (constant >> 2));
      e.pushLanes(value, k ^ (constant >> 2));
      f.shuffle(order).set(local);
    });
    e.lanes.set(result.id, into);
    return;
  }
  e.scope(() => {
    const { base, offset } = store(e, (k) => e.pushLanes(value, k));
    // With lanes off, a second area after the first says which lanes are active.
    const activity = offset + 4 * e.width;
    if (mask !== null)
      mask.forEach((local, k) => {
        f.get(base)
          .get(local)
          .memory(OP.v128Store, activity + 16 * k, 4);
      });
    const source = e.local("v128");
    const valid = e.local("v128");
    into.forEach((local, k) => {
      pushSource(e, node.op, selector, k);
      f.tee(source);
      f.i32x4(Array<number>(4).fill(e.width)).op(OP.i32x4LtU).set(valid);
      f.get(source).get(valid).op(OP.v128And).i32(2).op(OP.i32x4Shl).set(source);
      const gather = (from: number): void => {
        f.i32x4([0, 0, 0, 0]);
        for (let lane = 0; lane < 4; lane++) {
          f.get(source).lane(OP.i32x4ExtractLane, lane).get(base).op(OP.i32Add);
          f.memory(OP.i32Load, from, 2).lane(OP.i32x4ReplaceLane, lane);
        }
      };
      if (mask !== null) {
        f.get(valid);
        gather(activity);
        f.op(OP.v128And).set(valid);
      }
      gather(offset);
      e.pushLanes(value, k);
      f.get(valid);
      e.helpers.select(f);
      f.set(local);
    });
  });
  e.lanes.set(result.id, into);
}

/** Pushes the lanes that four lanes read from. */
function pushSource(e: Emitter, op: SubgroupNode["op"], selector: Value, chunk: number): void {
  const own = [0, 1, 2, 3].map((i) => 4 * chunk + i);
  if (op === "shuffle" || op === "broadcast") {
    e.pushLanes(selector, chunk);
    return;
  }
  e.f.i32x4(own);
  e.pushLanes(selector, chunk);
  // A large distance must not wrap around.
  if (op !== "shuffleXor") e.f.i32x4(Array<number>(4).fill(e.width)).op(OP.i32x4MinU);
  e.f.op(op === "shuffleXor" ? OP.v128Xor : op === "shuffleUp" ? OP.i32x4Sub : OP.i32x4Add);
}

function scan(e: Emitter, value: Value, result: Value, exclusive: boolean, mask: Mask): void {
  const { f } = e;
  const into = e.vectorLocals();
  e.scope(() => {
    const sums = activeOrIdentity(e, "sum", value, mask);
    const at = (k: number): number => sums[k] as number;
    const shifted = e.local("v128");
    for (let o = 1; o < e.width; o *= 2) {
      // From the last vector down, so that earlier ones still hold the values of before this step.
      for (let k = e.chunks - 1; k >= 0; k--) {
        if (o >= 4) {
          if (k < o / 4) break;
          combine(e, "sum", value.type, (i) => f.get(at(i === 0 ? k - o / 4 : k)));
          f.set(at(k));
          continue;
        }
        if (k > 0) f.get(at(k - 1));
        else f.i32x4([0, 0, 0, 0]);
        f.get(at(k))
          .shuffle([4 - o, 5 - o, 6 - o, 7 - o])
          .set(shifted);
        combine(e, "sum", value.type, (i) => f.get(i === 0 ? shifted : at(k)));
        if (k === 0) {
          f.get(at(k)).i32x4([0, 1, 2, 3].map((lane) => (lane >= o ? -1 : 0)));
          e.helpers.select(f);
        }
        f.set(at(k));
      }
    }
    into.forEach((local, k) => {
      if (!exclusive) f.get(at(k));
      else {
        if (k > 0) f.get(at(k - 1));
        else f.i32x4([0, 0, 0, 0]);
        f.get(at(k)).shuffle([3, 4, 5, 6]);
      }
      f.set(local);
    });
  });
  e.lanes.set(result.id, into);
}
