/**
 * What a loop of a region computes again and again with the same result is computed before it: scalar operations on values from
 * outside, and addresses. An address that grows by the same number of bytes with each iteration is kept in a local that
 * grows so. All of it is arithmetic modulo 2^32, so nothing can differ from computing it anew, or trap.
 */

import { resultsOf, visitNodes } from "@evolver/kernel";
import type { ForNode, Node, OpNode, Value } from "@evolver/kernel";
import { OP } from "../wasm/opcodes.ts";
import { addressKey, AddressCache, scalarAddress, sizeOf, usesScalarAddress } from "./address.ts";
import type { Emitter, Mask } from "./emitter.ts";
import { emitScalarNode } from "./straight-line.ts";

/** More addresses than these would not stay in registers. */
const MAX_ADDRESSES = 12;

export interface PreparedLoop {
  /** What is left of the loop's body. */
  readonly body: readonly Node[];
  /** Writes what is due at the end of an iteration, before the induction variable changes. */
  advance(): void;
  /** To be called when the loop is written. */
  end(): void;
}

/** Must run where the induction variable's local holds its first value. */
export function prepareLoop(e: Emitter, node: ForNode, mask: Mask): PreparedLoop {
  const loop = new InvariantFinder(e, node);
  const { hoisted } = loop;
  const body = node.body.nodes.filter((inner) => !hoisted.has(inner));
  const step = e.pattern(node.step).constant;
  const grown: { local: number; bytes: number }[] = [];
  const keys: string[] = [];
  for (const access of body) {
    if (access.kind !== "load" && access.kind !== "store") continue;
    if (keys.length === MAX_ADDRESSES) break;
    const { root } = e.dataflow.resolve(access.index);
    const key = addressKey(access.memory, root);
    const width = access.kind === "load" ? access.results.length : access.values.length;
    if (e.loopAddresses.has(key) || !usesScalarAddress(e.pattern(root), width, mask)) continue;
    const factor = loop.factor(root);
    if (factor === null || (factor !== 0 && step === undefined)) continue;
    for (const part of loop.partsOf(root)) emitScalarNode(e, part, new AddressCache());
    const [local] = scalarAddress(e, new AddressCache(), access);
    e.loopAddresses.set(key, local);
    keys.push(key);
    const bytes = Math.imul(Math.imul(factor, step ?? 0), sizeOf(access.memory));
    if (bytes !== 0) grown.push({ local, bytes });
  }
  return {
    body,
    advance: () => {
      for (const { local, bytes } of grown) e.f.get(local).i32(bytes).op(OP.i32Add).set(local);
    },
    end: () => {
      for (const key of keys) e.loopAddresses.delete(key);
    },
  };
}

class InvariantFinder {
  /** Nodes of the body that have been written before the loop. */
  readonly hoisted = new Set<Node>();
  readonly #e: Emitter;
  readonly #induction: Value;
  /** By value id: what the body defines, and the node if it stands in the body itself and can be written anywhere. */
  readonly #inside = new Map<number, OpNode | null>();

  constructor(e: Emitter, { induction, body }: ForNode) {
    this.#e = e;
    this.#induction = induction;
    this.#inside.set(induction.id, null);
    visitNodes(body, (node) => {
      for (const result of resultsOf(node)) this.#inside.set(result.id, null);
      if (node.kind === "for") this.#inside.set(node.induction.id, null);
    });
    for (const node of body.nodes) {
      if (node.kind !== "op" || e.pattern(node.result).kind === "varying") continue;
      const isInvariant = node.operands.every(
        (value) => e.pattern(value).constant !== undefined || !this.#inside.has(value.id),
      );
      if (!isInvariant) {
        this.#inside.set(node.result.id, node);
        continue;
      }
      emitScalarNode(e, node, new AddressCache());
      this.hoisted.add(node);
      this.#inside.delete(node.result.id);
    }
  }

  /** By how much a value grows where the induction variable grows by one; null where that is not known. */
  factor(value: Value): number | null {
    if (value.id === this.#induction.id) return 1;
    if (!this.#inside.has(value.id) || this.#constant(value) !== undefined) return 0;
    const node = this.#inside.get(value.id);
    if (node === null || node === undefined) return null;
    const [a, b] = node.operands as [Value, Value];
    const { op } = node;
    if (op === "toIndex" || op === "toI32" || op === "toU32") return a.type === "f32" ? null : this.factor(a);
    if (op === "add") return combined(this.factor(a), this.factor(b), (x, y) => (x + y) | 0);
    if (op === "sub") return combined(this.factor(a), this.factor(b), (x, y) => (x - y) | 0);
    if (op === "mul") return this.#scaled(a, this.#constant(b)) ?? this.#scaled(b, this.#constant(a));
    const by = op === "shl" ? this.#constant(b) : undefined;
    return by === undefined ? null : this.#scaled(a, 1 << by);
  }

  /** The nodes inside the loop that a value is computed by, in their order. */
  partsOf(value: Value): OpNode[] {
    const node = this.#inside.get(value.id);
    if (node === null || node === undefined || this.#constant(value) !== undefined) return [];
    return [...node.operands.flatMap((operand) => this.partsOf(operand)), node];
  }

  #constant(value: Value): number | undefined {
    return this.#e.pattern(value).constant;
  }

  #scaled(value: Value, by: number | undefined): number | null {
    return by === undefined ? null : combined(this.factor(value), by, Math.imul);
  }
}

const combined = (
  a: number | null,
  b: number | null,
  combine: (a: number, b: number) => number,
): number | null => (a === null || b === null ? null : combine(a, b));
