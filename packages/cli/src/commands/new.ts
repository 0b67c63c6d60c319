/** `evolver new`: begins a kernel that the lab can improve, with its reference, its choices and a test. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { EvolverError } from "@evolver/base";
import { newCommand, type MakeCommand } from "../command.ts";
import { kernelTemplate, testTemplate } from "../kernel-template.ts";
import { nodeCommand } from "../node-command.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { checkFile, writeOutput } from "../output-files.ts";

export const newKernelCommand: MakeCommand = ({ finish }) =>
  newCommand("new", "begin a kernel of your own: a file with kernel, reference and choices, and a test")
    .argument(
      "<name>",
      "such as my-kernel, which writes my-kernel.ts and my-kernel.test.ts; a path works too",
    )
    .action(async (name: string, options: { json: boolean }) => finish(await begin(name, options)));

async function begin(given: string, { json }: { readonly json: boolean }): Promise<number> {
  const path = given.replace(/\.ts$/, "");
  const file = basename(path);
  if (!/^[A-Za-z][\w-]*$/.test(file))
    throw new EvolverError("INVALID_NAME", `${JSON.stringify(file)} is no name for a kernel`, {
      hint: "use letters, digits, - and _, with a letter first: my-kernel",
    });
  const name = file.replaceAll(/[-_]+(\w?)/g, (_, next: string) => next.toUpperCase());
  const texts: readonly (readonly [string, string])[] = [
    [`${path}.ts`, kernelTemplate(name, file)],
    [`${path}.test.ts`, testTemplate(name, file)],
  ];
  for (const [target] of texts) {
    if (existsSync(target))
      throw new EvolverError("FILE_EXISTS", `${target} exists already`, {
        hint: "choose another name, or move it away",
      });
    await checkFile(target);
  }
  for (const [target, text] of texts) await writeOutput(target, text);
  const files = texts.map(([target]) => target);
  if (json) printJson({ kernel: name, files });
  else
    printText(
      [
        `Wrote ${files.join(" and ")}. Next${dirname(path) === "." ? "" : `, in ${dirname(path)}`}:\n`,
        `  npx evolver check ${join(path)}.ts    find mistakes in the simulator`,
        `  npx evolver evolve ${join(path)}.ts   verify it, and try its choices`,
        `  ${nodeCommand} --test ${join(path)}.test.ts   the same check as a test`,
      ].join("\n"),
    );
  return EXIT.done;
}
