/**
 * Divergence analysis: finds for each value and variable whether it is uniform, affine or varying across the lanes of a
 * subgroup (see lane-pattern.ts), and which loops lanes may leave at different iterations. It assumes lanes that run in
 * lockstep, so it finds more than the language's own uniformity analysis and must not be used to check kernels.
 *
 * Results only ever get weaker, so the walk is repeated until nothing changes.
 */

import { assertNever } from "@evolver/base";
import type { Block, KernelIR, Node, OpNode, Value } from "@evolver/kernel";
import { blocksOf, scalarTypes } from "@evolver/kernel";
import { operations } from "../operations/table.ts";
import { rowOf } from "../lookup.ts";
import { builtinPatterns, type KernelSize } from "./builtin-patterns.ts";
import {
  bothUniform,
  constantPattern,
  join,
  lanesAgreeOnLess,
  MAX_ALIGN,
  patternOfSum,
  samePattern,
  uniform,
  VARYING,
  type LanePattern,
} from "../lane-pattern.ts";
import { isControl, isExit, type ControlNode, type NodeOf } from "./node-classes.ts";
import { subgroupPattern } from "./subgroup-patterns.ts";

export interface Divergence {
  pattern(value: Value): LanePattern;
  variable(id: number): LanePattern;
  /** Loops whose lanes may leave at different iterations, by their own test or by break or continue. */
  readonly divergentLoops: ReadonlySet<Node>;
  /** Loops whose test may differ between lanes. */
  readonly divergentTests: ReadonlySet<Node>;
  /** Loops that lanes leave, or go on with the next iteration of, by themselves in the middle. */
  readonly divergentExits: ReadonlySet<Node>;
}

/** A block that is being walked. */
interface Frame {
  /** Some lanes may be masked off in it. */
  readonly divergent: boolean;
  /** The loop that it is the body of. */
  readonly loop: Node | null;
  /** It is run at workgroup level. */
  readonly workgroup: boolean;
}

/** @param workgroupLevel nodes with nested blocks that run once for the whole workgroup (see regions.ts) */
export function analyseDivergence(ir: KernelIR, workgroupLevel: ReadonlySet<Node>): Divergence {
  return new DivergenceAnalysis(ir, workgroupLevel).run();
}

class DivergenceAnalysis implements Divergence {
  readonly divergentLoops = new Set<Node>();
  readonly divergentTests = new Set<Node>();
  readonly divergentExits = new Set<Node>();
  readonly #ir: KernelIR;
  readonly #size: KernelSize;
  readonly #workgroupLevel: ReadonlySet<Node>;
  readonly #values: (LanePattern | undefined)[] = [];
  readonly #variables: (LanePattern | undefined)[] = [];
  /** By variable id: how many blocks are around its declaration. */
  readonly #variableDepth: number[] = [];
  readonly #frames: Frame[] = [];
  #changed = false;

  constructor(ir: KernelIR, workgroupLevel: ReadonlySet<Node>) {
    this.#ir = ir;
    this.#size = { workgroup: ir.workgroupSize, subgroup: ir.subgroupSize };
    this.#workgroupLevel = workgroupLevel;
  }

  run(): this {
    this.#settle();
    // Variables that nothing is ever assigned to.
    for (let id = 0; id < this.#ir.variableCount; id++) this.#variables[id] ??= VARYING;
    this.#settle();
    return this;
  }

  #settle(): void {
    do {
      this.#changed = false;
      this.#block(this.#ir.body, { divergent: false, loop: null, workgroup: true });
    } while (this.#changed);
  }

  pattern(value: Value): LanePattern {
    return this.#values[value.id] ?? VARYING;
  }

  variable(id: number): LanePattern {
    return this.#variables[id] ?? VARYING;
  }

  /** The pattern as far as it has been found: at first, the strongest. */
  #known(value: Value): LanePattern {
    return this.#values[value.id] ?? uniform(true, MAX_ALIGN);
  }

