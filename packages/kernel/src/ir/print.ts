/**
 * A kernel's IR as text, one node per line: for people, for inline snapshots, and, in its normal form, for hashing.
 * It prints invalid IR too, as far as possible. There is no parser; programs use codec.ts.
 */

import { assertNever } from "@evolver/base";
import type { Block, BuiltinNode, ConstNode, ControlNode, KernelIR, Node, ParamNode } from "./nodes.ts";
import { isControl, literalText, printPlain, type Shown } from "./schema.ts";
import type { Memory, Param, PhaseBarrier, Value, Variable } from "./types.ts";
import { resultsOf } from "./walk.ts";

/** What `print` shows beside the nodes. */
export interface PrintOptions {
  /** Ends each line with `// file.ts:line`, the file without its folders. */
  readonly sites?: boolean;
}

/**
 * Prints a kernel. Values are numbered %0, %1, … in order of definition, whatever their ids; variables show as $name,
 * with a number where several share one.
 */
export function print(ir: KernelIR, options: PrintOptions = {}): string {
  return new Printer(ir, options.sites === true, false).kernel();
}

/**
 * The text that two kernels share exactly when they differ in nothing but names of the kernel, shared memory, phase
 * barriers, variables and roles, sites, comments, value numbering, and the order and use of constants and built-ins at the
 * front.
 */
export function normalForm(ir: KernelIR): string {
  return new Printer(ir, false, true).kernel();
}

