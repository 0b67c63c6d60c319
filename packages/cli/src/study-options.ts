/** The part of a command that depends on a study: its options, which the registry's entry says, and its help. */

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EvolverError } from "@evolver/base";
import { fileStudy, type Study, type StudyInput, type StudyOption } from "@evolver/lab";
import { familyNames, loadStudy, studyNames } from "@evolver/studies";

/** Adds the argument `<study>` and the options of the study that it names. @param command with all its own options */
export async function addStudyArgument(command: Command, args: readonly string[]): Promise<Command> {
  command.argument(
    "<study>",
    `${[...studyNames, ...familyNames.map((name) => `${name}/…`)].join(", ")}, or a file of yours: my-kernel.ts or my-kernel.ts#export`,
  );
  // Where no study is named, the error must be about that, and not about unknown options.
  if (!(await addStudyOptions(command, args))) command.allowUnknownOption().allowExcessArguments();
  return command;
}

/**
 * Adds the options of the study that the arguments name. Where they name none, the command's help lists those of all.
 *
 * @param command with all options of its own
 * @returns whether they name one
 */
export async function addStudyOptions(command: Command, args: readonly string[]): Promise<boolean> {
  const name = namedStudy(command, args);
  if (name !== null) {
    for (const option of (await studyNamed(name)).options) command.addOption(commanderOption(option));
    return true;
  }
  const helps = await Promise.all(studyNames.map(async (each) => helpOf(await loadStudy(each))));
  command.addHelpText("after", `\nStudies and their options:\n${helps.join("\n")}`);
  return false;
}

/** A study, or a file that has one, and what of it is meant. */
export interface StudyTarget {
  /** The name of a study, or "kernels.ts#scan". */
  readonly study: string;
  /** A rung, or "champion"; empty where the target says nothing more. */
  readonly candidate: string;
  readonly isFile: boolean;
}

/** What a text such as "study/rung", "kernels.ts#scan" or "kernels.ts/champion" names; null where it names no study. */
export function studyTarget(text: string): StudyTarget | null {
  const [, file, candidate = ""] = /^(.*\.[cm]?[jt]s(?:#[^/]*)?)(?:\/([^/]+))?$/.exec(text) ?? [];
  if (file !== undefined) return { study: file, candidate, isFile: true };
  const [study = "", ...rest] = text.split("/");
  if (familyNames.includes(study)) {
    const [member = "", ...named] = rest;
    return { study: `${study}/${member}`, candidate: named.join("/"), isFile: false };
  }
  return studyNames.includes(study) ? { study, candidate: rest.join("/"), isFile: false } : null;
}

/**
 * A study by its name, or of what a file exports. The same one each time, since a file is loaded once.
 *
 * @throws EvolverError UNKNOWN_STUDY, and what `fileStudy` throws
 */
export function studyNamed(name: string): Promise<Study> {
  if (studyTarget(name)?.isFile !== true) return loadStudy(name);
  let study = ofFiles.get(name);
  if (study === undefined) ofFiles.set(name, (study = fileStudy(name)));
  return study;
}

const ofFiles = new Map<string, Promise<Study>>();

/** The studies that have an option, such as "--rows". */
export async function studiesWithOption(flag: string): Promise<string[]> {
  const studies = await Promise.all(studyNames.map((name) => loadStudy(name)));
  return studies
    .filter(({ options }) => options.some(({ name }) => `--${name}` === flag))
    .map(({ id }) => id);
}

/** What the user gave of the study's options. */
export function givenInput({ options }: Study, flags: object): StudyInput {
  const given = new Map<string, unknown>(Object.entries(flags));
  return Object.fromEntries(
    options.flatMap((option) => {
      const value = given.get(commanderOption(option).attributeName());
      return value === undefined ? [] : [[option.name, value]];
    }),
  ) as StudyInput;
}

/**
 * A study by its name where it has a power, such as a ladder, that not all have.
 *
 * @throws EvolverError UNKNOWN_STUDY, STUDY_LACKS
 */
export async function studyWith<K extends "ladder" | "guide" | "kernel">(
  name: string,
  power: K,
): Promise<Study & Required<Pick<Study, K>>> {
  const study = await studyNamed(name);
  if (study[power] !== undefined) return study as Study & Required<Pick<Study, K>>;
  throw new EvolverError("STUDY_LACKS", `the study ${name} has no ${power}`, {
    hint: `give it one: \`${power}\` of its Study`,
  });
}

/** The first argument that is a study, or names one before a slash, and is not the value of one of the command's options. */
function namedStudy(command: Command, args: readonly string[]): string | null {
  const trial = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const { flags } of command.options) trial.addOption(new Option(flags));
  try {
    const { operands, unknown } = trial.parseOptions(args.slice(1));
    for (const word of [...operands, ...unknown]) {
      const target = studyTarget(word);
      // Emit takes a file without a study, too.
      if (target !== null && !(target.isFile && target.candidate === "" && command.name() === "emit"))
        return target.study;
    }
    return null;
  } catch (error) {
    // Such as an option without its value: the command itself will say so.
    if (error instanceof CommanderError) return null;
    throw error;
  }
}

function commanderOption({ name, value, help, parse }: StudyOption): Option {
  const option = new Option(`--${name} <${value}>`, help);
  return option.argParser((text: string) => {
    if (text.trim() === "") throw new InvalidArgumentError("it is empty.");
    if (parse === undefined) return text;
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof EvolverError ? new InvalidArgumentError(error.what) : error;
    }
  });
}

/** As commander writes a command's options, on lines of their own. */
function helpOf({ id, title, options }: Study): string {
  const lines = options.map(({ name, value, help }) => `    ${`--${name} <${value}>`.padEnd(20)} ${help}`);
  return [`  ${id}: ${title}`, ...lines].join("\n");
}
