/**
 * Reads the JSON that serialise.ts writes. The text may come from anywhere: every field is checked for its presence
 * and type here, and what the fields mean together by `verify`.
 */

import type { BuiltinName } from "../ir/builtins.ts";
import type { AsyncCopyNode, KernelIR, MemoryOrder, Node, Role } from "../ir/nodes.ts";
import type { AtomicOp } from "../ir/atomics.ts";
import type { OpName } from "../ir/ops.ts";
import { SERIAL_FORMAT, SERIAL_VERSION } from "../ir/serialise.ts";
import type { SubgroupOp } from "../ir/subgroup.ts";
import { fixedSite, type Site } from "../ir/site.ts";
import type {
  Access,
  ElementType,
  GlobalMemory,
  Memory,
  Param,
  PhaseBarrier,
  ScalarType,
  SharedMemory,
  Value,
  Variable,
  WordType,
} from "../ir/types.ts";
import { Fields, isCount, malformed, show } from "./fields.ts";
import { verify } from "./verify.ts";

const WORDS: readonly WordType[] = ["f32", "i32", "u32"];
const ELEMENTS: readonly ElementType[] = [...WORDS, "f16", "bf16"];
const SCALARS: readonly ScalarType[] = [...ELEMENTS, "bool", "index"];
const VARIABLES: readonly Variable["type"][] = [...ELEMENTS, "bool"];
const ACCESSES: readonly Access[] = ["read", "write", "read_write"];
/** Deeper nesting than any kernel has; a limit, so that hostile text cannot overflow the stack. */
const MAX_DEPTH = 256;

/**
 * The IR that a text of `serialise` describes, frozen and verified.
 *
 * @throws EvolverError INVALID_IR that names the field, or, from `verify`, the node
 */
export function deserialise(text: string): KernelIR {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw malformed("the text", "no JSON", cause);
  }
  const ir = new Reader().kernel(new Fields(document, "kernel"));
  verify(ir);
  return ir;
}

class Reader {
  readonly #values = new Map<number, Value>();
  readonly #variables = new Map<number, Variable>();
  readonly #memories = new Map<string, Memory>();
  readonly #barriers = new Map<string, PhaseBarrier>();
  #sites: readonly Site[] = [];
  #depth = 0;

  kernel(fields: Fields): KernelIR {
    fields.oneOf("format", [SERIAL_FORMAT]);
    if (fields.get("version") !== SERIAL_VERSION) fields.fail("version", `version ${SERIAL_VERSION}`);
    this.#sites = readSites(fields);
    const params = fields.objects("params").map((param) => this.#param(param));
    const shared = fields.objects("shared").map((memory) => this.#shared(memory));
    const phaseBarriers = fields.objects("phaseBarriers").map((barrier) => this.#phaseBarrier(barrier));
    const size = fields.list("workgroupSize");
    const [x, y, z] = size;
    if (size.length !== 3 || !isCount(x) || !isCount(y) || !isCount(z))
      return fields.fail("workgroupSize", "three whole numbers");
    return Object.freeze({
      name: fields.text("name"),
      params: Object.freeze(params),
      shared: Object.freeze(shared),
      phaseBarriers: Object.freeze(phaseBarriers),
      workgroupSize: Object.freeze([x, y, z] as const),
      subgroupSize: fields.count("subgroupSize"),
      uniformity: fields.oneOf("uniformity", ["static", "dynamic"]),
      body: this.#block(fields, "body"),
      valueCount: fields.count("valueCount"),
      variableCount: fields.count("variableCount"),
      site: this.#site(fields),
    });
  }

  #param(fields: Fields): Param {
    const kind = fields.oneOf("kind", ["scalar", "buffer"]);
    const name = fields.text("name");
    if (kind === "scalar") return Object.freeze({ kind, name, type: fields.oneOf("type", WORDS) });
    const memory = Object.freeze({
      space: "global" as const,
      name,
      element: fields.oneOf("element", ELEMENTS),
      access: fields.oneOf("access", ACCESSES),
      atomic: fields.flag("atomic"),
    });
    this.#memories.set(name, memory);
    return Object.freeze({ kind, name, memory });
  }

  #shared(fields: Fields): SharedMemory {
    const memory = Object.freeze({
      space: "shared" as const,
      name: fields.text("name"),
      element: fields.oneOf("element", ELEMENTS),
      length: fields.count("length"),
      atomic: fields.flag("atomic"),
    });
    this.#memories.set(memory.name, memory);
    return memory;
  }

  #phaseBarrier(fields: Fields): PhaseBarrier {
    const barrier = Object.freeze({
      name: fields.text("name"),
      count: fields.count("count"),
      arrivals: fields.count("arrivals"),
      bytes: fields.countOrNull("bytes"),
    });
    this.#barriers.set(barrier.name, barrier);
    return barrier;
  }

