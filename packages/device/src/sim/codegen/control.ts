/**
 * The control flow of generated code: branches, loops and roles. Lanes that agree take JavaScript's own branches and
 * loops; where they may not, sets of lanes tell who is active.
 */

import { blocksOf, visitNodes } from "@evolver/kernel";
import type {
  Block,
  BreakNode,
  ContinueNode,
  ForNode,
  IfNode,
  Node,
  RolesNode,
  VarGetNode,
  VarNode,
  VarSetNode,
  WhileNode,
} from "@evolver/kernel";
import { loopStateOf } from "../analysis/loop-state.ts";
import { LaneCounters } from "./lane-counters.ts";
import type { Emitter } from "./emitter.ts";
import type { BlockWriter, LoopScope, Scope } from "./scopes.ts";
import type { ShadowWriter } from "./shadows.ts";

/** A loop that is being written. */
interface OpenLoop {
  readonly loop: LoopScope;
  readonly body: Scope;
  /** The lanes still in the loop, where they may part. */
  readonly staying: string | null;
}

export class ControlFlow {
  readonly #emitter: Emitter;
  readonly #blocks: BlockWriter;
  readonly #shadows: ShadowWriter | null;
  /** Sets of the lanes that have set a variable declared without a value. */
  readonly #set = new Map<number, string>();

  constructor(emitter: Emitter, blocks: BlockWriter, shadows: ShadowWriter | null) {
    this.#emitter = emitter;
    this.#blocks = blocks;
    this.#shadows = shadows;
  }

  /** Watches variables that are declared without a value. */
  trackInitialisation(node: VarNode | VarGetNode | VarSetNode, scope: Scope): void {
    const emitter = this.#emitter;
    const { active } = scope;
    const { id } = node.variable;
    if (node.kind === "var") {
      if (node.init !== null) return;
      emitter.zeroVariable(node.variable);
      if (!emitter.options.checks) return;
      const set = emitter.newLaneSet("set");
      this.#set.set(id, set);
      emitter.emit(`${set}.mask.fill(0);`);
      return;
    }
    const set = this.#set.get(id);
    if (node.kind === "varGet") this.#shadows?.variable(node, scope, set ?? null);
    if (set === undefined) return;
    if (node.kind === "varSet") emitter.emit(`markSet(${set}, ${active});`);
    else emitter.emit(`if (anyUnset(${set}, ${active})) findings.indeterminate(${emitter.site(node)});`);
  }

  if(node: IfNode, scope: Scope): void {
    const emitter = this.#emitter;
    const hasElse = node.else.nodes.length > 0;
    for (const [number, guard] of emitter.options.guards.entries())
      if (guard.node === node) {
        const [index, extent] = [emitter.operand(guard.index, scope), emitter.operand(guard.extent, scope)];
        emitter.emit(`reach.see(subgroup, ${scope.active}, ${number}, ${index}, ${extent});`);
      }
    emitter.emit(emitter.count("branches"));
    const uniform = emitter.uniform(node.condition);
    if (uniform !== null) {
      emitter.emit(`if (${uniform}) {`);
      this.#block(node.then, scope.active, scope);
      if (hasElse) {
        emitter.emit("} else {");
        this.#block(node.else, scope.active, scope);
      }
      emitter.emit("}");
    } else {
      const then = emitter.newLaneSet("then");
      const otherwise = emitter.newLaneSet("else");
      const { file, at } = emitter.registers(node.condition, scope);
      emitter.emit(`splitLanes(subgroup.${file}, ${at}, ${scope.active}, ${then}, ${otherwise});`);
      if (emitter.options.counters)
        emitter.emit(
          `if (${then}.count !== 0 && ${otherwise}.count !== 0) ${emitter.count("divergentBranches")}`,
        );
      // A seed says which side goes first where that can make a difference without a race.
      const either = emitter.options.seeded && [node.then, node.else].every(hasAtomics);
      const side = emitter.name("side");
      if (either)
        emitter.emit(`for (let ${side} = launch.elseFirst() ? 1 : 0, i = 0; i < 2; i++, ${side} ^= 1) {`);
      emitter.emit(`if (${either ? `${side} === 0 && ` : ""}${then}.count !== 0) {`);
      this.#block(node.then, then, scope);
      emitter.emit("}");
      if (hasElse) {
        emitter.emit(`if (${either ? `${side} === 1 && ` : ""}${otherwise}.count !== 0) {`);
        this.#block(node.else, otherwise, scope);
        emitter.emit("}");
      }
      if (either) emitter.emit("}");
    }
    this.#afterExits(blocksOf(node), scope);
  }

  roles(node: RolesNode, scope: Scope): void {
    const emitter = this.#emitter;
    emitter.emit(emitter.count("branches"));
    for (const { name, first, count, body } of node.roles) {
      emitter.emit(`// role ${JSON.stringify(name)}`);
      emitter.emit(`if (subgroup.index >= ${first} && subgroup.index < ${first + count}) {`);
      this.#block(body, scope.active, scope);
      emitter.emit("}");
    }
    this.#afterExits(blocksOf(node), scope);
  }

