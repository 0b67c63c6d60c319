/** `evolver emit`: a kernel as source for a target: a study's rung, a workspace's champion, or one of the user's. */

import { basename, extname, resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import {
  emit,
  emitSelftest,
  emitTargetNames,
  emitTargets,
  type EmitTarget,
  type Kernel,
  type KernelIR,
  type Selftest,
} from "@evolver/kernel";
import { type KernelRequest, type Study } from "@evolver/lab";
import { Option } from "commander";
import { lastCycle } from "../champion.ts";
import { newCommand, type MakeCommand } from "../command.ts";
import { exampleSelftest } from "../example-selftest.ts";
import { fileOf, loadKernels } from "@evolver/lab";
import { subgroupOption, workspaceOption } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { checkFile, writeOutput } from "../output-files.ts";
import { resolveOwnPackages } from "@evolver/lab";
import {
  addStudyOptions,
  givenInput,
  studyNamed,
  studyTarget,
  studyWith,
  type StudyTarget,
} from "../study-options.ts";
import { emitMicrobench } from "./emit-microbench.ts";

interface EmitOptions {
  readonly target: EmitTarget;
  readonly subgroup: number;
  /** Where champions are. */
  readonly workspace: string;
  /** Add a program that runs the kernel and judges its results. */
  readonly selftest: boolean;
  readonly output: string | null;
  readonly json: boolean;
}

export const emitCommand: MakeCommand = async ({ args, finish }) => {
  const command = newCommand("emit", "write a kernel as source for a target")
    .argument(
      "<kernel>",
      'study/rung, also a variant of one ("study/rung variant"); study/champion, its best kernel so far; file.ts#export, your own, and file.ts#export/champion; or microbench[/test], the microbenchmarks as a C++ program (with --selftest)',
    )
    .addOption(new Option("--target <target>", "language").choices(emitTargetNames).default("js"))
    .addOption(subgroupOption())
    .addOption(workspaceOption("the workspace that has the champion"))
    .option(
      "--selftest",
      "add a program that runs the kernel and judges its results, for every target",
      false,
    )
    .option(
      "-o, --output <file>",
      "write to this file instead of stdout (JavaScript is an ES module: name it .mjs); for microbench also a folder, which gets one file per test",
    )
    .action(async (target: string, flags: Omit<EmitOptions, "output"> & { readonly output?: string }) => {
      resolveOwnPackages();
      const options = { ...flags, output: flags.output ?? null };
      const [name, ...rest] = target.split("/");
      const microbench = name === "microbench";
      finish(
        microbench
          ? await emitMicrobench(rest.length === 0 ? null : rest.join("/"), options)
          : await emitSource(target, options),
      );
    });
  await addStudyOptions(command, args);
  return command;
};

async function emitSource(target: string, options: EmitOptions): Promise<number> {
  if (options.output !== null) await checkFile(options.output, await inputsOf(target, options));
  const { kernel: ir, selftest } = await findKernel(target, options);
  const file = options.output === null ? "selftest" : basename(options.output, extname(options.output));
  const emitted =
    selftest === null ? emit(ir, options.target) : emitSelftest(ir, options.target, selftest, file);
  const { source, lowering, entryPoint } = emitted;
  if (options.output !== null) await writeOutput(options.output, source);
  if (options.json) {
    printJson({
      kernel: ir.name,
      target: options.target,
      subgroup: ir.subgroupSize,
      selftest: selftest !== null,
      entryPoint,
      file: options.output,
      source,
      lowering: lowering.entries,
    });
    return EXIT.done;
  }
  if (options.output === null) printText(source);
  else process.stderr.write(`${options.output}: kernel ${ir.name} for ${options.target}\n`);
  for (const { request, became, fallback } of lowering.entries) {
    if (fallback) process.stderr.write(`note: ${request} became ${became}\n`);
  }
  return EXIT.done;
}

/** The files that are read: the user's kernel, or what the study's options name. */
async function inputsOf(target: string, options: EmitOptions): Promise<string[]> {
  const named = studyOfTarget(target);
  if (named === null) return [fileOf(target)];
  return Object.values(givenInput(await studyNamed(named.study), options)).filter(
    (value) => typeof value === "string",
  );
}

interface Found {
  readonly kernel: KernelIR;
  /** Null unless asked for. */
  readonly selftest: Selftest | null;
}

/** The study that is meant; null for a kernel of the user's as it is. */
function studyOfTarget(target: string): StudyTarget | null {
  const found = studyTarget(target);
  return found?.isFile === true && found.candidate === "" ? null : found;
}

async function findKernel(target: string, options: EmitOptions): Promise<Found> {
  const named = studyOfTarget(target);
  if (named !== null) {
    const { study: name, candidate: rung } = named;
    const study = await studyWith(name, "kernel");
    if (rung === "") {
      throw new EvolverError("RUNG_MISSING", `"${target}" names a study; emit needs one of its rungs`, {
        hint: `such as ${name}/${study.ladder?.rungs.at(-1)?.id ?? "champion"}, or ${name}/champion for the best in the workspace`,
      });
    }
    const found =
      rung === "champion"
        ? await championOf(name, study, options)
        : {
            candidate: { kind: "rung", id: rung } as const,
            input: await study.parseInput(givenInput(study, options)),
          };
    const { kernel, selftest } = study.kernel({
      ...found,
      target: options.target,
      subgroup: options.subgroup,
    });
    return { kernel, selftest: options.selftest ? selftest : null };
  }
  const kernels = await loadKernels(target);
  const [only] = kernels;
  if (kernels.length === 1 && only !== undefined) {
    const forwardProgress = emitTargets[options.target].forwardProgress;
    const kernel = only.kernel.build({ subgroup: options.subgroup, forwardProgress });
    return { kernel, selftest: options.selftest ? await selftestOf(only.kernel, kernel) : null };
  }
  throw new EvolverError("EXPORT_MISSING", `${target} exports ${kernels.length} kernels; emit takes one`, {
    hint: `name one of ${kernels.map(({ exportName }) => `${target}#${exportName}`).join(", ")}`,
  });
}

/** The champion of the study's last cycle in the workspace, of the input that options ask for if there are any. */
async function championOf(
  name: string,
  study: Study,
  options: EmitOptions,
): Promise<Pick<KernelRequest, "candidate" | "input">> {
  const folder = resolve(options.workspace);
  const given = givenInput(study, options);
  const wanted = await study.parseInput(given);
  const record = lastCycle({
    workspace: options.workspace,
    study: study.id,
    input: wanted,
    // Of two files, each with a kernel of this name, only one is meant.
    names: [...Object.keys(given), "file", "export"],
  });
  const candidate = record?.outcome.champion.candidate;
  if (record === undefined || candidate?.kind !== "point") {
    const of = Object.entries(given).map(([option, value]) => `--${option} ${String(value)}`);
    throw new EvolverError(
      "CHAMPION_NOT_FOUND",
      `${folder} has no champion of ${study.id}${of.length === 0 ? "" : ` for ${of.join(" ")}`}`,
      { hint: `run \`npx evolver evolve ${name}\` first, or name its workspace with --workspace` },
    );
  }
  const { point } = candidate;
  return { candidate: { kind: "point", title: "champion", point }, input: record.objective.input };
}

async function selftestOf(kernel: Kernel, ir: KernelIR): Promise<Selftest> {
  const { selftest, guessed } = await exampleSelftest(kernel, ir);
  if (guessed.length > 0) {
    const what = guessed.join(", ");
    process.stderr.write(
      `note: kernel ${kernel.name} has no example for ${what}; the self-test makes it up\n`,
    );
  }
  return selftest;
}