class Printer {
  readonly #ir: KernelIR;
  readonly #sites: boolean;
  readonly #normal: boolean;
  readonly #lines: string[] = [];
  readonly #values = new Map<number, string>();
  readonly #variables = new Map<number, string>();
  readonly #variableNames = new Map<string, number>();
  readonly #memories = new Map<Memory | PhaseBarrier, string>();
  readonly #shown: Shown = {
    value: (value) => this.#value(value),
    list: (values) => this.#list(values),
    element: (memory, index) => this.#element(memory, index),
    variable: (variable) => this.#variable(variable),
    declare: (variable) => this.#declare(variable),
  };
  #numbered = 0;
  #depth = 0;

  constructor(ir: KernelIR, sites: boolean, normal: boolean) {
    this.#ir = ir;
    this.#sites = sites;
    this.#normal = normal;
  }

  kernel(): string {
    const { name, params, shared, phaseBarriers, workgroupSize, subgroupSize, uniformity, site, body } =
      this.#ir;
    const title = this.#normal ? "kernel" : `kernel ${name}`;
    const mode = uniformity === "static" ? "" : ` uniformity ${uniformity}`;
    this.#open(
      `${title}(${params.map(printParam).join(", ")}) workgroup [${workgroupSize.join(", ")}] subgroup ${subgroupSize}${mode}`,
      site,
      () => {
        shared.forEach((memory, i) => {
          if (this.#normal) this.#memories.set(memory, `#${i}`);
          const atomic = memory.atomic ? "atomic " : "";
          this.#line(`shared ${this.#memory(memory)}: ${atomic}${memory.element}[${memory.length}]`);
        });
        phaseBarriers.forEach((barrier, i) => {
          if (this.#normal) this.#memories.set(barrier, `#phases${i}`);
          const { count, arrivals, bytes } = barrier;
          const each = `${arrivals} arrivals${bytes === null ? "" : `, ${bytes} bytes`}`;
          this.#line(`phases ${this.#memory(barrier)}: [${count}] of ${each}`);
        });
        this.#block(body);
      },
    );
    this.#line("}");
    return this.#lines.join("\n");
  }

  #line(text: string, site?: Node["site"]): void {
    let comment = "";
    if (this.#sites && site) {
      const { file, line } = site.location;
      comment = `  // ${file.slice(file.lastIndexOf("/") + 1)}:${line}`;
    }
    this.#lines.push("  ".repeat(this.#depth) + text + comment);
  }

  /** A line that opens a block, and the block's lines. The caller closes it. */
  #open(text: string, site: Node["site"] | undefined, inside: () => void): void {
    this.#line(`${text} {`, site);
    this.#depth++;
    inside();
    this.#depth--;
  }

  #block(block: Block): void {
    for (const node of block.nodes) this.#node(node);
  }

  #node(node: Node): void {
    if (isControl(node)) return this.#control(node);
    if (this.#normal) {
      if (node.kind === "comment") return;
      // Constants, parameters and built-ins stand where they are used.
      if (node.kind === "const") return this.#inline(node, `${node.result.type}:${literalText(node.value)}`);
      if (node.kind === "param") return this.#inline(node, node.name);
      if (node.kind === "builtin") return this.#inline(node, `@${node.builtin}`);
    }
    const text = printPlain(node, this.#shown);
    const results = resultsOf(node);
    if (node.kind === "comment") this.#line(text);
    else if (results.length === 0) this.#line(text, node.site);
    else this.#define(results, text, node.site);
  }

  #control(node: ControlNode): void {
    const { site } = node;
    switch (node.kind) {
      case "if":
        this.#open(`if ${this.#value(node.condition)}`, site, () => this.#block(node.then));
        if (node.else.nodes.length > 0) this.#open("} else", undefined, () => this.#block(node.else));
        return this.#line("}");
      case "for": {
        const range = `${this.#value(node.from)} ${node.direction === "down" ? "downto" : "to"} ${this.#value(node.to)} step ${this.#value(node.step)}`;
        const unroll = node.unroll === false ? "" : ` unroll ${node.unroll === true ? "full" : node.unroll}`;
        const { induction } = node;
        this.#open(`for ${this.#number(induction)}: ${induction.type} = ${range}${unroll}`, site, () =>
          this.#block(node.body),
        );
        return this.#line("}");
      }
      case "while":
        this.#open("while", site, () => {
          this.#block(node.condition);
          this.#line(`test ${this.#value(node.test)}`);
        });
        this.#open("} do", undefined, () => this.#block(node.body));
        return this.#line("}");
      case "roles":
        this.#open("roles", site, () => {
          for (const { name, first, count, body } of node.roles) {
            const title = this.#normal ? "role" : `role ${name}`;
            this.#open(`${title} subgroups ${first} to ${first + count - 1}`, undefined, () =>
              this.#block(body),
            );
            this.#line("}");
          }
        });
        return this.#line("}");
      case "break":
      case "continue":
        return this.#line(node.kind, site);
      default:
        assertNever(node, "kind of node");
    }
  }

  #inline({ result }: ConstNode | ParamNode | BuiltinNode, text: string): void {
    this.#values.set(result.id, text);
  }

  #define(results: readonly Value[], text: string, site: Node["site"]): void {
    const types = [...new Set(results.map((value) => value.type))].join(", ");
    const names = results.map((value) => this.#number(value)).join(", ");
    this.#line(`${names}: ${types} = ${text}`, site);
  }

  #number(value: Value): string {
    const name = `%${this.#numbered++}`;
    this.#values.set(value.id, name);
    return name;
  }

  #value(value: Value): string {
    return this.#values.get(value.id) ?? `%undefined(${value.id})`;
  }

  #list(values: readonly Value[]): string {
    return values.map((value) => this.#value(value)).join(", ");
  }

  #declare(variable: Variable): string {
    const base = this.#normal ? "v" : variable.name;
    const earlier = this.#variableNames.get(base) ?? 0;
    this.#variableNames.set(base, earlier + 1);
    const name = earlier === 0 ? `$${base}` : `$${base}.${earlier}`;
    this.#variables.set(variable.id, name);
    return name;
  }

  #variable(variable: Variable): string {
    return this.#variables.get(variable.id) ?? `$undefined(${variable.id})`;
  }

  #memory(memory: Memory | PhaseBarrier): string {
    return this.#memories.get(memory) ?? memory.name;
  }

  #element(memory: Memory | PhaseBarrier, index: Value): string {
    return `${this.#memory(memory)}[${this.#value(index)}]`;
  }
}

function printParam(param: Param): string {
  if (param.kind === "scalar")
    return `${param.name}: ${param.type}${param.lengthOf === null ? "" : ` = length of ${param.lengthOf}`}`;
  const { access, atomic, element } = param.memory;
  return `${param.name}: ${access} ${atomic ? "atomic " : ""}${element}[]`;
}
