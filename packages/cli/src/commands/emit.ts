/** `evolver emit`: a kernel as source for a target, from a study's rung or from a file of the user's. */

import { writeFile } from "node:fs/promises";
import { emit, EvolverError, type EmitTarget, type KernelIR } from "@evolver/kernel";
import { findStudy, isStudy } from "@evolver/studies";
import { loadKernels } from "../loadKernel.ts";
import { EXIT, printJson, printText } from "../output.ts";

export interface EmitCommandOptions {
  readonly target: EmitTarget;
  readonly subgroup: number;
  readonly shape?: string;
  readonly output: string | null;
  readonly json: boolean;
}

export async function emitSource(target: string, options: EmitCommandOptions): Promise<number> {
  const ir = await findKernel(target, options);
  const emitted = emit(ir, options.target);
  const { source, lowering, entryPoint } = emitted;
  if (options.output !== null) await writeFile(options.output, source);
  if (options.json) {
    printJson({
      kernel: ir.name,
      target: options.target,
      subgroup: ir.subgroupSize,
      entryPoint,
      file: options.output,
      source,
      lowering: lowering.entries,
    });
    return EXIT.done;
  }
  if (options.output === null) printText(source);
  else process.stderr.write(`${options.output}: kernel ${entryPoint} for ${options.target}\n`);
  for (const { request, became, fallback } of lowering.entries) {
    if (fallback) process.stderr.write(`note: ${request} became ${became}\n`);
  }
  return EXIT.done;
}

async function findKernel(target: string, options: EmitCommandOptions): Promise<KernelIR> {
  const [name = "", rung] = target.split("/");
  if (isStudy(name)) {
    if (rung === undefined || rung === "") {
      throw new EvolverError("RUNG_MISSING", `"${target}" names a study; emit needs one of its rungs`, {
        hint: `such as ${name}/k03`,
      });
    }
    return findStudy(name).rungKernel(rung, options.subgroup, options.shape ?? null);
  }
  const kernels = await loadKernels(target);
  const [only] = kernels;
  if (kernels.length === 1 && only !== undefined) return only.kernel.build({ subgroup: options.subgroup });
  throw new EvolverError("EXPORT_MISSING", `${target} exports ${kernels.length} kernels; emit takes one`, {
    hint: `name one of ${kernels.map(({ exportName }) => `${target}#${exportName}`).join(", ")}`,
  });
}
