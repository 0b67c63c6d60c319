/** `kernel(...)`: a kernel as users define it, and its build for one subgroup width. */

import { analyseUniformity, verify } from "../analysis/index.ts";
import { EvolverError } from "@evolver/base";
import { SUBGROUP_SIZES } from "../ir/limits.ts";
import type { KernelIR, UniformityMode } from "../ir/nodes.ts";
import { captureSite, siteOfThrown, type Site } from "../ir/site.ts";
import type { Access, ElementType, NumericType, Param, WordType } from "../ir/types.ts";
import { AtomicArray } from "./atomic-array.ts";
import { kindOf } from "./given.ts";
import { Gpu } from "./gpu.ts";
import { MutableBuffer, type Buffer } from "./memory.ts";
import type { BufferDescriptor, TypeDescriptor } from "./descriptors.ts";
import type { Params } from "./params.ts";
import { note, Recorder } from "./recorder.ts";
import { MutableStructs, type StructBuffer } from "./struct-buffer.ts";
import type { StructBufferDescriptor, StructDescriptor } from "./struct.ts";
import { wrap, type ScalarOf } from "./scalar.ts";

/** What the body sees for each parameter. */
export type Symbols<P extends Params> = {
  readonly [K in keyof P]: P[K] extends StructBufferDescriptor<infer F, infer A>
    ? StructBuffer<F, A>
    : P[K] extends BufferDescriptor<infer E, infer A, infer Atomic>
      ? Atomic extends true
        ? AtomicArray<Extract<E, WordType>>
        : Buffer<E, A>
      : P[K] extends TypeDescriptor<infer T extends NumericType>
        ? ScalarOf<T>
        : never;
};

export interface BuildOptions {
  /** Invocations per subgroup: a power of two from 4 to 128. */
  readonly subgroup: number;
  /**
   * Whether subgroups of a workgroup may wait for each other, which gpu.phaseBarriers and gpu.pipeline need; true if
   * absent. For a device it is Device.forwardProgress. The body can read it as gpu.forwardProgress.
   */
  readonly forwardProgress?: boolean;
}

type WorkgroupSize = readonly [number, number?, number?];

/** A small launch: a number for each scalar; for each buffer its contents, or its length if a tool may choose the contents. */
export interface ExampleLaunch<P extends Params> {
  /** Workgroups on x, or on x, y and z. */
  readonly workgroups: number | WorkgroupSize;
  readonly args: {
    readonly [K in keyof P]: P[K] extends BufferDescriptor<ElementType, Access, boolean>
      ? number | Float32Array | Int32Array | Uint32Array | Uint16Array
      : number;
  };
}

export interface KernelOptions<P extends Params> {
  readonly params: P;
  /** Invocations per workgroup on x, y and z; may depend on the subgroup width. */
  readonly workgroup: WorkgroupSize | ((build: Required<BuildOptions>) => WorkgroupSize);
  /**
   * "static" (the default) refuses barriers and subgroup operations whose control flow is not proved uniform;
   * "dynamic" leaves that check to the simulator, and WebGPU refuses the kernel.
   */
  readonly uniformity?: UniformityMode;
  /** A launch that tools such as `evolver check` may run. */
  readonly example?: ExampleLaunch<P>;
}

export type KernelBody<P extends Params> = (params: Symbols<P>, gpu: Gpu) => void;

/** A kernel in TypeScript. For each set of build options that is needed, it is built by running its body once. */
export class Kernel<P extends Params = Params> {
  readonly name: string;
  readonly params: P;
  readonly example: ExampleLaunch<P> | null;
  /** Where it is defined. */
  readonly site: Site;
  readonly #options: KernelOptions<P>;
  readonly #body: (params: never, gpu: Gpu) => void;
  readonly #builds = new Map<string, KernelIR>();

  constructor(name: string, options: KernelOptions<P>, body: KernelBody<P>, site: Site) {
    this.name = name;
    this.params = options.params;
    this.example = options.example ?? null;
    this.#options = options;
    this.#body = body;
    this.site = site;
  }

  /** Records, verifies and analyses the kernel for the options. The result is kept and the same each time. */
  build({ subgroup, forwardProgress = true }: BuildOptions): KernelIR {
    const key = `${subgroup} ${forwardProgress}`;
    const known = this.#builds.get(key);
    if (known !== undefined) return known;
    const built = this.#record({ subgroup, forwardProgress });
    this.#builds.set(key, built);
    return built;
  }