  exit(node: BreakNode | ContinueNode, { active, loop }: Scope): void {
    const emitter = this.#emitter;
    const { leave, next, staying, iteration } = loop as LoopScope;
    const isBreak = node.kind === "break";
    if (!emitter.lanes.divergentExits.has(node)) emitter.emit(`break ${isBreak ? leave : next};`);
    else if (isBreak) emitter.emit(`breakLanes(${active}, ${staying}, ${iteration});`);
    else emitter.emit(`continueLanes(${active}, ${iteration});`);
  }

  for(node: ForNode, scope: Scope): void {
    const emitter = this.#emitter;
    const { active } = scope;
    const { induction } = node;
    const site = emitter.site(node);
    const isUp = node.direction === "up";
    const step = emitter.uniform(node.step);
    const guard = step !== null && !emitter.isConstant(node.step);
    if (guard)
      emitter.emit(`if (!(${step} ${isUp ? ">" : "<"} 0)) {
        time.instruction++;
        findings.invalidStep(subgroup, ${active}, ${site}, ${step});
      } else {`);
    emitter.nameValue(induction, "i");
    const open = this.#openLoop(emitter.lanes.divergentLoops.has(node), scope);
    const { loop, body, staying } = open;
    const to = emitter.uniform(node.to);
    // Lanes that agree on the counter share one.
    const shared = emitter.uniform(induction);
    const counters = shared === null ? new LaneCounters(emitter, node, body, scope) : null;
    if (counters === null) {
      // A number beyond the counter's type ends the loop, and nothing else sees it.
      emitter.emit(
        `${loop.leave}: for (let ${shared} = ${emitter.uniform(node.from)}; ; ${shared} += ${step}) {`,
      );
    } else {
      counters.start(staying as string, site);
      emitter.emit(`${loop.leave}: for (;;) {`);
    }
    emitter.emit(emitter.count("branches"));
    if (staying !== null && (counters !== null || to === null)) {
      const before = this.#countBefore(staying);
      if (counters === null) this.#testSharedCounter(node, shared as string, staying, scope);
      else counters.test(staying);
      this.#leaveIfNone(staying, before);
    } else emitter.emit(`if (!(${shared} ${isUp ? "<" : ">"} ${to})) break;`);
    if (staying !== null) emitter.emit(`copyLanes(${loop.iteration}, ${staying});`);
    emitter.emit(`${loop.next}: {`);
    emitter.observed(node.body, () => this.#blocks.block(node.body.nodes, body));
    emitter.emit("}");
    this.#endIteration(node, open);
    if (counters !== null) counters.advance(staying as string);
    emitter.emit("}");
    this.#blocks.close(body);
    if (guard) emitter.emit("}");
  }

  while(node: WhileNode, scope: Scope): void {
    const emitter = this.#emitter;
    const open = this.#openLoop(emitter.lanes.divergentLoops.has(node), scope);
    const { loop, body, staying } = open;
    const watch = this.#watchIterations(node, staying ?? scope.active);
    emitter.emit(`${loop.leave}: for (;;) {`);
    watch();
    if (staying !== null) emitter.emit(`copyLanes(${loop.iteration}, ${staying});`);
    const next = this.#blocks.block(node.condition.nodes, body);
    this.#shadows?.test(node, body);
    emitter.emit(emitter.count("branches"));
    const test = emitter.uniform(node.test);
    if (test !== null) emitter.emit(`if (!${test}) break;`);
    else {
      const { file, at } = emitter.registers(node.test, body);
      const before = this.#countBefore(staying as string);
      emitter.emit(`keepWhere(subgroup.${file}, ${at}, ${staying});`);
      this.#leaveIfNone(staying as string, before);
      emitter.emit(`copyLanes(${loop.iteration}, ${staying});`);
    }
    emitter.emit(`${loop.next}: {`);
    emitter.observed(node.body, () => this.#blocks.block(node.body.nodes, body, next));
    emitter.emit("}");
    this.#endIteration(node, open);
    emitter.emit("}");
    this.#blocks.close(body);
  }

  /**
   * Notices when a loop has come back to where it was twice in the same number of iterations, and memory has not changed: then
   * it goes round for ever unless somebody else changes memory. It is compared with ever later iterations, so that it may take
   * any number of them to come round (Brent). Returns what writes the comparison, at the beginning of an iteration.
   */
  #watchIterations(node: WhileNode, lanes: string): () => void {
    const emitter = this.#emitter;
    const { variables, looks, polls } = loopStateOf(node);
    const [watch, state] = [emitter.name("watch"), emitter.name("state")];
    emitter.emit(`const ${watch} = new LoopWatch();`);
    return () => {
      const parts = variables.map((variable) => {
        if (emitter.lanes.uniformVariable[variable.id] === true)
          return `${state} = mixNumber(${state}, ${emitter.variableName(variable)});`;
        return `${state} = mixLanes(${state}, subgroup.u32, ${emitter.variableRegisters(variable).at});`;
      });
      const compare = `let ${state} = ${lanes}.count;
        ${parts.join("\n")}
        if (${watch}.sees(${state}, time.changes)) {
          subgroup.stuckAt = time.changes;
          ${polls ? "" : `subgroup.polling = ${emitter.site(node)};`}
        }`;
      // Nobody can end a loop over registers alone, so that it need not be noticed soon.
      emitter.emit(looks ? compare : `if ((++${watch}.iterations & 255) === 0) { ${compare} }`);
    };
  }

  /** Runs a block as a scope of its own. */
  #block(block: Block, active: string, { loop }: Scope): void {
    const label = this.#emitter.name("block");
    const inner: Scope = { active, label, loop, owned: [], variables: [] };
    this.#emitter.emit(`${label}: {`);
    this.#emitter.observed(block, () => this.#blocks.block(block.nodes, inner));
    this.#blocks.close(inner);
    this.#emitter.emit("}");
  }

