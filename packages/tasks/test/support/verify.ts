/** Runs a task at a point on a device, and compares what comes out with the reference. */

import { allowedError, deriveSeed, EvolverError, Random } from "@evolver/base";
import {
  bindPlan,
  buildOf,
  tunableOf,
  TunablePlan,
  type BoundPlan,
  type Device,
  type Plan,
  type Tunable,
} from "@evolver/device";
import { isContentsRule, isMade, madeContents, scalarTypes, type Contents } from "@evolver/kernel";
import type { Task } from "@evolver/tasks";

type Inputs = Record<string, ReturnType<typeof madeContents>>;

export async function tunableOfTask(task: Task): Promise<Tunable> {
  const loaded = await task.load();
  return loaded instanceof TunablePlan ? loaded : tunableOf(loaded);
}

export interface Setting {
  readonly device: Device;
  readonly tunable: Tunable;
  readonly sizes: Readonly<Record<string, number>>;
  readonly choices: Readonly<Record<string, number | string>>;
}

/** What is wrong with the results, in a few words each; null where the point cannot be built for the sizes or the device. */
export async function verify({ device, tunable, sizes, choices }: Setting): Promise<string[] | null> {
  const problem = { sizes, scalars: {} };
  const plan = planOrNull(() => tunable.plan(problem, choices, buildOf(device)));
  if (plan === null) return null;
  const inputs = inputsOf(tunable, plan, sizes);
  const bound = await boundOrNull(device, plan, copied(inputs));
  if (bound === null) return null;
  try {
    const wrong = (await bound.run()).flatMap(({ findings }) => findings.map(({ message }) => message));
    const numbers = Object.fromEntries(
      Object.entries(inputs).map(([name, values]) => [name, Float64Array.from(values)]),
    );
    const truth = tunable.reference(copied(numbers), problem, (value) => value);
    let rounds = false;
    const low = tunable.reference(copied(numbers), problem, (value) => {
      rounds = true;
      return Math.fround(value);
    });
    for (const { name, role, element } of plan.buffers) {
      if (role !== "output" && role !== "inout") continue;
      const exact = Float64Array.from(truth[name] as ArrayLike<number>);
      const plain = rounds ? (low[name] as ArrayLike<number>) : exact;
      const limit = element === "f32" ? boundOf(exact, plain, rounds ? 0 : termsOf(numbers, exact)) : 0;
      const got = await bound.read(name);
      const bad = exact.findIndex((value, i) => !(Math.abs(Number(got[i]) - value) <= limit));
      if (got.length !== exact.length) wrong.push(`${name} has ${got.length} elements`);
      if (bad >= 0) wrong.push(`${name}[${bad}] is ${got[bad]}, not ${exact[bad]} ± ${limit}`);
    }
    return wrong;
  } finally {
    bound.destroy();
  }
}

/** Binds the plan; null where the device has too little of what its workgroups take. */
async function boundOrNull(device: Device, plan: Plan, inputs: Inputs): Promise<BoundPlan | null> {
  try {
    return await bindPlan(device, plan, { inputs, fill: "nan" });
  } catch (error) {
    if (error instanceof EvolverError && TOO_LARGE.includes(error.code)) return null;
    throw error;
  }
}

const TOO_LARGE: readonly string[] = ["WORKGROUP_TOO_LARGE", "SHARED_MEMORY_TOO_LARGE"];

/** A plain error is the author's, who says that there is no such plan: of the body it comes as it is. */
function planOrNull(make: () => Plan): Plan | null {
  try {
    return make();
  } catch (error) {
    const own = error instanceof EvolverError && error.code === "FUNCTION_THREW" ? error.cause : error;
    if (own instanceof Error && own.constructor === Error) return null;
    throw error;
  }
}

function inputsOf(tunable: Tunable, { buffers }: Plan, sizes: Setting["sizes"]): Inputs {
  const contents: Readonly<Record<string, Contents>> = tunable.contents(sizes);
  return Object.fromEntries(
    buffers.flatMap(({ name, role, element, length }) => {
      if (role !== "input" && role !== "inout") return [];
      const given = contents[name];
      if (ArrayBuffer.isView(given)) return [[name, given]];
      const random = new Random(deriveSeed(7, name));
      const { least, greatest } = scalarTypes[element];
      const plain =
        element === "f32" ? { length, make: () => random.normal() } : { length, min: least, max: greatest };
      const rule = isContentsRule(given) && isMade(given) ? given : plain;
      return [[name, madeContents(element, rule, random)]];
    }),
  );
}

const copied = <T extends { slice(): T }>(arrays: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, values.slice()]));

/** What the inputs of an output add up to, on average. */
function termsOf(inputs: Readonly<Record<string, Float64Array>>, { length }: Float64Array): number {
  const all = Object.values(inputs).flatMap((values) => [...values]);
  return all.reduce((sum, value) => sum + Math.abs(value), 0) / length;
}

/**
 * FlashAttention-3's rule. One plain computation of few outputs may be near the truth by luck, so that its error counts twice there, and
 * is at least some roundings.
 *
 * @param terms their magnitudes, where the reference rounds nothing
 */
function boundOf(exact: Float64Array, low: ArrayLike<number>, terms: number): number {
  const errors = exact.map((value, i) => Math.abs((low[i] as number) - value));
  const seen = errors.reduce((a, b) => Math.max(a, b), 0) * (exact.length < 64 ? 2 : 1);
  const rounding = 2 ** -22 * exact.reduce((most, value) => Math.max(most, Math.abs(value)), terms / 4);
  return allowedError(exact, Math.max(rounding, seen));
}
