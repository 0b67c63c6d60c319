/**
 * A kernel's IR as JSON with resolved sites: to send it to another process, and to keep it beside what was emitted.
 * Reading it back is deserialise.ts's.
 *
 * Memory and phase barriers stand as their names, variables and values as their ids; a definition is `[id, type]`. Sites are indices into
 * a table of distinct locations `[file index, line, column, note?]`. Numbers that JSON lacks are strings.
 */

import type { Block, KernelIR, Node } from "./nodes.ts";
import type { Site } from "./site.ts";
import type { Value } from "./types.ts";

export const SERIAL_FORMAT = "evolver-kernel-ir";
export const SERIAL_VERSION = 2;

/** The IR as one line of JSON; the same IR gives the same text. */
export function serialise(ir: KernelIR): string {
  const sites = new SiteTable();
  const document = {
    format: SERIAL_FORMAT,
    version: SERIAL_VERSION,
    name: ir.name,
    params: ir.params.map((param) => {
      if (param.kind === "scalar") return { kind: "scalar", name: param.name, type: param.type };
      const { element, access, atomic } = param.memory;
      return { kind: "buffer", name: param.name, element, access, atomic };
    }),
    shared: ir.shared.map(({ name, element, length, atomic }) => ({ name, element, length, atomic })),
    phaseBarriers: ir.phaseBarriers.map(({ name, count, arrivals, bytes }) => ({
      name,
      count,
      arrivals,
      bytes,
    })),
    workgroupSize: ir.workgroupSize,
    subgroupSize: ir.subgroupSize,
    uniformity: ir.uniformity,
    valueCount: ir.valueCount,
    variableCount: ir.variableCount,
    site: sites.index(ir.site),
    body: block(ir.body, sites),
  };
  return JSON.stringify({ ...document, files: sites.files, sites: sites.rows });
}

type SiteRow = [file: number, line: number, column: number, note?: string];

class SiteTable {
  readonly files: string[] = [];
  readonly rows: SiteRow[] = [];
  readonly #fileIndex = new Map<string, number>();
  readonly #rowIndex = new Map<string, number>();

  index(site: Site): number {
    const { file, line, column, note } = site.location;
    let fileIndex = this.#fileIndex.get(file);
    if (fileIndex === undefined) {
      fileIndex = this.files.push(file) - 1;
      this.#fileIndex.set(file, fileIndex);
    }
    const row: SiteRow = note === undefined ? [fileIndex, line, column] : [fileIndex, line, column, note];
    const key = JSON.stringify(row);
    let index = this.#rowIndex.get(key);
    if (index === undefined) {
      index = this.rows.push(row) - 1;
      this.#rowIndex.set(key, index);
    }
    return index;
  }
}

const define = ({ id, type }: Value): [number, string] => [id, type];
const use = ({ id }: Value): number => id;

function block({ nodes }: Block, sites: SiteTable): object[] {
  return nodes.map((node) => ({ kind: node.kind, site: sites.index(node.site), ...fields(node, sites) }));
}

function fields(node: Node, sites: SiteTable): object {
  switch (node.kind) {
    case "const":
      return { result: define(node.result), value: literal(node.value) };
    case "param":
      return { result: define(node.result), name: node.name };
    case "builtin":
      return { result: define(node.result), builtin: node.builtin };
    case "op":
      return { op: node.op, operands: node.operands.map(use), result: define(node.result) };
    case "load":
      return { memory: node.memory.name, index: use(node.index), results: node.results.map(define) };
    case "store":
      return { memory: node.memory.name, index: use(node.index), values: node.values.map(use) };
    case "atomic":
      return {
        op: node.op,
        memory: node.memory.name,
        index: use(node.index),
        operands: node.operands.map(use),
        result: node.result === null ? null : define(node.result),
        order: node.order,
      };
    case "var": {
      const { id, type, name } = node.variable;
      return { variable: [id, type, name], init: node.init === null ? null : use(node.init) };
    }
    case "varGet":
      return { variable: node.variable.id, result: define(node.result) };
    case "varSet":
      return { variable: node.variable.id, value: use(node.value) };
    case "if":
      return {
        condition: use(node.condition),
        blocks: [block(node.then, sites), block(node.else, sites)],
      };
    case "for": {
      const { induction, from, to, step, direction, unroll, body } = node;
      return {
        induction: define(induction),
        from: use(from),
        to: use(to),
        step: use(step),
        direction,
        unroll,
        body: block(body, sites),
      };
    }
    case "while":
      return {
        condition: block(node.condition, sites),
        test: use(node.test),
        body: block(node.body, sites),
      };
    case "roles":
      return {
        roles: node.roles.map(({ name, first, count, body }) => ({
          name,
          first,
          count,
          body: block(body, sites),
        })),
      };
    case "uniformLoad":
      return { memory: node.memory.name, index: use(node.index), result: define(node.result) };
    case "subgroup":
      return { op: node.op, operands: node.operands.map(use), results: node.results.map(define) };
    case "comment":
      return { text: node.text };
    case "barrier":
      return { scope: node.scope };
    case "asyncCopy":
      return {
        from: node.from.name,
        fromIndex: use(node.fromIndex),
        to: node.to.name,
        toIndex: use(node.toIndex),
        width: node.width,
        active: node.active === null ? null : use(node.active),
      };
    case "commitCopies":
      return { bytes: node.bytes };
    case "awaitCopies":
      return { newer: node.newer };
    case "arrive":
      return { barrier: node.barrier.name, index: use(node.index), after: node.after };
    case "awaitPhase":
      return { barrier: node.barrier.name, index: use(node.index), parity: use(node.parity) };
    case "break":
    case "continue":
      return {};
  }
}

/** A literal for JSON, which has no NaN, no infinities and, as JSON.stringify writes it, no −0. */
function literal(value: number | boolean): number | boolean | string {
  if (typeof value === "boolean") return value;
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
}
