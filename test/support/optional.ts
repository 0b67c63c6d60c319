/**
 * Tests that need something which not every machine has: real data beside the checkout, git, a browser. Without it
 * they are skipped with a line that says what is missing. With EVOLVER_REQUIRE_ALL=1 (as in CI) they fail instead, so
 * that nothing is ever skipped there unseen.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** As vitest's `describe`. */
export type Suite = (title: string, body: () => void) => void;

/**
 * `describe`, if the component is present.
 *
 *     requireOptional("git", hasGit, "apt-get install git")("the workspace", () => { … });
 *
 * @public
 * @param name what is needed, for people
 * @param how what to do to have it
 */
export function requireOptional(name: string, present: boolean, how: string): Suite {
  if (present) return (title, body) => describe(title, body);
  if (process.env["EVOLVER_REQUIRE_ALL"] === "1") {
    return (title) =>
      describe(title, () => {
        it(`has ${name}`, () => expect.fail(`${name} is missing and EVOLVER_REQUIRE_ALL is 1: ${how}`));
      });
  }
  return (title) => {
    console.warn(`skipped: ${title}: needs ${name}: ${how}`);
    // Vitest runs the body even of a skipped suite, to list its tests, and the body may read what is missing.
    describe.skip(title, () => it(`needs ${name}`, () => expect.fail(how)));
  };
}

/** The folder of real inputs and golden values; it is read, never copied. */
export const dataFolder =
  process.env["EVOLVER_DATA"] ?? join(import.meta.dirname, "..", "..", "..", "shared", "data");

/** `describe` for tests that read these files of the data folder. */
export function requireData(...files: readonly string[]): Suite {
  const missing = files.find((file) => !existsSync(join(dataFolder, file)));
  const how = `put it at ${join(dataFolder, missing ?? "")}, or name the folder in EVOLVER_DATA`;
  return requireOptional(`the data file ${missing ?? ""}`, missing === undefined, how);
}
