/** The counter of a `for` loop that differs by lane: functions that start, test and advance it. */

import { loopGuards } from "@evolver/kernel";
import type { ForNode, Value } from "@evolver/kernel";
import type { RegisterFile } from "../runtime/subgroup.ts";
import type { Emitter } from "./emitter.ts";
import type { Scope } from "./scopes.ts";

/** How a loop over lanes reads a value: what is passed to its function if anything is, and the expression in it. */
interface Operand {
  readonly passed: string | null;
  readonly expression: string;
}

export class LaneCounters {
  readonly #emitter: Emitter;
  readonly #node: ForNode;
  readonly #files = new Set<RegisterFile>();
  readonly #counter: string;
  readonly #from: Operand;
  readonly #to: Operand;
  readonly #step: Operand;

  /** @param scope that around the loop; `body` is that of its iterations */
  constructor(emitter: Emitter, node: ForNode, body: Scope, scope: Scope) {
    this.#emitter = emitter;
    this.#node = node;
    this.#from = this.#operand(node.from, scope);
    this.#to = this.#operand(node.to, scope);
    this.#step = this.#operand(node.step, scope);
    const { file, at } = emitter.keptRegisters(node.induction, body);
    this.#files.add(file);
    this.#counter = `${file}[${at} + lane]`;
  }

  start(staying: string, site: number): void {
    const { passed, expression } = this.#step;
    const isVarying = passed === null && !this.#emitter.isConstant(this.#node.step);
    const check = `if (!(${expression} ${this.#node.direction === "up" ? ">" : "<"} 0)) {
        findings.invalidLaneStep(subgroup, lane, ${site}, ${expression});
        mask[lane] = 0;
        continue;
      }`;
    this.#forEach("start", staying, [this.#from], {
      before: "let count = 0;\ntime.instruction++;",
      lane: `${isVarying ? check : ""}\n${this.#counter} = ${this.#from.expression};\ncount++;`,
      after: "lanes.count = count;",
    });
  }

  /** Lanes that have counted far enough leave the set. */
  test(staying: string): void {
    const compare = this.#node.direction === "up" ? "<" : ">";
    this.#forEach("test", staying, [this.#to], {
      before: "let count = 0;",
      lane: `if (${this.#counter} ${compare} ${this.#to.expression}) count++;\nelse mask[lane] = 0;`,
      after: "lanes.count = count;",
    });
  }

  advance(staying: string): void {
    const next = `${this.#counter} + ${this.#step.expression}`;
    const { passesEnd } = loopGuards(this.#emitter.ir, this.#node);
    const nearest = this.#node.direction === "up" ? "Math.min" : "Math.max";
    this.#forEach("advance", staying, passesEnd ? [this.#step, this.#to] : [this.#step], {
      before: "",
      lane: `${this.#counter} = ${passesEnd ? `${nearest}(${next}, ${this.#to.expression})` : next};`,
      after: "",
    });
  }

  #forEach(
    prefix: string,
    lanes: string,
    operands: readonly Operand[],
    code: { readonly before: string; readonly lane: string; readonly after: string },
  ): void {
    const name = this.#emitter.name(prefix);
    const more = operands.map(({ passed }) => (passed === null ? "" : `, ${passed}`)).join("");
    this.#emitter.define(
      name,
      () => `function ${name}(subgroup, lanes${more}) {
        const { ${[...this.#files].join(", ")} } = subgroup, { mask } = lanes;
        ${code.before}
        for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0) {
          ${code.lane}
        }
        ${code.after}
      }`,
    );
    this.#emitter.emit(`${name}(subgroup, ${lanes}${more});`);
  }

  #operand(value: Value, scope: Scope): Operand {
    const uniform = this.#emitter.uniform(value);
    if (uniform !== null)
      return { passed: this.#emitter.isConstant(value) ? null : uniform, expression: uniform };
    const { file, at } = this.#emitter.registers(value, scope);
    this.#files.add(file);
    return { passed: null, expression: `${file}[${at} + lane]` };
  }
}
