/** The command line: the table of commands. Each command's options and action are in its own file in commands/. */

import { Command, CommanderError } from "commander";
import { EvolverError } from "@evolver/base";
import type { CommandContext, MakeCommand } from "./command.ts";
import { EXIT, printError } from "./output.ts";
import { version } from "./version.ts";

/** In the order of the help. Each is loaded only when it is run or its help is shown. */
const commands: Readonly<Record<string, () => Promise<MakeCommand>>> = {
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

/** Runs the command line on the arguments after the program's name, and gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let code: number = EXIT.done;
  const finish = (result: number): void => {
    code = result;
  };
  try {
    const program = await buildProgram({ args, finish });
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misuse;
    printError(error, args.includes("--verbose"));
    const reason = error instanceof EvolverError ? error.code : "";
    return reason === "INTERRUPTED" ? EXIT.interrupted : ANSWERS_NO.has(reason) ? EXIT.no : EXIT.misuse;
  }
}

/** Errors that are answers (the work was done and failed), not wrong use. */
const ANSWERS_NO: ReadonlySet<string> = new Set([
  "KERNEL_FINDINGS",
  "KERNEL_TRAP",
  "DISK_FULL",
  "BASELINE_REJECTED",
]);

/** With the command that is named alone, or with all where none is. */
async function buildProgram(context: CommandContext): Promise<Command> {
  const program = new Command("evolver")
    .description(
      "A GPU lab that improves kernels: write them in TypeScript, verify and measure them, make them faster in cycles.",
    )
    .version(version());
  const [first = ""] = context.args;
  const wanted = Object.hasOwn(commands, first) ? [first] : Object.keys(commands);
  for (const name of wanted) {
    const make = await commands[name]?.();
    if (make !== undefined) program.addCommand(await make(context));
  }
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError("(evolver --help lists the commands)")
      .configureOutput({
        writeOut: (text) => process.stdout.write(text),
        writeErr: (text) => process.stderr.write(text),
      });
  }
  return program;
}