  /** Where some lanes may have left the iteration, goes on with the others. */
  #afterExits(blocks: readonly Block[], { active, label, loop }: Scope): void {
    const iteration = loop?.iteration ?? null;
    if (iteration === null || !blocks.some((block) => this.#hasDivergentExit(block))) return;
    this.#emitter.emit(`keepIterating(${active}, ${iteration});`);
    this.#emitter.emit(`if (${active}.count === 0) break ${label};`);
  }

  /** Whether lanes leave an iteration of the loop around a block there without all others. */
  #hasDivergentExit(block: Block): boolean {
    const { divergentExits } = this.#emitter.lanes;
    const isLoop = (node: Node): boolean => node.kind === "for" || node.kind === "while";
    return block.nodes.some(
      (node) =>
        ((node.kind === "break" || node.kind === "continue") && divergentExits.has(node)) ||
        (!isLoop(node) && blocksOf(node).some((inner) => this.#hasDivergentExit(inner))),
    );
  }

  /** Opens a loop: for lanes that may part, a set of those still in it and one of those in this iteration. */
  #openLoop(divergent: boolean, { active }: Scope): OpenLoop {
    const emitter = this.#emitter;
    const [leave, next] = [emitter.name("loop"), emitter.name("next")];
    const scope = { label: next, owned: [], variables: [] };
    if (!divergent) {
      const loop: LoopScope = { leave, next, staying: null, iteration: null };
      return { loop, body: { ...scope, active, loop }, staying: null };
    }
    const [staying, iteration] = [emitter.newLaneSet("staying"), emitter.newLaneSet("iteration")];
    emitter.emit(`copyLanes(${staying}, ${active});`);
    const loop: LoopScope = { leave, next, staying, iteration };
    return { loop, body: { ...scope, active: iteration, loop }, staying };
  }

  #endIteration(node: ForNode | WhileNode, { loop, staying }: OpenLoop): void {
    const emitter = this.#emitter;
    if (staying !== null && this.#hasDivergentExit(node.body)) {
      emitter.emit(`recount(${staying});`);
      emitter.emit(`if (${staying}.count === 0) break ${loop.leave};`);
    }
    emitter.emit(`if (--budget === 0) {
      budget = launch.quantum;
      subgroup.looping = ${emitter.site(node)};
      yield PREEMPTED;
    }`);
  }

  /** Tests a counter that lanes share against a limit that they do not. */
  #testSharedCounter({ to, direction }: ForNode, counter: string, staying: string, scope: Scope): void {
    const emitter = this.#emitter;
    const { file, at } = emitter.registers(to, scope);
    const test = emitter.name("test");
    emitter.define(
      test,
      () => `function ${test}(registers, lanes, counter) {
        const { mask } = lanes;
        let count = 0;
        for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0) {
          if (counter ${direction === "up" ? "<" : ">"} registers[${at} + lane]) count++;
          else mask[lane] = 0;
        }
        lanes.count = count;
      }`,
    );
    emitter.emit(`${test}(subgroup.${file}, ${staying}, ${counter});`);
  }

  /** Remembers how many lanes are in a set, where divergence is counted. */
  #countBefore(lanes: string): string | null {
    if (!this.#emitter.options.counters) return null;
    const name = this.#emitter.name("before");
    this.#emitter.emit(`const ${name} = ${lanes}.count;`);
    return name;
  }

  /** After a loop's decision by lane. */
  #leaveIfNone(staying: string, before: string | null): void {
    const emitter = this.#emitter;
    if (before !== null)
      emitter.emit(
        `if (${staying}.count !== 0 && ${staying}.count !== ${before}) ${emitter.count("divergentBranches")}`,
      );
    emitter.emit(`if (${staying}.count === 0) break;`);
  }
}

function hasAtomics(block: Block): boolean {
  let found = false;
  visitNodes(block, (node) => {
    if (node.kind === "atomic") found = true;
  });
  return found;
}
