/**
 * Plans as people write them, with names and types checked by the editor:
 *
 *     const plan = buildPlan(buildOf(device))
 *       .input("x", f32, rows * columns)
 *       .scratch("sums", f32, rows)
 *       .output("y", f32, rows * columns)
 *       .launch(sumRows, { workgroups: rows, args: { x: "x", sums: "sums", columns } })
 *       .launch(divideRows, { workgroups: rows, args: { x: "x", sums: "sums", y: "y", columns } })
 *       .done();
 *
 * Each step gives a new builder, so that plans may share a beginning.
 */

import type {
  Access,
  BufferDescriptor,
  ElementType,
  Kernel,
  KernelIR,
  Params,
  TypeDescriptor,
} from "@evolver/kernel";
import { checkPlan, planInvalid } from "./check.ts";
import { workgroupCounts } from "./plan.ts";
import type { Plan, PlanArgument, PlanBuffer, PlanBuild, PlanLaunch, PlanTypes } from "./plan.ts";

/** The names of buffers that hold elements of a type. */
type NamesOf<B extends PlanTypes, E extends ElementType> = {
  readonly [K in keyof B]: B[K] extends E ? K : never;
}[keyof B];

/** What a launch passes: a number for each scalar, for each buffer the name of one of the same element type. */
export type PlanArgs<P extends Params, B extends PlanTypes> = {
  readonly [K in keyof P]: P[K] extends BufferDescriptor<infer E, Access, boolean> ? NamesOf<B, E> : number;
};

export interface LaunchOptions<P extends Params, B extends PlanTypes> {
  /** On x, or on x, y and z. 0 is valid and runs nothing. */
  readonly workgroups: number | readonly [number, number?, number?];
  readonly args: PlanArgs<P, B>;
}

// oxlint-disable-next-line typescript/consistent-type-definitions
type With<B extends PlanTypes, N extends string, E extends ElementType> = B & { readonly [K in N]: E };

export interface PlanBuilder<B extends PlanTypes> {
  /** A buffer of `length` elements that the user of the plan fills. */
  input<N extends string, E extends ElementType>(
    name: N,
    element: TypeDescriptor<E>,
    length: number,
  ): PlanBuilder<With<B, N, E>>;
  /** A buffer that holds a result afterwards. */
  output<N extends string, E extends ElementType>(
    name: N,
    element: TypeDescriptor<E>,
    length: number,
  ): PlanBuilder<With<B, N, E>>;
  /** A buffer for data that launches pass to later ones. @param zeroed whether it begins with zeros: see PlanBuffer */
  scratch<N extends string, E extends ElementType>(
    name: N,
    element: TypeDescriptor<E>,
    length: number,
    zeroed?: NonNullable<PlanBuffer["zeroed"]>,
  ): PlanBuilder<With<B, N, E>>;
  /** Launches a kernel after those before. A kernel that is launched several times stands in the plan once. */
  launch<P extends Params>(kernel: Kernel<P>, options: LaunchOptions<P, B>): PlanBuilder<B>;
  /** @throws EvolverError PLAN_INVALID for what only shows in the data: two buffers of one name, a negative length */
  done(): Plan<B>;
}

/** A plan with nothing in it yet. @param build what its kernels are built for: `buildOf(device)` */
// oxlint-disable-next-line typescript/no-empty-object-type
export function buildPlan(build: PlanBuild): PlanBuilder<{}> {
  return builder(build, { kernels: [], buffers: [], launches: [] });
}

function builder<B extends PlanTypes>(build: PlanBuild, plan: Plan): PlanBuilder<B> {
  const add = <N extends string, E extends ElementType>(buffer: PlanBuffer): PlanBuilder<With<B, N, E>> =>
    builder(build, { ...plan, buffers: [...plan.buffers, buffer] });
  return {
    input: (name, { type: element }, length) => add({ name, role: "input", element, length }),
    output: (name, { type: element }, length) => add({ name, role: "output", element, length }),
    scratch: (name, { type: element }, length, zeroed) =>
      add({ name, role: "scratch", element, length, ...(zeroed !== undefined && { zeroed }) }),
    launch(kernel, { workgroups, args }) {
      const ir = kernel.build(build);
      const known = plan.kernels.indexOf(ir);
      const launch: PlanLaunch = {
        kernel: known < 0 ? plan.kernels.length : known,
        workgroups: workgroupCounts(workgroups),
        args: argumentsOf(ir, args),
      };
      const kernels = known < 0 ? [...plan.kernels, ir] : plan.kernels;
      return builder(build, { ...plan, kernels, launches: [...plan.launches, launch] });
    },
    done() {
      checkPlan(plan);
      return plan as Plan<B>;
    },
  };
}

function argumentsOf(ir: KernelIR, args: Readonly<Record<string, unknown>>): PlanLaunch["args"] {
  const names = new Set(ir.params.map(({ name }) => name));
  for (const name of Object.keys(args))
    if (!names.has(name)) throw planInvalid(`Kernel ${ir.name} has no parameter ${name}.`);
  return Object.fromEntries(
    Object.entries(args).map(([name, value]): [string, PlanArgument] => [
      name,
      typeof value === "string" ? { buffer: value } : (value as number),
    ]),
  );
}
