/**
 * Splits a kernel at its barriers: control flow around barriers belongs to the workgroup, and every maximal stretch
 * without one is run subgroup by subgroup. Also says which values and variables live across stretches, and why a
 * kernel cannot be run this way.
 */

import type { Block, KernelIR, Memory, Node, UniformLoadNode, Value } from "@evolver/kernel";
import { blocksOf, resultsOf, visitNodes } from "@evolver/kernel";
import type { Classification } from "./classify.ts";

export interface Stretch {
  readonly kind: "stretch";
  readonly nodes: Node[];
}

export type Item =
  | Stretch
  | { readonly kind: "uniformLoad"; readonly node: UniformLoadNode }
  | {
      readonly kind: "if";
      readonly node: Node & { kind: "if" };
      readonly then: Item[];
      readonly else: Item[];
    }
  | { readonly kind: "for"; readonly node: Node & { kind: "for" }; readonly body: Item[] }
  | {
      readonly kind: "while";
      readonly node: Node & { kind: "while" };
      readonly condition: Item[];
      readonly body: Item[];
    }
  | { readonly kind: "break" | "continue" };

const isBarrier = (node: Node): boolean => node.kind === "barrier" || node.kind === "uniformLoad";

/** The nodes with nested blocks that have to run once for the whole workgroup. */
export function workgroupLevelNodes(ir: KernelIR): Set<Node> {
  const found = new Set<Node>();
  const walk = (block: Block): boolean => {
    let any = false;
    for (const node of block.nodes) {
      let inside = isBarrier(node);
      for (const inner of blocksOf(node)) inside = walk(inner) || inside;
      if (inside && blocksOf(node).length > 0) found.add(node);
      any ||= inside;
    }
    return any;
  };
  walk(ir.body);
  // An `if` that leaves such a loop belongs to the workgroup too.
  const exits = (block: Block): boolean => {
    let any = false;
    for (const node of block.nodes) {
      if (node.kind === "break" || node.kind === "continue") any = true;
      if (node.kind !== "if") continue;
      const inside = [exits(node.then), exits(node.else)];
      if (!inside.includes(true)) continue;
      found.add(node);
      any = true;
    }
    return any;
  };
  for (const node of [...found]) if (node.kind === "for" || node.kind === "while") exits(node.body);
  return found;
}

/** Values that a node reads; a memory index stands for its root (see `resolveIndex`). */
function operandsOf(node: Node, root: (index: Value) => Value): readonly Value[] {
  switch (node.kind) {
    case "op":
    case "subgroup":
      return node.operands;
    case "load":
    case "uniformLoad":
      return [root(node.index)];
    case "store":
      return [root(node.index), ...node.values];
    case "atomic":
      return [root(node.index), ...node.operands];
    case "var":
      return node.init === null ? [] : [node.init];
    case "varSet":
      return [node.value];
    case "if":
      return [node.condition];
    case "for":
      return [node.from, node.to, node.step];
    case "while":
      return [node.test];
    default:
      return [];
  }
}

export interface ResolvedIndex {
  readonly root: Value;
  /** In elements, not negative, below `MAX_FOLDED`. */
  readonly offset: number;
}

/** Constant offsets below this are folded into instructions; so many elements before a buffer must be addressable. */
export const MAX_FOLDED = 16384;

export class Partition {
  readonly items: Item[];
  readonly workgroupLevel: ReadonlySet<Node>;
  readonly users = new Map<number, Node[]>();
  readonly definitions = new Map<number, Node>();
  /** Values and variables kept in the context area because several stretches, or the workgroup, use them. */
  readonly contextValues = new Map<number, Value>();
  readonly contextVariables = new Set<number>();
  readonly #forms: Classification;
  readonly #resolved = new Map<number, ResolvedIndex>();

  constructor(ir: KernelIR, forms: Classification, workgroupLevel: ReadonlySet<Node>) {
    this.#forms = forms;
    this.workgroupLevel = workgroupLevel;
    visitNodes(ir.body, (node) => {
      for (const value of resultsOf(node)) this.definitions.set(value.id, node);
    });
    visitNodes(ir.body, (node) => {
      for (const value of this.operandsOf(node)) {
        const list = this.users.get(value.id);
        if (list === undefined) this.users.set(value.id, [node]);
        else list.push(node);
      }
    });
    this.items = this.#split(ir.body);
    this.#findContext(ir);
  }

  operandsOf(node: Node): readonly Value[] {
    return operandsOf(node, (index) => this.resolve(index).root);
  }

  /** Takes constant terms out of an index. */
  resolve(index: Value): ResolvedIndex {
    const known = this.#resolved.get(index.id);
    if (known !== undefined) return known;
    let root = index;
    let offset = 0;
    for (;;) {
      const node = this.definitions.get(root.id);
      if (node?.kind !== "op") break;
      const [a, b] = node.operands as [Value, Value];
      if (node.op === "toIndex") {
        root = a;
        continue;
      }
      if (node.op !== "add") break;
      const [term, other] = this.#forms.form(b).constant === undefined ? [a, b] : [b, a];
      const constant = this.#forms.form(term).constant;
      if (constant === undefined || constant < 0 || offset + constant >= MAX_FOLDED) break;
      offset += constant;
      root = other;
    }
    const resolved = { root, offset };
    this.#resolved.set(index.id, resolved);
    return resolved;
  }

