/**
 * A kernel's IR as JSON with resolved sites: to send it to another process, and to keep it beside what was emitted. Both
 * directions follow the rows of schema.ts.
 *
 * Memory and phase barriers stand as their names, variables and values as their ids; a definition is `[id, type]`. Sites
 * are indices into a table of distinct locations `[file index, line, column, note?]`. Numbers that JSON lacks are strings.
 *
 * The text to read may come from anywhere. Every field is checked for its presence and type here, and what the fields mean
 * together by `verify`.
 */

import { assertNever } from "@evolver/base";
import {
  block,
  choice,
  count,
  flag,
  list,
  optional,
  record,
  text,
  type Field,
  type Fields,
  type FieldShape,
} from "./fields.ts";
import { isCount, JsonDocument, type Json } from "./json.ts";
import type { Block, KernelIR, Node, NodeKind } from "./nodes.ts";
import { fieldsOf, schema } from "./schema.ts";
import type { Site } from "./site.ts";
import { SiteTable, siteOf } from "./sites.ts";
import {
  allScalarTypes,
  elementTypes,
  variableTypes,
  wordTypes,
  type Access,
  type GlobalMemory,
  type Memory,
  type Param,
  type PhaseBarrier,
  type ScalarParam,
  type SharedMemory,
  type Value,
  type Variable,
} from "./types.ts";

const FORMAT = "evolver-kernel-ir";
const VERSION = 3;

/** Deeper nesting than any kernel has; a limit, so that hostile text cannot overflow the stack. */
const MAX_DEPTH = 256;

/** What stands in the header beside parameters, sites and the body. */
interface Header extends Pick<
  KernelIR,
  "name" | "phaseBarriers" | "subgroupSize" | "uniformity" | "valueCount" | "variableCount"
> {
  readonly params: readonly Param["kind"][];
  readonly shared: readonly Omit<SharedMemory, "space">[];
  readonly workgroupSize: readonly number[];
}

const accesses: readonly Access[] = ["read", "write", "read_write"];
const element = choice(...elementTypes);

const headerFields: Omit<Fields<Header>, "params"> = {
  name: text(),
  shared: list(record({ name: text(), element, length: count(), atomic: flag() })),
  phaseBarriers: list(
    record<PhaseBarrier>({
      name: text(),
      count: count(),
      arrivals: count(),
      bytes: optional(count<number>()),
    }),
  ),
  workgroupSize: list(count<number>()),
  subgroupSize: count(),
  uniformity: choice("static", "dynamic"),
  valueCount: count(),
  variableCount: count(),
};

const scalarParam: Fields<Omit<ScalarParam, "kind">> = {
  name: text(),
  type: choice(...wordTypes),
  lengthOf: optional(text<string>()),
};
const bufferParam: Fields<Omit<GlobalMemory, "space">> = {
  name: text(),
  element,
  access: choice(...accesses),
  atomic: flag(),
};

const SITE = count();

/** By kind of node, how many of its blocks stand in the list `blocks`; most have none. */
const branchesOf: ReadonlyMap<string, number> = new Map(
  Object.entries(schema).map(([kind, { fields }]) => {
    const isBranch = (shape: FieldShape): boolean => shape.role === "block" && shape.branch !== null;
    return [kind, Object.values<FieldShape>(fields).filter(isBranch).length] as const;
  }),
);

/** The IR as one line of JSON; the same IR gives the same text. */
export function serialise(ir: KernelIR): string {
  const writer = new Writer();
  const { name, shared, phaseBarriers, workgroupSize, ...sizes } = writer.fields(headerFields, ir);
  const document = {
    format: FORMAT,
    version: VERSION,
    name,
    params: ir.params.map((param) =>
      param.kind === "scalar"
        ? { kind: param.kind, ...writer.fields(scalarParam, param) }
        : { kind: param.kind, ...writer.fields(bufferParam, param.memory) },
    ),
    shared,
    phaseBarriers,
    workgroupSize,
    ...sizes,
    site: writer.sites.index(ir.site),
    body: writer.block(ir.body),
  };
  return JSON.stringify({ ...document, files: writer.sites.files, sites: writer.sites.rows });
}

class Writer {
  readonly sites = new SiteTable();

  block({ nodes }: Block): Json[] {
    return nodes.map((node) => this.#node(node));
  }

  /** The fields of `holder` that are described, in the order of the description. */
  fields(described: Readonly<Record<string, FieldShape>>, holder: object): Json {
    const json: Json = {};
    for (const [name, shape] of Object.entries(described))
      json[name] = this.#field(shape, (holder as Json)[name]);
    return json;
  }

  #node(node: Node): Json {
    const json: Json = { kind: node.kind, site: this.sites.index(node.site) };
    for (const [name, shape] of fieldsOf(node.kind)) {
      const held = (node as unknown as Json)[name];
      if (shape.role === "block" && shape.branch !== null)
        ((json["blocks"] ??= []) as unknown[])[shape.branch] = this.#field(shape, held);
      else json[name] = this.#field(shape, held);
    }
    return json;
  }

