/**
 * The packages as others install them: tarballs in an empty project, run by Node 20, 22 and 24, with types, and bundled for a
 * browser. What they need of others comes from this repository's node_modules.
 */

import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeBlocks, commandOf, exampleFiles, MACHINE_PATH } from "../tools/docs/markdown.ts";
import { requireOptional } from "./support/optional.ts";

const root = join(import.meta.dirname, "..");
const packages = readdirSync(join(root, "packages"));
let project: string;

/** In the repository, so that what our packages need is found above it; our own are the project's. */
beforeAll(() => {
  project = mkdtempSync(join(root, ".packages-"));
  execFileSync(process.execPath, [join(root, "tools", "pack", "pack.ts"), join(project, "packed")]);
  for (const folder of packages) {
    const { name, version } = manifestOf(folder);
    const tarball = `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
    const target = join(project, "node_modules", name);
    mkdirSync(target, { recursive: true });
    const from = join(project, "packed", "tarballs", tarball);
    execFileSync("tar", ["-xzf", from, "-C", target, "--strip-components=1"]);
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(project, name), text);
  cpSync(join(root, "examples"), join(project, "examples"), { recursive: true });
}, 60_000);
afterAll(() => rmSync(project, { recursive: true }));

interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const manifestOf = (folder: string): PackedManifest =>
  JSON.parse(
    readFileSync(join(project, "packed", "packages", folder, "package.json"), "utf8"),
  ) as PackedManifest;

const FILES = {
  "saxpy.ts": `import { buffer, f32, fma, kernel, u32 } from "@evolver/kernel";

export const saxpy = kernel(
  "saxpy",
  {
    params: { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 },
    workgroup: [256],
    example: { workgroups: 4, args: { a: 2, x: 1000, y: 1000, n: 1000 } },
  },
  ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, fma(a, x.get(i), y.get(i))));
  },
);
`,
  "reads-outside.ts": `import { buffer, f32, kernel } from "@evolver/kernel";

interface Options {
  readonly step: number;
}
const { step }: Options = { step: 1 };

export const shift = kernel(
  "shift",
  { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [32], example: { workgroups: 1, args: { x: 32, y: 32 } } },
  ({ x, y }, gpu) => y.set(gpu.globalId.x, x.get(gpu.globalId.x.add(step))),
);
`,
  "double.ts": `import { buffer, f32, kernel, u32 } from "@evolver/kernel";

export const double = kernel(
  "double",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
    workgroup: [32],
    tune: { perLane: [1, 2, 4] },
    sizes: { n: 512 },
    example: ({ n }, { perLane }) => ({ workgroups: Math.ceil(n / 32 / perLane), args: { x: n, y: n, n } }),
    reference: ({ x }) => ({ y: x.map((value) => 2 * value) }),
  },
  ({ x, y, n }, gpu, { perLane }) => {
    for (let k = 0; k < perLane; k++) {
      const i = gpu.globalId.x.mul(perLane).add(k);
      gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(2)));
    }
  },
);
`,
  "verify.ts": `import { verify } from "@evolver/lab";
import { double } from "./double.ts";

await verify(double);
console.log("right" satisfies string);
`,
  "not-typescript.ts": `const name: string = "name";
const = name;
`,
  "run.js": `import { attention } from "@evolver/attention";
import { openDevice } from "@evolver/device";
import { buffer, f32, fma, kernel, u32 } from "@evolver/kernel";

const saxpy = kernel(
  "saxpy",
  { params: { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 }, workgroup: [256] },
  ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, fma(a, x.get(i), y.get(i))));
  },
);
// Two threads, and launches that are long enough for both.
for (const [id, options] of [["sim", {}], ["cpu", { threads: 2 }]]) {
  const device = await openDevice(id, options);
  const n = id === "sim" ? 1000 : 3_000_000;
  const x = device.createBuffer("f32", Float32Array.from({ length: n }, (_, i) => i));
  const y = device.createBuffer("f32", new Float32Array(n).fill(1));
  await (await device.compile(saxpy)).run({ workgroups: Math.ceil(n / 256), args: { a: 2, x, y, n } });
  // Of values that are all the same, every mean is that value.
  const same = { data: new Float32Array(32 * 8).fill(3), shape: [1, 1, 32, 8] };
  const { o } = await attention(device, { q: same, k: same, v: same });
  console.log(id, (await y.read()).at(-1) === 2 * n - 1, o.every((value) => Math.abs(value - 3) < 1e-5));
  await device.close();
}
`,
  // A candidate that is code is built in a process that may only read.
  "judge.js": `import { openJudgeInProcess } from "@evolver/lab";
