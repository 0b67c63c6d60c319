/** What each file in commands/ exports: a command with its options, its help and its action. */

import { Command } from "commander";
import { jsonOption, verboseOption } from "./options.ts";

export interface CommandContext {
  /** All arguments after the program's name. A command whose options depend on one of them looks here. */
  readonly args: readonly string[];
  /** Takes the exit code. */
  finish(code: number): void;
}

/** Makes a command. Called only when it is run or its help is shown. */
export type MakeCommand = (context: CommandContext) => Command | Promise<Command>;

/** A command with the options that all commands have. */
export function newCommand(name: string, description: string): Command {
  return new Command(name).description(description).addOption(jsonOption()).addOption(verboseOption());
}
