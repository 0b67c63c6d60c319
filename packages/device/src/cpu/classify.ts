/**
 * Finds how each value and variable of a kernel lies across the lanes of a subgroup (see forms.ts). Machines that run
 * subgroups in lockstep are assumed, so this says more than the language's uniformity analysis and is not meant for
 * checking.
 *
 * Facts only ever get weaker, so the walk is repeated until nothing changes.
 */

import type { Block, KernelIR, Node, OpNode, Value } from "@evolver/kernel";
import { blocksOf, isFloat } from "@evolver/kernel";
import {
  affine,
  affineSum,
  alignedProduct,
  alignmentOf,
  bothScalar,
  constantForm,
  join,
  LANES,
  MAX_ALIGN,
  sameForm,
  scalar,
  type Form,
} from "./forms.ts";

export interface Classification {
  form(value: Value): Form;
  variable(id: number): Form;
  /** Loops whose lanes may leave at different iterations, by their own test or by break or continue. */
  readonly divergentLoops: ReadonlySet<Node>;
  /** Loops whose test may differ between lanes. */
  readonly divergentTests: ReadonlySet<Node>;
  /** Loops that lanes leave, or start anew, by themselves in the middle. */
  readonly divergentExits: ReadonlySet<Node>;
}

interface Frame {
  readonly divergent: boolean;
  readonly loop: Node | null;
  /** Lies inside the workgroup-level part of the kernel. */
  readonly workgroup: boolean;
}

/** @param workgroupLevel nodes with nested blocks that run once for the whole workgroup (see partition.ts) */
export function classify(ir: KernelIR, workgroupLevel: ReadonlySet<Node>): Classification {
  return new Classifier(ir, workgroupLevel).run();
}

class Classifier implements Classification {
  readonly divergentLoops = new Set<Node>();
  readonly divergentTests = new Set<Node>();
  readonly divergentExits = new Set<Node>();
  readonly #ir: KernelIR;
  readonly #width: number;
  readonly #workgroupLevel: ReadonlySet<Node>;
  readonly #values: (Form | undefined)[] = [];
  readonly #variables: (Form | undefined)[] = [];
  readonly #variableDepth: number[] = [];
  readonly #variableAtWorkgroup: boolean[] = [];
  readonly #frames: Frame[] = [];
  #changed = false;

  constructor(ir: KernelIR, workgroupLevel: ReadonlySet<Node>) {
    this.#ir = ir;
    this.#width = ir.subgroupSize;
    this.#workgroupLevel = workgroupLevel;
  }

  run(): this {
    this.#settle();
    // Variables that nothing is ever assigned to.
    for (let id = 0; id < this.#ir.variableCount; id++) this.#variables[id] ??= LANES;
    this.#settle();
    return this;
  }

  #settle(): void {
    do {
      this.#changed = false;
      this.#block(this.#ir.body, { divergent: false, loop: null, workgroup: true });
    } while (this.#changed);
  }

  form(value: Value): Form {
    return this.#values[value.id] ?? LANES;
  }

  variable(id: number): Form {
    return this.#variables[id] ?? LANES;
  }

  #known(value: Value): Form {
    return this.#values[value.id] ?? scalar(true, MAX_ALIGN);
  }

