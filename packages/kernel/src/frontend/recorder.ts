/**
 * Records nodes in program order while a kernel's body runs. It knows blocks, values and their places, but none of
 * the classes that users see: those wrap what is recorded here.
 */

import { EvolverError } from "@evolver/base";
import type { BuiltinName } from "../ir/builtins.ts";
import type { Block, Node } from "../ir/nodes.ts";
import { ops, type OpName } from "../ir/ops.ts";
import type { SourceLocation } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import { isGenerator, wantValue } from "./given.ts";
import { nameOf, namesAt } from "../ir/source-names.ts";
import {
  elementTypes,
  scalarTypes,
  type GlobalMemory,
  type PhaseBarrier,
  type ScalarParam,
  type ScalarType,
  type SharedMemory,
  type Value,
  type Variable,
} from "../ir/types.ts";

/** A block being recorded. Its values can be used until it closes, in it and in the blocks inside it. */
export interface Frame {
  readonly nodes: Node[];
  readonly site: Site;
  /** For messages: "the body of gpu.for". */
  readonly what: string;
  readonly parent: Frame | null;
  readonly isLoop: boolean;
  closed: boolean;
  /** Set by break and continue: nothing may follow in this block. */
  endedBy: Site | null;
}

/** @internal A recorded value together with where it may be used. */
export interface Handle {
  readonly recorder: Recorder;
  readonly value: Value;
  readonly frame: Frame;
  readonly site: Site;
}

/** Which of the variables of one call is asked for. */
export interface Asked {
  readonly site: Site;
  readonly k: number;
  readonly count: number;
}

/** A value in messages, by the name that the source gives it. */
const called = (site: Site): string => {
  const { whole } = namesAt(site.location);
  return whole === null ? "a value" : `the value "${whole}"`;
};

export const note = (site: Site, text: string): SourceLocation => ({ ...site.location, note: text });

const MAX_NODES = 400_000;

type Unsited<N> = N extends Node ? Omit<N, "site"> : never;

/** @internal Takes down what a body does. */
export class Recorder {
  readonly kernelName: string;
  readonly site: Site;
  readonly shared: SharedMemory[] = [];
  readonly phaseBarriers: PhaseBarrier[] = [];
  /** Parameters that hold the lengths of buffers, for those that the body asks for. */
  readonly lengths: ScalarParam[] = [];
  /** Names of parameters, which no other memory has. */
  readonly #taken: ReadonlySet<string>;
  readonly #root: Frame;
  readonly #prologue: Node[] = [];
  readonly #cache = new Map<string, Handle>();
  readonly #unusedBooleans = new Map<number, Site>();
  readonly #nodesBySite = new Map<Frame, number>();
  #frame: Frame;
  /** The place that operations are recorded for, where several belong to one call by the user. */
  #place: Site | null = null;
  #values = 0;
  #variables = 0;
  #nodes = 0;

  constructor(kernelName: string, site: Site, params: readonly string[]) {
    this.kernelName = kernelName;
    this.#taken = new Set(params);
    this.site = site;
    this.#root = frame("the kernel's body", site, null, false);
    this.#frame = this.#root;
  }

  get frame(): Frame {
    return this.#frame;
  }

  get valueCount(): number {
    return this.#values;
  }

  get variableCount(): number {
    return this.#variables;
  }

