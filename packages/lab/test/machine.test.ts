/** Times are modelled for the machine that a profile says. */

import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { h200Datasheet } from "@evolver/machine";
import { beforeAll, describe, expect, it } from "vitest";
import { openMachine, parseMachine } from "@evolver/lab";

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe("--profile", () => {
  let path: string;
  const slow = { ...h200Datasheet, name: "slow", clockGHz: { value: 0.198, source: "measured" } };
  beforeAll(async () => {
    path = join(await mkdtemp(join(tmpdir(), "evolver-profile-")), "profile.json");
    writeFileSync(path, JSON.stringify(slow));
  });

  it("is the datasheet where there is none", async () => {
    expect(await parseMachine({ shape: "H1,S8,D8" })).toEqual({});
    expect(await openMachine({})).toBe(h200Datasheet);
  });

  it("is read again by its path, unless it changed", async () => {
    const input = await parseMachine({ profile: path });
    expect((await openMachine(input)).name).toBe("slow");
    expect(await refusal(openMachine({ ...input, profileHash: "other" }))).toMatchObject({
      code: "INPUT_CHANGED",
    });
  });

  it("refuses what is missing or no profile", async () => {
    expect(await refusal(parseMachine({ profile: `${path}.none` }))).toMatchObject({
      code: "PROFILE_NOT_FOUND",
    });
    const bad = `${path}.bad`;
    writeFileSync(bad, JSON.stringify({ ...slow, clockGHz: { value: -1, source: "measured" } }));
    expect(await refusal(parseMachine({ profile: bad }))).toMatchObject({ code: "PROFILE_INVALID" });
    expect(await refusal(parseMachine({ profile: 7 }))).toMatchObject({ code: "INPUT_INVALID" });
  });
});
