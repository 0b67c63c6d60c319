/** What the documents show is true: their files compile, their commands print what is shown. */

import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attentionEvidence } from "@evolver/attention/study";
import { filesTable, tasksTable } from "@evolver/tasks/study";
import { anchor, EVIDENCE_BLOCKS, evidenceBlocks, evidencePlots } from "@evolver/guide";
import { plotSvg } from "@evolver/guide/charts";
import { describe, expect, it } from "vitest";
import { errorCodes, errorTable } from "../tools/docs/errors.ts";
import {
  codeBlocks,
  commandOf,
  documents,
  exampleFiles,
  isSameButCommits,
  MACHINE_PATH,
  replaceGenerated,
  replaceOutputs,
  runCommand,
  withExamples,
} from "../tools/docs/markdown.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe.each(documents())("%s", (path) => {
  const markdown = read(path);
  const commands = codeBlocks(markdown).flatMap((block) => {
    const command = commandOf(block);
    return command === null ? [] : [{ command, shown: block.text }];
  });

  it.each(commands)("shows what is printed by $command", ({ command, shown }) => {
    const { status, stdout, stderr } = withExamples(markdown, (folder) => runCommand(command, folder));
    // A check that finds something says so by 1.
    const wanted = command.startsWith("npx evolver check ") && /: \d+ findings? at/.test(shown) ? 1 : 0;
    expect({ status, stdout, stderr }).toEqual({ status: wanted, stdout: shown, stderr: expect.anything() });
  });

  it("names no path of one machine", () => {
    expect(MACHINE_PATH.exec(markdown)?.[0]).toBeUndefined();
  });

  it("links to files that exist", () => {
    const prose = markdown.replace(/^```[\s\S]*?^```$/gm, "");
    const links = [...prose.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map((match) => match[1] as string);
    expect(links.filter((link) => !existsSync(join(root, path, "..", link)))).toEqual([]);
  });

  it("links to headings that exist", () => {
    const anchorsIn = memoised((document: string) => new Set(anchorsOf(read(document))));
    const links = [
      ...markdown.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/\]\(((?!\w+:)[^)#\s]*)#([^)\s]+)\)/g),
    ];
    const missing = links.filter(([, file = "", heading = ""]) => {
      const document = file === "" ? path : join(path, "..", file);
      return document.endsWith(".md") && !anchorsIn(document).has(heading);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });
});

it.each(documents().filter((path) => exampleFiles(read(path)).size > 0))(
  "the files of %s compile",
  (path) => {
    expect(withExamples(read(path), typeErrors)).toBe("");
  },
);

describe("documents", () => {
  it.each(EVIDENCE_BLOCKS)("show %s as the evidence gives it", (name) => {
    const text = evidenceBlocks(join(root, "evidence", "h200"), attentionEvidence).get(name) ?? "";
    const showing = documents().filter((path) => read(path).includes(`<!-- generated:${name} -->`));
    expect(showing.length).toBeGreaterThan(0);
    for (const path of showing) expect(replaceGenerated(read(path), name, text, false)).toBe(read(path));
  });
});

describe("docs/tasks.md", () => {
  it.each([
    ["tasks", tasksTable],
    ["files", filesTable],
  ])("shows %s as the evidence gives it: node tools/docs/docs.ts tasks files", (name, make) => {
    const markdown = read(join("docs", "tasks.md"));
    const text = make(join(root, "evidence", "h200"));
    expect(replaceGenerated(markdown, name, text, false)).toBe(markdown);
    expect(markdown).toContain(text);
  });
});

describe("docs/errors.md", () => {
  const markdown = read(join("docs", "errors.md"));

  it("lists every code of the source: node tools/docs/docs.ts errors", () => {
    expect(replaceGenerated(markdown, "errors", errorTable(), false)).toBe(markdown);
    expect(markdown).toContain("<!-- generated:errors -->");
  });

  it("says of each what is wrong", () => {
    for (const { code, says } of errorCodes()) expect([...says].length, code).toBeGreaterThan(0);
  });

  it("misses none, also of those that are passed on as texts", () => {
    const codes = errorCodes().map(({ code }) => code);
    // By throwing it, by a function that makes it, by a schema, by a table, by a class, by a message.
    for (const code of [
      "WORKSPACE_DIRTY",
      "PLAN_INVALID",
      "POLICY_INVALID",
      "UNKNOWN_ARGUMENT",
      "KERNEL_FINDINGS",
      "CUDA_ERROR",
    ])
      expect(codes).toContain(code);
    expect(codes.filter((code) => !/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(code))).toEqual([]);
  });
});

it("the charts of the evidence are what its data give now", () => {
  const plots = evidencePlots(join(root, "evidence", "h200"), attentionEvidence);
  expect(plots.size).toBeGreaterThan(15);
  for (const [file, plot] of plots)
    expect(
      read(join("evidence", "h200", file)) === plotSvg(plot),
      `${file}: node tools/docs/docs.ts h200`,
    ).toBe(true);
});

it("docs/dependencies.md gives a reason for each dependency", () => {
  const manifests = ["package.json", ...globSync("packages/*/package.json", { cwd: root })].map(
    (path) => JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>,
  );
  const names = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies, overrides }) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides }),
  );
  const reasons = read("docs/dependencies.md");
  const mentions = (name: string): boolean => reasons.includes(`| ${name} `);
  expect(names.filter((name) => !name.startsWith("@evolver/") && !mentions(name))).toEqual([]);
});

