/**
 * Subgroup operations. Reductions and scans combine whole vectors first and lanes of one vector last, in the order
 * that the language prescribes. What reads another lane by a run-time index goes through memory of the context area.
 */

import { scalarTypes } from "@evolver/kernel";
import type { OpName, ScalarType, SubgroupNode, SubgroupOp, Value } from "@evolver/kernel";
import { emitSelect } from "../operations/code.ts";
import { emitLanes } from "../operations/emit.ts";
import { laneBits, representations } from "../operations/representation.ts";
import { rowOf } from "../lookup.ts";
import { OP } from "../wasm/opcodes.ts";
import type { Emitter, Mask } from "./emitter.ts";

type SubgroupCode = (e: Emitter, node: SubgroupNode, mask: Mask) => void;

const valueOf = ({ operands }: SubgroupNode): Value => operands[0] as Value;
const resultOf = ({ results }: SubgroupNode): Value => results[0] as Value;

/** How lanes are combined: two at a time by `op`, with lanes that are off holding what changes nothing. */
interface Reduction {
  readonly op: OpName;
  identity(type: ScalarType): number;
}

const reductions = Object.freeze({
  sum: { op: "add", identity: () => 0 },
  min: { op: "min", identity: (type) => scalarTypes[type].greatest },
  max: { op: "max", identity: (type) => scalarTypes[type].least },
} satisfies Record<string, Reduction>);

const reduced =
  (reduction: Reduction): SubgroupCode =>
  (e, node, mask) => {
    const value = valueOf(node);
    reduce(e, reduction, value, mask);
    e.f.lane(representations[value.type].extractLane, 0);
    e.setScalar(resultOf(node));
  };

const votes =
  (kind: "any" | "all"): SubgroupCode =>
  (e, node, mask) => {
    vote(e, kind, valueOf(node), mask);
    e.setScalar(resultOf(node));
  };

const ballot: SubgroupCode = (e, node, mask) =>
  node.results.forEach((word, i) => {
    pushBallotWord(e, i, (k) => pushActive(e, valueOf(node), k, mask));
    e.setScalar(word);
  });

const broadcastFirst: SubgroupCode = (e, node, mask) => {
  pushFirstActive(e, mask);
  loadLane(e, valueOf(node));
  e.setScalar(resultOf(node));
};

const scanned =
  (kind: "inclusive" | "exclusive"): SubgroupCode =>
  (e, node, mask) => {
    scan(e, node, kind, mask);
    e.spill(resultOf(node));
  };

/** From one lane for all where the selector is uniform, and from a lane of its own for each otherwise. */
const byLane: SubgroupCode = (e, node, mask) => {
  const selector = node.operands[1] as Value;
  if (e.pattern(selector).kind !== "uniform") return shuffled(pushSelector)(e, node, mask);
  fromOneLane(e, valueOf(node), selector);
  e.setScalar(resultOf(node));
};

const shuffled =
  (pushSource: PushSource): SubgroupCode =>
  (e, node, mask) => {
    fromLanes(e, node, pushSource, mask);
    e.spill(resultOf(node));
  };

const shuffledXor: SubgroupCode = (e, node, mask) => {
  const { constant } = e.pattern(node.operands[1] as Value);
  if (constant === undefined || constant >= e.width || mask !== null) return shuffled(pushXor)(e, node, mask);
  permuted(e, node, constant);
  e.spill(resultOf(node));
};

const subgroupOperations: Readonly<Record<SubgroupOp, SubgroupCode>> = Object.freeze({
  sum: reduced(reductions.sum),
  min: reduced(reductions.min),
  max: reduced(reductions.max),
  any: votes("any"),
  all: votes("all"),
  ballot,
  broadcastFirst,
  broadcast: byLane,
  shuffle: byLane,
  shuffleXor: shuffledXor,
  shuffleUp: shuffled(pushDistance(OP.i32x4Sub)),
  shuffleDown: shuffled(pushDistance(OP.i32x4Add)),
  inclusiveSum: scanned("inclusive"),
  exclusiveSum: scanned("exclusive"),
});

export function emitSubgroup(e: Emitter, node: SubgroupNode, mask: Mask): void {
  rowOf(subgroupOperations, node.op, "subgroup operation")(e, node, mask);
}

/** Pushes a mask of lanes that are active and hold true. */
function pushActive(e: Emitter, value: Value, chunk: number, mask: Mask): void {
  e.pushLanes(value, chunk);
  if (mask !== null) e.f.get(mask[chunk] as number).op(OP.v128And);
}

/** Vector locals with the value in active lanes and the operation's identity in the others. */
function activeOrIdentity(e: Emitter, reduction: Reduction, value: Value, mask: Mask): number[] {
  const { f } = e;
  const bits = laneBits(value.type, reduction.identity(value.type));
  return Array.from({ length: e.chunks }, (_, k) => {
    const local = e.local("v128");
    e.pushLanes(value, k);
    if (mask !== null) {
      f.i32x4([bits, bits, bits, bits]).get(mask[k] as number);
      emitSelect(f, e.helpers);
    }
    f.set(local);
    return local;
  });
}

/** Pushes a ∘ b for vectors that the closure pushes. */
function combine(e: Emitter, { op }: Reduction, type: ScalarType, push: (i: number) => void): void {
  emitLanes(op, {
    f: e.f,
    helpers: e.helpers,
    operands: {
      types: [type, type],
      lanes: push,
      scalar: push,
      isScalar: () => false,
      constant: () => undefined,
    },
  });
}

