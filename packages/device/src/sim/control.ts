/**
 * The control flow of generated code: branches, loops and roles. Lanes that agree take JavaScript's own branches and loops; where they may not, masks tell who is active.
 */

import type {
  Block,
  ForNode,
  IfNode,
  Node,
  RolesNode,
  Value,
  VarGetNode,
  VarNode,
  VarSetNode,
  WhileNode,
} from "@evolver/kernel";
import type { Codegen, LoopScope, Scope } from "./codegen.ts";
import { VIEWS } from "./memory.ts";
import { PREEMPTED } from "./subgroup.ts";

/** Functions over masks that generated code calls. */
export const maskPrelude = `
function split(I,o,M,T,E){let c=0;
  for(let l=0;l<W;l++){const t=M[l]!==0&&I[o+l]!==0?1:0;T[l]=t;E[l]=M[l]-t;c+=t}return c}
function keep(I,o,A){let c=0;for(let l=0;l<W;l++)if(A[l]!==0){if(I[o+l]!==0)c++;else A[l]=0}return c}
function narrow(M,X){let c=0;for(let l=0;l<W;l++){if(X[l]===0)M[l]=0;c+=M[l]}return c}
function leave(M,A,X){for(let l=0;l<W;l++)if(M[l]!==0){A[l]=0;X[l]=0}}
function skip(M,X){for(let l=0;l<W;l++)if(M[l]!==0)X[l]=0}
function active(A){let c=0;for(let l=0;l<W;l++)c+=A[l];return c}
function setFlags(G,M){for(let l=0;l<W;l++)if(M[l]!==0)G[l]=1}
function unset(G,M){for(let l=0;l<W;l++)if(M[l]!==0&&G[l]===0)return true;return false}
`;

export class ControlFlow {
  readonly #code: Codegen;
  /** Masks of the lanes that have set a variable declared without a value. */
  readonly #flags = new Map<number, string>();

  constructor(code: Codegen) {
    this.#code = code;
  }

  node(node: Node, scope: Scope): void {
    switch (node.kind) {
      case "if":
        return this.#if(node, scope);
      case "for":
        return this.#for(node, scope);
      case "while":
        return this.#while(node, scope);
      case "roles":
        return this.#roles(node, scope);
      case "break":
      case "continue":
        return this.#exit(node, scope);
    }
  }

  /** Watches variables that are declared without a value. */
  trackInitialisation(node: VarNode | VarGetNode | VarSetNode, scope: Scope): void {
    const code = this.#code;
    const { id } = node.variable;
    if (node.kind === "var") {
      if (node.init !== null) return;
      code.zeroVariable(node.variable);
      if (!code.options.checks) return;
      const flags = code.newMask();
      this.#flags.set(id, flags);
      code.emit(`${flags}.fill(0);`);
      return;
    }
    const flags = this.#flags.get(id);
    if (flags === undefined) return;
    if (node.kind === "varSet") code.emit(`setFlags(${flags},${scope.mask});`);
    else
      code.emit(
        `if(unset(${flags},${scope.mask}))rt.uninitialisedVariable(S,${flags},${scope.mask},${code.site(node)},++request);`,
      );
  }

