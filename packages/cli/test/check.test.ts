/** `evolver check` on files that are wrong in themselves, and on what they print. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const bin = join(import.meta.dirname, "..", "bin", "evolver.js");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-check-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function check(source: string): { status: number | null; stdout: string; stderr: string; file: string } {
  const file = join(folder, "kernels.ts");
  writeFileSync(file, source);
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "check", file, "--json"], {
    encoding: "utf8",
  });
  return { status, stdout, stderr, file };
}

const fill = (name: string, statement: string): string =>
  `export const ${name} = kernel("${name}", { params: { x: buffer(f32, "write") }, workgroup: [64] }, ({ x }, gpu) => {
  ${statement}
  x.set(gpu.globalId.x, 1);
});
`;
const imports = `import { buffer, f32, kernel } from "@evolver/kernel";\n`;

test("a body that throws is a finding with its line, and the other kernels are checked all the same", () => {
  const { status, stdout, file } = check(
    imports + fill("broken", `throw new Error("boom");`) + fill("right", ""),
  );
  expect(status).toBe(1);
  const [broken, right] = JSON.parse(stdout) as [{ findings: object[] }, { findings: object[] }];
  expect(broken.findings).toMatchObject([{ kind: "body-threw", file, line: 3 }]);
  expect(right.findings).toEqual([]);
});

test("a file in a folder of CommonJS is a module all the same", () => {
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }');
  writeFileSync(join(folder, "part.ts"), "export const WIDTH: number = 64;\n");
  const { status, stdout, stderr } = check(
    `${imports}import { WIDTH } from "./part.ts";\n${fill("wide", "void WIDTH;")}`,
  );
  rmSync(join(folder, "package.json"));
  expect({ status, stderr, findings: (JSON.parse(stdout) as { findings: object[] }).findings }).toEqual({
    status: 0,
    stderr: "",
    findings: [],
  });
});

test("a kernel that does not build has what to do, too", () => {
  const wide = fill("wide", "").replace("[64]", "[4096]");
  const { status, stdout } = check(imports + wide);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    findings: [{ kind: "invalid-workgroup", hint: expect.stringContaining("at most 1024") }],
  });
});

test("a timer of the file's does not keep the command", () => {
  const { status, stdout } = check(`${imports}setInterval(() => {}, 1000);\n${fill("ticks", "")}`);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ kernel: "ticks", findings: [] });
});

test("what the file and its bodies print goes to standard error", () => {
  const { status, stdout, stderr } = check(
    `${imports}console.log("loading");\n${fill("talks", `console.info("recording");`)}`,
  );
  expect({ status, kernel: (JSON.parse(stdout) as { kernel: string }).kernel }).toEqual({
    status: 0,
    kernel: "talks",
  });
  // A body runs once per way in which a target wants it built.
  expect(stderr).toBe("loading\nrecording\nrecording\n");
});

test.each([
  ["a syntax error", `\nexport const a = {{;`, 2],
  ["an error while it loads", `\n\nthrow new Error("no");`, 3],
])("a file that does not load: %s, with its line", (_, source, line) => {
  const { status, stdout, stderr, file } = check(source);
  expect(status).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "FILE_NOT_LOADED", where: [{ file, line }] } });
  expect(stderr).toContain(`error[FILE_NOT_LOADED]`);
  expect(stderr).toContain(`at ${file}:${line}:`);
});

test("a missing import is told with its line", () => {
  const { status, stderr, file } = check(`\nimport { a } from "./nowhere.ts";\nexport const b = a;`);
  expect(status).toBe(2);
  expect(stderr).toContain(`  at ${file}:2:19\n  help: correct the import`);
});

test.each([
  ["a token that is none", "const a = 1;\nconst b: = 2;", ":2:10", "correct the line"],
  ["an enum", "\nenum A { b }", ":2:1", "without enums"],
  ["an export that is not there", `import { nothing } from "@evolver/kernel";`, ":1:10", "correct the line"],
  ["a name that is not there", "\nexport const a = b.c;", ":2:18", "it threw"],
])("each cause has its column and its advice: %s", (_, source, place, advice) => {
  const { status, stderr, file } = check(source);
  expect(status).toBe(2);
  expect(stderr).toContain(`error[FILE_NOT_LOADED]: ${file} could not be loaded: `);
  expect(stderr).toContain(`  at ${file}${place}\n`);
  expect(stderr).toContain(advice);
});

test.each([
  ["process.exit(0);", "FILE_EXITED", "ended the process with exit code 0"],
  ["try { process.exit(3); } catch {}", "FILE_EXITED", "ended the process with exit code 3"],
  ["await new Promise(() => {});", "FILE_NEVER_LOADED", "waits for something that never comes"],
  [
    "setTimeout(() => { throw new Error('late'); }, 0);\nawait new Promise((done) => setTimeout(done, 5000));",
    "FILE_THREW",
    "threw after it was loaded: late",
  ],
  ["throw 5;", "FILE_NOT_LOADED", "could not be loaded: it threw 5"],
])("a file cannot end the command in silence: %s", (source, code, what) => {
  const { status, stdout, stderr, file } = check(source);
  expect(status).toBe(2);
  expect(stderr).toContain(`error[${code}]: ${file} ${what}`);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code } });
});

test("run-time values as JavaScript conditions are findings of the kernel that has them", () => {
  const { status, stdout, file } = check(
    `import { buffer, f32, kernel, u32 } from "@evolver/kernel";
const params = { x: buffer(f32), y: buffer(f32, "write"), n: u32 };
export const wrong = kernel("wrong", { params, workgroup: [64] }, ({ x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  if (x.getOr(0, 1)) gpu.if(i.lt(y.length), () => y.set(i, 1));
  if (i !== n) gpu.if(i.lt(y.length), () => y.set(i, 1));
});
export const right = kernel("right", { params, workgroup: [64] }, ({ x, y }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(y.length), () => y.set(i, x.getOr(i, 0)));
});
`,
  );
  expect(status).toBe(1);
  const reports = JSON.parse(stdout) as { kernel: string; findings: object[] }[];
  const of = (name: string): object[] | undefined => reports.find(({ kernel }) => kernel === name)?.findings;
  expect(of("wrong")).toMatchObject([
    { kind: "native-use", file, line: 5 },
    { kind: "native-use", file, line: 6 },
  ]);
  expect(of("right")).toEqual([]);
});

test("what targets promise less than the language, without a word where that is nothing", () => {
  const { stdout } = check(`import { atomic, buffer, f32, kernel, sin, u32 } from "@evolver/kernel";
export const k = kernel("k", {
  params: { y: buffer(f32, "read_write"), turn: buffer(atomic(u32)) },
  workgroup: [32],
  example: { workgroups: 1, args: { y: 32, turn: 1 } },
}, ({ y, turn }, gpu) => {
  const i = gpu.globalId.x;
  y.set(i, sin(y.get(i)));
  turn.add(0, 1, { order: "release" });
  gpu.while(() => turn.get(0, { order: "acquire" }).lt(32), () => {});
});`);
  const { weakened } = JSON.parse(stdout) as {
    weakened: { targets: string[]; topic: string; line: number }[];
  };
  expect(
    weakened.map(({ targets, topic, line }) => `${targets.join("+")} ${topic} ${line}`).toSorted(),
  ).toEqual([
    "cuda progress 10",
    "cuda+hip numbers 8",
    "hip progress 10",
    "wgsl numbers 8",
    "wgsl numbers 8",
    "wgsl order 10",
    "wgsl order 9",
    "wgsl progress 10",
  ]);
  const copy = check(`import { buffer, kernel, u32 } from "@evolver/kernel";
export const k = kernel("k", { params: { x: buffer(u32), y: buffer(u32, "write") }, workgroup: [32] }, ({ x, y }, gpu) =>
  y.set(gpu.globalId.x, x.get(gpu.globalId.x)));`);
  expect((JSON.parse(copy.stdout) as { weakened: unknown[] }).weakened).toEqual([]);
});
