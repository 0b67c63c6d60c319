/** Collecting evidence: what a command printed is kept with where it came from, and nothing else is. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EvidenceCommand } from "@evolver/lab";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect, findCommands, machineCommands, readDocument, type Collected } from "@evolver/guide";

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), "evolver-collect-"));
});
afterEach(() => rmSync(out, { recursive: true }));

const script = (name: string, source: string, more: Partial<EvidenceCommand> = {}): EvidenceCommand => ({
  name,
  what: "",
  command: ["node", "-e", source],
  needs: [],
  limitSeconds: 60,
  ...more,
});

const run = (...commands: readonly EvidenceCommand[]): Promise<Collected[]> =>
  collect({
    commands,
    out,
    goldens: null,
    hipHeaders: null,
    evolver: [process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--"],
    version: "1.2.3",
  });

const kept = (name: string): unknown => JSON.parse(readFileSync(join(out, `${name}.json`), "utf8"));

describe("a measurement", () => {
  it("is kept with its command, exit code, versions, machine and date", async () => {
    const [first] = await run(script("one", `console.log('{"a":1}'); process.exitCode = 1`));
    expect(first).toMatchObject({ name: "one", status: "kept", why: null, exitCode: 1 });
    expect(kept("one")).toMatchObject({
      command: expect.stringMatching(/^node -e console/),
      exitCode: 1,
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      versions: { evolver: "1.2.3", node: process.version },
      machine: { cores: expect.any(Number) },
      result: { a: 1 },
    });
    expect(readDocument(join(out, "one.json")).source.file).toBe("one.json");
  });

  it("of the command line runs the one that runs now, with folders in their places", async () => {
    await run({ ...script("own", ""), command: ["evolver", "bench", "--save", "$OUT/profile.json"] });
    expect(kept("own")).toMatchObject({ result: ["bench", "--save", "$OUT/profile.json"] });
    const saves = `require("node:fs").writeFileSync(process.argv[1], ""); console.log("{}")`;
    await run({ ...script("other", ""), command: ["node", "-e", saves, "$OUT/saved"] });
    expect(existsSync(join(out, "saved"))).toBe(true);
  });

  it("says nothing of where folders lie on the machine", async () => {
    const source = `console.log(JSON.stringify({ at: process.argv[1], file: process.cwd() + "/a.ts" }))`;
    await run({ ...script("where", ""), command: ["node", "-e", source, "$WORKSPACE/log"] });
    expect(kept("where")).toMatchObject({
      command: expect.stringMatching(/ \$WORKSPACE\/log$/),
      result: { at: "$WORKSPACE/log", file: "a.ts" },
    });
  });

  it("that prints no JSON, or is no program, leaves no file and does not stop the others", async () => {
    const all = await run(
      script("words", "console.log('no')"),
      { ...script("none", ""), command: ["evolver-no-such-program"] },
      script("right", "console.log(3)"),
    );
    expect(all.map(({ status }) => status)).toEqual(["failed", "failed", "kept"]);
    expect(existsSync(join(out, "words.json"))).toBe(false);
  });

  it("is ended at its limit, or asked for what it has", async () => {
    const forever = "setInterval(() => {}, 1000)";
    const asked = `process.on("SIGINT", () => { console.log("5"); process.exit(0) }); ${forever}`;
    const [ended, interrupted] = await run(
      script("ended", forever, { limitSeconds: 1 }),
      script("asked", asked, { limitSeconds: 3, untilLimit: true }),
    );
    expect(ended).toMatchObject({ status: "failed", why: "it was ended after 1 s" });
    expect(interrupted).toMatchObject({ status: "kept", exitCode: 0 });
    expect(kept("asked")).toMatchObject({ result: 5 });
  });

  it("is skipped, with the reason, where something is missing", async () => {
    const [skipped] = await run(script("golden", "", { needs: ["goldens"] }));
    expect(skipped).toMatchObject({ status: "skipped", why: expect.stringContaining("--goldens") });
  });
});

describe("names", () => {
  it("choose among the measurements, in their order", () => {
    const names = findCommands(machineCommands, ["launch", "devices"]).map(({ name }) => name);
    expect(names).toEqual(["devices", "launch"]);
    expect(findCommands(machineCommands, null)).toEqual(machineCommands);
    expect(new Set(machineCommands.map(({ name }) => name)).size).toBe(machineCommands.length);
  });

  it("that do not exist are refused, with those that do", () => {
    expect(() => findCommands(machineCommands, ["luck"])).toThrow(
      /no measurement "luck"[^]*devices, microbench/,
    );
  });
});
