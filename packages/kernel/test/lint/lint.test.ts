import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lintFiles, Linter } from "@evolver/kernel/lint";

const fixture = (name: string): string => join(import.meta.dirname, "fixtures", `${name}.ts`);

test("finds each way to use a run-time value as a JavaScript value, with its place", () => {
  const found = lintFiles([fixture("buggy")]).map(({ line, message }) => `${line} ${message}`);
  expect(found).toMatchInlineSnapshot(`
    [
      "3 a is always true as the condition of a JavaScript ?:",
      "4 a === b compares objects when the kernel is built, not run-time values",
      "13 x.get(0) is always true as the condition of a JavaScript if",
      "14 i === n compares objects when the kernel is built, not run-time values",
      "15 n !== i compares objects when the kernel is built, not run-time values",
      "15 i == n compares objects when the kernel is built, not run-time values",
      "16 inside is always false after a JavaScript !",
      "17 acc is always true as the condition of a JavaScript if",
      "18 inside is always the true side of a JavaScript &&",
      "19 x.get(3) is always the true side of a JavaScript ??",
      "20 i is an operand of a JavaScript operator",
      "21 i takes no case of this switch",
      "26 x.get(5) is looked for by includes(), which compares objects when the kernel is built",
      "30 i has no text when the kernel is built",
      "31 (value) => value.gt(0) returns a run-time value to filter(), which wants a JavaScript one",
      "32 vec(list[0]!, list[1]!) is always true as the condition of a JavaScript while",
      "33 n is always true as the condition of a JavaScript for",
      "35 ...list is an argument of Math.max, which wants a JavaScript value",
      "37 i.lt(4) is a case that nothing equals",
      "40 i.eq(n) === (true as unknown) compares objects when the kernel is built, not run-time values",
      "41 n is always false after a JavaScript !",
      "42 acc.get() has no text when the kernel is built",
      "43 i is an argument of Object.is, which wants a JavaScript value",
      "43 n is an argument of Object.is, which wants a JavaScript value",
      "43 (value) => value.eq(1) returns a run-time value to findIndex(), which wants a JavaScript one",
      "44 i is an argument of Number, which wants a JavaScript value",
    ]
  `);
});

test("names the kernel around a use, and none for helper functions", () => {
  const kernels = lintFiles([fixture("buggy")]).map(({ kernel }) => kernel?.line ?? null);
  expect(kernels.slice(0, 3)).toEqual([null, null, 6]);
  expect(new Set(kernels.slice(2))).toEqual(new Set([6]));
});

test("finds nothing where values may be absent, and in code of the build", () => {
  expect(lintFiles([fixture("clean")])).toEqual([]);
});

test("reads the text that an editor has not saved", () => {
  const linter = new Linter();
  const saved = `import { type F32 } from "@evolver/kernel";\nexport const f = (a: F32): number => 1;\n`;
  expect(linter.lint([fixture("clean")], saved)).toEqual([]);
  const [use] = linter.lint([fixture("clean")], saved.replace("=> 1", "=> (a ? 1 : 2)"));
  expect(use).toMatchObject({ line: 2, message: "a is always true as the condition of a JavaScript ?:" });
  linter.close();
});

test("is a plugin of oxlint", () => {
  const folder = mkdtempSync(join(import.meta.dirname, "oxlint-"));
  try {
    const config = join(folder, "oxlint.json");
    const rules = { "evolver/native-use": "error" };
    writeFileSync(
      config,
      JSON.stringify({ jsPlugins: ["@evolver/kernel/lint"], categories: { correctness: "off" }, rules }),
    );
    writeFileSync(
      join(folder, "k.ts"),
      `import { type U32 } from "@evolver/kernel";\nexport const f = (a: U32, b: U32): boolean => a === b;\n`,
    );
    const { stdout } = spawnSync("npx", ["oxlint", "-c", config, "--format", "unix", folder], {
      encoding: "utf8",
    });
    expect(stdout).toContain("k.ts:2:47: a === b compares objects when the kernel is built");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
