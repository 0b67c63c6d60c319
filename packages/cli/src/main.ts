/** The command line: the table of commands. Each command's options and action are in its own file in commands/. */

import { studyNames } from "@evolver/studies";
import { Command, CommanderError } from "commander";
import type { CommandContext, MakeCommand } from "./command.ts";
import { fail, usageError } from "./failure.ts";
import { beginOutput, EXIT } from "./output.ts";
import { studiesWithOption } from "./study-options.ts";
import { version } from "./version.ts";

/** As the user calls it: npm puts it nowhere on PATH. */
const PROGRAM = "npx evolver";

/** In the order of the help. Each is loaded only when it is run or its help is shown. */
const commands: Readonly<Record<string, () => Promise<MakeCommand>>> = {
  new: async () => (await import("./commands/new.ts")).newKernelCommand,
  devices: async () => (await import("./commands/devices.ts")).devicesCommand,
  check: async () => (await import("./commands/check.ts")).checkCommand,
  emit: async () => (await import("./commands/emit.ts")).emitCommand,
  ladder: async () => (await import("./commands/ladder.ts")).ladderCommand,
  guide: async () => (await import("./commands/guide.ts")).guideCommand,
  evolve: async () => (await import("./commands/evolve.ts")).evolveCommand,
  compare: async () => (await import("./commands/compare.ts")).compareCommand,
  bench: async () => (await import("./commands/bench.ts")).benchCommand,
  evidence: async () => (await import("./commands/evidence.ts")).evidenceCommand,
  log: async () => (await import("./commands/workspace.ts")).logCommand,
  progress: async () => (await import("./commands/workspace.ts")).progressCommand,
  tasks: async () => (await import("./commands/workspace.ts")).tasksCommand,
};

const TAKES_STUDY_OPTIONS: readonly string[] = ["emit", "ladder", "evolve", "compare"];

/** Runs the command line on the arguments after the program's name, and gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  beginOutput();
  let code: number = EXIT.done;
  const finish = (result: number): void => {
    code = result;
  };
  try {
    const isNamed = Object.hasOwn(commands, args[0] ?? "");
    // Without a command that is known, the words behind it are nobody's: a file among them is not to be loaded.
    const program = await buildProgram(
      { args: isNamed ? args : [], finish },
      isNamed ? [args[0] as string] : Object.keys(commands),
    );
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    // Help that was asked for, and the version.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    const failure = error instanceof CommanderError ? usageError(error, await adviceOn(error, args)) : error;
    return fail(failure, { json: args.includes("--json"), verbose: args.includes("--verbose") });
  }
}

/** Every command with its options, as `--help` shows them where no study is named. */
export const commandLine = (): Promise<Command> =>
  buildProgram({ args: [], finish: () => {} }, Object.keys(commands));

async function buildProgram(context: CommandContext, names: readonly string[]): Promise<Command> {
  const program = new Command(PROGRAM)
    .description(
      "A GPU lab that improves kernels: write them in TypeScript, verify and measure them, make them faster in cycles.",
    )
    .version(version());
  for (const name of names) {
    const make = await commands[name]?.();
    if (make !== undefined) program.addCommand(await make(context));
  }
  throwErrors(program);
  return program;
}

/** So that `main` says what is wrong with the arguments, and not commander, which would also end the process. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => process.stdout.write(text),
    writeErr: (text) => process.stderr.write(text),
    outputError: () => {},
  });
  for (const inner of command.commands) throwErrors(inner);
}

/** What to do about wrong arguments: which help says more, and where an option belongs that is not known here. */
async function adviceOn(error: CommanderError, args: readonly string[]): Promise<string> {
  const [name = ""] = args;
  const known = Object.hasOwn(commands, name);
  const help = known
    ? `${PROGRAM} ${[name, ...helpOf(args)].join(" ")} --help lists its options`
    : `${PROGRAM} --help lists the commands`;
  if (error.code !== "commander.unknownOption" || !known) return help;
  const option = /'(--[^'=]+)[^']*'/.exec(error.message)?.[1] ?? "";
  const studies = TAKES_STUDY_OPTIONS.includes(name) ? await studiesWithOption(option) : [];
  if (studies.length > 0) return `${option} is an option of the study ${studies.join(" and ")}; ${help}`;
  const others = await commandsWithOption(option);
  if (others.length > 0) return `${option} is an option of ${others.join(", ")}; ${help}`;
  return help;
}

/** The word after the command that its help depends on: a command of its own, or a study. */
function helpOf([name, ...rest]: readonly string[]): readonly string[] {
  const decides = (word: string): boolean =>
    name === "evidence" ? word === "collect" : studyNames.includes(word.split("/")[0] as string);
  return rest.filter(decides).slice(0, 1);
}

async function commandsWithOption(option: string): Promise<string[]> {
  const program = await commandLine();
  const has = (command: Command): boolean =>
    command.options.some(({ long }) => long === option) || command.commands.some(has);
  return program.commands.filter(has).map((command) => command.name());
}