function memoised<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

/** What GitHub makes of a document's headings. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)].map((match) =>
    anchor((match[1] as string).replaceAll("`", "")),
  );

/** Type-checks a folder under the options of this repository; errors of the packages themselves are not shown. */
function typeErrors(folder: string): string {
  const project = { extends: "../tsconfig.json", include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  const { stdout } = runCommand("tsc --noEmit -p tsconfig.json", folder);
  return stdout.replace(/^\.\.\/.*\n(?: .*\n)*/gm, "");
}

describe("the parts of a document", () => {
  const markdown = [
    "# Title",
    "```ts",
    "// sum.ts",
    "export const sum: number = 1 + 2;",
    "```",
    "```ts",
    "// show.ts",
    'import { sum } from "./sum.ts";',
    "console.log(sum);",
    "```",
    "```text $ npx node show.ts",
    "4",
    "```",
    "<!-- generated:table -->",
    "old",
    "<!-- /generated:table -->",
    "",
  ].join("\n");

  it("are found", () => {
    expect([...exampleFiles(markdown).keys()]).toEqual(["sum.ts", "show.ts"]);
    expect(codeBlocks(markdown).map(({ line }) => line)).toEqual([2, 6, 11]);
  });

  it("a wrong output is found and corrected", () => {
    const corrected = withExamples(markdown, (folder) =>
      replaceOutputs(markdown, (command) => runCommand(command, folder).stdout),
    );
    expect(corrected).toBe(markdown.replace("\n4\n", "\n3\n"));
  });

  it("a type error is found", () => {
    expect(withExamples(markdown, typeErrors)).toBe("");
    const wrong = markdown.replace("1 + 2", '"three"');
    expect(withExamples(wrong, typeErrors)).toContain("sum.ts(2,14): error TS2322");
  });

  it("a generated block is replaced and nothing else", () => {
    expect(replaceGenerated(markdown, "other", "new")).toBe(markdown);
    expect(replaceGenerated(markdown, "table", "a $& b\n")).toBe(
      markdown.replace("old\n", () => "\n```text\na $& b\n```\n\n"),
    );
  });

  it("commits made at another time change nothing, other words do", () => {
    expect(isSameButCommits("1  kept  86b20ec0  shared", "1  kept  4526baf3  shared")).toBe(true);
    expect(isSameButCommits("1  kept  86b20ec0  shared", "1  kept  86b20ec0  global")).toBe(false);
    expect(isSameButCommits("12345678.5 µs", "87654321.25 µs")).toBe(false);
  });

  it("a file without a name, or with a taken one, is refused", () => {
    expect(() => exampleFiles("```ts\nlet x;\n```\n")).toThrow("line 1: a ts block starts with a comment");
    expect(() => exampleFiles(`${markdown}\`\`\`ts\n// sum.ts\n\`\`\`\n`)).toThrow("two files named sum.ts");
  });
});
