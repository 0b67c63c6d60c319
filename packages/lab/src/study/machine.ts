/**
 * The machine that times are modelled for: one that `evolver bench microbench --save` measured, or the one whose datasheet
 * we know best. Node only: it reads a file.
 */

import { resolve } from "node:path";
import { h200Datasheet, parseProfile, type MachineProfile } from "@evolver/machine";
import { EvolverError, sha256 } from "@evolver/base";
import type { StudyInput, StudyOption } from "./option.ts";
import { readInput } from "./read-input.ts";

/** Where no profile is given. */
export const defaultMachine: MachineProfile = h200Datasheet;

/** An option for studies whose times are modelled; `parseMachine` and `openMachine` read it. */
export const profileOption: StudyOption = {
  name: "profile",
  value: "file",
  help: `model times for this machine profile instead of ${defaultMachine.name}`,
};

/**
 * The option `profile` in full, or nothing where it is not given.
 *
 * @throws EvolverError PROFILE_NOT_FOUND, FILE_NOT_READABLE, PROFILE_INVALID, INPUT_INVALID
 */
export async function parseMachine({ profile }: StudyInput): Promise<StudyInput> {
  if (profile === undefined || profile === null) return {};
  if (typeof profile !== "string")
    throw new EvolverError("INPUT_INVALID", `the option profile is a text, not ${JSON.stringify(profile)}`);
  if (profile === "") await read(profile);
  const path = resolve(profile);
  const text = await read(path);
  parseProfile(text, path);
  return { profile: path, profileHash: hashOf(text) };
}

/** @throws EvolverError INPUT_CHANGED where the file is another than when the options were read */
export async function openMachine({ profile, profileHash }: StudyInput): Promise<MachineProfile> {
  if (typeof profile !== "string") return defaultMachine;
  const text = await read(profile);
  if (hashOf(text) === profileHash) return parseProfile(text, profile);
  throw new EvolverError("INPUT_CHANGED", `${profile} has changed since this run began`, {
    hint: "start the run again",
  });
}

const read = async (path: string): Promise<string> =>
  new TextDecoder().decode(
    await readInput(path, {
      code: "PROFILE_NOT_FOUND",
      hint: "write one with `npx evolver bench microbench --device cpu --save PROFILE.json`",
    }),
  );

const hashOf = (text: string): string => sha256(text).slice(0, 16);