import { study } from "@evolver/softmax/study";
import { fileURLToPath } from "node:url";

const input = await study.parseInput({ operation: "softmax", rows: 4, columns: 32 });
const judge = await openJudgeInProcess(study, input, { device: "sim" });
const path = fileURLToPath(new URL("candidate.ts", import.meta.url));
for (const name of ["plan", "writes", "starts"]) {
  const candidate = { kind: "module", path, export: name };
  const { status, reason } = await judge.judge({ candidate, seed: 1, known: {}, champion: null, deadlineMs: 60_000 });
  console.log(name, status, /restricted/.exec(reason)?.[0] ?? reason);
}
await judge.close();
`,
  "candidate.ts": `import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Plan, PlanBuild } from "@evolver/device";
import { ladder, rowPlan, type RowPoint, type RowProblem } from "@evolver/softmax";
import { last } from "./last.ts";

const { point } = last(ladder) as { readonly point: RowPoint };
export const plan = (problem: RowProblem, build: PlanBuild): Plan => rowPlan(point, problem, build);
export const writes = (): void => writeFileSync("written", "");
export const starts = (): void => void spawnSync("ls");
`,
  "last.ts": `export const last = <T>(all: readonly T[]): T => all.at(-1) as T;
`,
  "saxpy.test.ts": `import { expectClean, expectCounters } from "@evolver/vitest";
import { expect, test } from "vitest";
import { saxpy } from "./saxpy.ts";

test("is clean", () => expectClean(saxpy, { subgroup: [16, 32] }));
test("is not what it is not", async () => {
  await expect(expectCounters(saxpy).toHave({ flops: 1 })).rejects.toThrow("flops: counted 2000, wanted exactly 1");
});
`,
  "types.ts": `import { attention, type AttentionProblem } from "@evolver/attention";
import { openDevice, type Device } from "@evolver/device";
import type { Kernel } from "@evolver/kernel";
import type { Study } from "@evolver/lab";
import { expectClean } from "@evolver/vitest";
import { saxpy } from "./saxpy.ts";

export const kernels: readonly Kernel[] = [saxpy as unknown as Kernel];
export const open = (): Promise<Device> => openDevice("sim");
export type Problems = readonly AttentionProblem[];
export type Studies = readonly Study[];
export const run = attention;
// @ts-expect-error a device's name is one of a few
export const wrong = openDevice("simulator");
export const clean = expectClean(saxpy, { args: { n: 100 } });
// @ts-expect-error saxpy has no such parameter
export const unclean = expectClean(saxpy, { args: { m: 100 } });
`,
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      ...{ noEmit: true, strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
      ...{
        module: "nodenext",
        target: "es2024",
        lib: ["es2024", "dom"],
        allowImportingTsExtensions: true,
        types: [],
      },
    },
    files: ["types.ts"],
  }),
};

/** The pages of the table in docs/web.md. */
const PAGES = {
  "`openWebgpu` of `@evolver/device/webgpu`": `
    import { openWebgpu } from "@evolver/device/webgpu";
    const device = await openWebgpu();`,
  ...Object.fromEntries(
    ["webgpu", "cpu", "sim"].map((id) => [
      `\`openDevice("${id}")\` of \`@evolver/device\``,
      `import { openDevice } from "@evolver/device";
       const device = await openDevice("${id}");`,
    ]),
  ),
};

interface Chunk {
  readonly fileName: string;
  readonly isEntry?: boolean;
  readonly code?: string;
  /** File names of other chunks. */
  readonly imports?: readonly string[];
  readonly moduleIds?: readonly string[];
}

async function bundled(page: string): Promise<readonly Chunk[]> {
  const input = join(project, "page.ts");
  writeFileSync(
    input,
    `import { saxpy } from "./saxpy.ts"; ${page} document.title = (await device.compile(saxpy)).ir.name;`,
  );
  const output = await build({
    root: project,
    logLevel: "silent",
    configFile: false,
    build: { write: false, target: "esnext", rollupOptions: { input } },
  });
  return ([output].flat() as readonly { readonly output: readonly Chunk[] }[]).flatMap((each) => each.output);
}

/** The page's own chunk, those with a module at this place, and all that these import. */
function downloaded(chunks: readonly Chunk[], place: string): ReadonlySet<Chunk> {
  const found = new Set<Chunk>();
  const add = (chunk: Chunk): void => {
    if (found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports ?? []) add(chunks.find(({ fileName }) => fileName === name) as Chunk);
  };
  for (const chunk of chunks)
    if (chunk.isEntry === true || chunk.moduleIds?.some((id) => id.endsWith(place)) === true) add(chunk);
  return found;
}

