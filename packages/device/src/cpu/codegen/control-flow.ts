/**
 * Control flow inside a barrier-free region, where a subgroup runs alone. Flow that is uniform becomes WebAssembly's own
 * branches. Where it is not, both sides run one after the other under masks (if-conversion), and a loop runs until its
 * last lane leaves. Code never runs with no lane active: that keeps scalar loads and loop bounds computed there
 * meaningful.
 */

import { assertNever } from "@evolver/base";
import type { ForNode, IfNode, Node, WhileNode } from "@evolver/kernel";
import { loopGuards, visitNodes } from "@evolver/kernel";
import { isSeparate, isStraight, leavesLoop, type StraightNode } from "../analysis/node-classes.ts";
import { representations } from "../operations/representation.ts";
import type { Label } from "../wasm/encoder.ts";
import { OP } from "../wasm/opcodes.ts";
import { emitAtomic } from "./atomics.ts";
import { chunkGroups } from "./chunk-groups.ts";
import type { Emitter, Mask } from "./emitter.ts";
import { emitExponential, isExponential } from "./exponentials.ts";
import { Hazards } from "./hazards.ts";
import { testCounter, testLanes, testRest, type LoopTest } from "./loop-tests.ts";
import { prepareLoop } from "./loop-invariants.ts";
import { emitStraightLine } from "./straight-line.ts";
import { emitSubgroup } from "./subgroup.ts";

/** The innermost loop around what is being written. */
interface Loop {
  /** Lanes part in the middle of it: break and continue change masks instead of branching. */
  readonly masked: boolean;
  readonly exit: Label;
  readonly next: Label;
  /** Lanes that have not left the loop, and those of them that have not gone on to the next iteration. */
  readonly live: readonly number[];
  readonly running: readonly number[];
}

/** Bodies of divergent branches up to this many nodes are written twice, once for when all lanes agree. */
const MAX_DOUBLED = 600;

/** @param mask the lanes that exist; null for all */
export function emitRegionBody(e: Emitter, nodes: readonly Node[], mask: Mask): void {
  emitNodes(e, nodes, mask, null);
}

function emitBlock(e: Emitter, nodes: readonly Node[], mask: Mask, loop: Loop | null): void {
  e.scope(() => emitNodes(e, nodes, mask, loop));
}

function emitNodes(e: Emitter, nodes: readonly Node[], mask: Mask, loop: Loop | null): void {
  let i = 0;
  while (i < nodes.length) {
    const written = emitSequence(e, nodes, i, mask);
    i += written;
    if (written > 0) continue;
    const node = nodes[i++] as Node;
    if (isExponential(e, node)) {
      emitExponential(e, node);
      continue;
    }
    emitNode(e, node, mask, loop);
    if (loop?.masked && i < nodes.length && leavesLoop(node)) {
      // Some lanes may have left: go on with those that run, if any.
      const rest = narrowed(e, mask, loop.running);
      e.pushAny(rest);
      e.f.if();
      emitNodes(e, nodes.slice(i), rest, loop);
      e.f.end();
      return;
    }
  }
}

/** Writes the nodes from the first on that can be vectorised together, and says how many they are. */
function emitSequence(e: Emitter, nodes: readonly Node[], first: number, mask: Mask): number {
  const sequence: StraightNode[] = [];
  const hazards = new Hazards(e);
  for (let i = first; i < nodes.length; i++) {
    const node = nodes[i] as Node;
    if (!isStraight(node) || isExponential(e, node) || !hazards.add(node)) break;
    sequence.push(node);
  }
  if (sequence.length > 0) emitStraightLine(e, sequence, mask);
  return sequence.length;
}

function emitNode(e: Emitter, node: Node, mask: Mask, loop: Loop | null): void {
  if (!isSeparate(node)) throw new Error(`${node.kind} cannot stand in a barrier-free region`);
  switch (node.kind) {
    case "if":
      return emitIf(e, node, mask, loop);
    case "for":
      return e.scope(() => emitFor(e, node, mask));
    case "while":
      return e.scope(() => emitWhile(e, node, mask));
    case "roles":
      for (const role of node.roles) {
        e.f.get(e.subgroup).i32(role.first).op(OP.i32Sub).i32(role.count).op(OP.i32LtU).if();
        emitBlock(e, role.body.nodes, mask, loop);
        e.f.end();
      }
      return;
    case "break":
    case "continue":
      return emitExit(e, node.kind, mask, loop as Loop);
    case "atomic":
      return emitAtomic(e, node, mask);
    case "subgroup":
      return emitSubgroup(e, node, mask);
    default:
      assertNever(node, "node of a region");
  }
}

