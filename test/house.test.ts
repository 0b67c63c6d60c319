/** Each rule of the house that a machine enforces finds a planted breach, and lets the mended twin pass. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findOpenSwitches } from "../tools/check/checks/exhaustive.ts";
import {
  findBarePackages,
  findCards,
  findFileNames,
  findManyParameters,
  findTypesInIndex,
} from "../tools/check/checks/house.ts";
import { readTree } from "../tools/check/tree.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "evolver-house-"));
  plant("packages/kernel/package.json", JSON.stringify({ name: "@evolver/kernel" }));
});
afterEach(() => rmSync(root, { recursive: true }));

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe("types in index.ts", () => {
  it.each(["export interface A {}", "type A = 1;", "export type A = { b: 1 };"])("%s is found", (text) => {
    plant("packages/kernel/src/a/index.ts", `\n${text}`);
    expect(findTypesInIndex(readTree(root))).toEqual([
      {
        path: "packages/kernel/src/a/index.ts",
        line: 2,
        message: "A lives in index.ts: give it its own file",
      },
    ]);
  });

  it.each(["export { a } from './a.ts';", "export type { A } from './a.ts';", "export const a = 1;"])(
    "%s is allowed",
    (text) => {
      plant("packages/kernel/src/a/index.ts", text);
      plant("packages/kernel/src/a/a.ts", "export interface A {}\nexport const a = 1;");
      expect(findTypesInIndex(readTree(root))).toEqual([]);
    },
  );
});

describe("names of files", () => {
  it.each([
    ["costModel.ts", "cost-model.ts"],
    ["Queue.test.ts", "queue.test.ts"],
    ["wire_format.ts", "wire-format.ts"],
  ])("%s is found", (name, wanted) => {
    plant(`packages/kernel/src/${name}`, "");
    const path = `packages/kernel/src/${name}`;
    expect(findFileNames(readTree(root))).toEqual([{ path, line: 1, message: `call it ${wanted}` }]);
  });

  it("in lower case with hyphens are allowed", () => {
    plant("packages/kernel/src/cost-model.node.ts", "");
    expect(findFileNames(readTree(root))).toEqual([]);
  });
});

describe("more than five parameters", () => {
  const SIX = "a: 1, b: 1, c: 1, d: 1, e: 1, f: 1";
  const FIVE = "a: 1, b: 1, c: 1, d: 1, e: 1";
  const forms: readonly ((parameters: string) => string)[] = [
    (parameters) => `function f(${parameters}) {}`,
    (parameters) => `const f = (${parameters}) => 1;`,
    (parameters) => `class A { constructor(${parameters}) {} }`,
    (parameters) => `class A { #m(${parameters}) {} }`,
    (parameters) => `interface A { m(${parameters}): void }`,
    (parameters) => `type A = (${parameters}) => void;`,
  ];

  it.each(forms.map((form) => [form(SIX), form(FIVE)]))("%s is found", (many, few) => {
    plant("packages/kernel/src/a.ts", many);
    expect(findManyParameters(readTree(root))).toMatchObject([
      { line: 1, message: expect.stringMatching(/^6 parameters/) },
    ]);
    plant("packages/kernel/src/a.ts", few);
    expect(findManyParameters(readTree(root))).toEqual([]);
  });

  it("are allowed in tests, where nothing is read twice", () => {
    plant("packages/kernel/test/a.ts", forms[0]?.(SIX) ?? "");
    expect(findManyParameters(readTree(root))).toEqual([]);
  });
});

describe("cards", () => {
  it.each(["an H200 has 132", "const a = 'RTX 4090';", "MI300X", "an A100"])("%s is found in src", (text) => {
    plant("packages/kernel/src/a.ts", `// ${text}`);
    expect(findCards(readTree(root))).toHaveLength(1);
  });

  it("are allowed in machine profiles, in what documents are made of, and outside src", () => {
    for (const path of ["machine/src/profile/a.ts", "guide/src/a.ts", "kernel/test/a.ts"])
      plant(`packages/${path}`, "// an H200");
    expect(findCards(readTree(root))).toEqual([]);
  });

  it.each(["T4x4", "k04"])("%s is no card", (text) => {
    plant("packages/kernel/src/a.ts", `// ${text}`);
    expect(findCards(readTree(root))).toEqual([]);
  });
});

describe("a package", () => {
  it("without a README, or without an example in it, is found", () => {
    expect(findBarePackages(readTree(root))).toMatchObject([{ message: "@evolver/kernel has no README.md" }]);
    plant("packages/kernel/README.md", "# kernel\n");
    expect(findBarePackages(readTree(root))).toMatchObject([
      { message: expect.stringContaining("has no example") },
    ]);
    plant("packages/kernel/README.md", "# kernel\n\n```ts\nexport {};\n```\n");
    expect(findBarePackages(readTree(root))).toEqual([]);
  });
});

describe("switches that let a case through", () => {
  const over = (last: string): string =>
    `export function f(x: "a" | "b"): number {\n  switch (x) {\n    case "a":\n      return 1;\n${last}  }\n  return 0;\n}`;

  it.each([
    "",
    '    case "b":\n      return 2;\n',
    "    default:\n      return 2;\n",
    "    default:\n",
    '    default:\n      console.log("b");\n',
    "    default:\n      assertNeverMind(x);\n",
    '    case "b":\n      assertNever(x, "x");\n',
    '    default:\n      return () => assertNever(x, "x");\n',
  ])("%s is found", (last) => {
    plant("packages/kernel/src/a.ts", over(last));
    expect(findOpenSwitches(readTree(root))).toEqual([
      {
        path: "packages/kernel/src/a.ts",
        line: 2,
        message: 'a switch over x does not end in "default: assertNever(...)"',
      },
    ]);
  });

  it.each([
    '    default:\n      assertNever(x, "x");\n',
    '    default:\n      return assertNever(x, "x");\n',
    '    default:\n      throw assertNever(x, "x");\n',
    '    default: {\n      assertNever(x, "x");\n    }\n',
    '    default:\n      assertNever(x, "x");\n    case "b":\n      return 2;\n',
  ])("%s is allowed", (last) => {
    plant("packages/kernel/src/a.ts", over(last));
    expect(findOpenSwitches(readTree(root))).toEqual([]);
  });

  it("are found in each other", () => {
    const inner = over("").replace("export function f", "function g");
    plant(
      "packages/kernel/src/a.ts",
      over(`    default: {\n${inner}\n      return assertNever(x, "x");\n    }\n`),
    );
    expect(findOpenSwitches(readTree(root))).toMatchObject([{ line: 7 }]);
  });

  it("are found in src only", () => {
    plant("packages/kernel/test/a.ts", over(""));
    plant("tools/a.ts", over(""));
    expect(findOpenSwitches(readTree(root))).toEqual([]);
  });
});
