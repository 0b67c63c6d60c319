/** The command starts under a Node that cannot run TypeScript, by handing over to the installed one. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const bin = join(import.meta.dirname, "..", "packages", "cli", "bin", "evolver.js");
const OLD_NODE = "--no-experimental-strip-types";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "evolver-bin-"));
  mkdirSync(join(root, "cli", "src"), { recursive: true });
  cpSync(bin, join(root, "cli", "bin", "evolver.js"), { recursive: true });
  writeFileSync(join(root, "package.json"), `{ "type": "module" }`);
  writeFileSync(
    join(root, "cli", "src", "process.ts"),
    `export function runAsProcess(words: string[]): void { console.log(words.join("|")); process.exitCode = words.length; }`,
  );
});

afterEach(() => rmSync(root, { recursive: true }));

function start(...nodeFlags: string[]): { status: number | null; stdout: string; stderr: string } {
  const args = [...nodeFlags, join(root, "cli", "bin", "evolver.js"), "one", "two words", "three"];
  return spawnSync(process.execPath, args, { encoding: "utf8", env: { PATH: "" } });
}

it("runs at once where Node runs TypeScript", () => {
  expect(start()).toMatchObject({ status: 3, stdout: "one|two words|three\n", stderr: "" });
});

it("hands arguments over and the exit code back", () => {
  mkdirSync(join(root, "node_modules", "node", "bin"), { recursive: true });
  symlinkSync(process.execPath, join(root, "node_modules", "node", "bin", "node"));
  expect(start(OLD_NODE)).toMatchObject({ status: 3, stdout: "one|two words|three\n", stderr: "" });
});

it("says what to do where there is no other Node", () => {
  const { status, stdout, stderr } = start(OLD_NODE);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(/NODE_TOO_OLD: Node [\d.]+ cannot run TypeScript\n {2}help: run "npm ci"/);
});

it("runs the JavaScript of an installed package under any Node that is supported", () => {
  mkdirSync(join(root, "cli", "dist"));
  writeFileSync(
    join(root, "cli", "dist", "process.js"),
    `export function runAsProcess(words) { console.log(words.length); process.exitCode = 1; }`,
  );
  expect(start(OLD_NODE)).toMatchObject({ status: 1, stdout: "3\n", stderr: "" });
});

it("says which Node an installed package needs", () => {
  mkdirSync(join(root, "cli", "dist"));
  writeFileSync(join(root, "cli", "dist", "process.js"), "");
  const older = join(root, "older.cjs");
  writeFileSync(older, `Object.defineProperty(process, "versions", { value: { node: "20.18.3" } });`);
  const { status, stderr } = start("--require", older);
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      "evolver: NODE_TOO_OLD: Node 20.18.3 is too old for Evolver\n  help: put Node 20.19 or newer on PATH\n",
  });
});
