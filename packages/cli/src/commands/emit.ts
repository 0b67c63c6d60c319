/** `evolver emit`: a kernel as source for a target: a study's rung, a workspace's champion, or one of the user's. */

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import {
  emit,
  emitSelftest,
  targetForwardProgress,
  type EmitTarget,
  type Kernel,
  type KernelIR,
  type Selftest,
} from "@evolver/kernel";
import { readRecords } from "@evolver/lab";
import { findStudy, isStudy, type RungKernel } from "@evolver/studies";
import { exampleSelftest } from "../exampleSelftest.ts";
import { loadKernels } from "../loadKernel.ts";
import { EXIT, printJson, printText } from "../output.ts";

export interface EmitCommandOptions {
  readonly target: EmitTarget;
  readonly subgroup: number;
  readonly shape?: string;
  /** Where champions are. */
  readonly workspace: string;
  /** Add a program that runs the kernel and judges its results. */
  readonly selftest: boolean;
  readonly output: string | null;
  readonly json: boolean;
}

export async function emitSource(target: string, options: EmitCommandOptions): Promise<number> {
  const { kernel: ir, selftest } = await findKernel(target, options);
  const file = options.output === null ? "selftest" : basename(options.output, extname(options.output));
  const emitted =
    selftest === null ? emit(ir, options.target) : emitSelftest(ir, options.target, selftest, file);
  const { source, lowering, entryPoint } = emitted;
  if (options.output !== null) await writeSource(options.output, source);
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

async function writeSource(path: string, source: string): Promise<void> {
  try {
    await writeFile(path, source);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${path} cannot be written: ${what}`, {
      hint: "name a file in a folder that exists and may be written",
      cause: error,
    });
  }
}

interface Found {
  readonly kernel: KernelIR;
  /** Null unless asked for. */
  readonly selftest: Selftest | null;
}

async function findKernel(target: string, options: EmitCommandOptions): Promise<Found> {
  const [name = "", rung] = target.split("/");
  if (isStudy(name)) {
    if (rung === undefined || rung === "") {
      throw new EvolverError("RUNG_MISSING", `"${target}" names a study; emit needs one of its rungs`, {
        hint: `such as ${name}/k03, or ${name}/champion for the best in the workspace`,
      });
    }
    const { kernel, selftest } =
      rung === "champion"
        ? championKernel(name, options)
        : findStudy(name).rungKernel(rung, options, options.shape ?? null);
    return { kernel, selftest: options.selftest ? selftest : null };
  }
  const kernels = await loadKernels(target);
  const [only] = kernels;
  if (kernels.length === 1 && only !== undefined) {
    const forwardProgress = targetForwardProgress(options.target);
    const kernel = only.kernel.build({ subgroup: options.subgroup, forwardProgress });
    return { kernel, selftest: options.selftest ? await selftestOf(only.kernel, kernel) : null };
  }
  throw new EvolverError("EXPORT_MISSING", `${target} exports ${kernels.length} kernels; emit takes one`, {
    hint: `name one of ${kernels.map(({ exportName }) => `${target}#${exportName}`).join(", ")}`,
  });
}

/** The champion of the study's last cycle in the workspace, of a shape if one is named. */
function championKernel(study: string, options: EmitCommandOptions): RungKernel {
  const { workspace, shape } = options;
  const folder = resolve(workspace);
  const records = existsSync(folder) ? readRecords(folder) : [];
  const record = records.findLast(({ objective }) => {
    const { shape: own } = objective.input;
    return objective.study === study && (shape === undefined || own === shape);
  });
  const champion = record?.outcome.champion;
  const text = record?.objective.input["shape"];
  if (champion?.candidate.kind !== "point" || typeof text !== "string") {
    throw new EvolverError(
      "CHAMPION_NOT_FOUND",
      `${folder} has no champion of ${study}${shape === undefined ? "" : ` for ${shape}`}`,
      {
        hint: `run \`evolver evolve ${study}\` first, or name its workspace with --workspace`,
      },
    );
  }
  return findStudy(study).pointKernel("champion", champion.candidate.point, options, text);
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