  #define(value: Value, form: Form): void {
    this.#values[value.id] = form;
  }

  #assign(id: number, form: Form): void {
    const before = this.#variables[id];
    const after = before === undefined ? { ...form, constant: undefined } : join(before, form);
    if (before !== undefined && sameForm(before, after)) return;
    this.#variables[id] = after;
    this.#changed = true;
  }

  #block(block: Block, frame: Frame): void {
    this.#frames.push(frame);
    for (const node of block.nodes) this.#node(node);
    this.#frames.pop();
  }

  #node(node: Node): void {
    const frame = this.#frames.at(-1) as Frame;
    const inner = frame.workgroup && this.#workgroupLevel.has(node);
    switch (node.kind) {
      case "const":
        this.#define(node.result, constantForm(node.value));
        return;
      case "param":
        this.#define(node.result, scalar(true));
        return;
      case "builtin":
        this.#define(node.result, this.#builtin(node.builtin));
        return;
      case "op":
        this.#define(node.result, this.#op(node));
        return;
      case "load": {
        const index = this.#known(node.index);
        const constant = node.memory.space === "global" && node.memory.access === "read";
        const form = index.kind === "scalar" ? scalar(index.wide && constant) : LANES;
        for (const result of node.results) this.#define(result, form);
        return;
      }
      case "uniformLoad":
        this.#define(node.result, scalar(true));
        return;
      case "atomic":
        if (node.result !== null) this.#define(node.result, LANES);
        return;
      case "subgroup":
        for (const result of node.results) this.#define(result, this.#subgroup(node.op, node.operands));
        return;
      case "var":
        this.#variableDepth[node.variable.id] = this.#frames.length - 1;
        this.#variableAtWorkgroup[node.variable.id] = frame.workgroup;
        if (node.init !== null) this.#assign(node.variable.id, this.#narrowed(this.#known(node.init)));
        return;
      case "varGet":
        // A variable of the workgroup is read and written at workgroup level only; otherwise subgroups have their own.
        if (!frame.workgroup) this.#demote(node.variable.id);
        this.#define(node.result, this.#variables[node.variable.id] ?? scalar(true, MAX_ALIGN));
        return;
      case "varSet": {
        const depth = this.#variableDepth[node.variable.id] as number;
        const divergent = this.#frames.some((outer, i) => i > depth && outer.divergent);
        this.#assign(node.variable.id, divergent ? LANES : this.#narrowed(this.#known(node.value)));
        return;
      }
      case "if": {
        const condition = this.#known(node.condition);
        const divergent = !inner && condition.kind !== "scalar";
        for (const block of blocksOf(node)) this.#block(block, { divergent, loop: null, workgroup: inner });
        return;
      }
      case "for": {
        const from = this.#known(node.from);
        const to = this.#known(node.to);
        const step = this.#known(node.step);
        const advancing = affineSum(from, step, 1);
        const induction = step.kind === "scalar" ? join(from, advancing) : LANES;
        // At workgroup level bounds that are not proved uniform are taken from the first invocation.
        const form = inner ? scalar(true, induction.align) : { ...induction, wide: false };
        this.#define(node.induction, form);
        const agreed = node.direction === "up" ? this.#agrees(form, to) : bothScalar(form, to);
        if (!inner && !agreed) this.#divergentTest(node);
        this.#loop(node, inner);
        return;
      }
      case "while":
        this.#block(node.condition, {
          divergent: this.divergentLoops.has(node),
          loop: null,
          workgroup: inner,
        });
        if (!inner && this.#known(node.test).kind !== "scalar") this.#divergentTest(node);
        this.#loop(node, inner);
        return;
      case "roles":
        for (const block of blocksOf(node))
          this.#block(block, { divergent: false, loop: null, workgroup: false });
        return;
      case "break":
      case "continue": {
        let divergent = false;
        for (let i = this.#frames.length - 1; i >= 0; i--) {
          const { loop, divergent: here } = this.#frames[i] as Frame;
          if (loop !== null) {
            if (divergent && !this.#workgroupLevel.has(loop)) {
              this.#divergent(this.divergentExits, loop);
              this.#divergent(this.divergentLoops, loop);
            }
            return;
          }
          divergent ||= here;
        }
        return;
      }
      case "store":
      case "barrier":
      case "comment":
        return;
    }
  }

  #loop(node: Node & { readonly kind: "for" | "while" }, workgroup: boolean): void {
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

  /** What a variable may hold of a value here: nothing of the workgroup's unless all happens at its level. */
  #narrowed(form: Form): Form {
    return (this.#frames.at(-1) as Frame).workgroup ? form : { ...form, wide: false };
  }

  #demote(id: number): void {
    const form = this.#variables[id];
    if (form === undefined || !form.wide) return;
    this.#variables[id] = { ...form, wide: false };
    this.#changed = true;
  }

  /** Whether all lanes of a subgroup agree on `a < b` (and on `a >= b`). */
  #agrees(a: Form, b: Form): boolean {
    if (bothScalar(a, b)) return true;
    const width = this.#width;
    if (a.kind !== "affine" || a.stride !== 1 || b.kind !== "scalar") return false;
    return a.align >= width && b.align >= width;
  }

  #builtin(name: string): Form {
    const width = this.#width;
    const [x, y, z] = this.#ir.workgroupSize;
    const single = x * y * z <= width;
    switch (name) {
      case "lane":
        return affine(1, true, MAX_ALIGN);
      case "localIndex":
        return affine(1, single, single ? MAX_ALIGN : width);
      case "subgroupId":
        return scalar(single, 1);
      case "localId.x":
      case "globalId.x":
        if (y * z === 1 || x % width === 0) {
          const size = alignmentOf(x);
          return affine(1, single, name === "localId.x" ? width : Math.min(width, Math.max(size, 1)));
        }
        return x === 1 ? scalar(true) : LANES;
      case "localId.y":
      case "globalId.y":
        if (y === 1) return scalar(true);
        return x % width === 0 ? scalar(false) : LANES;
      case "localId.z":
      case "globalId.z":
        if (z === 1) return scalar(true);
        return (x * y) % width === 0 ? scalar(false) : LANES;
      default:
        return scalar(true);
    }
  }

  #subgroup(op: string, operands: readonly Value[]): Form {
    switch (op) {
      case "shuffle":
      case "broadcast":
        return this.#known(operands[1] as Value).kind === "scalar" ? scalar(false) : LANES;
      case "shuffleXor":
      case "shuffleUp":
      case "shuffleDown":
      case "inclusiveSum":
      case "exclusiveSum":
        return LANES;
      default:
        return scalar(false);
    }
  }

  #op(node: OpNode): Form {
    const forms = node.operands.map((operand) => this.#known(operand));
    const wide = forms.every((form) => form.wide);
    const [a, b] = forms as [Form, Form];
    const integer = !isFloat(node.result.type) && node.result.type !== "bool";
    if (forms.some((form) => form.kind === "lanes")) return LANES;
    if (forms.every((form) => form.kind === "scalar")) return this.#scalarOp(node, a, b, wide, integer);
    const type = node.operands[0]?.type;
    switch (node.op) {
      case "add":
        return affineSum(a, b, 1);
      case "sub":
        return affineSum(a, b, -1);
      case "neg":
        return affine(-a.stride, wide, a.align);
      case "mul": {
        const [form, factor] = a.kind === "affine" ? [a, b.constant] : [b, a.constant];
        if (factor === undefined) return LANES;
        return affine(Math.imul(form.stride, factor), wide, alignedProduct(form.align, alignmentOf(factor)));
      }
      case "shl":
        if (b.constant === undefined || a.kind !== "affine") return LANES;
        return affine(a.stride << b.constant, wide, alignedProduct(a.align, 2 ** (b.constant & 31)));
      case "toIndex":
      case "toI32":
      case "toU32":
      case "bitcastI32":
      case "bitcastU32":
        return a;
      case "select": {
        const [, yes, no] = forms as [Form, Form, Form];
        if (a.kind !== "scalar" || yes.stride !== no.stride) return LANES;
        return affine(yes.stride, wide, Math.min(yes.align, no.align));
      }
      case "lt":
      case "ge":
        return this.#agrees(a, b) ? scalar(wide) : LANES;
      case "le":
      case "gt":
        return this.#agrees(b, a) ? scalar(wide) : LANES;
      case "divTrunc":
      case "remTrunc":
        return type === "u32" ? this.#split(a, b.constant, node.op === "divTrunc", wide) : LANES;
      case "divFloor":
      case "modFloor":
        return this.#split(a, b.constant, node.op === "divFloor", wide);
      case "shr":
        return this.#split(a, b.constant === undefined ? undefined : 2 ** (b.constant & 31), true, wide);
      case "and":
        return this.#split(a, b.constant === undefined ? undefined : b.constant + 1, false, wide);
      default:
        return LANES;
    }
  }

  /** Quotient or remainder of an aligned run of lanes by a constant power of two that no run straddles. */
  #split(a: Form, divisor: number | undefined, quotient: boolean, wide: boolean): Form {
    if (divisor === undefined || divisor < this.#width || alignmentOf(divisor) !== divisor) return LANES;
    if (a.kind !== "affine" || a.stride !== 1 || a.align < this.#width) return LANES;
    return quotient
      ? scalar(wide, Math.max(1, a.align / divisor))
      : affine(1, wide, Math.min(a.align, MAX_ALIGN));
  }

  #scalarOp(node: OpNode, a: Form, b: Form | undefined, wide: boolean, integer: boolean): Form {
    if (!integer) return scalar(wide);
    const second = b ?? a;
    switch (node.op) {
      case "add":
      case "sub":
        return scalar(wide, Math.min(a.align, second.align));
      case "mul":
        return scalar(wide, alignedProduct(a.align, second.align));
      case "shl":
        return second.constant === undefined
          ? scalar(wide)
          : scalar(wide, alignedProduct(a.align, 2 ** (second.constant & 31)));
      case "toIndex":
      case "toI32":
      case "toU32":
        return node.operands[0]?.type === "f32" || node.operands[0]?.type === "bool"
          ? scalar(wide)
          : scalar(wide, a.align, a.constant);
      case "min":
      case "max":
        return scalar(wide, Math.min(a.align, second.align));
      default:
        return scalar(wide);
    }
  }
}
