/**
 * The packages as others install them: tarballs in an empty project, run by Node 24 and by the system's own Node, with types, and
 * bundled for a browser. What they need of others comes from this repository's node_modules.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
let project: string;

/** In the repository, so that what our packages need is found above it; our own are the project's. */
beforeAll(() => {
  project = mkdtempSync(join(root, ".packages-"));
  execFileSync(process.execPath, [join(root, "tools", "pack", "pack.ts"), join(project, "packed")]);
  const tarballs = join(project, "packed", "tarballs");
  for (const file of readdirSync(tarballs)) {
    const name = file.startsWith("evolver-0") ? "evolver" : file.replace(/^evolver-(\w+)-.*/, "@evolver/$1");
    const target = join(project, "node_modules", name);
    mkdirSync(target, { recursive: true });
    execFileSync("tar", ["-xzf", join(tarballs, file), "-C", target, "--strip-components=1"]);
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(project, name), text);
}, 60_000);
afterAll(() => rmSync(project, { recursive: true }));

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
  "run.js": `import { attention } from "@evolver/attention";
import { openDevice } from "@evolver/device";
import { buffer, f32, kernel } from "@evolver/kernel";

const double = kernel(
  "double",
  { params: { x: buffer(f32, "read_write") }, workgroup: [64] },
  ({ x }, gpu) => x.set(gpu.globalId.x, x.get(gpu.globalId.x).mul(2)),
);
for (const id of ["sim", "cpu"]) {
  const device = await openDevice(id);
  const x = device.createBuffer("f32", Float32Array.from({ length: 128 }, (_, i) => i));
  await (await device.compile(double)).run({ workgroups: 2, args: { x } });
  // Of values that are all the same, every mean is that value.
  const same = { data: new Float32Array(32 * 8).fill(3), shape: [1, 1, 32, 8] };
  const { o } = await attention(device, { q: same, k: same, v: same });
  console.log(id, (await x.read())[100], o.every((value) => Math.abs(value - 3) < 1e-5));
  await device.close();
}
`,
  "types.ts": `import { attention, type AttentionProblem } from "@evolver/attention";
import { openDevice, type Device } from "@evolver/device";
import type { Kernel } from "@evolver/kernel";
import type { Study } from "@evolver/lab";
import { saxpy } from "./saxpy.ts";

export const kernels: readonly Kernel[] = [saxpy as unknown as Kernel];
export const open = (): Promise<Device> => openDevice("sim");
export type Problems = readonly AttentionProblem[];
export type Studies = readonly Study[];
export const run = attention;
// @ts-expect-error a device's name is one of a few
export const wrong = openDevice("simulator");
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
  "page.ts": `import { openDevice } from "@evolver/device";
import { saxpy } from "./saxpy.ts";

const device = await openDevice("webgpu");
document.title = (await device.compile(saxpy)).ir.name;
`,
};

interface Chunk {
  readonly isEntry?: boolean;
  readonly code?: string;
}

/** Node 24, and the one that the machine brings. */
const nodes = [process.execPath, "/usr/bin/node"].filter(
  (node) =>
    spawnSync(node, ["-e", "process.exit(Number.parseInt(process.versions.node) >= 20 ? 0 : 1)"]).status ===
    0,
);

describe("in a project of somebody else", () => {
  it.each(nodes)("the library runs under %s", (node) => {
    const { stdout, stderr } = spawnSync(node, ["run.js"], { cwd: project, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "sim 200 true\ncpu 200 true\n", stderr: "" });
  });

  it("the command line checks and emits a kernel, and writes the guide", () => {
    const evolver = (...args: string[]) =>
      spawnSync(process.execPath, [join(project, "node_modules", "evolver", "bin", "evolver.js"), ...args], {
        cwd: project,
        encoding: "utf8",
      });
    expect(evolver("check", "saxpy.ts").stdout).toContain("saxpy: clean at subgroup width 32");
    expect(evolver("emit", "saxpy.ts", "--target", "wgsl").stdout).toContain("fn saxpy(");
    const { status, stderr } = evolver("guide", "attention", "-o", "guide.md");
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

  it("source maps lead to the TypeScript in the package", () => {
    const folder = join(project, "node_modules", "@evolver", "kernel", "dist", "frontend");
    const { sources } = JSON.parse(readFileSync(join(folder, "kernel.js.map"), "utf8")) as {
      sources: string[];
    };
    expect(readFileSync(join(folder, sources[0] as string), "utf8")).toContain("export class Kernel");
  });

  it("a page that runs a kernel over WebGPU downloads less than 120 kB", async () => {
    const output = await build({
      root: project,
      logLevel: "silent",
      configFile: false,
      build: { write: false, target: "esnext", rollupOptions: { input: join(project, "page.ts") } },
    });
    const chunks = ([output].flat() as readonly { readonly output: readonly Chunk[] }[]).flatMap(
      (each) => each.output,
    );
    const page = chunks.find(({ isEntry }) => isEntry === true);
    expect(gzipSync(page?.code ?? "").length).toBeLessThan(120_000);
    const fromNode = /(?:from|import\(?)\s*["'`]node:\w+/;
    expect(
      chunks.map(({ code = "" }) => fromNode.exec(code)?.[0]).filter((found) => found !== undefined),
    ).toEqual([]);
  });
});