/** New locals with the lanes that are in both. */
function narrowed(e: Emitter, mask: Mask, other: readonly number[]): number[] {
  return other.map((lanes, k) => {
    const local = e.local("v128");
    e.f.get(lanes);
    if (mask !== null) e.f.get(mask[k] as number).op(OP.v128And);
    e.f.set(local);
    return local;
  });
}

function isSmall(nodes: readonly Node[]): boolean {
  let count = 0;
  visitNodes({ nodes }, () => {
    count++;
  });
  return count <= MAX_DOUBLED;
}

function emitIf(e: Emitter, node: IfNode, mask: Mask, loop: Loop | null): void {
  const { f } = e;
  if (e.pattern(node.condition).kind === "uniform") {
    e.pushScalar(node.condition);
    f.if();
    emitBlock(e, node.then.nodes, mask, loop);
    if (node.else.nodes.length > 0) {
      f.else();
      emitBlock(e, node.else.nodes, mask, loop);
    }
    f.end();
    return;
  }
  e.scope(() => {
    const taken = Array.from({ length: e.chunks }, (_, k) => {
      const local = e.local("v128");
      e.pushLanes(node.condition, k);
      if (mask !== null) f.get(mask[k] as number).op(OP.v128And);
      f.set(local);
      return local;
    });
    // A guard at the end of an array is true for all lanes of nearly all subgroups.
    const doubled = mask === null && !(loop?.masked && leavesLoop(node)) && isSmall(node.then.nodes);
    if (doubled) {
      e.pushAll(taken);
      f.if();
      emitBlock(e, node.then.nodes, null, loop);
      f.else();
    }
    e.pushAny(taken);
    f.if();
    emitBlock(e, node.then.nodes, taken, loop);
    f.end();
    if (node.else.nodes.length > 0) {
      const others = taken.map((then, k) => {
        const local = e.local("v128");
        if (mask === null) f.get(then).op(OP.v128Not);
        else
          f.get(mask[k] as number)
            .get(then)
            .op(OP.v128AndNot);
        f.set(local);
        return local;
      });
      e.pushAny(others);
      f.if();
      emitBlock(e, node.else.nodes, others, loop);
      f.end();
    }
    if (doubled) f.end();
  });
}

function emitExit(e: Emitter, kind: "break" | "continue", mask: Mask, loop: Loop): void {
  const { f } = e;
  if (!loop.masked) {
    f.br(kind === "break" ? loop.exit : loop.next);
    return;
  }
  const remove = (from: readonly number[]): void =>
    from.forEach((local, k) => {
      if (mask === null) f.i32x4([0, 0, 0, 0]);
      else
        f.get(local)
          .get(mask[k] as number)
          .op(OP.v128AndNot);
      f.set(local);
    });
  if (kind === "break") remove(loop.live);
  remove(loop.running);
}

/** Copies of a mask that the loop may change. */
function maskCopy(e: Emitter, mask: Mask): number[] {
  return Array.from({ length: e.chunks }, (_, k) => {
    const local = e.local("v128");
    if (mask === null) e.f.i32x4([-1, -1, -1, -1]);
    else e.f.get(mask[k] as number);
    e.f.set(local);
    return local;
  });
}

/** What a loop repeats, how it decides whether to go on, and what it does at the end of an iteration. */
interface Iteration {
  readonly body: readonly Node[];
  /** Writes the test: gives "scalar" with the answer on the stack, or a function that pushes the lanes that go on. */
  test(mask: Mask): LoopTest;
  /** Writes the test whether the next turn is still to come, where the first test cannot tell it afterwards. */
  readonly rest: (() => LoopTest) | null;
  advance(): void;
}

