/**
 * The graph behind the uniformity analysis: vertices are values, variables, assignments, loop exits and regions of
 * control flow; an edge from a to b says that b is at most as uniform as a. Built in one pass over the kernel, then
 * solved by a breadth-first walk from the sources. Vertices are numbers and edges linked lists in arrays.
 *
 * A region (a block, or both blocks of a while) has two vertices. `own` is the divergence that the region adds to the
 * regions around it: its condition and, for loops, exits that not all invocations take. `flow` is the join of `own` of this
 * region and of all regions around it. A variable that is assigned in a region inside that of its declaration depends on the
 * `own` of the regions between the two, so a variable that is declared inside a divergent branch can still be uniform there.
 */

import { assertNever } from "@evolver/base";
import { builtins, type BuiltinRow } from "../ir/builtins.ts";
import type { Block, BuiltinNode, KernelIR, Node, SubgroupNode } from "../ir/nodes.ts";
import { rowOf } from "../ir/schema.ts";
import { subgroupOps } from "../ir/subgroup.ts";
import type { Memory, Value, Variable } from "../ir/types.ts";
import { blocksOf } from "../ir/walk.ts";

export const WORKGROUP = 0;
const SUBGROUP = 1;
export const LANE = 2;
export type Level = 0 | 1 | 2;

export type LoadRule = "strict" | "lockstep";

interface Region {
  readonly own: number;
  readonly flow: number;
  /** For the body of a loop: its own region; elsewhere the innermost loop's around it. */
  readonly loop: Region | null;
  readonly depth: number;
}

/** A node whose meaning needs convergent flow, and the vertex of the flow that it stands in. */
export interface Convergent {
  readonly node: Node;
  readonly flow: number;
}

export class DependenceGraph {
  /** In program order. */
  readonly convergent: Convergent[] = [];

  readonly #ir: KernelIR;
  readonly #rule: LoadRule;
  readonly #level: Level[] = [];
  /** By vertex: the IR node that it comes from, and the vertex that raised it (−1: it is a source). */
  readonly #origin: (Node | null)[] = [];
  readonly #raisedBy: number[] = [];
  /** Edges: the first of a vertex, then by edge its target and the next one of the same vertex. */
  readonly #firstEdge: number[] = [];
  readonly #edgeTarget: number[] = [];
  readonly #nextEdge: number[] = [];
  readonly #laneSources: number[] = [];
  readonly #subgroupSources: number[] = [];
  /** The regions around the node being walked, outermost first. */
  readonly #regions: Region[] = [];
  readonly #variableDepth: number[] = [];
  readonly #blockFlow = new Map<Block, number>();
  #nodeFlow: Map<Node, number> | null = null;

  constructor(ir: KernelIR, rule: LoadRule) {
    this.#ir = ir;
    this.#rule = rule;
    for (let i = ir.valueCount + ir.variableCount; i > 0; i--) this.#vertex(null);
    this.#region(null, null, () => this.#block(ir.body));
    this.#spread(this.#laneSources, LANE);
    this.#spread(this.#subgroupSources, SUBGROUP);
  }

  levelOfValue(value: Value): Level {
    return this.#level[value.id] as Level;
  }

  levelOfVariable(variable: Variable): Level {
    return this.#level[this.#ir.valueCount + variable.id] as Level;
  }

  levelOf(vertex: number): Level {
    return this.#level[vertex] as Level;
  }

  /** The flow in which a node of this kernel runs. */
  flowOf(node: Node): Level {
    if (this.#nodeFlow === null) {
      this.#nodeFlow = new Map();
      for (const [block, flow] of this.#blockFlow)
        for (const inner of block.nodes) this.#nodeFlow.set(inner, flow);
    }
    return this.#level[this.#nodeFlow.get(node) as number] as Level;
  }

  /** The nodes through which divergence came to a vertex, nearest first, its source last. */
  explain(vertex: number): Node[] {
    const path: Node[] = [];
    for (let v = vertex; v >= 0; v = this.#raisedBy[v] as number) {
      const origin = this.#origin[v];
      if (origin && path.at(-1) !== origin) path.push(origin);
    }
    return path;
  }

  #vertex(origin: Node | null): number {
    this.#level.push(WORKGROUP);
    this.#origin.push(origin);
    this.#raisedBy.push(-1);
    this.#firstEdge.push(-1);
    return this.#level.length - 1;
  }

