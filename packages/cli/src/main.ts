/** The command line: names, options and help. Each command's work is in a file of its own under commands/. */

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EvolverError } from "@evolver/base";
import { EXIT, printError } from "./output.ts";
import { resolveOwnPackages } from "./resolveHook.ts";

const SHAPE_HELP =
  "B1,Hq8,Hkv2,S256,D64 (also Sq and Sk apart; add causal or window:L:R, softcap:X, scale:X)";
const DEVICES = ["sim", "cpu", "webgpu", "cuda", "hip"];

/** Runs the command line on the arguments after the program's name, and gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let code: number = EXIT.done;
  const program = buildProgram((result) => {
    code = result;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misuse;
    printError(error, args.includes("--verbose"));
    const reason = error instanceof EvolverError ? error.code : "";
    return reason === "INTERRUPTED" ? EXIT.interrupted : ANSWERS_NO.has(reason) ? EXIT.no : EXIT.misuse;
  }
}

/** Errors that are answers (the work was done and failed) rather than misuse. */
const ANSWERS_NO: ReadonlySet<string> = new Set([
  "KERNEL_FINDINGS",
  "KERNEL_TRAP",
  "DISK_FULL",
  "BASELINE_REJECTED",
]);

function buildProgram(finish: (code: number) => void): Command {
  const program = new Command("evolver")
    .description(
      "A self-evolving GPU lab: kernels in TypeScript, verified, measured, and made faster cycle by cycle.",
    )
    .version("0.1.0")
    .exitOverride()
    .showHelpAfterError("(evolver --help lists the commands)")
    .configureOutput({
      writeOut: (text) => process.stdout.write(text),
      writeErr: (text) => process.stderr.write(text),
    });
  const json = (): Option =>
    new Option("--json", "print one JSON document on stdout and nothing else there").default(false);
  const verbose = (): Option => new Option("--verbose", "show where an error comes from").default(false);
  const device = (fallback: string): Option =>
    new Option("--device <id>", "where kernels run").choices(DEVICES).default(fallback);

  program
    .command("devices")
    .description("list the devices, and for those that are not here, why")
    .addOption(json())
    .addOption(verbose())
    .action(async (options: { json: boolean }) => {
      const { devices } = await import("./commands/devices.ts");
      finish(await devices(options));
    });

  program
    .command("check")
    .description(
      "run a kernel of yours on the simulator with every check: races, bounds, barriers, bank conflicts",
    )
    .argument("<file.ts#export>", "a TypeScript file; without #export, every kernel that it exports")
    .option("--subgroup <width>", "invocations a subgroup, 4 to 128", integer(4, 128), 32)
    .option(
      "--workgroups <x,y,z>",
      "workgroups to launch (default: the kernel's example, or a guess)",
      counts,
    )
    .option("--arg <name=value>", "a scalar's value or a buffer's length; repeat for more", collectArg, {})
    .option("--schedules <n>", "subgroup schedules to try", integer(1, 64), 3)
    .addOption(json())
    .addOption(verbose())
    .action(async (target: string, options: CheckFlags) => {
      resolveOwnPackages();
      const { check } = await import("./commands/check.ts");
      const { arg, workgroups, ...rest } = options;
      finish(await check(target, { ...rest, args: arg, workgroups: workgroups ?? null }));
    });

  program
    .command("emit")
    .description("write a kernel as source for a target")
    .argument(
      "<study/rung | study/champion | file.ts#export | microbench[/test]>",
      "attention/k03, a kernel of yours, or the microbenchmarks as a C++ program (with --selftest)",
    )
    .addOption(
      new Option("--target <target>", "language").choices(["js", "wgsl", "cuda", "hip"]).default("js"),
    )
    .option("--subgroup <width>", "invocations a subgroup, 4 to 128", integer(4, 128), 32)
    .option("--shape <shape>", `for a rung, the default one if absent: ${SHAPE_HELP}`)
    .option("--workspace <dir>", "where champions are", "evolver-workspace")
    .option("--selftest", "add a program that runs the kernel and judges its results (cuda, hip, js)", false)
    .option(
      "-o, --output <file>",
      "write to this file instead of stdout (JavaScript is an ES module: name it .mjs); for microbench also a folder, one file a test",
    )
    .addOption(json())
    .addOption(verbose())
    .action(async (target: string, options: EmitFlags) => {
      resolveOwnPackages();
      const output = options.output ?? null;
      if (/^microbench(?:\/|$)/.test(target)) {
        const { emitMicrobench } = await import("./commands/emitMicrobench.ts");
        const slash = target.indexOf("/");
        finish(await emitMicrobench(slash < 0 ? null : target.slice(slash + 1), { ...options, output }));
        return;
      }
      const { emitSource } = await import("./commands/emit.ts");
      finish(await emitSource(target, { ...options, output }));
    });

  program
    .command("ladder")
    .description("run a study's ladder rung by rung: verified, modelled, its claims proved by counters")
    .argument("<study>", "attention")
    .addOption(device("sim"))
    .option("--shape <shape>", SHAPE_HELP)
    .option("--input <file>", "a safetensors file with q, k and v instead of random data")
    .option("--profile <file>", "model times for this machine profile instead of the H200's datasheet")
    .option("--rungs <ids>", "only these, such as k01,k04", list)
    .option("--seed <n>", "seed of the random data", integer(0, 2 ** 31), 1)
    .addOption(json())
    .addOption(verbose())
    .action(async (study: string, options: LadderFlags) => {
      const { ladder } = await import("./commands/ladder.ts");
      finish(await ladder(study, options));
    });

  program
    .command("guide")
    .description(
      "write a guide to a study's ladder: every rung with its picture, counters, times and questions",
    )
    .argument("<study>", "attention")
    .option("--evidence <dir>", "measured times and counters (default: evidence/h200, if it is there)")
    .option("-o, --output <file>", "write to this file, and the pictures to a folder of its name beside it")
    .addOption(json())
    .addOption(verbose())
    .action(async (study: string, options: GuideFlags) => {
      const { guide } = await import("./commands/guide.ts");
      finish(await guide(study, options));
    });

  program
    .command("evolve")
    .description("improve a kernel in cycles, each gain verified by the judge and committed to the workspace")
    .argument("<study>", "attention")
    .addOption(device("sim"))
    .option("--cycles <n>", "cycles to run", integer(0, 100_000), 6)
    .option("--trials <n>", "candidates a cycle (default: the workspace's policy)", integer(1, 1000))
    .option("--no-predict", "measure what the sampler proposes, whatever the cost model predicts")
    .option(
      "--agent <name>",
      "who proposes candidates: evolutionary or random (default: the workspace's policy)",
    )
    .option("--from <rung>", "begin with this rung instead of k01, where the workspace has no record yet")
    .option("--seed <n>", "same seed, same result", integer(0, 2 ** 31), 1)
    .option("--workspace <dir>", "a git repository of its own, made if absent", "evolver-workspace")
    .option("--shape <shape>", SHAPE_HELP)
    .option("--input <file>", "a safetensors file with q, k and v instead of random data")
    .option("--profile <file>", "model times for this machine profile instead of the H200's datasheet")
    .addOption(json())
    .addOption(verbose())
    .action(async (study: string, options: EvolveFlags) => {
      const { evolve } = await import("./commands/evolve.ts");
      finish(await evolve(study, options));
    });

  program
    .command("compare")
    .description(
      "is the sampler better than random search at the same number of trials? exits 1 if it is not",
    )
    .argument("<study>", "attention")
    .addOption(device("sim"))
    .option("--sampler <name>", "the one to compare with random", "evolutionary")
    .option("--trials <n>", "candidates of each search", integer(1, 100_000), 36)
    .option("--seeds <n>", "searches of each kind", integer(1, 1000), 10)
    .option("--shape <shape>", SHAPE_HELP)
    .option("--input <file>", "a safetensors file with q, k and v instead of random data")
    .addOption(json())
    .addOption(verbose())
    .action(async (study: string, options: CompareFlags) => {
      const { compare } = await import("./commands/compare.ts");
      finish(await compare(study, options));
    });

  program
    .command("bench")
    .description(
      "measure a device: bandwidth, latency, throughput, occupancy; every result is verified (docs/microbench.md)",
    )
    .argument("<benchmark>", "microbench")
    .addOption(device("sim"))
    .option("--only <tests>", "only these, such as streams,chase", list)
    .option("--quick", "smaller arrays and fewer settings", false)
    .option("--save <file>", "write a machine profile with what was measured")
    .option("--report <dir>", "write the report as JSON and text, and its plots as SVG")
    .addOption(json())
    .addOption(verbose())
    .action(async (what: string, options: BenchFlags) => {
      const { bench } = await import("./commands/bench.ts");
      finish(await bench(what, options));
    });

  for (const [name, file, what] of [
    ["log", "evolution_log.md", "what every cycle saw, tried and kept"],
    ["progress", "PROGRESS.md", "the champions so far, and by how much each gained"],
    ["tasks", "TASKS.md", "what the last cycles left to try"],
  ] as const) {
    program
      .command(name)
      .description(`read the workspace: ${what}`)
      .option("--workspace <dir>", "the workspace", "evolver-workspace")
      .addOption(json())
      .addOption(verbose())
      .action(async (options: { workspace: string; json: boolean }) => {
        const { readWorkspace } = await import("./commands/workspace.ts");
        finish(await readWorkspace(file, options));
      });
  }
  return program;
}