  #site(fields: Fields): Site {
    return (
      this.#sites[fields.count("site")] ?? fields.fail("site", `an index into ${this.#sites.length} sites`)
    );
  }

  #block(fields: Fields, name: string): { readonly nodes: readonly Node[] } {
    return this.#nodes(fields.objects(name), `${fields.path}.${name}`);
  }

  #nodes(items: readonly Fields[], path: string): { readonly nodes: readonly Node[] } {
    if (++this.#depth > MAX_DEPTH) throw malformed(path, `nested deeper than ${MAX_DEPTH} blocks`);
    const nodes = items.map((item) => Object.freeze(this.#node(item)));
    this.#depth--;
    return Object.freeze({ nodes: Object.freeze(nodes) });
  }

  /** Names of operations, built-ins and orders are taken as they stand: verify knows which exist. */
  #node(fields: Fields): Node {
    const site = this.#site(fields);
    const kind = fields.text("kind") as Node["kind"];
    switch (kind) {
      case "const":
        return { kind, site, value: literal(fields), result: this.#define(fields, "result") };
      case "param":
        return { kind, site, name: fields.text("name"), result: this.#define(fields, "result") };
      case "builtin": {
        const builtin = fields.text("builtin") as BuiltinName;
        return { kind, site, builtin, result: this.#define(fields, "result") };
      }
      case "op": {
        const operands = this.#uses(fields, "operands");
        const op = fields.text("op") as OpName;
        return { kind, site, op, operands, result: this.#define(fields, "result") };
      }
      case "load": {
        const index = this.#use(fields, "index");
        return { kind, site, memory: this.#memory(fields), index, results: this.#defines(fields) };
      }
      case "store": {
        const values = this.#uses(fields, "values");
        return { kind, site, memory: this.#memory(fields), index: this.#use(fields, "index"), values };
      }
      case "atomic":
        return {
          kind,
          site,
          op: fields.text("op") as AtomicOp,
          memory: this.#memory(fields),
          index: this.#use(fields, "index"),
          operands: this.#uses(fields, "operands"),
          result: fields.get("result") === null ? null : this.#define(fields, "result"),
          order: fields.text("order") as MemoryOrder,
        };
      case "var": {
        const init = fields.get("init") === null ? null : this.#use(fields, "init");
        return { kind, site, variable: this.#declare(fields), init };
      }
      case "varGet":
        return { kind, site, variable: this.#variable(fields), result: this.#define(fields, "result") };
      case "varSet":
        return { kind, site, variable: this.#variable(fields), value: this.#use(fields, "value") };
      case "if": {
        const condition = this.#use(fields, "condition");
        const lists = fields.list("blocks");
        if (lists.length !== 2 || !lists.every(Array.isArray)) fields.fail("blocks", "two lists");
        const [then, otherwise] = lists.map((items, i) => {
          const path = `${fields.path}.blocks[${i}]`;
          return this.#nodes(
            (items as unknown[]).map((item, k) => new Fields(item, `${path}[${k}]`)),
            path,
          );
        });
        return { kind, site, condition, then: then as KernelIR["body"], else: otherwise as KernelIR["body"] };
      }
      case "for": {
        const unroll = fields.get("unroll");
        if (typeof unroll !== "boolean" && typeof unroll !== "number")
          return fields.fail("unroll", "a number, true or false");
        return {
          kind,
          site,
          from: this.#use(fields, "from"),
          to: this.#use(fields, "to"),
          step: this.#use(fields, "step"),
          direction: fields.oneOf("direction", ["up", "down"]),
          unroll,
          induction: this.#define(fields, "induction"),
          body: this.#block(fields, "body"),
        };
      }
      case "while": {
        const condition = this.#block(fields, "condition");
        return { kind, site, condition, test: this.#use(fields, "test"), body: this.#block(fields, "body") };
      }
      case "roles": {
        const roles = fields.objects("roles").map((role): Role =>
          Object.freeze({
            name: role.text("name"),
            first: role.count("first"),
            count: role.count("count"),
            body: this.#block(role, "body"),
          }),
        );
        return { kind, site, roles: Object.freeze(roles) };
      }
      case "uniformLoad": {
        const memory = this.#memory(fields) as SharedMemory;
        return {
          kind,
          site,
          memory,
          index: this.#use(fields, "index"),
          result: this.#define(fields, "result"),
        };
      }
      case "subgroup": {
        const operands = this.#uses(fields, "operands");
        return { kind, site, op: fields.text("op") as SubgroupOp, operands, results: this.#defines(fields) };
      }
      case "comment":
        return { kind, site, text: fields.text("text") };
      case "barrier":
        return { kind, site, scope: fields.oneOf("scope", ["workgroup", "subgroup"]) };
      case "asyncCopy":
        return {
          kind,
          site,
          // Which space they lie in is verify's to check.
          from: this.#memory(fields, "from") as GlobalMemory,
          fromIndex: this.#use(fields, "fromIndex"),
          to: this.#memory(fields, "to") as SharedMemory,
          toIndex: this.#use(fields, "toIndex"),
          width: fields.count("width") as AsyncCopyNode["width"],
          active: fields.get("active") === null ? null : this.#use(fields, "active"),
        };
      case "commitCopies":
        return { kind, site, bytes: fields.countOrNull("bytes") };
      case "awaitCopies":
        return { kind, site, newer: fields.count("newer") };
      case "arrive": {
        const after = fields.oneOf("after", ["now", "copies"]);
        return { kind, site, barrier: this.#barrier(fields), index: this.#use(fields, "index"), after };
      }
      case "awaitPhase": {
        const barrier = this.#barrier(fields);
        const index = this.#use(fields, "index");
        return { kind, site, barrier, index, parity: this.#use(fields, "parity") };
      }
      case "break":
      case "continue":
        return { kind, site };
      default:
        return fields.fail("kind", "a kind of node");
    }
  }

  #memory(fields: Fields, name = "memory"): Memory {
    return this.#memories.get(fields.text(name)) ?? fields.fail(name, "the name of declared memory");
  }

  #barrier(fields: Fields): PhaseBarrier {
    const barrier = this.#barriers.get(fields.text("barrier"));
    return barrier ?? fields.fail("barrier", "the name of declared phase barriers");
  }

  #define(fields: Fields, name: string): Value {
    return this.#definition(fields.get(name)) ?? fields.fail(name, "[id, type]");
  }

  #defines(fields: Fields): readonly Value[] {
    const values = fields.list("results").map((item) => this.#definition(item));
    if (values.includes(null)) fields.fail("results", "a list of [id, type]");
    return Object.freeze(values as Value[]);
  }

  #definition(item: unknown): Value | null {
    if (!Array.isArray(item) || item.length !== 2) return null;
    const [id, given] = item as unknown[];
    const type = SCALARS.find((scalar) => scalar === given);
    if (!isCount(id) || type === undefined) return null;
    const value: Value = Object.freeze({ id, type });
    // A second definition is verify's to refuse; until then the first one stands.
    if (!this.#values.has(id)) this.#values.set(id, value);
    return value;
  }

  #use(fields: Fields, name: string): Value {
    return (
      this.#values.get(fields.get(name) as number) ?? fields.fail(name, "the id of a value defined before")
    );
  }

  #uses(fields: Fields, name: string): readonly Value[] {
    const values = fields.list(name).map((id) => this.#values.get(id as number));
    if (values.includes(undefined)) fields.fail(name, "a list of ids of values defined before");
    return Object.freeze(values as Value[]);
  }

  #declare(fields: Fields): Variable {
    const [id, given, name, ...rest] = fields.list("variable");
    const type = VARIABLES.find((scalar) => scalar === given);
    if (!isCount(id) || type === undefined || typeof name !== "string" || rest.length > 0)
      return fields.fail("variable", "[id, type, name]");
    const variable: Variable = Object.freeze({ id, type, name });
    if (!this.#variables.has(id)) this.#variables.set(id, variable);
    return variable;
  }

  #variable(fields: Fields): Variable {
    const variable = this.#variables.get(fields.get("variable") as number);
    return variable ?? fields.fail("variable", "the id of a variable declared before");
  }
}

function literal(fields: Fields): number | boolean {
  const value = fields.get("value");
  if (typeof value === "number" || typeof value === "boolean") return value;
  switch (value) {
    case "NaN":
    case "Infinity":
    case "-Infinity":
    case "-0":
      return Number(value);
    default:
      return fields.fail("value", "a number, true or false");
  }
}

function readSites(fields: Fields): Site[] {
  const files = fields.list("files");
  return fields.list("sites").map((row, i) => {
    const [fileIndex, line, column, note] = Array.isArray(row) ? (row as unknown[]) : [];
    const file = isCount(fileIndex) ? files[fileIndex] : undefined;
    if (
      typeof file !== "string" ||
      !isCount(line) ||
      !isCount(column) ||
      (note !== undefined && typeof note !== "string")
    )
      throw malformed(`${fields.path}.sites[${i}]`, `${show(row)}, not [file, line, column]`);
    return fixedSite(
      Object.freeze(note === undefined ? { file, line, column } : { file, line, column, note }),
    );
  });
}