  /** Runs a block as a scope of its own. */
  #block(block: Block, mask: string, count: string, loop: LoopScope | null): void {
    const inner = this.#scope(mask, count, loop, this.#code.name("b"));
    this.#code.emit(`${inner.label}:{`);
    this.#code.block(block.nodes, inner);
    this.#code.close(inner);
    this.#code.emit("}");
  }

  #scope(mask: string, count: string, loop: LoopScope | null, label: string): Scope {
    return { mask, count, label, loop, owned: [], variables: [] };
  }

  #if(node: IfNode, scope: Scope): void {
    const code = this.#code;
    const hasElse = node.else.nodes.length > 0;
    code.emit(code.count("branches"));
    const uniform = code.uniform(node.condition);
    if (uniform !== null) {
      code.emit(`if(${uniform}){`);
      this.#block(node.then, scope.mask, scope.count, scope.loop);
      if (hasElse) {
        code.emit("}else{");
        this.#block(node.else, scope.mask, scope.count, scope.loop);
      }
      code.emit("}");
    } else {
      const then = code.newMask();
      const otherwise = code.newMask();
      const [c, nThen, nElse] = [code.name("c"), code.name("n"), code.name("n")];
      const offset = code.registers(node.condition, scope);
      code.emit(`const ${c}=split(S.I,${offset},${scope.mask},${then},${otherwise});`);
      if (code.options.counters)
        code.emit(`if(${c}!==0&&${c}!==${scope.count}){${code.count("divergentBranches")}}`);
      code.emit(`let ${nThen}=${c},${nElse}=${scope.count}-${c};`);
      code.emit(`if(${nThen}!==0){`);
      this.#block(node.then, then, nThen, scope.loop);
      code.emit("}");
      if (hasElse) {
        code.emit(`if(${nElse}!==0){`);
        this.#block(node.else, otherwise, nElse, scope.loop);
        code.emit("}");
      }
    }
    this.#afterExits([node.then, node.else], scope);
  }

  #roles(node: RolesNode, scope: Scope): void {
    const code = this.#code;
    code.emit(code.count("branches"));
    for (const [i, role] of node.roles.entries()) {
      code.emit(`${i > 0 ? "else " : ""}if(S.index>=${role.first}&&S.index<${role.first + role.count}){`);
      this.#block(role.body, scope.mask, scope.count, scope.loop);
      code.emit("}");
    }
    this.#afterExits(
      node.roles.map((role) => role.body),
      scope,
    );
  }

  /** Where some lanes may have left the iteration, goes on with the others. */
  #afterExits(blocks: readonly Block[], scope: Scope): void {
    if (scope.loop?.current == null || !blocks.some((block) => this.#hasDivergentExit(block))) return;
    const { count, mask, label } = scope;
    this.#code.emit(`${count}=narrow(${mask},${scope.loop.current});if(${count}===0)break ${label};`);
  }

  #hasDivergentExit(block: Block): boolean {
    return block.nodes.some((node) => {
      if (node.kind === "break" || node.kind === "continue") return this.#code.lanes.divergentExits.has(node);
      if (node.kind === "if") return this.#hasDivergentExit(node.then) || this.#hasDivergentExit(node.else);
      return node.kind === "roles" && node.roles.some((role) => this.#hasDivergentExit(role.body));
    });
  }

  #exit(node: Node, scope: Scope): void {
    const loop = scope.loop as LoopScope;
    const code = this.#code;
    if (!code.lanes.divergentExits.has(node))
      code.emit(`break ${node.kind === "break" ? loop.leave : loop.next};`);
    else if (node.kind === "break") code.emit(`leave(${scope.mask},${loop.staying},${loop.current});`);
    else code.emit(`skip(${scope.mask},${loop.current});`);
  }

  /** Opens a loop: for lanes that may part, a mask of those still in it and one of those in this iteration. */
  #openLoop(divergent: boolean, scope: Scope): { loop: LoopScope; body: Scope; staying: string } {
    const code = this.#code;
    const [leave, next] = [code.name("loop"), code.name("next")];
    if (!divergent) {
      const loop: LoopScope = { leave, next, staying: null, current: null };
      return { loop, body: this.#scope(scope.mask, scope.count, loop, next), staying: "" };
    }
    const [staying, current] = [code.newMask(), code.newMask()];
    code.emit(`${staying}.set(${scope.mask});`);
    const loop: LoopScope = { leave, next, staying, current };
    return { loop, body: this.#scope(current, code.name("n"), loop, next), staying };
  }

  #endIteration(node: ForNode | WhileNode, body: Scope, staying: string, inLoop: string): void {
    const code = this.#code;
    if (staying !== "" && this.#hasDivergentExit(node.body))
      code.emit(`${inLoop}=active(${staying});if(${inLoop}===0)break ${body.loop?.leave};`);
    code.emit(`if(--budget===0){budget=L.quantum;S.looping=${code.site(node)};yield ${PREEMPTED};}`);
  }

  #for(node: ForNode, scope: Scope): void {
    const code = this.#code;
    const divergent = code.lanes.divergentLoops.has(node);
    const { induction } = node;
    const together = code.uniform(induction) !== null;
    const less = node.direction === "up" ? "<" : ">";
    const site = code.site(node);
    const step = code.uniform(node.step);
    const guard = step !== null && !code.isConstant(node.step);
    if (guard)
      code.emit(
        `if(!(${step}${node.direction === "up" ? ">" : "<"}0))rt.invalidStep(S,${scope.mask},${step},${site},++request);else{`,
      );
    const { loop, body, staying } = this.#openLoop(divergent, scope);
    const inLoop = code.name("n");
    if (divergent) code.emit(`let ${inLoop}=${scope.count};`);
    const name = `v${induction.id}`;
    const wrapped = induction.type === "i32" ? [`(`, `|0)`] : [`((`, `)>>>0)`];
    const operands = {
      from: this.#operand(node.from, scope),
      to: this.#operand(node.to, scope),
      step: this.#operand(node.step, scope),
    };
    const counter = together ? { call: name, lane: "i" } : this.#counter(induction, body);
    if (!together) this.#startCounters(node, counter.lane, operands, staying, inLoop, site, step === null);
    if (together)
      code.emit(
        `${loop.leave}:for(let ${name}=${operands.from.call};;${name}=${wrapped[0]}${name}+${step}${wrapped[1]}){`,
      );
    else code.emit(`${loop.leave}:for(;;){`);
    code.emit(code.count("branches"));
    const testVaries = divergent && (!together || code.uniform(node.to) === null);
    if (testVaries) {
      const test = code.name("test");
      code.define(
        test,
        () =>
          `function ${test}(S,A,i,j){let c=0;for(let l=0;l<W;l++)if(A[l]!==0){if(${counter.lane}${less}${operands.to.lane.replace("@", "j")})c++;else A[l]=0}return c}`,
      );
      const c = code.name("c");
      code.emit(`const ${c}=${test}(S,${staying},${counter.call},${operands.to.call});`);
      this.#decide(c, inLoop);
    } else code.emit(`if(!(${name}${less}${operands.to.call}))break;`);
    if (divergent) code.emit(`${loop.current}.set(${staying});let ${body.count}=${inLoop};`);
    code.emit(`${loop.next}:{`);
    code.block(node.body.nodes, body);
    code.emit("}");
    this.#endIteration(node, body, staying, inLoop);
    if (!together) {
      const advance = code.name("advance");
      const stepLane = operands.step.lane.replace("@", "j");
      code.define(
        advance,
        () =>
          `function ${advance}(S,A,j){for(let l=0;l<W;l++)if(A[l]!==0)${counter.lane}=${wrapped[0]}${counter.lane}+${stepLane}${wrapped[1]}}`,
      );
      code.emit(`${advance}(S,${staying},${operands.step.call});`);
    }
    code.emit("}");
    code.close(body);
    if (guard) code.emit("}");
  }

  /** A loop's decision by lane: `c` of the lanes stay. */
  #decide(c: string, inLoop: string): void {
    const code = this.#code;
    if (code.options.counters)
      code.emit(`if(${c}!==0&&${c}!==${inLoop}){${code.count("divergentBranches")}}`);
    code.emit(`${inLoop}=${c};if(${c}===0)break;`);
  }

  /** How a lane function reads an operand: from registers, or from the parameter that stands for `@`. */
  #operand(value: Value, scope: Scope): { call: string; lane: string } {
    const uniform = this.#code.uniform(value);
    if (uniform !== null) return { call: uniform, lane: "@" };
    return { call: "0", lane: `S.${VIEWS[value.type]}[${this.#code.registers(value, scope)}+l]` };
  }

  /** Registers for a loop counter that differs by lane. */
  #counter(induction: Value, body: Scope): { call: string; lane: string } {
    const offset = this.#code.keptRegisters(induction, body);
    return { call: "0", lane: `S.${VIEWS[induction.type]}[${offset}+l]` };
  }

  #startCounters(
    node: ForNode,
    counter: string,
    operands: { from: { call: string; lane: string }; step: { call: string; lane: string } },
    staying: string,
    inLoop: string,
    site: number,
    stepVaries: boolean,
  ): void {
    const code = this.#code;
    const start = code.name("start");
    const check = stepVaries
      ? `if(!(${operands.step.lane}${node.direction === "up" ? ">" : "<"}0)){rt.invalidLaneStep(S,l,${operands.step.lane},${site},request);A[l]=0;continue}`
      : "";
    code.define(
      start,
      () =>
        `function ${start}(S,A,j){let c=0;request++;for(let l=0;l<W;l++)if(A[l]!==0){${check}${counter}=${operands.from.lane.replace("@", "j")};c++}return c}`,
    );
    code.emit(`${inLoop}=${start}(S,${staying},${operands.from.call});`);
  }

  #while(node: WhileNode, scope: Scope): void {
    const code = this.#code;
    const divergent = code.lanes.divergentLoops.has(node);
    const { loop, body, staying } = this.#openLoop(divergent, scope);
    const inLoop = code.name("n");
    if (divergent) code.emit(`let ${inLoop}=${scope.count};`);
    code.emit(`${loop.leave}:for(;;){`);
    if (divergent) code.emit(`${loop.current}.set(${staying});let ${body.count}=${inLoop};`);
    const next = code.block(node.condition.nodes, body);
    code.emit(code.count("branches"));
    const test = code.uniform(node.test);
    if (test !== null) code.emit(`if(!${test})break;`);
    else {
      const c = code.name("c");
      code.emit(`const ${c}=keep(S.I,${code.registers(node.test, body)},${staying});`);
      this.#decide(c, inLoop);
      code.emit(`${loop.current}.set(${staying});${body.count}=${c};`);
    }
    code.emit(`${loop.next}:{`);
    code.block(node.body.nodes, body, next);
    code.emit("}");
    this.#endIteration(node, body, staying, inLoop);
    code.emit("}");
    code.close(body);
  }
}