  #record(options: Required<BuildOptions>): KernelIR {
    const { subgroup } = options;
    if (!SUBGROUP_SIZES.includes(subgroup)) {
      throw new EvolverError("INVALID_SUBGROUP", `${subgroup} is not a subgroup width`, {
        hint: "widths are powers of two from 4 to 128",
      });
    }
    const { workgroup, uniformity = "static" } = this.#options;
    const given = typeof workgroup === "function" ? workgroup(options) : workgroup;
    const size = [given[0], given[1] ?? 1, given[2] ?? 1] as const;
    if (
      !size.every((extent) => Number.isInteger(extent) && extent >= 1) ||
      size[0] * size[1] * size[2] > 1024
    ) {
      throw new EvolverError("INVALID_WORKGROUP", `[${size.join(", ")}] is not a workgroup size`, {
        where: [this.site.location],
        hint: "three whole numbers, at least 1, with a product of at most 1024",
      });
    }
    const recorder = new Recorder(this.name, this.site, Object.keys(this.params));
    const params: Param[] = [];
    const symbols: Record<string, unknown> = {};
    for (const [name, descriptor] of Object.entries(this.params)) {
      const [param, symbol] = declare(recorder, name, descriptor);
      params.push(param);
      Object.defineProperty(symbols, name, { get: symbol, enumerable: true });
    }
    this.#run(recorder, symbols, new Gpu(recorder, size, options));
    const ir: KernelIR = Object.freeze({
      name: this.name,
      params: Object.freeze([...params, ...recorder.lengths]),
      workgroupSize: size,
      subgroupSize: subgroup,
      uniformity,
      body: Object.freeze({ nodes: recorder.finish() }),
      shared: Object.freeze(recorder.shared),
      phaseBarriers: Object.freeze(recorder.phaseBarriers),
      valueCount: recorder.valueCount,
      variableCount: recorder.variableCount,
      site: this.site,
    });
    verify(ir);
    analyseUniformity(ir);
    return ir;
  }

  /** Runs the body. To an error that the body throws, it adds the line and the kernel's name. */
  #run(recorder: Recorder, symbols: object, gpu: Gpu): void {
    let returned: unknown;
    try {
      returned = this.#body(symbols as never, gpu);
    } catch (error) {
      if (error instanceof EvolverError) throw error;
      const what = error instanceof Error ? error.message : String(error);
      const definition = note(this.site, "the kernel was defined here");
      throw new EvolverError("BODY_THREW", `the body of kernel "${this.name}" threw: ${what}`, {
        where: error instanceof Error ? [siteOfThrown(error).location, definition] : [definition],
        hint: /\.div is not a function/.test(what)
          ? "integers divide with divTrunc or divFloor"
          : "the body runs when the kernel is built, on run-time values: docs/language.md lists their methods",
        cause: error,
      });
    }
    recorder.refuseAsync(returned, "the body");
  }
}

/** A parameter's declaration and what the body sees; scalars are read when the body first touches them. */
function declare(
  recorder: Recorder,
  name: string,
  descriptor: TypeDescriptor<WordType> | BufferDescriptor<ElementType, Access, boolean>,
): [Param, () => unknown] {
  if (descriptor.kind === "type") {
    const param: Param = Object.freeze({ kind: "scalar", name, type: descriptor.type, lengthOf: null });
    return [param, () => wrap(recorder.parameter(name, descriptor.type))];
  }
  const { element, access, atomic } = descriptor;
  const memory = Object.freeze({ space: "global" as const, name, element, access, atomic });
  const structs = "struct" in descriptor ? (descriptor.struct as StructDescriptor) : null;
  if (structs !== null) {
    const symbol = new MutableStructs(recorder, memory, structs);
    return [Object.freeze({ kind: "buffer", name, memory }), () => symbol];
  }
  const symbol = atomic ? new AtomicArray(recorder, memory) : new MutableBuffer(recorder, memory);
  return [Object.freeze({ kind: "buffer", name, memory }), () => symbol];
}

/**
 * Defines a kernel. The body runs once for each set of build options, on symbolic values: JavaScript control flow happens
 * then, `gpu.if`, `gpu.for` and `gpu.while` when the kernel runs.
 */
export function kernel<const P extends Params>(
  name: string,
  options: KernelOptions<P>,
  body: KernelBody<P>,
): Kernel<P> {
  const site = captureSite();
  checkDefinition(name, options, body, site);
  return new Kernel(name, options, body, site);
}

/** For callers without types. */
function checkDefinition(name: unknown, options: unknown, body: unknown, site: Site): void {
  const fail = (what: string): EvolverError =>
    new EvolverError("INVALID_KERNEL", what, {
      where: [site.location],
      hint: 'write kernel("name", { params: { x: buffer(f32), n: u32 }, workgroup: [64] }, ({ x, n }, gpu) => { … })',
    });
  const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
    typeof given === "object" && given !== null && !Array.isArray(given);
  if (typeof name !== "string") throw fail(`a kernel's name is a string, not ${kindOf(name)}`);
  if (!isRecord(options) || !isRecord(options["params"])) throw fail(`kernel "${name}" has no params`);
  for (const [param, descriptor] of Object.entries(options["params"])) {
    if (isRecord(descriptor) && (descriptor["kind"] === "type" || descriptor["kind"] === "buffer")) continue;
    const isStruct = isRecord(descriptor) && descriptor["kind"] === "struct";
    throw fail(
      `parameter "${param}" is ${isStruct ? "a struct, which stands in a buffer(…)" : kindOf(descriptor)}, not a type or a buffer`,
    );
  }
  const { workgroup } = options;
  if (!Array.isArray(workgroup) && typeof workgroup !== "function")
    throw fail(`the workgroup of kernel "${name}" is ${kindOf(workgroup)}, not a list such as [64]`);
  if (typeof body !== "function") throw fail(`kernel "${name}" has no body`);
}