  #field(shape: FieldShape, held: unknown): unknown {
    switch (shape.role) {
      case "use":
        return (held as Value).id;
      case "definition": {
        const { id, type } = held as Value;
        return [id, type];
      }
      case "memory":
      case "phaseBarrier":
        return (held as Memory | PhaseBarrier).name;
      case "variable": {
        const { id, type, name } = held as Variable;
        return shape.does === "declare" ? [id, type, name] : id;
      }
      case "block":
        return this.block(held as Block);
      case "literal":
        return writeLiteral(held as number | boolean);
      case "list":
        return (held as readonly unknown[]).map((item) => this.#field(shape.of, item));
      case "optional":
        return held === null ? null : this.#field(shape.of, held);
      case "record":
        return this.fields(shape.fields, held as object);
      case "text":
      case "count":
      case "choice":
      case "flag":
      case "numberOrFlag":
        return held;
      default:
        return assertNever(shape, "role of a field");
    }
  }
}

/** JSON has no NaN, no infinities and, as JSON.stringify writes it, no −0. */
function writeLiteral(value: number | boolean): number | boolean | string {
  if (typeof value === "boolean") return value;
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
}

const NUMBERS_AS_TEXT: readonly unknown[] = ["NaN", "Infinity", "-Infinity", "-0"];

/**
 * The IR that a text of `serialise` describes, frozen. It is not checked against the rules of the IR.
 *
 * @throws EvolverError INVALID_IR that names the field
 */
export function decode(serialised: string): KernelIR {
  return new Reader().kernel(serialised);
}

