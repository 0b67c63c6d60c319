/** A study of anybody's tunable plan: everything that the lab needs is worked out from the plan itself. */

import { didYouMean, EvolverError } from "@evolver/base";
import { baselineOf, type AnyTypedArray, type Plan, type Problem, type Tunable } from "@evolver/device";
import {
  defaultSizes,
  emitTargets,
  whyNotSize,
  type KernelIR,
  type Selftest,
  type SelftestBuffer,
} from "@evolver/kernel";
import { openMachine, parseMachine, profileOption } from "../study/machine.ts";
import type { StudyInput, StudyOption } from "../study/option.ts";
import type { KernelRequest, Study, StudyKernel } from "../study/study.ts";
import { targetOf } from "../study/target.ts";
import { casesOf, planOf } from "./cases.ts";
import { OpenTunable } from "./open.ts";
import { truthOf } from "./truth.ts";

/** Where another process finds a tunable plan again. */
export interface TunableSource {
  /** The module that gives the study, and the export that does: see `Study`. */
  readonly module: string;
  readonly export: string;
  /** What that export needs to find the plan: parts of the study's input. */
  readonly input: StudyInput;
}

/** Names that a size cannot have, since the command line or the study's input has them already. */
const TAKEN: readonly string[] = [
  ...[
    "agent",
    "cycles",
    "device",
    "from",
    "help",
    "json",
    "output",
    "predict",
    "seed",
    "selftest",
    "subgroup",
  ],
  ...["target", "trials", "verbose", "workspace", "profile", "profileHash", "file", "export", "fileHash"],
];

/** @throws EvolverError INVALID_SIZE for a size whose name is taken */
export function studyOf(tunable: Tunable, source: TunableSource): Study {
  const { name, sizes, site } = tunable;
  const taken = Object.keys(sizes).find((size) => TAKEN.includes(size));
  if (taken !== undefined)
    throw new EvolverError(
      "INVALID_SIZE",
      `a size of "${name}" cannot be called "${taken}": that is an option of the lab`,
      {
        where: [site.location],
        hint: "give it another name",
      },
    );
  const parseInput = async (given: StudyInput): Promise<StudyInput> => ({
    ...source.input,
    ...parseSizes(tunable, given),
    ...(await parseMachine(given)),
  });
  return {
    id: name.replaceAll(/[^\p{L}\p{N}_]+/gu, "-"),
    title: name,
    module: source.module,
    export: source.export,
    options: [...Object.keys(sizes).map((size) => sizeOption(tunable, size)), profileOption],
    parseInput,
    open: (input, { id }) => openTunable(tunable, input, id),
    kernel: (request) => kernelOf(tunable, request),
  };
}

/** Opens a tunable plan as a study. @param input as the study's `parseInput` gives it */
export async function openTunable(tunable: Tunable, input: StudyInput, device: string): Promise<OpenTunable> {
  const target = await targetOf(device);
  const machine = await openMachine(input);
  const machineKnown = !target.measured || typeof input["profile"] === "string";
  return new OpenTunable({ tunable, sizes: parseSizes(tunable, input), target, machine, machineKnown });
}

function parseSizes({ sizes }: Tunable, given: StudyInput): Record<string, number> {
  const parsed: Record<string, number> = defaultSizes(sizes);
  for (const [name, rule] of Object.entries(sizes)) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    const why = whyNotSize(name, rule, value);
    if (why !== null) throw new EvolverError("INPUT_INVALID", why);
    parsed[name] = value as number;
  }
  return parsed;
}

function sizeOption({ sizes }: Tunable, name: string): StudyOption {
  const rule = sizes[name] ?? 1;
  const { value, multipleOf, oneOf } = typeof rule === "number" ? { value: rule } : rule;
  const also =
    oneOf !== undefined
      ? `one of ${oneOf.join(", ")}`
      : multipleOf !== undefined
        ? `a multiple of ${multipleOf}`
        : "a size";
  return {
    name,
    value: "n",
    help: `${also} (default: ${value})`,
    parse(text) {
      const number = text.trim() === "" ? Number.NaN : Number(text);
      const why = whyNotSize(name, rule, number);
      if (why === null) return number;
      const is = Number.isNaN(number)
        ? `${name} is ${JSON.stringify(text)}, and must be a whole number`
        : why;
      throw new EvolverError("INVALID_OPTION", `${is}.`);
    },
  };
}

/** @throws EvolverError UNKNOWN_RUNG, SEVERAL_KERNELS */
function kernelOf(tunable: Tunable, { candidate, target, subgroup }: KernelRequest): StudyKernel {
  const named: Readonly<Record<string, Problem["sizes"] | object>> = {
    baseline: baselineOf(tunable),
    ...tunable.variants,
  };
  const wanted =
    candidate.kind === "point"
      ? candidate.point
      : Object.hasOwn(named, candidate.id)
        ? named[candidate.id]
        : undefined;
  if (wanted === undefined)
    throw new EvolverError(
      "UNKNOWN_RUNG",
      `"${tunable.name}" has no variant "${(candidate as { id: string }).id}"`,
      {
        hint: `${didYouMean((candidate as { id: string }).id, Object.keys(named))}It has ${Object.keys(named).join(", ")}, and champion where a workspace has one`,
      },
    );
  const build = { subgroup, forwardProgress: emitTargets[target].forwardProgress };
  const objective = { tunable, sizes: defaultSizes(tunable.sizes), build };
  const [first] = casesOf(objective, 1);
  const { shape, inputs } = first as NonNullable<typeof first>;
  const plan = tunable.plan(shape, wanted as Record<string, number | string>, build);
  const title = `${tunable.name}, ${candidate.kind === "point" ? candidate.title : candidate.id}`;
  if (plan.launches.length !== 1)
    throw new EvolverError(
      "SEVERAL_KERNELS",
      `"${tunable.name}" is ${plan.launches.length} launches; emit writes one kernel`,
      {
        where: [tunable.site.location],
        hint: "evolve writes the champion's kernels, all of them, into the workspace: see its folder champion/",
      },
    );
  const truth = truthOf({ tunable, problem: shape, plan: planOf(objective, shape), inputs, seed: 1 });
  return { kernel: plan.kernels[0] as KernelIR, selftest: selftestOf(plan, { title, inputs, truth }) };
}

function selftestOf(
  { launches, buffers }: Plan,
  {
    title,
    inputs,
    truth,
  }: {
    readonly title: string;
    readonly inputs: Readonly<Record<string, AnyTypedArray>>;
    readonly truth: ReturnType<typeof truthOf>;
  },
): Selftest {
  const [launch] = launches;
  const args = Object.entries(launch?.args ?? {}).map(
    ([name, argument]): [string, number | SelftestBuffer] => {
      if (typeof argument === "number") return [name, argument];
      const buffer = buffers.find((each) => each.name === argument.buffer);
      const given = inputs[argument.buffer];
      const known = truth[argument.buffer];
      const isFloat = buffer?.element === "f32";
      const expected = known && {
        values: isFloat
          ? Float32Array.from(known.values)
          : buffer?.element === "i32"
            ? Int32Array.from(known.values)
            : Uint32Array.from(known.values),
        tolerance: isFloat ? { relative: 0, absolute: known.bound as number } : null,
      };
      return [
        name,
        {
          length: buffer?.length ?? 0,
          contents: given === undefined ? { kind: "unset" } : { kind: "values", values: given },
          ...(expected !== undefined && { expected }),
        },
      ];
    },
  );
  return { title, workgroups: launch?.workgroups ?? [0, 1, 1], args: Object.fromEntries(args) };
}
