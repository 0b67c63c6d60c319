/** What a kernel's body is given: indices, control flow at run time, variables, shared memory, synchronisation. */

import { EvolverError } from "@evolver/base";
import type { Role } from "../ir/nodes.ts";
import { captureSite, type Site } from "../ir/site.ts";
import type { ElementType, VariableType, WordType } from "../ir/types.ts";
import { AtomicArray } from "./atomic-array.ts";
import { Copies } from "./copies.ts";
import { kindOf, wantFunction, wantType } from "./given.ts";
import { xyz, type Xyz } from "./indices.ts";
import { arrange, type Layout } from "./layout.ts";
import { eitherWay, checkLoop, type ForRange } from "./loop.ts";
import { SharedArray } from "./memory.ts";
import type { AtomicDescriptor, TypeDescriptor } from "./descriptors.ts";
import { PhaseBarriers, type PhaseBarrierOptions } from "./phase-barriers.ts";
import { Pipeline, type PipelineOptions } from "./pipeline.ts";
import { close, note, type Frame, type Recorder } from "./recorder.ts";
import { asResults, refuseLiteral } from "./results.ts";
import { checkRoles, type RoleOptions } from "./roles.ts";
import {
  lift,
  Scalar,
  wrap,
  type Bool,
  type I32,
  type Index,
  type Operand,
  type ScalarOf,
  type U32,
} from "./scalar.ts";
import { Subgroup } from "./subgroup.ts";
import { recordTrace, type Traceable } from "./trace.ts";
import { RegisterArray, Var } from "./variable.ts";

type Result = Scalar | readonly Scalar[];

/** What a kernel's body is given: indices, control flow at run time, variables, shared memory, synchronisation. */
export class Gpu {
  readonly #recorder: Recorder;
  /** Invocations per workgroup on x, y and z, known while building. CUDA and HIP: blockDim. */
  readonly workgroupSize: readonly [number, number, number];
  /** Invocations per subgroup, known while building. CUDA: warp size; HIP: wavefront size. */
  readonly subgroupSize: number;
  /** Subgroups per workgroup, known while building. */
  readonly numSubgroups: number;
  /** Votes, reductions and exchanges within a subgroup. CUDA: warp intrinsics. */
  readonly subgroup: Subgroup;
  /** Asynchronous copies from buffers to shared memory. */
  readonly copies: Copies;
  /** Whether subgroups of a workgroup may wait for each other, known while building: see BuildOptions. */
  readonly forwardProgress: boolean;
  /** CUDA and HIP: blockIdx. */
  readonly workgroupId: Xyz;
  /** CUDA and HIP: threadIdx. */
  readonly localId: Xyz;
  /** workgroupId · workgroupSize + localId. */
  readonly globalId: Xyz;
  /** CUDA and HIP: gridDim. */
  readonly numWorkgroups: Xyz;

  constructor(
    recorder: Recorder,
    workgroupSize: readonly [number, number, number],
    {
      subgroup: subgroupSize,
      forwardProgress,
    }: { readonly subgroup: number; readonly forwardProgress: boolean },
  ) {
    this.#recorder = recorder;
    this.forwardProgress = forwardProgress;
    this.workgroupSize = workgroupSize;
    this.subgroupSize = subgroupSize;
    const invocations = workgroupSize[0] * workgroupSize[1] * workgroupSize[2];
    this.numSubgroups = Math.ceil(invocations / subgroupSize);
    this.subgroup = new Subgroup(recorder, subgroupSize, invocations);
    this.copies = new Copies(recorder);
    this.workgroupId = xyz(recorder, "workgroupId");
    this.localId = xyz(recorder, "localId");
    this.globalId = xyz(recorder, "globalId");
    this.numWorkgroups = xyz(recorder, "numWorkgroups");
  }