/** A program of this major version: the one that runs this test, that of a machine, or that of test/node-22. */
function findNode(major: number): string | null {
  const folders = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"));
  const bare = join(root, "test", "node-22", "node_modules", "node", "bin");
  const all = [process.execPath, ...[...folders, "/usr/bin", bare].map((folder) => join(folder, "node"))];
  const version = ["-p", "process.versions.node"];
  return (
    all.find(
      (node) => Number.parseInt(spawnSync(node, version, { encoding: "utf8" }).stdout ?? "") === major,
    ) ?? null
  );
}

const nodes = [
  { major: 20, how: "put Node 20 on PATH" },
  { major: 22, how: "run npm ci on Linux with an x64 processor, or put Node 22 on PATH" },
  { major: 24, how: "run the tests by npx" },
];

for (const { major, how } of nodes) {
  const node = findNode(major);
  requireOptional(
    `Node ${major}`,
    node !== null,
    how,
  )(`in a project of somebody else, Node ${major}`, () => {
    interface Ran {
      readonly status: number | null;
      readonly stdout: string;
      readonly stderr: string;
    }
    const run = (...args: string[]): Ran => {
      const { status, stdout, stderr } = spawnSync(node as string, args, { cwd: project, encoding: "utf8" });
      return { status, stdout, stderr };
    };
    const evolver = (...args: string[]): Ran =>
      run(join(project, "node_modules", "evolver", "bin", "evolver.js"), ...args);

    it("the library runs saxpy and attention", () => {
      expect(run("run.js")).toEqual({ status: 0, stdout: "sim true true\ncpu true true\n", stderr: "" });
    });

    it("evolver checks and emits kernels in TypeScript, with their lines", () => {
      expect(evolver("check", "saxpy.ts")).toMatchObject({ status: 0, stderr: "" });
      const { status, stdout } = evolver("check", "reads-outside.ts#shift", "--json");
      const [report] = [JSON.parse(stdout) as unknown].flat();
      expect({ status, report }).toMatchObject({
        status: 1,
        report: { kernel: "shift", findings: [{ kind: "out-of-bounds", line: 11 }] },
      });
      expect(evolver("check", "not-typescript.ts").stderr).toMatch(
        /FILE_NOT_LOADED.*\n {2}at \S+not-typescript.ts:2:7\n/,
      );
      expect(evolver("emit", "saxpy.ts", "--target", "wgsl").stdout).toContain("fn saxpy(");
    });

    it("TypeScript that imports kernels runs with evolver/register", () => {
      const stdout = "right\n";
      expect(run("--import", "evolver/register", "verify.ts")).toEqual({ status: 0, stdout, stderr: "" });
    });

    it.each([
      ["saxpy.ts", "y = 1, 3, 5, 7, 9, 11, …, 1999\n8000 bytes read, 4000 written\n"],
      ["reduction.ts", "1 + … + 5000 = 12502500\n12 atomic additions for 5000 elements\n"],
    ])("the example %s runs", (file, stdout) => {
      const strips = major >= 22 ? [] : ["--import", "evolver/register"];
      expect(run(...strips, join("examples", file))).toEqual({ status: 0, stdout, stderr: "" });
    });

    it("evolver lists devices, and improves a study and a file", () => {
      expect(evolver("devices").stdout).toMatch(/^sim +yes/m);
      const own = ["double.ts", "--cycles", "1", "--workspace", `workspace-own-${major}`, "--json"];
      expect(JSON.parse(evolver("evolve", ...own).stdout)).toMatchObject({ study: "double", trials: 3 });
      const size = ["--rows", "8", "--columns", "64"];
      const where = ["--workspace", `workspace-${major}`, "--json"];
      const { stdout } = evolver("evolve", "softmax", ...size, "--cycles", "1", "--trials", "2", ...where);
      expect(JSON.parse(stdout)).toMatchObject({ study: "softmax", trials: 3, timeKind: "modelled" });
    });

    it("a candidate that is code is built, and may neither write files nor start programs", () => {
      const stdout = "plan ok \nwrites build-failed restricted\nstarts build-failed restricted\n";
      expect(run("judge.js")).toEqual({ status: 0, stdout, stderr: "" });
    });
  });
}