function emitLoop(
  e: Emitter,
  node: ForNode | WhileNode,
  mask: Mask,
  { body, test, rest, advance }: Iteration,
): void {
  const { f } = e;
  const divergent = e.divergence.divergentLoops.has(node);
  const masked = e.divergence.divergentExits.has(node);
  const live = divergent ? maskCopy(e, mask) : [];
  const running = masked ? e.vectorLocals() : live;
  const exit = f.block();
  const again = f.loop();
  const leaveUnless = (lanes: LoopTest): void => {
    if (lanes !== "scalar") {
      live.forEach((local, k) => {
        lanes(k);
        f.get(local).op(OP.v128And).set(local);
      });
      e.pushAny(live);
    }
    f.op(OP.i32Eqz);
    f.brIf(exit);
  };
  leaveUnless(test(divergent ? live : mask));
  const next = f.block();
  const loop: Loop = { masked, exit, next, live, running };
  if (masked) {
    running.forEach((local, k) => f.get(live[k] as number).set(local));
    const entering = narrowed(e, null, live);
    emitBlock(e, body, entering, loop);
  } else if (divergent && mask === null && isSmall(body)) {
    e.pushAll(live);
    f.if();
    emitBlock(e, body, null, loop);
    f.else();
    emitBlock(e, body, live, loop);
    f.end();
  } else {
    emitBlock(e, body, divergent ? live : mask, loop);
  }
  f.end();
  if (masked) {
    e.pushAny(live);
    f.op(OP.i32Eqz);
    f.brIf(exit);
  }
  if (rest !== null) leaveUnless(rest());
  advance();
  f.br(again);
  f.end();
  f.end();
}

function emitWhile(e: Emitter, node: WhileNode, mask: Mask): void {
  emitLoop(e, node, mask, {
    body: node.body.nodes,
    test(active) {
      emitNodes(e, node.condition.nodes, active, null);
      if (e.pattern(node.test).kind !== "uniform") return (k) => e.pushLanes(node.test, k);
      e.pushScalar(node.test);
      return "scalar";
    },
    rest: null,
    advance: () => {},
  });
}

function emitFor(e: Emitter, node: ForNode, mask: Mask): void {
  const { f, range } = e;
  const mayBeSkipped = loopGuards(e.ir, node).standsStill && e.pattern(node.step).kind === "uniform";
  const skip = mayBeSkipped ? f.block() : null;
  if (skip !== null) {
    e.pushScalar(node.step);
    f.op(OP.i32Eqz);
    f.brIf(skip);
  }
  if (e.pattern(node.induction).kind === "varying") emitVaryingFor(e, node, mask);
  else {
    for (const group of chunkGroups(e, node)) {
      e.range = group;
      e.scope(() => emitScalarFor(e, node, mask));
    }
    e.range = range;
  }
  if (skip !== null) f.end();
}

/** A loop whose induction variable is a scalar: the same for all lanes, or a step from lane to lane. */
function emitScalarFor(e: Emitter, node: ForNode, mask: Mask): void {
  const { f } = e;
  const { induction, from, step } = node;
  const local = e.local(representations[induction.type].scalar);
  e.scalars.set(induction.id, local);
  e.pushScalar(from);
  f.set(local);
  const { body, advance, end } = prepareLoop(e, node, mask);
  emitLoop(e, node, mask, {
    body,
    test: () => testCounter(e, node),
    rest: testRest(e, node),
    advance() {
      advance();
      f.get(local);
      e.pushScalar(step);
      f.op(OP.i32Add).set(local);
    },
  });
  end();
}

function emitVaryingFor(e: Emitter, node: ForNode, mask: Mask): void {
  const { f } = e;
  const { induction, from, step } = node;
  const locals = e.vectorLocals();
  e.lanes.set(induction.id, locals);
  locals.forEach((local, k) => {
    e.pushLanes(from, k);
    f.set(local);
  });
  emitLoop(e, node, mask, {
    body: node.body.nodes,
    test: () => testLanes(e, node),
    rest: testRest(e, node),
    advance: () =>
      locals.forEach((local, k) => {
        f.get(local);
        e.pushLanes(step, k);
        f.op(OP.i32x4Add).set(local);
      }),
  });
}
