/** A kernel with an example and a reference as something to improve: its plan is one launch. */

import { EvolverError } from "@evolver/base";
import {
  contentsLength,
  isContentsRule,
  leastSizes,
  type Access,
  type BufferDescriptor,
  type Contents,
  type ElementType,
  type ExampleLaunch,
  type Kernel,
  type OneOf,
  type Params,
  type ProblemWork,
  type Round,
  type Site,
  type Sizes,
  type Tune,
} from "@evolver/kernel";
import { workgroupCounts } from "./plan.ts";
import type { Plan, PlanArgument, PlanBuffer, PlanBuild } from "./plan.ts";
import { callAuthor, fullVariants, type Choosing, type Problem, type Tunable } from "./tunable.ts";

/**
 * A kernel as something to improve.
 *
 * @throws EvolverError EXAMPLE_MISSING, REFERENCE_MISSING where the kernel does not say how it is launched, or what is right;
 *   STRUCTS_NOT_TUNABLE for buffers of structs
 */
export function tunableOf<P extends Params, T extends Tune>(given: Kernel<P, T>): Tunable {
  const kernel = given as Kernel<Params, Tune>;
  const { name, params, site, reference } = kernel;
  const where = [site.location];
  const first = callAuthor(`the example of "${name}"`, site, () => kernel.launch(leastSizes(kernel.sizes)));
  if (first === null)
    throw new EvolverError("EXAMPLE_MISSING", `kernel "${name}" has no example`, {
      where,
      hint: "say how it is launched: example: { workgroups, args }, or with sizes a function of them",
    });
  if (reference === null)
    throw new EvolverError(
      "REFERENCE_MISSING",
      `kernel "${name}" has no reference: nothing says what is right`,
      {
        where,
        hint: "write it in plain TypeScript: reference({ x, n }, round) { …; return { y }; }",
      },
    );
  if (Object.values(params).some((param) => "struct" in param))
    throw new EvolverError(
      "STRUCTS_NOT_TUNABLE",
      `kernel "${name}" has a buffer of structs, for which there are no references`,
      {
        where,
        hint: "use a buffer for each field",
      },
    );
  return new TunableKernel(kernel, first);
}

type AnyBuffer = BufferDescriptor<ElementType, Access, boolean>;

class TunableKernel implements Tunable {
  readonly name: string;
  readonly site: Site;
  readonly tune: Tune;
  readonly sizes: Sizes;
  readonly variants: Tunable["variants"];
  readonly #kernel: Kernel;
  readonly #roles: ReadonlyMap<string, PlanBuffer["role"]>;

  /** @param first the launch at the least sizes */
  constructor(kernel: Kernel, first: ExampleLaunch<Params>) {
    const { name, site, tune, sizes } = kernel;
    this.name = name;
    this.site = site;
    this.tune = tune;
    this.sizes = sizes;
    this.variants = fullVariants(kernel, kernel.variants);
    this.#kernel = kernel;
    this.#roles = rolesOf(kernel, first);
  }

  work(sizes: Problem["sizes"]): ProblemWork {
    return this.#kernel.work?.(sizes) ?? {};
  }

  scalars(sizes: Problem["sizes"]): Readonly<Record<string, readonly number[]>> {
    const several = Object.entries(this.#launch(sizes).args).flatMap(([name, given]) =>
      isOneOf(given) ? [[name, given.oneOf] as const] : [],
    );
    return Object.fromEntries(several);
  }

  plan({ sizes, scalars }: Problem, choices: Choosing, build: PlanBuild): Plan {
    const kernel = this.#kernel.at(choices);
    const { workgroups, args: given } = launchOf(kernel, sizes, build.subgroup);
    const buffers: PlanBuffer[] = [];
    const args: Record<string, PlanArgument> = {};
    for (const [name, param] of Object.entries(kernel.params)) {
      if (param.kind === "type") {
        args[name] = scalars[name] ?? scalarOf(given[name] as number | OneOf);
        continue;
      }
      const role = this.#roles.get(name) as PlanBuffer["role"];
      buffers.push({ name, role, element: param.element, length: contentsLength(given[name] as Contents) });
      args[name] = { buffer: name };
    }
    const launch = { kernel: 0, workgroups: workgroupCounts(workgroups), args };
    return { kernels: [kernel.build(build)], buffers, launches: [launch] };
  }