describe("in a project of somebody else", () => {
  it("the command line writes the guide", () => {
    const evolver = join(project, "node_modules", "evolver", "bin", "evolver.js");
    const args = [evolver, "guide", "attention", "-o", "guide.md"];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
    expect({ status, error: /error.*/.exec(stderr)?.[0] }).toEqual({ status: 0, error: undefined });
    expect(readFileSync(join(project, "guide.md"), "utf8")).toContain("```typescript");
  });

  it("the types are those of the source, in strict projects too", () => {
    const { stdout } = spawnSync(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc")], {
      cwd: project,
      encoding: "utf8",
    });
    expect(stdout).toBe("");
  });

  it("claims about kernels are tests", () => {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const args = [vitest, "run", "--reporter=tap", "saxpy.test.ts"];
    const { status, stdout } = spawnSync(process.execPath, args, {
      cwd: project,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    expect(stdout.match(/^ +ok .*$/gm)).toHaveLength(2);
    expect(status).toBe(0);
  });

  it.each(packages)("%s has what its package.json names, and nothing of the tests", (folder) => {
    const { name, exports: entries, engines } = manifestOf(folder);
    expect({ engines, internal: Object.keys(entries).filter((path) => path.includes("internal")) }).toEqual({
      engines: { node: ">=20.19" },
      internal: [],
    });
    const files = Object.values(entries).flatMap((entry) =>
      typeof entry === "string" ? entry : Object.values(entry),
    );
    const target = join(project, "node_modules", name);
    expect(files.filter((file) => !existsSync(join(target, file)))).toEqual([]);
  });

  it.each(packages)(
    "the README of %s shows what its examples print, and its links lead to files",
    (folder) => {
      const { name } = manifestOf(folder);
      const own = join(project, "node_modules", name);
      const markdown = readFileSync(join(own, "README.md"), "utf8");
      const blocks = codeBlocks(markdown);
      expect(blocks.filter(({ info }) => info !== "text").length).toBeGreaterThan(0);
      const examples = join(project, `readme-${folder}`);
      mkdirSync(examples);
      for (const [file, text] of exampleFiles(markdown)) writeFileSync(join(examples, file), text);
      for (const block of blocks) {
        const [program, ...args] = commandOf(block)?.replace(/^npx /, "").split(" ") ?? [];
        if (program === undefined) continue;
        const entry =
          program === "evolver" ? [join(project, "node_modules", "evolver", "bin", "evolver.js")] : [];
        const { stdout } = spawnSync(process.execPath, [...entry, ...args], {
          cwd: examples,
          encoding: "utf8",
        });
        expect(stdout).toBe(block.text);
      }
      const prose = markdown.replace(/^```[\s\S]*?^```$/gm, "");
      const links = [...prose.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map((match) => match[1] as string);
      expect(links.filter((link) => !existsSync(join(own, link)))).toEqual([]);
    },
  );

  it("no file has a path of the machine that made it", () => {
    const staged = join(project, "packed", "packages");
    const files = readdirSync(staged, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(1000);
    const found = files.flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, "utf8");
      const path = MACHINE_PATH.exec(text)?.[0] ?? (text.includes(root) ? root : null);
      return path === null ? [] : [`${relative(staged, file)}: ${path}`];
    });
    expect(found).toEqual([]);
  });

  it("source maps lead to the TypeScript in the package", () => {
    const folder = join(project, "node_modules", "@evolver", "kernel", "dist", "frontend");
    const { sources } = JSON.parse(readFileSync(join(folder, "kernel.js.map"), "utf8")) as {
      sources: string[];
    };
    expect(readFileSync(join(folder, sources[0] as string), "utf8")).toContain("export class Kernel");
  });

  it.each(Object.entries(PAGES))("a page with %s downloads what docs/web.md says", async (what, page) => {
    const chunks = await bundled(page);
    const id = /openDevice\("(\w+)"\)/.exec(page)?.[1] ?? "webgpu";
    const all = downloaded(chunks, id === "webgpu" ? "/webgpu/device.js" : `/${id}/index.js`);
    const size = [...all].reduce((sum, { code = "" }) => sum + gzipSync(code).length, 0) / 1000;
    const line = readFileSync(join(root, "docs", "web.md"), "utf8")
      .split("\n")
      .find((text) => text.startsWith(`| ${what} |`));
    const stated = Number(/(\d+) kB/.exec(line ?? "")?.[1]);
    expect([stated, size < 120 && Math.abs(size - stated) < stated / 20 ? stated : size]).toEqual([
      stated,
      stated,
    ]);
    const fromNode = /(?:from|import\(?)\s*["'`]node:\w+/;
    expect(
      chunks.map(({ code = "" }) => fromNode.exec(code)?.[0]).filter((found) => found !== undefined),
    ).toEqual([]);
  });
});