interface CheckFlags {
  readonly subgroup: number;
  readonly workgroups?: readonly number[];
  readonly arg: Record<string, number>;
  readonly schedules: number;
  readonly json: boolean;
}

interface EmitFlags {
  readonly target: "js" | "wgsl" | "cuda" | "hip";
  readonly subgroup: number;
  readonly shape?: string;
  readonly selftest: boolean;
  readonly workspace: string;
  readonly output?: string;
  readonly json: boolean;
}

interface LadderFlags {
  readonly device: string;
  readonly shape?: string;
  readonly input?: string;
  readonly profile?: string;
  readonly rungs?: readonly string[];
  readonly seed: number;
  readonly json: boolean;
}

interface GuideFlags {
  readonly evidence?: string;
  readonly output?: string;
  readonly json: boolean;
}

interface EvolveFlags extends Omit<LadderFlags, "rungs"> {
  readonly cycles: number;
  readonly trials?: number;
  readonly predict: boolean;
  readonly agent?: string;
  readonly from?: string;
  readonly workspace: string;
}

interface CompareFlags extends Omit<LadderFlags, "rungs" | "seed"> {
  readonly sampler: string;
  readonly trials: number;
  readonly seeds: number;
}

interface BenchFlags {
  readonly device: string;
  readonly only?: readonly string[];
  readonly quick: boolean;
  readonly save?: string;
  readonly report?: string;
  readonly json: boolean;
}

function integer(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`give a whole number from ${low} to ${high}.`);
  };
}

function counts(text: string): number[] {
  const values = text.split(/[,x×]/).map(Number);
  if (values.length <= 3 && values.every((value) => Number.isInteger(value) && value >= 1)) return values;
  throw new InvalidArgumentError("give one to three whole numbers, such as 4 or 4,2,1.");
}

function list(text: string): string[] {
  const items = text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  if (items.length > 0) return items;
  throw new InvalidArgumentError("give at least one name.");
}

function collectArg(text: string, before: Record<string, number>): Record<string, number> {
  const match = /^([A-Za-z_]\w*)=(.+)$/.exec(text);
  const value = Number(match?.[2]);
  if (match === null || Number.isNaN(value))
    throw new InvalidArgumentError("give name=number, such as n=1000.");
  return { ...before, [match[1] as string]: value };
}
