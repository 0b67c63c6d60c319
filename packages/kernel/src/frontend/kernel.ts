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
import { chosen, defaultChoices, whyNoTune, type Choices, type NoTune, type Tune } from "./tune/choices.ts";
import {
  plainLaunch,
  type AnyReference,
  type Example,
  type ExampleLaunch,
  type PlainLaunch,
  type ProblemWork,
  type Reference,
} from "./tune/example.ts";
import { raggedSizes, sized, whyNoSizes, type NoSizes, type Sizes, type SizesOf } from "./tune/sizes.ts";

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

/** What a kernel is built for. */
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

/** What a kernel is made of beside its body. */
export interface KernelOptions<P extends Params, T extends Tune = NoTune, S extends Sizes = NoSizes> {
  readonly params: P;
  /**
   * Free choices, such as `{ tile: [8, 16, 32] }`: the body, `workgroup` and `example` are given a value of each. The first value is the default.
   */
  readonly tune?: T;
  /** Sizes of the problem with their defaults, such as `{ rows: 1024 }`, for which `example` gives launches. */
  readonly sizes?: S;
  /** Invocations per workgroup on x, y and z; may depend on the subgroup width and the choices. */
  readonly workgroup:
    | WorkgroupSize
    | ((build: Required<BuildOptions> & { readonly tune: Choices<T> }) => WorkgroupSize);
  /**
   * "static" (the default) refuses barriers and subgroup operations whose control flow is not proved uniform;
   * "dynamic" leaves that check to the simulator, and WebGPU refuses the kernel.
   */
  readonly uniformity?: UniformityMode;
  /** A launch that tools such as `evolver check` may run; with `sizes`, one for any sizes. */
  readonly example?: Example<P, T, S>;
  /** What the outputs have to be. With it, `evolver evolve` verifies, measures and improves the kernel. */
  readonly reference?: Reference<P>;
  /** The work that the problem takes. */
  readonly work?: (sizes: SizesOf<S>) => ProblemWork;
  /** Choices with a name. */
  readonly variants?: Readonly<Record<string, Partial<Choices<T>>>>;
}

/** What a kernel does. It runs when the kernel is built, and records what runs on the device. */
export type KernelBody<P extends Params, T extends Tune = NoTune> = (
  params: Symbols<P>,
  gpu: Gpu,
  choices: Choices<T>,
) => void;

/** Options of which only run time knows more. */
type AnyOptions = KernelOptions<Params, Tune, Sizes>;

/** What kernels of one definition share. */
interface Definition {
  readonly options: AnyOptions;
  readonly body: (params: never, gpu: Gpu, choices: never) => void;
  readonly site: Site;
  /** By their choices. */
  readonly kernels: Map<string, Kernel>;
}

/** A kernel in TypeScript. For each set of build options that is needed, it is built by running its body once. */
export class Kernel<P extends Params = Params, T extends Tune = Tune> {
  readonly name: string;
  readonly params: P;
  /** The values of each free choice. */
  readonly tune: Tune;
  /** The choices that this kernel is made with. */
  readonly choices: Choices<Tune>;
  readonly sizes: Sizes;
  readonly reference: AnyReference | null;
  readonly work: ((sizes: SizesOf<Sizes>) => ProblemWork) | null;
  /** Choices with a name. */
  readonly variants: Readonly<Record<string, Partial<Choices<Tune>>>>;
  /** Where it is defined. */
  readonly site: Site;
  readonly #definition: Definition;
  readonly #builds = new Map<string, KernelIR>();

  constructor(name: string, params: P, definition: Definition, choices: Choices<Tune>) {
    const { tune = {}, sizes = {}, reference = null, work = null, variants = {} } = definition.options;
    this.name = name;
    this.params = params;
    this.tune = tune;
    this.choices = choices;
    this.sizes = sizes;
    this.reference = reference as AnyReference | null;
    this.work = work;
    this.variants = variants;
    this.site = definition.site;
    this.#definition = definition;
    definition.kernels.set(keyOf(choices), this);
  }

  /**
   * The same kernel with other choices: `matmul.at({ tile: 16 })`. What is left out is as it is here. The same kernel each time.
   *
   * @throws EvolverError UNKNOWN_CHOICE
   */
  at(choices: Partial<Choices<T>>): Kernel<P, T> {
    const given = { ...this.choices, ...choices } as Choices<Tune>;
    const full = chosen(this.tune, given, `kernel "${this.name}"`);
    const known = this.#definition.kernels.get(keyOf(full));
    return (known ?? new Kernel(this.name, this.params, this.#definition, full)) as Kernel<P, T>;
  }

  /** A small launch for tools: of ragged sizes where the kernel has sizes. Null where it has no example. */
  get example(): PlainLaunch | null {
    const launch = this.launch(raggedSizes(this.sizes));
    return launch === null ? null : plainLaunch(launch, this.params);
  }

  /**
   * The example for some sizes, the defaults for those that are left out. Null where there is none.
   *
   * @throws EvolverError INVALID_SIZE
   */
  launch(sizes: Partial<SizesOf<Sizes>> = {}, subgroup = 32): ExampleLaunch<P> | null {
    const { example } = this.#definition.options;
    if (typeof example !== "function") return (example as ExampleLaunch<P> | undefined) ?? null;
    const all = sized(this.sizes, sizes, `kernel "${this.name}"`);
    return example(all, this.choices, { subgroup }) as ExampleLaunch<P>;
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
    const { workgroup, uniformity = "static" } = this.#definition.options;
    const given = typeof workgroup === "function" ? workgroup({ ...options, tune: this.choices }) : workgroup;
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
      returned = this.#definition.body(symbols as never, gpu, this.choices as never);
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
export function kernel<
  const P extends Params,
  const T extends Tune = NoTune,
  const S extends Sizes = NoSizes,
>(name: string, options: KernelOptions<P, T, S>, body: KernelBody<P, T>): Kernel<P, T> {
  const site = captureSite();
  checkDefinition(name, options, body, site);
  const definition = { options: options as unknown as AnyOptions, body, site, kernels: new Map() };
  return new Kernel(name, options.params, definition, defaultChoices(options.tune ?? {}));
}

const keyOf = (choices: Choices<Tune>): string => JSON.stringify(Object.entries(choices));

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
  const { tune = {}, sizes = {} } = options;
  const why = whyNoTune(tune) ?? whyNoSizes(sizes);
  if (why !== null) throw fail(`kernel "${name}": ${why}`);
}