/** Pushes a vector whose lane 0 holds the butterfly's result for lane 0. */
function reduce(e: Emitter, reduction: Reduction, value: Value, mask: Mask): void {
  const { f } = e;
  e.scope(() => {
    const parts = activeOrIdentity(e, reduction, value, mask);
    for (let half = e.chunks / 2; half >= 1; half /= 2)
      for (let k = 0; k < half; k++) {
        combine(e, reduction, value.type, (i) => f.get(parts[i === 0 ? k : k + half] as number));
        f.set(parts[k] as number);
      }
    const last = parts[0] as number;
    const crossed = e.local("v128");
    for (const order of [
      [2, 3, 0, 1],
      [1, 0, 3, 2],
    ]) {
      f.get(last).get(last).shuffle(order).set(crossed);
      combine(e, reduction, value.type, (i) => f.get(i === 0 ? last : crossed));
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
  if (e.pattern(value).kind === "uniform") {
    e.pushScalar(value);
  } else {
    const at = e.spilled.get(value.id);
    const { base, offset } =
      at === undefined ? store(e, (k) => e.pushLanes(value, k)) : { base: e.subgroupContext, offset: at };
    f.get(base).get(index).i32(2).op(OP.i32Shl).op(OP.i32Add);
    f.memory(representations[value.type].load, offset, 2);
  }
  f.release(index);
}

function fromOneLane(e: Emitter, value: Value, lane: Value): void {
  const { constant } = e.pattern(lane);
  if (constant === undefined || constant >= e.width) {
    e.pushScalar(lane);
    loadLane(e, value);
    return;
  }
  e.pushLanes(value, constant >> 2);
  e.f.lane(representations[value.type].extractLane, constant & 3);
}

/** Lanes in another order, known at build time: lane l reads lane l xor `mask`. */
function permuted(e: Emitter, node: SubgroupNode, mask: number): void {
  const order = [0, 1, 2, 3].map((i) => i ^ (mask & 3));
  const into = e.vectorLocals();
  into.forEach((local, k) => {
    for (let operand = 0; operand < 2; operand++) e.pushLanes(valueOf(node), k ^ (mask >> 2));
    e.f.shuffle(order).set(local);
  });
  e.lanes.set(resultOf(node).id, into);
}

/** Shuffles with a source lane for each lane; a source that is none gives the lane's own value. */
function fromLanes(e: Emitter, node: SubgroupNode, pushSource: PushSource, mask: Mask): void {
  const [value, selector] = node.operands as [Value, Value];
  const { f } = e;
  const into = e.vectorLocals();
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
      pushSource(e, selector, k);
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
      emitSelect(f, e.helpers);
      f.set(local);
    });
  });
  e.lanes.set(resultOf(node).id, into);
}

/** Pushes the lanes that four lanes read from. */
type PushSource = (e: Emitter, selector: Value, chunk: number) => void;

const ownLanes = (chunk: number): number[] => [0, 1, 2, 3].map((i) => 4 * chunk + i);

function pushSelector(e: Emitter, selector: Value, chunk: number): void {
  e.pushLanes(selector, chunk);
}

function pushXor(e: Emitter, selector: Value, chunk: number): void {
  e.f.i32x4(ownLanes(chunk));
  e.pushLanes(selector, chunk);
  e.f.op(OP.v128Xor);
}

/** Lanes at a distance, which `code` adds or subtracts. */
function pushDistance(code: number): PushSource {
  return (e, selector, chunk) => {
    e.f.i32x4(ownLanes(chunk));
    e.pushLanes(selector, chunk);
    // A large distance must not wrap around.
    e.f.i32x4(Array<number>(4).fill(e.width)).op(OP.i32x4MinU).op(code);
  };
}

/** Sums over the lanes up to each, itself included or not. */
function scan(e: Emitter, node: SubgroupNode, kind: "inclusive" | "exclusive", mask: Mask): void {
  const value = valueOf(node);
  const { f } = e;
  const into = e.vectorLocals();
  e.scope(() => {
    const sums = activeOrIdentity(e, reductions.sum, value, mask);
    const at = (k: number): number => sums[k] as number;
    const shifted = e.local("v128");
    for (let o = 1; o < e.width; o *= 2) {
      // From the last vector down, so that earlier ones still hold the values of before this step.
      for (let k = e.chunks - 1; k >= 0; k--) {
        if (o >= 4) {
          if (k < o / 4) break;
          combine(e, reductions.sum, value.type, (i) => f.get(at(i === 0 ? k - o / 4 : k)));
          f.set(at(k));
          continue;
        }
        if (k > 0) f.get(at(k - 1));
        else f.i32x4([0, 0, 0, 0]);
        f.get(at(k))
          .shuffle([4 - o, 5 - o, 6 - o, 7 - o])
          .set(shifted);
        combine(e, reductions.sum, value.type, (i) => f.get(i === 0 ? shifted : at(k)));
        if (k === 0) {
          f.get(at(k)).i32x4([0, 1, 2, 3].map((lane) => (lane >= o ? -1 : 0)));
          emitSelect(f, e.helpers);
        }
        f.set(at(k));
      }
    }
    into.forEach((local, k) => {
      if (kind === "inclusive") f.get(at(k));
      else {
        if (k > 0) f.get(at(k - 1));
        else f.i32x4([0, 0, 0, 0]);
        f.get(at(k)).shuffle([3, 4, 5, 6]);
      }
      f.set(local);
    });
  });
  e.lanes.set(resultOf(node).id, into);
}