  /** Runs `record` with a new innermost block and returns that block with what `record` returned. */
  block<R>(what: string, isLoop: boolean, record: (frame: Frame) => R): { frame: Frame; result: R } {
    const inner = frame(what, captureSite(), this.#frame, isLoop);
    const outer = this.#frame;
    this.#frame = inner;
    try {
      return { frame: inner, result: this.refuseAsync(record(inner), what) };
    } finally {
      inner.closed = true;
      this.#frame = outer;
    }
  }

  /**
   * Passes on what a body returned, unless it is a promise, where what follows an await would be missing in the kernel, or a
   * generator, of which nothing has run.
   */
  refuseAsync<R>(result: R, what: string): R {
    if (isGenerator(result))
      throw new EvolverError("ASYNC_BODY", `${what} of kernel "${this.kernelName}" is a generator`, {
        where: [note(this.site, "the kernel was defined here")],
        hint: "a body is recorded in one go: write a function without * and yield",
      });
    if (!(result instanceof Promise)) return result;
    // The rest of the body fails later, where nothing handles its error; this error is thrown instead.
    result.catch(() => undefined);
    throw new EvolverError("ASYNC_BODY", `${what} of kernel "${this.kernelName}" is asynchronous`, {
      // The kernel's own body is not called from a line of the user's.
      where: [...(what === "the body" ? [] : [this.place().location]), note(this.site, "defined here")],
      hint: "a body is recorded in one go: await what it needs before the build, and keep async out of it",
    });
  }

  /** Records at the end of a block that has just closed: the assignment of its result. */
  reopen(inner: Frame, record: () => void): void {
    const outer = this.#frame;
    inner.closed = false;
    this.#frame = inner;
    try {
      record();
    } finally {
      inner.closed = true;
      this.#frame = outer;
    }
  }

  /** Records all that `record` does for one place. Capturing a place is most of the cost of recording. */
  within<R>(site: Site, record: () => R): R {
    const outer = this.#place;
    this.#place = site;
    try {
      return record();
    } finally {
      this.#place = outer;
    }
  }

  /** The user's line that is being recorded. */
  place(): Site {
    return this.#place ?? captureSite();
  }

  /** Appends a node to the current block. */
  emit(node: Unsited<Node>, site: Site = this.place()): void {
    if (this.#frame.closed) throw this.#finished(site);
    if (this.#frame.endedBy !== null) {
      throw new EvolverError(
        "UNREACHABLE_CODE",
        "nothing can follow gpu.break() or gpu.continue() in its block",
        {
          where: [site.location, note(this.#frame.endedBy, "the block ends here")],
          hint: "put the break into a gpu.if of its own, or move the code in front of it",
        },
      );
    }
    this.#count(site);
    this.#frame.nodes.push(Object.freeze({ ...node, site }) as Node);
    if (node.kind === "break" || node.kind === "continue") this.#frame.endedBy = site;
  }

  /** A new value that belongs to the current block, or to the block given. */
  define(type: ScalarType, site: Site, owner: Frame = this.#frame): Handle {
    const value: Value = Object.freeze({ id: this.#values++, type });
    if (type === "bool") this.#unusedBooleans.set(value.id, site);
    return { recorder: this, value, frame: owner, site };
  }

  /** A variable that was asked for at a place, the k-th of `count`. Without a name it has that which the source gives it. */
  variable(type: Variable["type"], name: string, { site, k, count }: Asked): Variable {
    const id = this.#variables++;
    let known = name === "" ? null : name;
    return Object.freeze({
      id,
      type,
      // Found when it is asked for: most builds are never shown to anybody.
      get name() {
        return (known ??= nameOf(namesAt(site.location), k, count) ?? `v${id}`);
      },
    });
  }

  /**
   * A name for shared memory or phase barriers: that which the source gives them, and `otherwise` where it gives none. It is
   * free with each of the suffixes.
   */
  freeName(site: Site, otherwise: string, suffixes: readonly string[] = [""]): string {
    const wanted = namesAt(site.location).whole;
    const all = [...this.shared, ...this.phaseBarriers, ...this.lengths].map(({ name }) => name);
    const isTaken = (name: string): boolean =>
      suffixes.some((suffix) => this.#taken.has(name + suffix) || all.includes(name + suffix));
    if (wanted === null) return otherwise;
    let name = wanted;
    for (let k = 2; isTaken(name); k++) name = `${wanted}${/\d$/.test(wanted) ? "_" : ""}${k}`;
    return name;
  }

  op(name: OpName, operands: readonly Handle[], site: Site = this.place()): Handle {
    const values = operands.map((operand) => this.use(operand, site));
    const types = values.map((value) => value.type);
    const type = ops[name].signature(types);
    if (type === null) throw typeMismatch(name, operands, site);
    const result = this.define(type, site);
    this.emit({ kind: "op", op: name, operands: Object.freeze(values), result: result.value }, site);
    return result;
  }

  constant(type: ScalarType, value: number | boolean): Handle {
    const checked = checkLiteral(type, value, () => this.#place ?? captureSite(true));
    const key = `${type}:${Object.is(checked, -0) ? "-0" : checked}`;
    return this.#prologueValue(key, type, null, (result) => ({ kind: "const", result, value: checked }));
  }

  builtin(name: BuiltinName): Handle {
    return this.#prologueValue(name, "u32", null, (result) => ({
      kind: "builtin",
      result,
      builtin: name,
    }));
  }

  parameter(name: string, type: ScalarType): Handle {
    return this.#prologueValue(`param ${name}`, type, this.site, (result) => ({
      kind: "param",
      result,
      name,
    }));
  }

  /** The number of elements of a buffer. */
  length({ name }: GlobalMemory): Handle {
    let param = this.lengths.find(({ lengthOf }) => lengthOf === name);
    if (param === undefined) {
      let own = `${name}Length`;
      while (this.#taken.has(own)) own += "_";
      param = Object.freeze({ kind: "scalar", name: own, type: "u32", lengthOf: name });
      this.lengths.push(param);
    }
    return this.parameter(param.name, "u32");
  }

  /** Checks that a value may be used here, marks it as used, and returns it. */
  use(handle: Handle, site: Site): Value {
    wantValue(handle, site);
    if (handle.recorder !== this) {
      throw new EvolverError(
        "FOREIGN_VALUE",
        `${called(handle.site)} of another build is used in kernel "${this.kernelName}"`,
        {
          where: [site.location, note(handle.site, "the value was made here")],
          hint: "values exist only while the body that made them runs; do not keep them in objects that outlive it",
        },
      );
    }
    if (handle.frame.closed) {
      throw new EvolverError(
        "VALUE_OUTSIDE_BLOCK",
        `${called(handle.site)} is used outside ${handle.frame.what} that made it`,
        {
          where: [site.location, note(handle.site, "the value was made here, inside that block")],
          hint: "return it from a value-returning gpu.if, or carry it out in a gpu.var declared before the block",
        },
      );
    }
    this.#unusedBooleans.delete(handle.value.id);
    return handle.value;
  }

  /** The nearest open loop, or null. */
  enclosingLoop(): Frame | null {
    for (let at: Frame | null = this.#frame; at !== null; at = at.parent) if (at.isLoop) return at;
    return null;
  }

  declareShared(memory: SharedMemory): SharedMemory {
    this.shared.push(Object.freeze(memory));
    return memory;
  }

  declarePhaseBarrier(barrier: PhaseBarrier): PhaseBarrier {
    this.phaseBarriers.push(Object.freeze(barrier));
    return barrier;
  }

  /** Ends the recording and returns the body. */
  finish(): readonly Node[] {
    this.#root.closed = true;
    const unused = [...this.#unusedBooleans.values()][0];
    if (unused !== undefined) {
      throw new EvolverError("UNUSED_CONDITION", "a run-time boolean is made but nothing uses it", {
        where: [unused.location, note(this.site, `in kernel "${this.kernelName}"`)],
        hint: "a JavaScript `if`, `&&` or `?:` on a run-time value always takes the true side: use gpu.if, .and(), or select()",
      });
    }
    return Object.freeze([...this.#prologue, ...this.#root.nodes]);
  }

  /** A constant, parameter or built-in; without a site, its place is that of its first use. */
  #prologueValue(
    key: string,
    type: ScalarType,
    at: Site | null,
    node: (result: Value) => Unsited<Node>,
  ): Handle {
    if (this.#root.closed) throw this.#finished(at ?? this.place());
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const site = at ?? this.#place ?? captureSite(true);
    const handle = this.define(type, site, this.#root);
    this.#unusedBooleans.delete(handle.value.id);
    this.#prologue.push(Object.freeze({ ...node(handle.value), site }) as Node);
    this.#cache.set(key, handle);
    return handle;
  }

  #count(site: Site): void {
    this.#nodes++;
    this.#nodesBySite.set(this.#frame, (this.#nodesBySite.get(this.#frame) ?? 0) + 1);
    if (this.#nodes <= MAX_NODES) return;
    const largest = [...this.#nodesBySite].reduce((a, b) => (b[1] > a[1] ? b : a));
    throw new EvolverError(
      "KERNEL_TOO_LARGE",
      `kernel "${this.kernelName}" records more than ${MAX_NODES} operations`,
      {
        where: [
          site.location,
          note(largest[0].site, `${largest[1]} of them are in ${largest[0].what}, opened here`),
        ],
        hint: "a JavaScript loop repeats its body in the kernel: use gpu.for for long loops",
      },
    );
  }

  #finished(site: Site): EvolverError {
    return new EvolverError("RECORDING_FINISHED", `kernel "${this.kernelName}" is already built`, {
      where: [site.location, note(this.site, "the kernel was defined here")],
      hint: "operations can be recorded only while the kernel's body runs, and not after an await",
    });
  }
}

/** The block that was recorded in a frame. */
export const close = (recorded: Frame): Block => Object.freeze({ nodes: Object.freeze(recorded.nodes) });

function frame(what: string, site: Site, parent: Frame | null, isLoop: boolean): Frame {
  return { nodes: [], site, what, parent, isLoop, closed: false, endedBy: null };
}

const CONVERSIONS = elementTypes.map((type) => `to${scalarTypes[type].suffix}()`).join(", ");

export function typeMismatch(name: string, operands: readonly Handle[], site: Site): EvolverError {
  const types = operands.map((operand) => operand.value.type).join(", ");
  return new EvolverError("TYPE_MISMATCH", `${name} does not take (${types})`, {
    where: [
      site.location,
      ...operands.map((operand) => note(operand.site, `this ${operand.value.type} was made here`)),
    ],
    hint: `conversions are explicit: ${CONVERSIONS}; integers divide with divTrunc or divFloor`,
  });
}

/** A literal as the type holds it: floating point rounds, integers must fit. */
function checkLiteral(type: ScalarType, value: number | boolean, place: () => Site): number | boolean {
  const literal = scalarTypes[type].literal(value);
  if (literal !== null) return literal;
  throw new EvolverError("INVALID_LITERAL", `${String(value)} is not a value of type ${type}`, {
    where: [place().location],
    hint: "a JavaScript number takes the type of the operand beside it; convert the operand, or write another number",
  });
}
