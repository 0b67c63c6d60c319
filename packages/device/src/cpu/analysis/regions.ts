/**
 * Splits a kernel at its barriers. Control flow around barriers is run once for the workgroup; between barriers lie
 * barrier-free regions, as large as they can be, and each is run for one subgroup after another (OpenCL compilers for
 * processors call this work-group function generation, and the regions parallel regions). Also says which values and
 * variables live from one region to another.
 */

import { assertNever } from "@evolver/base";
import type { Block, KernelIR, Node, UniformLoadNode, Value } from "@evolver/kernel";
import { blocksOf, resultsOf, variablesOf, visitNodes } from "@evolver/kernel";
import type { Dataflow } from "./dataflow.ts";
import type { Divergence } from "./divergence.ts";
import { isBarrier, isControl, isExit, isLoop, isStraight } from "./node-classes.ts";

/** Nodes without a barrier among or inside them. */
export interface Region {
  readonly kind: "region";
  readonly nodes: Node[];
}

/** What is done at workgroup level, in order. */
export type WorkgroupItem =
  | Region
  | { readonly kind: "uniformLoad"; readonly node: UniformLoadNode }
  | {
      readonly kind: "if";
      readonly node: Node & { kind: "if" };
      readonly then: WorkgroupItem[];
      readonly else: WorkgroupItem[];
    }
  | { readonly kind: "for"; readonly node: Node & { kind: "for" }; readonly body: WorkgroupItem[] }
  | {
      readonly kind: "while";
      readonly node: Node & { kind: "while" };
      readonly condition: WorkgroupItem[];
      readonly body: WorkgroupItem[];
    }
  | { readonly kind: "break" | "continue" };

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
      if (isExit(node)) any = true;
      if (node.kind !== "if") continue;
      const inside = [exits(node.then), exits(node.else)];
      if (!inside.includes(true)) continue;
      found.add(node);
      any = true;
    }
    return any;
  };
  for (const node of [...found]) if (isLoop(node)) exits(node.body);
  return found;
}

export class Partition {
  /** The kernel at workgroup level. */
  readonly items: WorkgroupItem[];
  /** Values and variables kept in the context area because several regions, or the workgroup, use them. */
  readonly contextValues = new Map<number, Value>();
  readonly contextVariables = new Set<number>();
  readonly #workgroupLevel: ReadonlySet<Node>;
  readonly #divergence: Divergence;
  readonly #dataflow: Dataflow;

  /** @param workgroupLevel of `workgroupLevelNodes` */
  constructor(ir: KernelIR, divergence: Divergence, dataflow: Dataflow, workgroupLevel: ReadonlySet<Node>) {
    this.#divergence = divergence;
    this.#dataflow = dataflow;
    this.#workgroupLevel = workgroupLevel;
    this.items = this.#split(ir.body);
    this.#findContext(ir);
  }

  /** Whether a node of a region is computed once for the workgroup, before the region that it stands in. */
  isHoisted(node: Node): boolean {
    if (!isStraight(node)) return false;
    switch (node.kind) {
      case "const":
      case "param":
      case "builtin":
      case "op":
      case "varGet":
        return this.#isWorkgroupUniform(node.result);
      case "load":
        return node.results.every((result) => this.#isWorkgroupUniform(result));
      case "var":
      case "varSet":
        return this.#divergence.variable(node.variable.id).workgroupUniform;
      case "store":
      case "comment":
        return false;
      default:
        return assertNever(node, "straight node");
    }
  }

  #isWorkgroupUniform(value: Value): boolean {
    const { kind, workgroupUniform } = this.#divergence.pattern(value);
    return workgroupUniform && kind !== "varying";
  }

  #split(block: Block): WorkgroupItem[] {
    const items: WorkgroupItem[] = [];
    let open: Region | null = null;
    for (const node of block.nodes) {
      const separate = this.#atWorkgroupLevel(node);
      if (separate !== null) {
        items.push(...separate);
        open = null;
      } else if (node.kind !== "comment") {
        if (open === null) {
          open = { kind: "region", nodes: [] };
          items.push(open);
        }
        open.nodes.push(node);
      }
    }
    return items;
  }

  /** What a node is at workgroup level; null where it belongs to a region. */
  #atWorkgroupLevel(node: Node): WorkgroupItem[] | null {
    // Inside a region exits stand in nested blocks, so one that is seen here leaves a loop of the workgroup.
    if (isExit(node)) return [{ kind: node.kind }];
    if (isBarrier(node)) return node.kind === "uniformLoad" ? [{ kind: "uniformLoad", node }] : [];
    if (!this.#workgroupLevel.has(node)) return null;
    if (!isControl(node)) throw new Error(`a ${node.kind} has no blocks, and cannot have a barrier inside`);
    switch (node.kind) {
      case "if":
        return [{ kind: "if", node, then: this.#split(node.then), else: this.#split(node.else) }];
      case "for":
        return [{ kind: "for", node, body: this.#split(node.body) }];
      case "while": {
        const condition = this.#split(node.condition);
        return [{ kind: "while", node, condition, body: this.#split(node.body) }];
      }
      case "roles":
        // A kernel with barriers in roles is compiled only where the workgroup is one subgroup (forward-progress.ts).
        return node.roles.filter(({ first }) => first === 0).flatMap(({ body }) => this.#split(body));
      default:
        return assertNever(node, "control node");
    }
  }

  #findContext(ir: KernelIR): void {
    /** The regions that define values, and that first touch variables. */
    const home = new Map<number, Region>();
    const variableHome = new Map<number, Region>();
    const need = (value: Value, by: Region | null): void => {
      const at = home.get(value.id);
      if (at !== undefined && at !== by) this.contextValues.set(value.id, value);
    };
    const touch = (id: number, by: Region): void => {
      const at = variableHome.get(id);
      if (at === undefined) variableHome.set(id, by);
      else if (at !== by) this.contextVariables.add(id);
    };
    const regions = regionsOf(this.items);
    for (const region of regions)
      for (const node of region.nodes)
        if (!this.isHoisted(node) && node.kind !== "builtin")
          for (const value of resultsOf(node)) home.set(value.id, region);
    for (const region of regions)
      for (const top of region.nodes) {
        if (this.isHoisted(top)) continue;
        visitNodes({ nodes: [top] }, (node) => {
          for (const value of this.#dataflow.operandsOf(node)) need(value, region);
          for (const { variable } of variablesOf(node))
            if (!this.#divergence.variable(variable.id).workgroupUniform) touch(variable.id, region);
        });
      }
    visitNodes(ir.body, (node) => {
      if (this.#workgroupLevel.has(node) || isBarrier(node))
        for (const value of this.#dataflow.operandsOf(node)) need(value, null);
    });
  }
}

/** All regions among items, in order. */
function regionsOf(items: readonly WorkgroupItem[]): Region[] {
  return items.flatMap((item) => {
    switch (item.kind) {
      case "region":
        return [item];
      case "if":
        return [...regionsOf(item.then), ...regionsOf(item.else)];
      case "for":
        return regionsOf(item.body);
      case "while":
        return [...regionsOf(item.condition), ...regionsOf(item.body)];
      case "uniformLoad":
      case "break":
      case "continue":
        return [];
      default:
        return assertNever(item, "item at workgroup level");
    }
  });
}
