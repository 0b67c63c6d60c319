/**
 * `npm run check`: everything that can be checked without running the code. One line per check; the problems that it found
 * follow its line. Exits 1 if any check failed.
 *
 *     node tools/check/check.ts [name ...]     only these checks
 */

import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import {
  findBarePackages,
  findCards,
  findFileNames,
  findManyParameters,
  findTypesInIndex,
} from "./checks/house.ts";
import { findOpenSwitches } from "./checks/exhaustive.ts";
import { findCycles, findLayerProblems } from "./checks/layers.ts";
import type { Problem } from "./problem.ts";
import { findStudyNames } from "./checks/studies.ts";
import { findBannedWords, findLongFiles, findRates } from "./checks/text.ts";
import { readTree } from "./tree.ts";

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

interface Check {
  readonly name: string;
  /** What must hold, for people. */
  readonly demands: string;
  run(): Promise<Outcome> | Outcome;
}

const root = join(import.meta.dirname, "..", "..");

const checks: readonly Check[] = [
  { name: "types", demands: "tsc finds no error", run: () => tool("tsc", "--noEmit", "-p", "tsconfig.json") },
  { name: "lint", demands: "oxlint finds nothing", run: () => tool("oxlint", "--deny-warnings") },
  { name: "format", demands: "oxfmt would change nothing", run: () => tool("oxfmt", "--check") },
  {
    name: "layers",
    demands: "imports run down the layers; browser packages need no Node",
    run: () => listed(findLayerProblems(readTree(root))),
  },
  {
    name: "house",
    demands:
      "no types in index.ts, no card in src, at most five parameters, file-names-like-this, a README each",
    run: () => {
      const tree = readTree(root);
      return listed(
        [findTypesInIndex, findManyParameters, findCards, findFileNames, findBarePackages].flatMap((find) =>
          find(tree),
        ),
      );
    },
  },
  {
    name: "studies",
    demands: "a study is named by its library and the registry alone",
    run: () => listed(findStudyNames(readTree(root))),
  },
  {
    name: "exhaustive",
    demands: "every switch in src ends in assertNever",
    run: () => listed(findOpenSwitches(readTree(root))),
  },
  { name: "cycles", demands: "no circular imports", run: () => listed(findCycles(readTree(root))) },
  {
    name: "unused",
    demands: "no unused file, export or dependency",
    run: () => tool("knip", "--no-progress", "--no-config-hints"),
  },
  { name: "length", demands: "files of a package are short", run: () => listed(findLongFiles(root)) },
  {
    name: "words",
    demands: "no work left undone in comments; rates say per",
    run: () => listed([findBannedWords, findRates].flatMap((find) => find(root))),
  },
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(
    `unknown check: ${unknown.join(", ")}; there are: ${checks.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

let failed = 0;
for (const check of checks) {
  if (wanted.length > 0 && !wanted.includes(check.name)) continue;
  const start = performance.now();
  const { ok, output } = await outcomeOf(check);
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
  console.log(`${ok ? "ok    " : "FAILED"} ${check.name.padEnd(7)} ${seconds} s   ${check.demands}`);
  if (!ok) {
    failed++;
    console.log(output.trimEnd().replace(/^/gm, "       "));
  }
}
console.log(failed === 0 ? "all checks passed" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function outcomeOf(check: Check): Promise<Outcome> {
  try {
    return await check.run();
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
}

function listed(problems: readonly Problem[]): Outcome {
  const lines = problems.map(({ path, line, message }) => `${path}:${line}: ${message}`);
  return { ok: problems.length === 0, output: lines.join("\n") };
}

/** Runs a command of node_modules/.bin in the root; it is ok if it exits 0. */
function tool(command: string, ...args: string[]): Promise<Outcome> {
  const bin = join(root, "node_modules", ".bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  return new Promise((settle, reject) => {
    const child = spawn(join(bin, command), args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => settle({ ok: code === 0, output: stripVTControlCharacters(output) }));
  });
}
