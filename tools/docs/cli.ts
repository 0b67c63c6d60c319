/** docs/cli.md: every command with its arguments and options, as `--help` says them. */

import { anchor } from "@evolver/guide";
import { commandLine } from "evolver";

type Command = Awaited<ReturnType<typeof commandLine>>;
type Option = Command["options"][number];
type Argument = Command["registeredArguments"][number];

/** What regenerates it. */
export const REGENERATE_CLI = "npx node tools/docs/docs.ts cli";

export async function cliDocument(): Promise<string> {
  const program = await commandLine();
  const commands = program.commands.flatMap(withInner);
  const shared = sharedOptions(commands);
  const rows = commands.map(
    (command) =>
      `| [\`${nameOf(command)}\`](#${anchor(`evolver ${nameOf(command)}`)}) | ${cell(command.description())} |`,
  );
  return `${[
    "# The command line",
    `Every command of \`npx evolver\`, written from \`--help\` by \`${REGENERATE_CLI}\`. ${EXITS}`,
    ["| command | does |", "| --- | --- |", ...rows].join("\n"),
    ["Each command also takes", "", table(shared.map(optionRow))].join("\n"),
    ...commands.map((command, index) => sectionOf(command, shared, commands.slice(0, index))),
  ].join("\n\n")}\n`;
}

const EXITS =
  "With `--json`, standard output has one JSON document and nothing else. [errors.md](errors.md) has the error codes and exit codes.";

/** A command that only holds others is shown by those. */
const withInner = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(withInner);

function nameOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

/** The options that all commands have, in the words of the first. */
function sharedOptions(commands: readonly Command[]): Option[] {
  const [first, ...others] = commands;
  return (first?.options ?? []).filter((option) =>
    others.every(({ options }) =>
      options.some(({ flags, description }) => flags === option.flags && description === option.description),
    ),
  );
}

function sectionOf(command: Command, shared: readonly Option[], before: readonly Command[]): string {
  const isShared = (option: Option): boolean => shared.some(({ flags }) => flags === option.flags);
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...command.options.filter((option) => !option.hidden && !isShared(option)).map(optionRow),
  ];
  const usage = `npx evolver ${nameOf(command)} ${command.usage()}`;
  const more = helpAfter(command);
  const same = before.find((other) => helpAfter(other) === more);
  return [
    `## evolver ${nameOf(command)}`,
    `${command.description().replace(/^./, (letter) => letter.toUpperCase())}.`,
    `\`\`\`text\n${usage}\n\`\`\``,
    ...(rows.length === 0 ? [] : [table(rows)]),
    ...(more === "" ? [] : [same === undefined ? `\`\`\`text\n${more}\n\`\`\`` : asUnder(more, same)]),
  ].join("\n\n");
}

/** In place of a text that stands under another command already. */
const asUnder = (text: string, command: Command): string =>
  `${text.split(":")[0]} stand under [\`${nameOf(command)}\`](#${anchor(`evolver ${nameOf(command)}`)}).`;

const table = (rows: readonly string[]): string =>
  ["| argument or option | is | default |", "| --- | --- | --- |", ...rows].join("\n");

function argumentRow(argument: Argument): string {
  const { required, variadic, description, defaultValue } = argument;
  const text = `${argument.name()}${variadic ? "..." : ""}`;
  return row(required ? `<${text}>` : `[${text}]`, description, [], defaultValue);
}

function optionRow({
  flags,
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Option): string {
  const shown: unknown = defaultValueDescription ?? defaultValue;
  return row(flags, description, argChoices ?? [], shown === false ? undefined : shown);
}

function row(term: string, says: string, choices: readonly string[], value: unknown): string {
  const among = choices.length === 0 ? "" : ` (${choices.join(", ")})`;
  const shown = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return `| \`${term.replaceAll("|", "\\|")}\` | ${cell(says + among)} | ${cell(shown)} |`;
}

const cell = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .replaceAll(/<(?=\w)/g, "\\<")
    .replaceAll(/\s+/g, " ");

/** The help that a command adds behind its options. */
function helpAfter(command: Command): string {
  let whole = "";
  command.configureOutput({ writeOut: (text) => (whole += text) });
  command.outputHelp();
  return whole.slice(command.helpInformation().length).trim();
}
