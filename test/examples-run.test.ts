/** Each file of examples/ as a newcomer runs it: by itself, without a device named; and whether its kernels are clean. */

import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Kernel } from "@evolver/kernel";
import { lintFiles } from "@evolver/kernel/lint";
import { expectClean } from "@evolver/vitest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const folder = join(import.meta.dirname, "..", "examples");
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
const current = mkdtempSync(join(tmpdir(), "evolver-examples-"));
afterAll(() => rmSync(current, { recursive: true }));

/** A line of what each prints; kernels.ts is for other commands, and prints nothing. */
const PRINTS: Readonly<Record<string, string>> = {
  "attention.ts": "right: at most",
  "check.ts": "hasty: 2 findings in 3 launches",
  "convolution.ts": "218 elements of x read for 200 results of 7 each",
  "emit.ts": 'extern "C" __global__ void __launch_bounds__(128) clampAll(',
  "half.ts": "163840 bytes instead of 327680",
  "histogram.ts": "e ██████████████████████ 440",
  "kernels.ts": "",
  "life.ts": "generation 24",
  "mandelbrot.ts": "wrote 180 × 120 pixels of",
  "matmul.ts": "matmul: c[0] = 147, c[1049] = 19, 12160 bytes read from global memory",
  "monte-carlo.ts": "π ≈ 3.138",
  "pipeline.ts": "copy-in-flight",
  "reduction.ts": "12 atomic additions for 5000 elements",
  "saxpy.ts": "8000 bytes read, 4000 written",
  "scan.ts": "1 + … + 1000 = 500500, in 2 launches",
  "softmax.ts": "0 barriers: the lanes of a subgroup need none",
  "stencil.ts": " · · · · ░ ▒ ▒ ░ · · · · · · ·",
  "transpose.ts": "swizzled by 1: first row 0 50 100 150 …, 4096 bytes of shared memory, 0 bank conflicts",
};

test.each(files)("%s runs", async (name) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, name)], {
    cwd: current,
  });
  expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining(PRINTS[name] ?? "?"), stderr: "" });
});

test("the README lists each", () => {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  expect(files.filter((name) => !readme.includes(`[${name}](${name})`))).toEqual([]);
});

test("no example uses a run-time value as a JavaScript value", () => {
  expect(lintFiles(files.map((name) => join(folder, name)))).toEqual([]);
});

describe.each([...files, "tune/matmul.ts", "tune/softmax.ts"])("the kernels of %s", (name) => {
  let kernels: Kernel[];
  beforeAll(async () => {
    const exported: Readonly<Record<string, unknown>> = await import(join(folder, name));
    kernels = Object.values(exported).filter((each) => each instanceof Kernel);
  });

  test("are clean at two subgroup widths", async () => {
    expect(kernels.length > 0).toBe(name !== "attention.ts");
    for (const kernel of kernels) await expectClean(kernel, { subgroup: [8, 32] });
  });
});
