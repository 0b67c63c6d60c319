/**
 * Prints the tables of docs/gpu.md and README.md that are made from evidence.
 *
 *     node tools/docs/h200Table.ts [FOLDER]     a folder such as evidence/h200, the default
 */

import { EvolverError } from "@evolver/base";
import { h200Blocks } from "./h200/index.ts";

const [folder] = process.argv.slice(2);
try {
  for (const [name, text] of h200Blocks(folder)) process.stdout.write(`<!-- ${name} -->\n\n${text}\n\n`);
} catch (error) {
  if (!(error instanceof EvolverError)) throw error;
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}