  contents(sizes: Problem["sizes"]): Readonly<Record<string, Contents>> {
    const { args } = this.#launch(sizes);
    const given = [...this.#roles].filter(([, role]) => role === "input" || role === "inout");
    return Object.fromEntries(given.map(([name]) => [name, args[name] as Contents]));
  }

  reference(
    inputs: Readonly<Record<string, Float64Array>>,
    { sizes, scalars }: Problem,
    round: Round,
  ): Readonly<Record<string, ArrayLike<number> | undefined>> {
    return referenceOf(this.#kernel, this.#launch(sizes), { inputs, scalars, round });
  }

  #launch(sizes: Problem["sizes"]): ExampleLaunch<Params> {
    return launchOf(this.#kernel, sizes);
  }
}

const launchOf = (kernel: Kernel, sizes: Problem["sizes"], subgroup?: number): ExampleLaunch<Params> =>
  callAuthor(`the example of "${kernel.name}"`, kernel.site, () =>
    kernel.launch(sizes, subgroup),
  ) as ExampleLaunch<Params>;

const isOneOf = (given: unknown): given is OneOf =>
  typeof given === "object" && given !== null && "oneOf" in given;

const scalarOf = (given: number | OneOf): number => (isOneOf(given) ? (given.oneOf[0] ?? 0) : given);

interface ReferenceCall {
  readonly inputs: Readonly<Record<string, Float64Array>>;
  readonly scalars: Readonly<Record<string, number>>;
  readonly round: Round;
}

/** Calls a kernel's reference with all its parameters; buffers that nobody gives are zeros. */
function referenceOf(
  kernel: Kernel,
  { args }: ExampleLaunch<Params>,
  { inputs, scalars, round }: ReferenceCall,
): Readonly<Record<string, ArrayLike<number> | undefined>> {
  const all = Object.entries(kernel.params).map(([name, param]): [string, Float64Array | number] => {
    const given = args[name] as Contents | OneOf;
    if (param.kind === "type") return [name, scalars[name] ?? scalarOf(given as number | OneOf)];
    return [name, inputs[name] ?? new Float64Array(contentsLength(given as Contents))];
  });
  const call = () => kernel.reference?.(Object.fromEntries(all), round) ?? {};
  return callAuthor(`the reference of "${kernel.name}"`, kernel.site, call);
}

/** What each buffer of a kernel is to its plan, by what the kernel may do to it and what the reference gives for it. */
function rolesOf(kernel: Kernel, first: ExampleLaunch<Params>): ReadonlyMap<string, PlanBuffer["role"]> {
  const given = referenceOf(kernel, first, { inputs: {}, scalars: {}, round: (value) => value });
  const outputs = new Set(Object.keys(given).filter((name) => given[name] !== undefined));
  const buffers = Object.entries(kernel.params).flatMap(([name, param]) =>
    param.kind === "buffer" ? [[name, param] as const] : [],
  );
  if (outputs.size === 0)
    throw new EvolverError("REFERENCE_INVALID", `the reference of kernel "${kernel.name}" gives no output`, {
      where: [kernel.site.location],
      hint: "return what the kernel writes, by name: return { y }",
    });
  const unknown = [...outputs].find((name) => !buffers.some(([known]) => known === name));
  if (unknown !== undefined)
    throw new EvolverError(
      "REFERENCE_INVALID",
      `the reference of kernel "${kernel.name}" gives "${unknown}", which is none of its buffers`,
      {
        where: [kernel.site.location],
        hint: `its buffers are ${buffers.map(([name]) => name).join(", ")}`,
      },
    );
  return new Map(
    buffers.map(([name, param]) => [
      name,
      roleOf(kernel, name, param, { isOutput: outputs.has(name), contents: first.args[name] as Contents }),
    ]),
  );
}

function roleOf(
  kernel: Kernel,
  name: string,
  { access }: AnyBuffer,
  { isOutput, contents }: { readonly isOutput: boolean; readonly contents: Contents },
): PlanBuffer["role"] {
  if (access === "read") {
    if (!isOutput) return "input";
    throw new EvolverError(
      "REFERENCE_INVALID",
      `the reference of kernel "${kernel.name}" gives "${name}", which the kernel only reads`,
      {
        where: [kernel.site.location],
        hint: `declare it buffer(type, "write"), or leave it out of what the reference gives`,
      },
    );
  }
  if (isOutput) return access === "write" ? "output" : "inout";
  if (typeof contents === "number" || (isContentsRule(contents) && contents.value === undefined))
    return "scratch";
  throw new EvolverError(
    "REFERENCE_INVALID",
    `the reference of kernel "${kernel.name}" gives nothing for "${name}", which the kernel changes in place`,
    {
      where: [kernel.site.location],
      hint: `return what it holds afterwards: return { …, ${name} }`,
    },
  );
}