  #define(value: Value, pattern: LanePattern): void {
    this.#values[value.id] = pattern;
  }

  #assign(id: number, pattern: LanePattern): void {
    const before = this.#variables[id];
    const after = before === undefined ? { ...pattern, constant: undefined } : join(before, pattern);
    if (before !== undefined && samePattern(before, after)) return;
    this.#variables[id] = after;
    this.#changed = true;
  }

  #block(block: Block, frame: Frame): void {
    this.#frames.push(frame);
    for (const node of block.nodes) this.#node(node);
    this.#frames.pop();
  }

  #node(node: Node): void {
    if (isControl(node)) return this.#control(node);
    if (isExit(node)) return this.#exit();
    const { workgroup } = this.#frames.at(-1) as Frame;
    switch (node.kind) {
      case "const":
        return this.#define(node.result, constantPattern(node.value));
      case "param":
      case "uniformLoad":
        return this.#define(node.result, uniform(true));
      case "builtin":
        return this.#define(node.result, rowOf(builtinPatterns, node.builtin, "builtin")(this.#size));
      case "op":
        return this.#define(node.result, this.#operation(node));
      case "load": {
        const index = this.#known(node.index);
        const isConstant = node.memory.space === "global" && node.memory.access === "read";
        const pattern = index.kind === "uniform" ? uniform(index.workgroupUniform && isConstant) : VARYING;
        for (const result of node.results) this.#define(result, pattern);
        return;
      }
      case "atomic":
        if (node.result !== null) this.#define(node.result, VARYING);
        return;
      case "subgroup":
        for (const result of node.results)
          this.#define(
            result,
            subgroupPattern(
              node.op,
              node.operands.map((operand) => this.#known(operand)),
            ),
          );
        return;
      case "var":
        this.#variableDepth[node.variable.id] = this.#frames.length - 1;
        if (node.init !== null) this.#assign(node.variable.id, this.#stored(this.#known(node.init)));
        return;
      case "varGet":
        // A variable of the workgroup is read and written at workgroup level only; otherwise subgroups have their own.
        if (!workgroup) this.#demote(node.variable.id);
        return this.#define(node.result, this.#variables[node.variable.id] ?? uniform(true, MAX_ALIGN));
      case "varSet": {
        const depth = this.#variableDepth[node.variable.id] as number;
        const divergent = this.#frames.some((outer, i) => i > depth && outer.divergent);
        return this.#assign(node.variable.id, divergent ? VARYING : this.#stored(this.#known(node.value)));
      }
      case "store":
      case "barrier":
      case "comment":
      case "trace":
        return;
      case "asyncCopy":
      case "commitCopies":
      case "awaitCopies":
      case "arrive":
      case "awaitPhase":
        throw new Error(`${node.kind} is lowered or refused before it is analysed`);
      default:
        return assertNever(node, "node kind");
    }
  }

  #control(node: ControlNode): void {
    const workgroup = (this.#frames.at(-1) as Frame).workgroup && this.#workgroupLevel.has(node);
    switch (node.kind) {
      case "if": {
        const divergent = !workgroup && this.#known(node.condition).kind !== "uniform";
        for (const block of blocksOf(node)) this.#block(block, { divergent, loop: null, workgroup });
        return;
      }
      case "for": {
        const [from, to, step] = [node.from, node.to, node.step].map((value) => this.#known(value)) as [
          LanePattern,
          LanePattern,
          LanePattern,
        ];
        const advancing = patternOfSum(from, step, 1);
        const induction = step.kind === "uniform" ? join(from, advancing) : VARYING;
        // At workgroup level bounds that are not proved uniform are taken from the first invocation.
        const pattern = workgroup
          ? uniform(true, induction.align)
          : { ...induction, workgroupUniform: false };
        this.#define(node.induction, pattern);
        const agree =
          node.direction === "up"
            ? lanesAgreeOnLess(pattern, to, this.#size.subgroup)
            : bothUniform(pattern, to);
        if (!workgroup && !agree) this.#divergentTest(node);
        return this.#loop(node, workgroup);
      }
      case "while":
        this.#block(node.condition, { divergent: this.divergentLoops.has(node), loop: null, workgroup });
        if (!workgroup && this.#known(node.test).kind !== "uniform") this.#divergentTest(node);
        return this.#loop(node, workgroup);
      case "roles":
        for (const block of blocksOf(node)) this.#block(block, { divergent: false, loop: null, workgroup });
        return;
      default:
        return assertNever(node, "control node");
    }
  }

  /** A break or continue: where only some lanes get to it, they part in the middle of the loop. */
  #exit(): void {
    let divergent = false;
    for (const frame of this.#frames.toReversed()) {
      if (frame.loop !== null) {
        if (!divergent || this.#workgroupLevel.has(frame.loop)) return;
        this.#divergent(this.divergentExits, frame.loop);
        this.#divergent(this.divergentLoops, frame.loop);
        return;
      }
      divergent ||= frame.divergent;
    }
  }

  #loop(node: NodeOf<"loop">, workgroup: boolean): void {
    this.#block(node.body, { divergent: this.divergentLoops.has(node), loop: node, workgroup });
  }

  #divergentTest(loop: Node): void {
    this.#divergent(this.divergentTests, loop);
    this.#divergent(this.divergentLoops, loop);
  }

  #divergent(set: Set<Node>, node: Node): void {
    if (set.has(node)) return;
    set.add(node);
    this.#changed = true;
  }

  /** What a variable that is set here may be known to hold: nothing of the workgroup's but at its level. */
  #stored(pattern: LanePattern): LanePattern {
    return (this.#frames.at(-1) as Frame).workgroup ? pattern : { ...pattern, workgroupUniform: false };
  }

  #demote(id: number): void {
    const pattern = this.#variables[id];
    if (pattern === undefined || !pattern.workgroupUniform) return;
    this.#variables[id] = { ...pattern, workgroupUniform: false };
    this.#changed = true;
  }

  #operation({ op, operands, result }: OpNode): LanePattern {
    const { pattern: rule } = rowOf(operations, op, "operation");
    const patterns = operands.map((operand) => this.#known(operand));
    if (patterns.some(({ kind }) => kind === "varying")) return VARYING;
    const workgroupUniform = patterns.every((pattern) => pattern.workgroupUniform);
    const types = operands.map(({ type }) => type);
    const given = { patterns, types, workgroupUniform, width: this.#size.subgroup };
    if (patterns.some(({ kind }) => kind === "affine")) return rule.affine(given);
    const { kind } = scalarTypes[result.type];
    return kind === "integer" || kind === "index" ? rule.uniform(given) : uniform(workgroupUniform);
  }
}
