/**
 * A kernel's IR as text, one node a line: for people, for inline snapshots, and, in its normal form, for hashing.
 * It prints invalid IR too, as far as it goes. There is no parser: serialise.ts is for machines.
 */

import type { Block, KernelIR, Node } from "./nodes.ts";
import type { Memory, Param, PhaseBarrier, Value, Variable } from "./types.ts";

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
    const { site } = node;
    switch (node.kind) {
      case "const": {
        const text = node.value === 0 && Object.is(node.value, -0) ? "-0" : String(node.value);
        return this.#leaf(node, `const ${text}`, `${node.result.type}:${text}`);
      }
      case "param":
        return this.#leaf(node, `param ${node.name}`, node.name);
      case "builtin":
        return this.#leaf(node, node.builtin, `@${node.builtin}`);
      case "op":
        return this.#define([node.result], `${node.op} ${this.#list(node.operands)}`, site);
      case "load":
        return this.#define(node.results, `load ${this.#element(node.memory, node.index)}`, site);
      case "store":
        return this.#line(
          `store ${this.#element(node.memory, node.index)} = ${this.#list(node.values)}`,
          site,
        );
      case "atomic": {
        const operands = node.operands.length > 0 ? ` ${this.#list(node.operands)}` : "";
        const order = node.order === "relaxed" ? "" : ` ${node.order}`;
        const text = `atomic ${node.op} ${this.#element(node.memory, node.index)}${operands}${order}`;
        return node.result === null ? this.#line(text, site) : this.#define([node.result], text, site);
      }
      case "var": {
        const init = node.init === null ? "" : ` = ${this.#value(node.init)}`;
        const name = this.#declare(node.variable);
        return this.#line(`var ${name}: ${node.variable.type}${init}`, site);
      }
      case "varGet":
        return this.#define([node.result], `get ${this.#variable(node.variable)}`, site);
      case "varSet":
        return this.#line(`set ${this.#variable(node.variable)} = ${this.#value(node.value)}`, site);
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
      case "barrier":
        return this.#line(node.scope === "workgroup" ? "barrier" : `barrier ${node.scope}`, site);
      case "asyncCopy": {
        const to = this.#element(node.to, node.toIndex);
        const active = node.active === null ? "" : ` active ${this.#value(node.active)}`;
        const from = this.#element(node.from, node.fromIndex);
        return this.#line(`copy ${to} = ${from} width ${node.width}${active}`, site);
      }
      case "commitCopies":
        return this.#line(`commit${node.bytes === null ? "" : ` ${node.bytes} bytes`}`, site);
      case "awaitCopies":
        return this.#line(`await newer ${node.newer}`, site);
      case "arrive": {
        const when = node.after === "now" ? "" : ` after ${node.after}`;
        return this.#line(`arrive ${this.#element(node.barrier, node.index)}${when}`, site);
      }
      case "awaitPhase": {
        const place = this.#element(node.barrier, node.index);
        return this.#line(`wait ${place} parity ${this.#value(node.parity)}`, site);
      }
      case "break":
      case "continue":
        return this.#line(node.kind, site);
      case "uniformLoad":
        return this.#define([node.result], `uniformLoad ${this.#element(node.memory, node.index)}`, site);
      case "subgroup":
        return this.#define(node.results, `subgroup.${node.op} ${this.#list(node.operands)}`, site);
      case "comment":
        if (!this.#normal) this.#line(`// ${node.text.replaceAll("\n", " ")}`);
    }
  }

  /** Leaves have a line of their own in print; in the normal form they stand where they are used. */
  #leaf(node: Node & { readonly result: Value }, text: string, inline: string): void {
    if (this.#normal) this.#values.set(node.result.id, inline);
    else this.#define([node.result], text, node.site);
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
  if (param.kind === "scalar") return `${param.name}: ${param.type}`;
  const { access, atomic, element } = param.memory;
  return `${param.name}: ${access} ${atomic ? "atomic " : ""}${element}[]`;
}