class Reader {
  readonly #values = new Map<unknown, Value>();
  readonly #variables = new Map<unknown, Variable>();
  readonly #memories = new Map<unknown, Memory>();
  readonly #barriers = new Map<unknown, PhaseBarrier>();
  readonly #document = new JsonDocument(
    "kernel",
    `give the unchanged output of serialise(), format ${FORMAT} version ${VERSION}`,
  );
  #sites: readonly Site[] = [];
  #depth = 0;

  kernel(serialised: string): KernelIR {
    const json = this.#document.object(this.#document.parse(serialised));
    this.#at(json, "format", choice(FORMAT));
    if (json["version"] !== VERSION) this.#document.failAt(json, "version", `version ${VERSION}`);
    const files = this.#document.list(json, "files", (file) => file);
    this.#sites = this.#document.list(
      json,
      "sites",
      (row) => siteOf(row, files) ?? this.#document.fail(row, "[file, line, column]"),
    );
    const params = this.#document.list(json, "params", (item) => this.#param(this.#document.object(item)));
    const { shared, phaseBarriers, workgroupSize, ...header } = this.#fields(headerFields, json);
    const [x, y, z] = workgroupSize;
    if (x === undefined || y === undefined || z === undefined || workgroupSize.length !== 3)
      return this.#document.failAt(json, "workgroupSize", "three whole numbers");
    const memories = shared.map((memory): SharedMemory => Object.freeze({ space: "shared", ...memory }));
    for (const memory of memories) this.#memories.set(memory.name, memory);
    for (const barrier of phaseBarriers) this.#barriers.set(barrier.name, barrier);
    return Object.freeze({
      ...header,
      params,
      shared: Object.freeze(memories),
      phaseBarriers,
      workgroupSize: Object.freeze([x, y, z] as const),
      site: this.#site(json),
      body: this.#at(json, "body", block()),
    });
  }

  #param(json: Json): Param {
    const kind = this.#at(json, "kind", choice("scalar", "buffer"));
    if (kind === "scalar") return Object.freeze({ kind, ...this.#fields(scalarParam, json) });
    const memory: GlobalMemory = Object.freeze({ space: "global", ...this.#fields(bufferParam, json) });
    this.#memories.set(memory.name, memory);
    return Object.freeze({ kind, name: memory.name, memory });
  }

  #site(json: Json): Site {
    const site = this.#sites[this.#at(json, "site", SITE)];
    return site ?? this.#document.failAt(json, "site", `an index into ${this.#sites.length} sites`);
  }

  #block(json: unknown): Block {
    if (++this.#depth > MAX_DEPTH) this.#document.refuse(`nested deeper than ${MAX_DEPTH} blocks`);
    const nodes = this.#document.items(json, (item) => this.#node(this.#document.object(item)));
    this.#depth--;
    return Object.freeze({ nodes });
  }

  #node(json: Json): Node {
    const site = this.#site(json);
    const { kind } = json;
    if (typeof kind !== "string" || !Object.hasOwn(schema, kind))
      return this.#document.failAt(json, "kind", "a kind of node");
    const node: Json = { kind, site };
    const fields = fieldsOf(kind as NodeKind);
    const branches = branchesOf.get(kind) ?? 0;
    const blocks = branches === 0 ? [] : this.#branches(json, branches);
    for (const [name, shape] of fields)
      node[name] =
        shape.role === "block" && shape.branch !== null ? blocks[shape.branch] : this.#at(json, name, shape);
    return Object.freeze(node) as unknown as Node;
  }

  #branches(json: Json, wanted: number): readonly Block[] {
    const lists = this.#document.enter(json, "blocks");
    if (!Array.isArray(lists) || lists.length !== wanted)
      return this.#document.fail(lists, `${wanted} lists`);
    const blocks = this.#document.items(lists, (one) => this.#block(one));
    this.#document.leave();
    return blocks;
  }

  /** The described fields of a JSON object. */
  #fields<T extends Readonly<Record<string, FieldShape>>>(described: T, json: Json): HeldBy<T> {
    const read = Object.entries(described).map(([name, shape]) => [name, this.#at(json, name, shape)]);
    return Object.freeze(Object.fromEntries(read)) as HeldBy<T>;
  }

  #at<T>(json: Json, name: string, shape: Field<T>): T {
    const held = this.#field(shape, this.#document.enter(json, name));
    this.#document.leave();
    return held as T;
  }

  /** Names of operations, built-ins and orders are taken as they stand: `verify` knows which exist. */
  #field(shape: FieldShape, json: unknown): unknown {
    switch (shape.role) {
      case "use":
        return this.#values.get(json) ?? this.#document.fail(json, "the id of a value defined before");
      case "definition":
        return this.#definition(json);
      case "memory":
        return this.#memories.get(json) ?? this.#document.fail(json, "the name of declared memory");
      case "phaseBarrier":
        return this.#barriers.get(json) ?? this.#document.fail(json, "the name of declared phase barriers");
      case "variable":
        if (shape.does === "declare") return this.#declaration(json);
        return this.#variables.get(json) ?? this.#document.fail(json, "the id of a variable declared before");
      case "block":
        return this.#block(json);
      case "literal":
        if (typeof json === "number" || typeof json === "boolean") return json;
        return NUMBERS_AS_TEXT.includes(json)
          ? Number(json)
          : this.#document.fail(json, "a number, true or false");
      case "text":
        return typeof json === "string" ? json : this.#document.fail(json, "a string");
      case "count":
        return isCount(json) ? json : this.#document.fail(json, "a whole number from 0");
      case "choice":
        if (shape.choices.includes(json as string)) return json;
        return this.#document.fail(json, `one of ${shape.choices.join(", ")}`);
      case "flag":
        return typeof json === "boolean" ? json : this.#document.fail(json, "true or false");
      case "numberOrFlag":
        if (typeof json === "boolean" || typeof json === "number") return json;
        return this.#document.fail(json, "a number, true or false");
      case "list":
        return this.#document.items(json, (item) => this.#field(shape.of, item));
      case "optional":
        return json === null ? null : this.#field(shape.of, json);
      case "record":
        return this.#fields(shape.fields, this.#document.object(json));
      default:
        return assertNever(shape, "role of a field");
    }
  }

  #definition(json: unknown): Value {
    const [id, given] = Array.isArray(json) && json.length === 2 ? (json as unknown[]) : [];
    const type = allScalarTypes.find((scalar) => scalar === given);
    if (!isCount(id) || type === undefined) return this.#document.fail(json, "[id, type]");
    const value: Value = Object.freeze({ id, type });
    // A second definition is verify's to refuse; until then the first one stands.
    if (!this.#values.has(id)) this.#values.set(id, value);
    return value;
  }

  #declaration(json: unknown): Variable {
    const [id, given, name] = Array.isArray(json) && json.length === 3 ? (json as unknown[]) : [];
    const type = variableTypes.find((scalar) => scalar === given);
    if (!isCount(id) || type === undefined || typeof name !== "string")
      return this.#document.fail(json, "[id, type, name]");
    const variable: Variable = Object.freeze({ id, type, name });
    if (!this.#variables.has(id)) this.#variables.set(id, variable);
    return variable;
  }
}

type HeldBy<T> = { readonly [K in keyof T]: T[K] extends Field<infer V> ? V : never };
