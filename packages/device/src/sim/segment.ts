/**
 * Runs of lane-varying arithmetic and variables as one loop over the lanes. Each run is a function of its own: small
 * enough for the engine to optimise, however long the kernel. Lanes that are not active compute too, on garbage;
 * only variables need masks.
 */

import type {
  BuiltinNode,
  BuiltinName,
  Node,
  OpNode,
  Value,
  VarGetNode,
  VarNode,
  VarSetNode,
} from "@evolver/kernel";
import { operation } from "./expression.ts";
import { VIEWS } from "./memory.ts";

export type LaneNode = OpNode | BuiltinNode | VarNode | VarGetNode | VarSetNode;

/** What the loop needs to know of the kernel around it. */
export interface SegmentContext {
  /** The expression of a lane-invariant value. */
  uniform(value: Value): string | null;
  /** The offset of lane 0 in the value's registers; takes registers for a value that has none. */
  registers(value: Value): number;
  variable(id: number): number;
  isMasked(node: VarSetNode): boolean;
  /** Whether a result is read outside this run, given how often it is read inside. */
  escapes(value: Value, usesInside: number): boolean;
}

/** Returns the function's declaration and its call, or null where there is nothing to do. */
export function segmentFunction(
  name: string,
  nodes: readonly LaneNode[],
  mask: string,
  context: SegmentContext,
): { declaration: string; call: string } | null {
  const body: string[] = [];
  const parameters = new Map<string, string>();
  const views = new Set<string>();
  /** Lane-local names of values and of variables' present contents. */
  const local = new Map<number, string>();
  const current = new Map<number, string>();
  const inside = new Map<number, number>();

  const parameter = (expression: string): string => {
    if (/^[(\d]/.test(expression) || expression === "NaN" || expression === "Infinity") return expression;
    let known = parameters.get(expression);
    if (known === undefined) parameters.set(expression, (known = `u${parameters.size}`));
    return known;
  };
  const view = (type: Value["type"]): string => {
    views.add(VIEWS[type]);
    return VIEWS[type];
  };
  const read = (value: Value): string => {
    inside.set(value.id, (inside.get(value.id) ?? 0) + 1);
    const uniform = context.uniform(value);
    if (uniform !== null) return parameter(uniform);
    const known = local.get(value.id);
    if (known !== undefined) return known;
    const fresh = `x${value.id}`;
    body.push(`const ${fresh}=${view(value.type)}[${context.registers(value)}+l];`);
    local.set(value.id, fresh);
    return fresh;
  };
  const define = (value: Value, expression: string): void => {
    body.push(`const t${value.id}=${expression};`);
    local.set(value.id, `t${value.id}`);
  };
  const results: Value[] = [];

  for (const node of nodes) {
    switch (node.kind) {
      case "builtin":
        define(node.result, builtinLane(node.builtin, parameter));
        results.push(node.result);
        break;
      case "op": {
        const operands = node.operands.map(read);
        body.push(operation(`t${node.result.id}`, node, operands));
        local.set(node.result.id, `t${node.result.id}`);
        results.push(node.result);
        break;
      }
      case "var":
        if (node.init !== null) {
          const init = read(node.init);
          body.push(`${view(node.variable.type)}[${context.variable(node.variable.id)}+l]=${init};`);
          current.set(node.variable.id, init);
        }
        break;
      case "varSet": {
        const value = read(node.value);
        const store = `${view(node.variable.type)}[${context.variable(node.variable.id)}+l]=${value};`;
        const masked = context.isMasked(node);
        body.push(masked ? `if(M[l]!==0)${store}` : store);
        if (masked) current.delete(node.variable.id);
        else current.set(node.variable.id, value);
        break;
      }
      case "varGet": {
        const known = current.get(node.variable.id);
        if (known !== undefined) local.set(node.result.id, known);
        else define(node.result, `${view(node.variable.type)}[${context.variable(node.variable.id)}+l]`);
        results.push(node.result);
        break;
      }
    }
  }
  for (const value of results) {
    if (!context.escapes(value, inside.get(value.id) ?? 0)) continue;
    body.push(`${view(value.type)}[${context.registers(value)}+l]=${local.get(value.id)};`);
  }
  if (body.length === 0) return null;
  const names = ["S", "M", ...parameters.values()].join(",");
  const open = [...views].map((v) => `${v}=S.${v}`).join(",");
  return {
    declaration: `function ${name}(${names}){${open ? `const ${open};` : ""}for(let l=0;l<W;l++){${body.join("")}}}`,
    call: `${name}(${["S", mask, ...parameters.keys()].join(",")});`,
  };
}

function builtinLane(builtin: BuiltinName, parameter: (expression: string) => string): string {
  if (builtin === "lane") return "l";
  if (builtin === "localIndex") return `(${parameter("S.base")}+l)`;
  const axis = builtin.at(-1) as string;
  if (builtin.startsWith("localId")) return `S.${axis}[l]`;
  return `((${parameter(`first_${axis}`)}+S.${axis}[l])>>>0)`;
}

/** Whether a node is one that a segment can hold, where its result varies by lane. */
export function isLaneNode(node: Node): node is LaneNode {
  return (
    node.kind === "op" ||
    node.kind === "builtin" ||
    node.kind === "var" ||
    node.kind === "varGet" ||
    node.kind === "varSet"
  );
}
