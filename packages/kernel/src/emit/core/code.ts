/**
 * The text of one kernel while it is written: its names and lines, the helper functions that it calls, the inputs that it
 * uses, and the report of how its requests were translated. It knows how the target's language declares values, but no
 * nodes: emitter.ts walks over these, and the target (target.ts) translates each.
 */

import type { BuiltinName } from "../../ir/builtins.ts";
import type { KernelIR } from "../../ir/nodes.ts";
import type { Site } from "../../ir/site.ts";
import type { Memory, PhaseBarrier, ScalarType, Value, Variable } from "../../ir/types.ts";
import { atom, simple, type Expression } from "./expression.ts";
import { helperTexts, type HelperTable, type RequestHelper } from "./helpers.ts";
import { Lines } from "./lines.ts";
import { Names } from "./names.ts";
import { LoweringLog, type EmitOptions, type Note } from "./result.ts";
import { countUses, type Uses } from "./uses.ts";

/** What is fixed before a kernel is written in a language: the words around it, its types and its literals. */
export interface Language {
  /** Functions that emitted code may call; those that it does call are written into the file. */
  readonly helpers: HelperTable;
  /** Names, beside those of the helpers, that the kernel's own must not hide. */
  readonly takenNames: readonly string[];
  literal(type: ScalarType, value: number | boolean, helper: RequestHelper): Expression;
  /** The statement that names a value. */
  declareValue(name: string, type: ScalarType, text: string, helper: RequestHelper): string;
  /** The statement that declares a variable; `text` is its first value, or null. */
  declareVariable(name: string, type: Variable["type"], text: string | null, helper: RequestHelper): string;
}

export class Code {
  readonly ir: KernelIR;
  readonly options: EmitOptions;
  readonly names: Names;
  readonly uses: Uses;
  readonly log = new LoweringLog();
  /** What the statements written so far use. */
  readonly used = {
    builtins: new Set<BuiltinName>(),
    memories: new Set<Memory>(),
    /** By the names of the parameters. */
    scalars: new Set<string>(),
  };
  /** Where statements go now, and the TypeScript that they come from. */
  out = new Lines();
  site: Site;
  readonly #language: Language;
  readonly #helpers = new Set<string>();
  readonly #memories = new Map<Memory | PhaseBarrier, string>();
  readonly #scalars = new Map<string, string>();

  constructor(ir: KernelIR, options: EmitOptions, language: Language) {
    this.ir = ir;
    this.options = options;
    this.site = ir.site;
    this.uses = countUses(ir);
    this.#language = language;
    this.names = new Names([...Object.keys(language.helpers), ...language.takenNames]);
    for (const param of ir.params) {
      const name = this.names.take(param.name);
      if (param.kind === "scalar") this.#scalars.set(param.name, name);
      else this.#memories.set(param.memory, name);
    }
    for (const memory of [...ir.shared, ...ir.phaseBarriers])
      this.#memories.set(memory, this.names.take(memory.name));
  }

  // Names.

  memoryName(memory: Memory | PhaseBarrier): string {
    return this.#memories.get(memory) as string;
  }

  scalarName(param: string): string {
    return this.#scalars.get(param) as string;
  }

  /** One element of memory as the target declares it, to read or to assign. */
  element(memory: Memory, index: Expression): Expression {
    this.used.memories.add(memory);
    return atom(`${this.memoryName(memory)}[${index.text}]`);
  }

  /** The index of the lane in its subgroup. */
  lane(): Expression {
    this.used.builtins.add("lane");
    return simple("lane");
  }

  isUsed(value: Value): boolean {
    return this.uses.count(value) > 0;
  }

  // Helper functions and the lowering report.

  /** Asks for a helper function of the language, and gives its name. */
  readonly helper: RequestHelper = (name) => {
    this.#helpers.add(name);
    return name;
  };

  /** The texts of the helpers that were asked for. */
  helperTexts(): string[] {
    return helperTexts(this.#language.helpers, this.#helpers);
  }

  /** Makes an entry in the lowering report. */
  readonly note: Note = (request, became, fallback, topic = "form") => {
    this.log.add({ request, became, where: this.site.location, fallback, topic });
  };

  // Statements.

  line(text: string): void {
    this.out.add(text, this.site);
  }

  /** Statements in a block of their own, with names of their own. */
  nested(inside: () => void): void {
    this.out.depth++;
    this.names.open();
    inside();
    this.names.close();
    this.out.depth--;
  }

  literal(type: ScalarType, value: number | boolean): Expression {
    return this.#language.literal(type, value, this.helper);
  }

  declareValue(name: string, type: ScalarType, text: string): void {
    this.line(this.#language.declareValue(name, type, text, this.helper));
  }

  declareVariable(name: string, type: Variable["type"], text: string | null): void {
    this.line(this.#language.declareVariable(name, type, text, this.helper));
  }

  /** A name for an expression, declared here, unless it is a name or a literal already. */
  bind(expression: Expression, type: ScalarType, hint: string): Expression {
    if (expression.simple === true) return expression;
    const name = this.names.take(hint);
    this.declareValue(name, type, expression.text);
    return simple(name);
  }
}