  #edge(from: number, to: number): void {
    this.#edgeTarget.push(to);
    this.#nextEdge.push(this.#firstEdge[from] as number);
    this.#firstEdge[from] = this.#edgeTarget.length - 1;
  }

  #source(vertex: number, level: Level): void {
    if (level === LANE) this.#laneSources.push(vertex);
    else if (level === SUBGROUP) this.#subgroupSources.push(vertex);
  }

  #spread(sources: readonly number[], level: Level): void {
    const queue: number[] = [];
    const raise = (vertex: number, from: number): void => {
      if ((this.#level[vertex] as Level) >= level) return;
      this.#level[vertex] = level;
      this.#raisedBy[vertex] = from;
      queue.push(vertex);
    };
    for (const source of sources) raise(source, -1);
    for (let i = 0; i < queue.length; i++) {
      const vertex = queue[i] as number;
      for (let e = this.#firstEdge[vertex] as number; e >= 0; e = this.#nextEdge[e] as number)
        raise(this.#edgeTarget[e] as number, vertex);
    }
  }

  /** Walks what stands in a new region inside the present one; `loop` says whether it is a loop's. */
  #region(origin: Node | null, kind: "loop" | null, walk: (own: number) => void): void {
    const outer = this.#regions.at(-1);
    const own = this.#vertex(origin);
    const flow = this.#vertex(null);
    this.#edge(own, flow);
    if (outer) this.#edge(outer.flow, flow);
    const region: Region = { own, flow, depth: this.#regions.length, loop: null };
    this.#regions.push(
      kind === "loop" ? { ...region, loop: region } : { ...region, loop: outer?.loop ?? null },
    );
    walk(own);
    this.#regions.pop();
  }

  #block(block: Block): void {
    this.#blockFlow.set(block, (this.#regions.at(-1) as Region).flow);
    for (const node of block.nodes) this.#node(node);
  }

  #node(node: Node): void {
    const { flow } = this.#regions.at(-1) as Region;
    if (rowOf(node).convergence(node) !== "none") this.convergent.push({ node, flow });
    switch (node.kind) {
      case "const":
      case "param":
        return;
      case "builtin":
        this.#defined(node, node.result, builtinLevel(node, this.#ir));
        return;
      case "op":
        this.#defined(node, node.result, WORKGROUP);
        for (const operand of node.operands) this.#edge(operand.id, node.result.id);
        return;
      case "load": {
        const level = this.#loadLevel(node.memory);
        for (const result of node.results) {
          this.#defined(node, result, level);
          this.#edge(node.index.id, result.id);
        }
        return;
      }
      case "atomic":
        if (node.result !== null) this.#defined(node, node.result, LANE);
        return;
      case "uniformLoad":
        this.#defined(node, node.result, WORKGROUP);
        return;
      case "subgroup":
        this.#subgroup(node, flow);
        return;
      case "var":
        this.#variableDepth[node.variable.id] = this.#regions.length - 1;
        this.#origin[this.#ir.valueCount + node.variable.id] = node;
        if (node.init !== null) this.#edge(node.init.id, this.#ir.valueCount + node.variable.id);
        return;
      case "varGet":
        this.#defined(node, node.result, WORKGROUP);
        this.#edge(this.#ir.valueCount + node.variable.id, node.result.id);
        return;
      case "varSet": {
        const assignment = this.#vertex(node);
        this.#edge(node.value.id, assignment);
        this.#ownBelow(this.#variableDepth[node.variable.id] as number, assignment);
        this.#edge(assignment, this.#ir.valueCount + node.variable.id);
        return;
      }
      case "if":
        this.#region(node, null, (own) => {
          this.#edge(node.condition.id, own);
          this.#block(node.then);
          this.#block(node.else);
        });
        return;
      case "for":
        this.#region(node, "loop", (own) => {
          for (const bound of [node.from, node.to, node.step]) this.#edge(bound.id, own);
          this.#defined(node, node.induction, WORKGROUP);
          this.#edge(own, node.induction.id);
          this.#block(node.body);
        });
        return;
      case "while":
        this.#region(node, "loop", (own) => {
          this.#block(node.condition);
          this.#edge(node.test.id, own);
          this.#block(node.body);
        });
        return;
      case "roles":
        this.#region(node, null, (own) => {
          this.#source(own, SUBGROUP);
          for (const block of blocksOf(node)) this.#block(block);
        });
        return;
      case "break":
      case "continue": {
        const { loop } = this.#regions.at(-1) as Region;
        if (loop === null) return;
        const exit = this.#vertex(node);
        this.#ownBelow(loop.depth, exit);
        this.#edge(exit, loop.own);
        return;
      }
      case "barrier":
      case "store":
      case "asyncCopy":
      case "commitCopies":
      case "awaitCopies":
      case "arrive":
      case "awaitPhase":
      case "comment":
      case "trace":
        return;
      default:
        assertNever(node, "kind of node");
    }
  }

  #defined(node: Node, value: Value, level: Level): void {
    this.#origin[value.id] = node;
    this.#source(value.id, level);
  }

  /** Makes `vertex` depend on what each region deeper than `depth` adds. */
  #ownBelow(depth: number, vertex: number): void {
    for (let d = depth + 1; d < this.#regions.length; d++)
      this.#edge((this.#regions[d] as Region).own, vertex);
  }

  #loadLevel(memory: Memory): Level {
    if (memory.space === "global" && memory.access === "read") return WORKGROUP;
    return this.#rule === "strict" ? LANE : SUBGROUP;
  }

  #subgroup(node: SubgroupNode, flow: number): void {
    const { differs } = subgroupOps[node.op];
    for (const result of node.results) {
      this.#defined(node, result, differs === "always" ? LANE : SUBGROUP);
      this.#edge(flow, result.id);
      if (differs === "bySecondOperand") this.#edge((node.operands[1] as Value).id, result.id);
    }
  }
}

const BUILTIN_LEVELS: Readonly<Record<BuiltinRow["differs"], Level>> = {
  workgroups: WORKGROUP,
  subgroups: SUBGROUP,
  lanes: LANE,
};

function builtinLevel({ builtin }: BuiltinNode, ir: KernelIR): Level {
  const { differs, axis } = builtins[builtin];
  return axis !== null && ir.workgroupSize[axis] === 1 ? WORKGROUP : BUILTIN_LEVELS[differs];
}
