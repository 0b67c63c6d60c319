/** The workflow of docs/ci.md does what the document says: its commands are run in a project such as it takes. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { codeBlocks, exampleFiles } from "../tools/docs/markdown.ts";

const root = join(import.meta.dirname, "..");
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: { readonly kernels: { readonly steps: readonly Step[] } };
}

const document = read("docs", "ci.md");
const workflows = codeBlocks(document)
  .filter(({ info }) => info === "yaml")
  .map(({ text }) => parse(text) as Workflow);
const [workflow] = workflows as [Workflow];
const { steps } = workflow.jobs.kernels;

let project: string;

beforeAll(() => {
  // In the root, so that packages are found.
  project = mkdtempSync(join(root, ".docs-"));
  mkdirSync(join(project, "src"));
  for (const [name, text] of exampleFiles(read("packages", "vitest", "README.md")))
    writeFileSync(join(project, "src", name), text);
});
afterAll(() => rmSync(project, { recursive: true }));

function shell(command: string): { readonly status: number | null; readonly output: string } {
  const path = `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  // As GitHub runs a step.
  const { status, stdout, stderr } = spawnSync("bash", ["-e", "-c", command.replaceAll(/^npx /gm, "")], {
    cwd: project,
    encoding: "utf8",
    env: { PATH: path, NO_COLOR: "1", GITHUB_ACTIONS: "true", CI: "1" },
  });
  return { status, output: stdout + stderr };
}

const running = (text: string): string => steps.find(({ run }) => run?.includes(text))?.run ?? "";
const CHECK = "evolver check";
const uploads = steps.findIndex(({ uses }) => uses?.startsWith("github/codeql-action/upload-sarif@"));

describe("the workflow", () => {
  it("is one, and uploads what the check writes, after it and though it failed", () => {
    expect(workflows).toHaveLength(1);
    expect(workflow.permissions).toEqual({ contents: "read", "security-events": "write" });
    const written = / --sarif (\S+)/.exec(running(CHECK))?.[1];
    expect(steps[uploads]).toMatchObject({
      if: expect.stringContaining("!cancelled()"),
      with: { sarif_file: written },
    });
    expect(steps.findIndex(({ run }) => run?.includes(CHECK))).toBeLessThan(uploads);
  });

  it("passes on clean kernels", () => {
    expect(shell(running(CHECK))).toEqual({ status: 0, output: expect.stringContaining("reverse: clean") });
    expect(JSON.parse(readFileSync(join(project, "evolver.sarif"), "utf8"))).toMatchObject({
      version: "2.1.0",
      runs: [{ results: [] }],
    });
    expect(shell(running("vitest"))).toMatchObject({ status: 0 });
  });

  it("fails where a barrier is missing, and marks the kernel's lines", () => {
    const file = join(project, "src", "reverse.ts");
    const source = readFileSync(file, "utf8");
    writeFileSync(file, source.replace("gpu.barrier();", ""));
    try {
      expect(shell(running(CHECK)).status).toBe(1);
      expect(readFileSync(join(project, "evolver.sarif"), "utf8")).toContain('"ruleId": "data-race"');
      const { status, output } = shell(running("vitest"));
      expect(status).toBe(1);
      expect(output).toMatch(/^::error file=.*src\/reverse\.ts,.*line=16,/m);
    } finally {
      writeFileSync(file, source);
    }
  });
});

/** Commands in blocks and in the text. */
const commands = [
  ...new Set([...document.matchAll(/npx (evolver [^`\n]+)/g)].map((match) => match[1] as string)),
];

it("names commands with options that exist", () => {
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) {
    const [, name = ""] = command.split(" ");
    const { status, output } = shell(`evolver ${name} --help`);
    expect(status).toBe(0);
    for (const [option] of command.matchAll(/--[a-z-]+/g)) expect(output).toContain(`${option} `);
  }
});