  /** The linear index of the workgroup in the launch; right for any number of workgroups. */
  get workgroupIndex(): U32 {
    return wrap(this.#recorder.builtin("workgroupIndex"));
  }
  /** The linear index of the invocation in its workgroup. */
  get localIndex(): U32 {
    return wrap(this.#recorder.builtin("localIndex"));
  }
  /** The index of the subgroup in its workgroup: localIndex / subgroupSize. CUDA: warp index. */
  get subgroupId(): U32 {
    return wrap(this.#recorder.builtin("subgroupId"));
  }
  /** The index of the invocation in its subgroup. CUDA: lane. */
  get lane(): U32 {
    return wrap(this.#recorder.builtin("lane"));
  }

  /** A literal as a run-time value, where no other operand gives it a type. */
  constant<T extends VariableType>(
    type: TypeDescriptor<T>,
    value: T extends "bool" ? boolean : number,
  ): ScalarOf<T> {
    wantType(type, "gpu.constant");
    return wrap(this.#recorder.constant(type.type, value));
  }

  /** A variable. Without an initial value, reading it before a set is an error that the simulator finds. */
  var<T extends VariableType>(type: TypeDescriptor<T>, init?: Operand<T>, name?: string): Var<T> {
    wantType(type, "gpu.var");
    return new Var(this.#recorder, type.type, init ?? null, name === undefined ? {} : { name });
  }

  /** An array of `length` variables with build-time indices. */
  registers<T extends VariableType>(
    type: TypeDescriptor<T>,
    length: number,
    init?: Operand<T>,
  ): RegisterArray<T> {
    wantType(type, "gpu.registers");
    return new RegisterArray(this.#recorder, type.type, length, init ?? null);
  }

  /**
   * An array in shared memory (CUDA: __shared__, HIP: LDS), uninitialised at first: flat, of rows one after another
   * (`[rows, columns]`), or with a layout.
   */
  shared<E extends WordType>(element: AtomicDescriptor<E>, length: number, name?: string): AtomicArray<E>;
  shared<E extends ElementType>(
    element: TypeDescriptor<E>,
    layout: number | readonly number[] | Layout,
    name?: string,
  ): SharedArray<E>;
  shared(
    element: TypeDescriptor<ElementType> | AtomicDescriptor<WordType>,
    layout: number | readonly number[] | Layout,
    name = this.#recorder.freeName(captureSite(), `shared${this.#recorder.shared.length}`),
  ): SharedArray<ElementType> | AtomicArray<WordType> {
    wantType(element, "gpu.shared");
    if (layout instanceof Scalar) {
      throw new EvolverError("INVALID_LAYOUT", `shared memory is sized by a run-time ${layout.type}`, {
        where: [captureSite().location, note(layout.site, "made here")],
        hint: "its size is known when the kernel is built: give a JavaScript number, the largest that is needed",
      });
    }
    const arranged = arrange(layout);
    const memory = this.#recorder.declareShared({
      space: "shared",
      name,
      element: element.type,
      length: arranged.size,
      atomic: element.kind === "atomic",
    });
    return element.kind === "atomic"
      ? new AtomicArray(this.#recorder, memory)
      : new SharedArray(this.#recorder, memory, arranged);
  }

  /** Runs `then` where the condition holds and `otherwise` elsewhere, at run time. If both return values, returns those of the side that ran. */
  if<R extends Result>(condition: Bool, then: () => R, otherwise: () => R): R;
  if(condition: Bool, then: () => void, otherwise?: () => void): void;
  if(condition: Bool, then: () => unknown, otherwise?: () => unknown): unknown {
    const recorder = this.#recorder;
    const site = captureSite();
    wantFunction(then, "gpu.if", "gpu.if(c, () => y.set(i, 1))");
    const test = this.#condition(condition, site, "gpu.if");
    const thenBlock = recorder.block("the gpu.if block", false, () => then());
    const elseBlock = recorder.block("the else block", false, () => otherwise?.());
    const results = asResults(thenBlock.result);
    const others = asResults(elseBlock.result);
    refuseLiteral(results, elseBlock.result, site);
    refuseLiteral(others, thenBlock.result, site);
    const merged =
      results !== null && others !== null
        ? recorder.within(site, () => this.#merge(results, others, thenBlock.frame, elseBlock.frame, site))
        : null;
    recorder.emit(
      { kind: "if", condition: test, then: close(thenBlock.frame), else: close(elseBlock.frame) },
      site,
    );
    if (merged === null) return undefined;
    const values = recorder.within(site, () => merged.map((variable) => variable.get()));
    return thenBlock.result instanceof Scalar ? values[0] : values;
  }

  /** A loop at run time: `body` is recorded once, with the loop's index. */
  for(range: ForRange<"u32">, body: (i: U32) => void): void;
  for(range: ForRange<"i32">, body: (i: I32) => void): void;
  for(range: ForRange<"u32"> | ForRange<"i32">, body: ((i: U32) => void) | ((i: I32) => void)): void {
    checkLoop(range, body);
    const recorder = this.#recorder;
    const site = captureSite();
    const bounds: readonly (Scalar | number)[] = [range.from, range.to, range.step ?? 1];
    const scalar = bounds.find((bound) => bound instanceof Scalar) as Scalar | undefined;
    const type = scalar?.type ?? (bounds.every((bound) => (bound as number) >= 0) ? "u32" : "i32");
    const step = range.step ?? 1;
    if (step === 0 || (typeof step === "number" && step < 0 && type !== "i32")) {
      throw new EvolverError(
        "INVALID_LOOP",
        step === 0 ? "a loop's step is 0" : "a loop over u32 cannot count down",
        {
          where: [site.location],
          hint: "give a positive step, or make from and to i32 for a negative one",
        },
      );
    }
    const lifted = bounds.map((bound) => lift(recorder, bound, type));
    const [from, to, by] = lifted.map((bound) => recorder.use(bound, site));
    if (
      !from ||
      !to ||
      !by ||
      from.type !== to.type ||
      from.type !== by.type ||
      (from.type !== "i32" && from.type !== "u32")
    ) {
      throw new EvolverError("TYPE_MISMATCH", "from, to and step of a loop are of one integer type", {
        where: [site.location],
        hint: "convert with toI32() or toU32()",
      });
    }
    if (from.type === "i32" && typeof step !== "number") {
      const { counted, indexAt } = eitherWay(recorder, site, lifted, range.unroll);
      return this.for(counted, (done) => (body as (i: I32) => void)(indexAt(done)));
    }
    const inner = recorder.block("the body of gpu.for", true, (frame) => {
      const induction = recorder.define(from.type, site, frame);
      recorder.refuseAsync((body as (i: Scalar) => unknown)(wrap(induction)), "the body of gpu.for");
      return induction.value;
    });
    recorder.emit(
      {
        kind: "for",
        induction: inner.result,
        from,
        to,
        step: by,
        direction: typeof step === "number" && step < 0 ? "down" : "up",
        unroll: range.unroll ?? false,
        body: close(inner.frame),
      },
      site,
    );
  }

  /** Evaluates the condition, leaves when it is false, runs the body, and starts again. */
  while(condition: () => Bool, body: () => void): void {
    for (const given of [condition, body])
      wantFunction(given, "gpu.while", "gpu.while(() => k.get().lt(n), () => k.add(1))");
    const recorder = this.#recorder;
    const site = captureSite();
    const test = recorder.block("the condition of gpu.while", false, () =>
      this.#condition(condition(), site, "gpu.while"),
    );
    const inner = recorder.block("the body of gpu.while", true, () => body());
    recorder.emit(
      { kind: "while", condition: close(test.frame), test: test.result, body: close(inner.frame) },
      site,
    );
  }

  /** Leaves the innermost run-time loop. Nothing may follow in the block. */
  break(): void {
    this.#jump("break");
  }

  /** Goes on with the next iteration of the innermost run-time loop. Nothing may follow in the block. */
  continue(): void {
    this.#jump("continue");
  }

  /** A loop at build time, like a JavaScript `for`, that labels its iterations in printed and emitted code. */
  unroll(count: number, body: (k: number) => void): void {
    wantFunction(body, "gpu.unroll", "gpu.unroll(4, (k) => …)");
    for (let k = 0; k < count; k++) {
      this.#recorder.emit({ kind: "comment", text: `unrolled ${k + 1} of ${count}` });
      this.#recorder.refuseAsync<unknown>(body(k), "the body of gpu.unroll");
    }
  }

  /** Each subgroup runs one body, chosen by its index. Bodies cannot contain barriers of the workgroup. */
  roles(options: readonly RoleOptions[]): void {
    const recorder = this.#recorder;
    const site = captureSite();
    checkRoles(options, this.numSubgroups, site);
    let first = 0;
    const roles: Role[] = [];
    for (const role of options) {
      const { frame } = recorder.block(`role "${role.name}"`, false, () => role.body());
      roles.push(Object.freeze({ name: role.name, first, count: role.subgroups, body: close(frame) }));
      first += role.subgroups;
    }
    recorder.emit({ kind: "roles", roles: Object.freeze(roles) }, site);
  }

  /** All invocations of the workgroup wait for each other; what each wrote before is visible to all after. CUDA: __syncthreads(). */
  barrier(): void {
    this.#recorder.emit({ kind: "barrier", scope: "workgroup" });
  }

  /** Barriers in shared memory that some invocations arrive at and others wait for. CUDA: mbarrier. */
  phaseBarriers(options: PhaseBarrierOptions): PhaseBarriers {
    return new PhaseBarriers(this.#recorder, options, this.forwardProgress);
  }

  /** A ring of stages between invocations that fill the stages and invocations that use them. */
  pipeline(options: PipelineOptions): Pipeline {
    return new Pipeline(this.#recorder, options, this.forwardProgress);
  }

  /** Barrier, one read shared by all invocations, barrier: the result is the same in the whole workgroup. */
  uniformLoad<E extends ElementType>(array: SharedArray<E>, ...indices: Index[]): ScalarOf<E> {
    const site = captureSite();
    if (!(array instanceof SharedArray)) {
      throw new EvolverError("TYPE_MISMATCH", "gpu.uniformLoad reads an array in shared memory", {
        where: [site.location],
        hint: "make it with gpu.shared(...), not atomic",
      });
    }
    const { memory, index } = array.resolve(indices, site);
    const result = this.#recorder.define(memory.element, site);
    const limits = array.limits(indices, 1, site);
    this.#recorder.emit({ kind: "uniformLoad", memory, index, result: result.value, ...limits }, site);
    return wrap(result);
  }

  /** A comment line in the printed IR and in emitted code. */
  comment(text: string): void {
    this.#recorder.emit({ kind: "comment", text });
  }

  /**
   * Shows values of each active invocation to whoever runs the kernel in the simulator, and does nothing elsewhere: put it
   * into a gpu.if to see some invocations only.
   */
  trace(label: string, ...values: readonly Traceable[]): void {
    recordTrace(this.#recorder, label, values);
  }

  #condition(condition: Bool, site: Site, what: string): ReturnType<Recorder["use"]> {
    const given: unknown = condition;
    if (given instanceof Scalar && given.type === "bool") return this.#recorder.use(given, site);
    throw new EvolverError("TYPE_MISMATCH", `${what} takes a run-time bool, not ${kindOf(given)}`, {
      where: given instanceof Scalar ? [site.location, note(given.site, "made here")] : [site.location],
      hint:
        typeof given === "boolean"
          ? "a build-time condition belongs in a JavaScript if"
          : "compare it: x.ne(0)",
    });
  }

  #jump(kind: "break" | "continue"): void {
    const site = captureSite();
    if (this.#recorder.enclosingLoop() === null) {
      throw new EvolverError("OUTSIDE_LOOP", `gpu.${kind}() stands outside any gpu.for or gpu.while`, {
        where: [site.location, note(this.#recorder.site, `in kernel "${this.#recorder.kernelName}"`)],
      });
    }
    this.#recorder.emit({ kind }, site);
  }

  #merge(
    results: readonly Scalar[],
    others: readonly Scalar[],
    then: Frame,
    otherwise: Frame,
    site: Site,
  ): Var<VariableType>[] {
    const fits =
      results.length === others.length &&
      results.every((result, k) => result.type === (others[k] as Scalar).type);
    if (!fits) {
      throw new EvolverError("TYPE_MISMATCH", "the two sides of a gpu.if give results of different types", {
        where: [
          site.location,
          ...[...results, ...others].map((value) => note(value.site, `a ${value.type} made here`)),
        ],
      });
    }
    const count = results.length;
    return results.map((result, k) => {
      const variable = new Var(this.#recorder, result.type as VariableType, null, { k, count });
      this.#assign(variable, result, then);
      this.#assign(variable, others[k] as Scalar, otherwise);
      return variable;
    });
  }

  /** Ends a recorded block with the assignment of its result. */
  #assign(variable: Var<VariableType>, value: Scalar, frame: Frame): void {
    this.#recorder.reopen(frame, () => variable.set(value as ScalarOf<VariableType>));
  }
}
