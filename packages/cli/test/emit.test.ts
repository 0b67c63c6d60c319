/** `evolver emit`: rungs and kernels of a user's, as source. */

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { main } from "evolver";
import { evolver } from "./support/command.ts";

const bin = join(import.meta.dirname, "..", "bin", "evolver.js");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-emit-"));
  writeFileSync(
    join(folder, "saxpy.ts"),
    `import { buffer, f32, fma, kernel, u32 } from "@evolver/kernel";
export const saxpy = kernel("saxpy", { params: { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 }, workgroup: [256] },
  ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, fma(a, x.get(i), y.get(i))));
  });
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const MARKS = [
  ["js", /export|function/],
  ["wgsl", /@compute @workgroup_size\(/],
  ["cuda", /__global__ void/],
  ["hip", /__global__ void/],
] as const;

describe.each(MARKS)("for %s", (target, mark) => {
  it("a rung goes to stdout, or to the file that -o names, or into a JSON document, the same", async () => {
    const file = join(folder, `k03.${target}`);
    const args = ["emit", "attention/k03", "--target", target, "--shape", "H2,S32,D32"];
    const shown = await captured(args);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(mark);
    const saved = await captured([...args, "-o", file]);
    expect(saved).toMatchObject({ code: 0, stdout: "" });
    expect(saved.stderr).toMatch(new RegExp(`^${file}: kernel flash\\w* for ${target}$`, "m"));
    expect(readFileSync(file, "utf8")).toBe(shown.stdout);
    const { code, stdout, stderr } = await captured([...args, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const document = JSON.parse(stdout) as { source: string; lowering: unknown[] };
    expect(document).toMatchObject({ target, subgroup: 32, selftest: false, file: null });
    expect(`${document.source.trimEnd()}\n`).toBe(shown.stdout);
    expect(document.lowering).toBeInstanceOf(Array);
  });
});

it("a kernel that asks whether subgroups may wait is built for its target", async () => {
  writeFileSync(
    join(folder, "asking.ts"),
    `import { buffer, kernel, u32 } from "@evolver/kernel";
export const asking = kernel("asking", { params: { y: buffer(u32, "write") }, workgroup: [64] }, ({ y }, gpu) => {
  if (gpu.forwardProgress) gpu.phaseBarriers({ count: 1, arrivals: 64 }).arrive(0);
  else gpu.barrier();
  y.set(gpu.localIndex, 1);
});
`,
  );
  const sources = await Promise.all(
    ["cuda", "wgsl"].map((target) => evolver(["emit", "asking.ts", "--target", target], folder)),
  );
  expect(sources.map(({ code }) => code)).toEqual([0, 0]);
  expect(sources[0]?.stdout).toContain("arrive(&");
  expect(sources[1]?.stdout).toContain("workgroupBarrier();");
});

it("the self-test of such a kernel expects what its build for the target does", async () => {
  writeFileSync(
    join(folder, "summing.ts"),
    `import { buffer, f32, kernel } from "@evolver/kernel";
export const summing = kernel("summing", {
  params: { x: buffer(f32), y: buffer(f32, "write") },
  workgroup: [1],
  example: { workgroups: 1, args: { x: Float32Array.of(1e8, 1, -1e8, 1), y: 1 } },
}, ({ x, y }, gpu) => {
  const [a, b, c, d] = (gpu.forwardProgress ? [0, 1, 2, 3] : [0, 2, 1, 3]).map((at) => x.get(at));
  y.set(0, a.add(b).add(c).add(d));
});
`,
  );
  const emitted = await evolver(["emit", "summing.ts", "--selftest", "-o", "summing.mjs"], folder);
  expect(emitted).toMatchObject({ code: 0, stderr: "summing.mjs: kernel summing for js\n" });
  const { status, stdout } = spawnSync(process.execPath, [join(folder, "summing.mjs")], { encoding: "utf8" });
  expect(stdout).toContain("y: 1 elements as expected");
  expect(stdout).toMatch(/^PASS summing$/m);
  expect(status).toBe(0);
});

/** Runs the command in this process. */
async function captured(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ["", ""];
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((text) => (stdout += String(text)).length > 0),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => (stderr += String(text)).length > 0),
  ];
  try {
    const code = await main(args);
    return { code, stdout, stderr };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

it.each(["k04", "k08", "k10"])("the self-test of %s in JavaScript passes when run", async (rung) => {
  const file = join(folder, `${rung}.mjs`);
  const args = ["--selftest", "--shape", "Hq4,Hkv2,S21,D16,causal", "-o", file];
  expect((await captured(["emit", `attention/${rung}`, "--target", "js", ...args])).code).toBe(0);
  const { status, stdout } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  expect(stdout).toMatch(/^PASS /m);
  expect(status).toBe(0);
});

it("JavaScript that is emitted of a kernel of a user's parses", async () => {
  const { stdout } = await evolver(["emit", "saxpy.ts#saxpy"], folder);
  expect(parseSync("saxpy.js", stdout, { sourceType: "module" }).errors).toEqual([]);
  expect(stdout).toMatch(/^\/\/ an ES module: name the file \.mjs/m);
});

it("widths that a target does not have are an error, not a wrong kernel", async () => {
  const { code, stdout, stderr } = await captured([
    "emit",
    "attention/k03",
    "--target",
    "cuda",
    "--subgroup",
    "64",
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^error\[[A-Z_]+\]: .*(32|64)/);
});

it("a reader that has seen enough is no error", async () => {
  const child = spawn(process.execPath, [bin, "emit", "attention/k04"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(code).toBe(0);
  expect(stderr).not.toContain("EPIPE");
});
