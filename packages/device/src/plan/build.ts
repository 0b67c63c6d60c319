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
import { invalid, shown } from "../core/invalid.ts";
import { givenParams } from "../core/launch.ts";
import { checkLaunches, checkPlan, planInvalid } from "./check.ts";
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

/** How a plan launches a kernel. */
export interface LaunchOptions<P extends Params, B extends PlanTypes> {
  /** On x, or on x, y and z. 0 is valid and runs nothing. */
  readonly workgroups: number | readonly [number, number?, number?];
  readonly args: PlanArgs<P, B>;
}

// oxlint-disable-next-line typescript/consistent-type-definitions
type With<B extends PlanTypes, N extends string, E extends ElementType> = B & { readonly [K in N]: E };

/** Collects a plan; each step gives a new builder. */
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
  /** A buffer that the user of the plan fills, and that holds a result afterwards: it is changed in place. */
  inout<N extends string, E extends ElementType>(
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
  /**
   * @throws EvolverError PLAN_INVALID for what only shows in the data: two buffers of one name, a negative length, an output
   *   that no launch writes; PLAN_WRITES_INPUT; PLAN_READS_UNWRITTEN for scratch that holds garbage when it is read; INVALID_ARGUMENT and ALIASED_BUFFER for what each launch would throw them
   */
  done(): Plan<B>;
}

/**
 * A plan with nothing in it yet.
 *
 * @param build what its kernels are built for: `buildOf(device)`
 * @throws EvolverError INVALID_ARGUMENT where that is not given
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export function buildPlan(build: PlanBuild): PlanBuilder<{}> {
  const known: Partial<PlanBuild> | null | undefined = build;
  if (typeof known?.subgroup !== "number")
    throw invalid(
      `buildPlan wants what its kernels are built for, not ${shown(build)}`,
      "write buildPlan(buildOf(device))",
    );
  return builder(build, { kernels: [], buffers: [], launches: [] });
}

function builder<B extends PlanTypes>(build: PlanBuild, plan: Plan): PlanBuilder<B> {
  const add = <N extends string, E extends ElementType>(
    type: TypeDescriptor<E>,
    buffer: Omit<PlanBuffer, "element">,
  ): PlanBuilder<With<B, N, E>> => {
    const element = elementOf(buffer.name, type);
    return builder(build, { ...plan, buffers: [...plan.buffers, { ...buffer, element }] });
  };
  return {
    input: (name, type, length) => add(type, { name, role: "input", length }),
    output: (name, type, length) => add(type, { name, role: "output", length }),
    inout: (name, type, length) => add(type, { name, role: "inout", length }),
    scratch: (name, type, length, zeroed) =>
      add(type, { name, role: "scratch", length, ...(zeroed !== undefined && { zeroed }) }),
    launch(kernel, options) {
      checkLaunchCall(plan.launches.length, kernel, options);
      const { workgroups, args } = options;
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
      checkLaunches(plan);
      return plan as Plan<B>;
    },
  };
}

/** What a buffer holds, where the caller has no compiler that insists on a type. */
function elementOf<E extends ElementType>(name: string, type: TypeDescriptor<E> | null | undefined): E {
  if (typeof type?.type === "string") return type.type;
  throw planInvalid(
    `Buffer ${shown(name)} has ${shown(type)} for its type.`,
    'pass the type before the length: f32 or another from "@evolver/kernel"',
  );
}

/** Refuses what the compiler would, for callers without one: later steps look into all of it. */
function checkLaunchCall(
  i: number,
  kernel: Partial<Kernel> | null | undefined,
  options: { readonly workgroups?: unknown; readonly args?: unknown } | null | undefined,
): void {
  if (typeof kernel?.build !== "function")
    throw planInvalid(
      `Launch ${i} is of ${shown(kernel)}, which is no kernel.`,
      "pass what `kernel(…)` gave",
    );
  const what = `Launch ${i} of ${kernel.name}`;
  const hint = "write .launch(kernel, { workgroups, args })";
  if (typeof options !== "object" || options === null)
    throw planInvalid(`${what} has ${shown(options)} for workgroups and args.`, hint);
  const { workgroups, args } = options;
  if (typeof workgroups !== "number" && !Array.isArray(workgroups))
    throw planInvalid(`${what} has ${shown(workgroups)} for workgroups.`, "pass a number or [x, y?, z?]");
  if (typeof args !== "object" || args === null)
    throw planInvalid(
      `${what} has ${shown(args)} for args.`,
      "pass a record with a number or the name of a buffer for each parameter",
    );
}

function argumentsOf(ir: KernelIR, args: Readonly<Record<string, unknown>>): PlanLaunch["args"] {
  const names = new Set(givenParams(ir).map(({ name }) => name));
  for (const name of Object.keys(args))
    if (!names.has(name))
      throw planInvalid(
        `Kernel ${ir.name} has no parameter ${name}.`,
        `its parameters are ${[...names].join(", ") || "none"}`,
      );
  return Object.fromEntries(
    Object.entries(args).map(([name, value]): [string, PlanArgument] => [
      name,
      typeof value === "string" ? { buffer: value } : (value as number),
    ]),
  );
}