  /** Nodes at workgroup level that are computed once for the workgroup, before the stretch that they stand in. */
  isWide(node: Node): boolean {
    switch (node.kind) {
      case "const":
      case "param":
      case "builtin":
      case "op":
      case "varGet":
        return this.#forms.form(node.result).wide && this.#forms.form(node.result).kind !== "lanes";
      case "load":
        return node.results.every(
          (result) => this.#forms.form(result).wide && this.#forms.form(result).kind !== "lanes",
        );
      case "var":
      case "varSet":
        return this.#forms.variable(node.variable.id).wide;
      default:
        return false;
    }
  }

  #split(block: Block): Item[] {
    const items: Item[] = [];
    let open: Stretch | null = null;
    for (const node of block.nodes) {
      if (node.kind === "barrier") {
        open = null;
      } else if (node.kind === "uniformLoad") {
        items.push({ kind: "uniformLoad", node });
        open = null;
      } else if (this.workgroupLevel.has(node)) {
        open = null;
        if (node.kind === "if")
          items.push({ kind: "if", node, then: this.#split(node.then), else: this.#split(node.else) });
        else if (node.kind === "for") items.push({ kind: "for", node, body: this.#split(node.body) });
        else if (node.kind === "while")
          items.push({
            kind: "while",
            node,
            condition: this.#split(node.condition),
            body: this.#split(node.body),
          });
      } else if (node.kind === "break" || node.kind === "continue") {
        // Inside a stretch these stand in nested blocks, so one that is seen here leaves a loop of the workgroup.
        items.push({ kind: node.kind });
      } else if (node.kind !== "comment") {
        if (open === null) {
          open = { kind: "stretch", nodes: [] };
          items.push(open);
        }
        open.nodes.push(node);
      }
    }
    return items;
  }

  #findContext(ir: KernelIR): void {
    const home = new Map<number, Stretch>();
    const variableHome = new Map<number, Stretch>();
    const need = (value: Value, by: Stretch | null): void => {
      const at = home.get(value.id);
      if (at !== undefined && at !== by) this.contextValues.set(value.id, value);
    };
    const touch = (id: number, by: Stretch): void => {
      const at = variableHome.get(id);
      if (at === undefined) variableHome.set(id, by);
      else if (at !== by) this.contextVariables.add(id);
    };
    const stretches: Stretch[] = [];
    const wideNodes = new Set<Node>();
    const define = (items: readonly Item[]): void => {
      for (const item of items) {
        if (item.kind === "stretch") {
          stretches.push(item);
          for (const node of item.nodes) {
            if (this.isWide(node)) wideNodes.add(node);
            else if (node.kind !== "builtin") for (const value of resultsOf(node)) home.set(value.id, item);
          }
        } else if (item.kind === "if") {
          define(item.then);
          define(item.else);
        } else if (item.kind === "for") {
          define(item.body);
        } else if (item.kind === "while") {
          define(item.condition);
          define(item.body);
        }
      }
    };
    define(this.items);
    for (const stretch of stretches)
      for (const top of stretch.nodes) {
        if (wideNodes.has(top)) continue;
        visitNodes({ nodes: [top] }, (node) => {
          for (const value of this.operandsOf(node)) need(value, stretch);
          if (node.kind === "var" || node.kind === "varGet" || node.kind === "varSet")
            if (!this.#forms.variable(node.variable.id).wide) touch(node.variable.id, stretch);
        });
      }
    visitNodes(ir.body, (node) => {
      if (this.workgroupLevel.has(node) || node.kind === "uniformLoad")
        for (const value of this.operandsOf(node)) need(value, null);
    });
  }
}

/**
 * Why a kernel needs subgroups that make progress side by side, which running stretch by stretch does not give; null
 * where it does not.
 */
export function whyConcurrent(ir: KernelIR): string | null {
  const [x, y, z] = ir.workgroupSize;
  if (x * y * z <= ir.subgroupSize) return null;
  let reason: string | null = null;
  visitNodes(ir.body, (node) => {
    if (node.kind !== "roles" || reason !== null) return;
    visitNodes({ nodes: [node] }, (inner) => {
      if (isBarrier(inner)) reason = "a barrier inside the body of a role";
    });
  });
  const writers = new Map<Memory, Set<Node>>();
  visitNodes(ir.body, (node) => {
    if (node.kind !== "atomic" || node.op === "load") return;
    const list = writers.get(node.memory) ?? new Set();
    writers.set(node.memory, list.add(node));
  });
  visitNodes(ir.body, (loop) => {
    if (reason !== null || (loop.kind !== "while" && loop.kind !== "for")) return;
    const inside = new Set<Node>();
    let hasBarrier = false;
    let mayWait = loop.kind === "while";
    visitNodes({ nodes: [loop] }, (node) => {
      inside.add(node);
      hasBarrier ||= isBarrier(node);
      mayWait ||= node.kind === "break";
    });
    if (hasBarrier || !mayWait) return;
    for (const node of inside) {
      if (node.kind !== "atomic") continue;
      if (node.op !== "load" && node.op !== "compareExchange" && node.op !== "exchange") continue;
      // A loop that is the only one to write what it waits for is a retry loop and ends by itself.
      for (const writer of writers.get(node.memory) ?? [])
        if (!inside.has(writer))
          reason = `a loop that waits for another subgroup to write "${node.memory.name}"`;
    }
  });
  return reason;
}
