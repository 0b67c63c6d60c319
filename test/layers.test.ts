/** The layers hold in this tree, and a tree in which they don't is found out. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCycles, findLayerProblems } from "../tools/check/checks/layers.ts";
import type { Problem } from "../tools/check/problem.ts";
import { findStudyNames } from "../tools/check/checks/studies.ts";
import { findBannedWords, findLongFiles, findRates } from "../tools/check/checks/text.ts";
import { readTree } from "../tools/check/tree.ts";

const repository = join(import.meta.dirname, "..");

describe("this repository", () => {
  const tree = readTree(repository);

  it("is read", () => {
    expect(tree.packages.map(({ name }) => name)).toContain("@evolver/kernel");
    expect(tree.files.get("packages/device/src/core/device.ts")?.imports).toContainEqual({
      specifier: "@evolver/kernel",
      line: expect.any(Number),
      typeOnly: true,
      dynamic: false,
      target: "packages/kernel/src/index.ts",
    });
  });

  it("keeps to its layers", () => expect(findLayerProblems(tree)).toEqual([]));
  it("has no circular imports", () => expect(findCycles(tree)).toEqual([]));
  it("names studies in their libraries and the registry only", () =>
    expect(findStudyNames(tree)).toEqual([]));
});

describe("a planted tree", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "evolver-layers-"));
    plant(
      "packages/kernel/package.json",
      manifest("@evolver/kernel", [], { layer: "kernel", browser: true }),
    );
    plant("packages/device/package.json", {
      ...manifest("@evolver/device", ["@evolver/kernel"], { layer: "device", browser: true }),
      exports: { ".": "./src/index.ts", "./cuda": "./src/native/cuda/index.ts" },
    });
    plant("packages/lab/package.json", manifest("@evolver/lab", ["@evolver/kernel"], { layer: "lab" }));
    plant(
      "packages/dashboard/package.json",
      manifest("@evolver/dashboard", ["@evolver/lab"], { layer: "client" }),
    );
    plant("packages/kernel/src/index.ts", `export const one = 1;`);
    plant(
      "packages/device/src/index.ts",
      `import { one } from "@evolver/kernel";\nexport const two = one + one;`,
    );
    plant("packages/device/src/native/cuda/index.ts", `export * from "node:os";`);
    plant("packages/lab/src/index.ts", `import "node:fs";\nexport type { Two } from "@evolver/kernel";`);
    plant("tools/check/long-files.json", {});
  });

  afterEach(() => rmSync(root, { recursive: true }));

  function plant(path: string, content: string | object): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
  }

  const layers = (): Problem[] => findLayerProblems(readTree(root));
  const cycles = (): Problem[] => findCycles(readTree(root));

  it("is clean at first", () => {
    expect(layers()).toEqual([]);
    expect(cycles()).toEqual([]);
    expect(findLongFiles(root)).toEqual([]);
    expect(findBannedWords(root)).toEqual([]);
    expect(findRates(root)).toEqual([]);
  });

  it.each([
    [
      "an import up the layers",
      "kernel/src/a.ts",
      `import { two } from "@evolver/device";`,
      "must not import",
    ],
    [
      "an import up the layers, of a type",
      "kernel/src/a.ts",
      `import type { T } from "@evolver/lab";`,
      "must not import",
    ],
    ["a re-export up the layers", "kernel/src/a.ts", `export * from "@evolver/device";`, "must not import"],
    ["a late import up the layers", "kernel/src/a.ts", `await import("@evolver/device");`, "must not import"],
    ["an undeclared import", "lab/src/a.ts", `import "@evolver/device";`, "does not list @evolver/device"],
    ["a test up the layers", "kernel/test/a.test.ts", `import "@evolver/device";`, "must not import"],
    [
      "an import past the exports",
      "device/src/a.ts",
      `import "@evolver/kernel/src/a.ts";`,
      "does not export",
    ],
    [
      "an import out of the package",
      "device/src/a.ts",
      `import "../../kernel/src/index.ts";`,
      "leaves @evolver/device",
    ],
    ["an import of itself by name", "device/src/a.ts", `import "@evolver/device";`, "use a relative path"],
    ["a test past the exports", "device/test/a.ts", `import "@evolver/device/src/a.ts";`, "does not export"],
    ["a test that reaches into src", "device/test/a.ts", `import "../src/index.ts";`, "past the exports"],
    ["a benchmark that does", "device/bench/a.ts", `import "../src/index.ts";`, "past the exports"],
    [
      "a conformance case that does",
      "device/conformance/a.ts",
      `import "../src/index.ts";`,
      "past the exports",
    ],
    [
      "another package's internals",
      "device/test/a.ts",
      `import "@evolver/kernel/internal";`,
      "for the tests of @evolver/kernel",
    ],
    ["an import of nothing", "device/src/a.ts", `import "./nothing.ts";`, "leads to no file"],
    [
      "a value where types are allowed",
      "dashboard/src/a.ts",
      `import { x } from "@evolver/lab";`,
      "import type",
    ],
    ["Node in a browser package", "device/src/a.ts", `import fs from "node:fs";`, "also runs in a browser"],
    ["Node without its prefix", "kernel/src/a.ts", `export * from "fs/promises";`, "also runs in a browser"],
    ["Node in a late import", "kernel/src/a.ts", `await import("node:os");`, "also runs in a browser"],
    ["a Node-only file, loaded at once", "device/src/a.ts", `import "./native/cuda/index.ts";`, "needs Node"],
  ])("%s is found", (_, path, text, message) => {
    plant(`packages/${path}`, `\n${text}`);
    expect(layers()).toEqual([
      { path: `packages/${path}`, line: 2, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    ["types of Node", "device/src/a.ts", `import type { Stats } from "node:fs";`],
    ["Node in a file named so", "device/src/pool.node.ts", `import "node:worker_threads";`],
    ["a Node-only file, loaded late", "device/src/a.ts", `await import("./native/cuda/index.ts");`],
    ["a test of what its package exports", "device/test/a.ts", `import "@evolver/device";`],
    ["Node in a test", "kernel/test/a.test.ts", `import "node:fs";`],
    ["types where only they are allowed", "dashboard/src/a.ts", `import type { x } from "@evolver/lab";`],
    ["the shared helpers in a test", "kernel/test/a.test.ts", `import "../../../test/support/a.ts";`],
    [
      "what only looks like an import",
      "kernel/src/a.ts",
      `// import "node:fs"\nexport const s = 'import "node:fs"';`,
    ],
  ])("%s is allowed", (_, path, text) => {
    plant("test/support/a.ts", "");
    plant(`packages/${path}`, text);
    expect(layers()).toEqual([]);
  });

  it.each([undefined, { layer: "extra" }])("a package without a layer is found (%j)", (field) => {
    plant("packages/extra/package.json", manifest("@evolver/extra", [], field));
    expect(layers().map(({ message }) => message)).toEqual([expect.stringContaining("names no layer")]);
  });

  it("the study of a library, and nothing else of it, may import the lab", () => {
    const dependencies = ["@evolver/kernel", "@evolver/lab"];
    const exports = { ".": "./src/index.ts", "./study": "./src/study/index.ts" };
    plant("packages/sums/package.json", {
      ...manifest("@evolver/sums", dependencies, { layer: "library", browser: true }),
      exports,
    });
    plant("packages/sums/src/index.ts", `export * from "@evolver/kernel";`);
    plant("packages/sums/src/study/index.ts", `import "node:fs";\nimport "@evolver/lab";`);
    expect(layers()).toEqual([]);
    plant("packages/sums/src/sum.ts", `import "@evolver/lab";`);
    expect(layers().map(({ message }) => message)).toEqual(["@evolver/sums must not import @evolver/lab"]);
  });

  describe("with a study", () => {
    const studies = (): Problem[] => findStudyNames(readTree(root));
    beforeEach(() => {
      plant("packages/sums/package.json", {
        ...manifest("@evolver/sums", [], { layer: "library" }),
        exports: { ".": "./src/index.ts", "./study": "./src/study/index.ts" },
      });
      plant("packages/sums/src/study/index.ts", `export const study = { id: "sums", example: "sums/k01" };`);
      plant(
        "packages/studies/package.json",
        manifest("@evolver/studies", ["@evolver/sums"], { layer: "registry" }),
      );
      plant(
        "packages/studies/src/index.ts",
        `export const studies = {\n  sums: () => import("@evolver/sums/study"),\n};`,
      );
    });

    it("its library and the registry may name it, and so may tests, and others what only sounds like it", () => {
      plant("packages/lab/test/a.test.ts", `const study = "sums";`);
      plant("packages/lab/src/sums.ts", `export const sums = "all sums"; // the ladder adds sums`);
      expect(studies()).toEqual([]);
    });

    it.each([
      `export const fallback = "sums";`,
      `export const example = "sums/k03";`,
      `export const hint = "run evolver evolve sums first";`,
      `const { study } = await import("@evolver/sums/study");`,
    ])("others may not: %s", (text) => {
      plant("packages/lab/src/a.ts", `\n${text}`);
      expect(studies().map(({ path, line }) => `${path}:${line}`)).toEqual(["packages/lab/src/a.ts:2"]);
    });
  });

  it("a dependency up the layers is found", () => {
    plant(
      "packages/kernel/package.json",
      manifest("@evolver/kernel", ["@evolver/lab"], { layer: "kernel", browser: true }),
    );
    expect(layers().map(({ message }) => message)).toEqual([
      "@evolver/kernel must not depend on @evolver/lab",
    ]);
  });

  it("a circle is found, once, by its shortest way round", () => {
    plant("packages/kernel/src/a.ts", `import "./b.ts";`);
    plant("packages/kernel/src/b.ts", `\nimport "./d.ts";\nimport "./c.ts";`);
    plant("packages/kernel/src/c.ts", `export { a } from "./a.ts";`);
    plant("packages/kernel/src/d.ts", `import "./c.ts";`);
    plant("packages/kernel/src/entry.ts", `import "./a.ts";`);
    const [a, b, c] = ["a", "b", "c"].map((name) => `packages/kernel/src/${name}.ts`);
    expect(cycles()).toEqual([{ path: a, line: 1, message: `circular import: ${a} → ${b} → ${c} → ${a}` }]);
  });

  it("a circle through two packages and a file that imports itself are found", () => {
    plant("packages/kernel/src/index.ts", `import "@evolver/device";`);
    plant("packages/kernel/src/self.ts", `import "./self.ts";`);
    expect(cycles()).toHaveLength(2);
  });

  it.each([
    `import type { A } from "./a.ts";`,
    `import { type A } from "./a.ts";`,
    `export type * from "./a.ts";`,
  ])("%s makes a circle, though it is erased", (back) => {
    plant("packages/kernel/src/a.ts", `import "./b.ts";`);
    plant("packages/kernel/src/b.ts", back);
    expect(cycles()).toHaveLength(1);
    plant("packages/kernel/src/b.ts", `await import("./a.ts");`);
    expect(cycles()).toEqual([]);
  });

  it("a file that does not parse is named", () => {
    plant("packages/kernel/src/a.ts", `import {`);
    expect(() => readTree(root)).toThrow("packages/kernel/src/a.ts");
  });

  it("a long file is found until it has a reason, and a reason without one is too", () => {
    plant("packages/kernel/src/long.ts", "//\n".repeat(401));
    plant("packages/kernel/src/short.ts", "//\n".repeat(400));
    expect(findLongFiles(root)).toEqual([
      {
        path: "packages/kernel/src/long.ts",
        line: 401,
        message: expect.stringContaining("401 lines") as string,
      },
    ]);
    plant("tools/check/long-files.json", {
      "packages/kernel/src/long.ts": "a table",
      "packages/kernel/src/short.ts": "",
    });
    expect(findLongFiles(root).map(({ message }) => message)).toEqual([
      "packages/kernel/src/short.ts is not a long file (any more)",
    ]);
  });

  it("words for unfinished work are found in code and in documents", () => {
    const word = ["TO", "DO"].join("");
    plant("packages/kernel/src/a.ts", `\n// ${word}: later`);
    plant("docs/a.md", `Here is a ${word}.`);
    expect(findBannedWords(root).map(({ path, line }) => `${path}:${line}`)).toEqual([
      "docs/a.md:1",
      "packages/kernel/src/a.ts:2",
    ]);
  });

  it("rates that do not say per are found, and other sentences are not", () => {
    const rate = (unit: string, of: string): string => `${unit} ${"a"} ${of}`;
    const rates = [rate("32 KiB", "workgroup"), rate("two full barriers", "tile"), rate("once", "lane")];
    plant("docs/a.md", rates.join("\n"));
    plant(
      "packages/kernel/src/b.ts",
      ["// 32 KiB per workgroup", "// the keys a query sees", "// one writes a tile, two read it"].join("\n"),
    );
    expect(findRates(root).map(({ path, line }) => `${path}:${line}`)).toEqual([
      "docs/a.md:1",
      "docs/a.md:2",
      "docs/a.md:3",
    ]);
  });
});

function manifest(name: string, dependencies: readonly string[], evolver?: object): object {
  return {
    name,
    evolver,
    exports: { ".": "./src/index.ts" },
    dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, "0.1.0"])),
  };
}
