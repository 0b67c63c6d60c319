/** `evolver guide`. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { evolver } from "./support/command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-guide-"));
  mkdirSync(join(folder, "empty"));
  mkdirSync(join(folder, "broken"));
  mkdirSync(join(folder, "folders", "ncu.json"), { recursive: true });
  writeFileSync(join(folder, "broken", "ladder-cuda.json"), '{ "result": { "timeKind": "guessed" } }');
});
afterAll(() => rmSync(folder, { recursive: true }));

it("writes the document and its pictures, and says so in one JSON document", async () => {
  const args = ["guide", "attention", "--evidence", "empty", "-o", "out.md", "--json"];
  const { code, stdout } = await evolver(args, folder);
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as {
    files: string[];
    markdown: string;
    pictures: Record<string, string>;
    pages: Record<string, string>;
  };
  const names = [...Object.keys(report.pictures), ...Object.keys(report.pages)];
  expect(report).toMatchObject({
    study: "attention",
    files: ["out.md", ...names.map((name) => join("out", name))],
  });
  expect(readFileSync(join(folder, "out.md"), "utf8")).toBe(report.markdown);
  expect(report.markdown).toContain("(out/k01.svg)");
  expect(readdirSync(join(folder, "out"))).toEqual(names.toSorted());
  expect(Object.keys(report.pictures).length).toBeGreaterThanOrEqual(11);
  expect(readFileSync(join(folder, "out", "questions.md"), "utf8")).toBe(report.pages["questions.md"]);
  expect(readFileSync(join(folder, "out", "k01.svg"), "utf8")).toBe(report.pictures["k01.svg"]);
});

it.each([
  [["guide", "matmul"], /error\[UNKNOWN_STUDY\][^]*attention/],
  [["guide", "attention", "-o", "guide"], /error\[OUTPUT_NOT_WRITTEN\][^]*ladder\.md/],
  [["guide", "attention", "--evidence", "none"], /error\[EVIDENCE_NOT_FOUND\]: there is no folder none/],
  [
    ["guide", "attention", "--evidence", "broken", "-o", "x.md"],
    /error\[EVIDENCE_INVALID\]: the evidence in broken\/ladder-cuda\.json: "result\.timeKind" is "guessed"; it must be "measured"/,
  ],
  [["guide", "attention", "--evidence", "folders"], /error\[EVIDENCE_INVALID\]: folders\/ncu\.json /],
] as const)("%j is refused before anything is written", async (args, message) => {
  const { code, stdout, stderr } = await evolver(args, folder);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
  // Nor is anything counted.
  expect(stderr).not.toContain("k01");
  expect(existsSync(join(folder, "x.md"))).toBe(false);
});
