/** Self-tests: what they refuse, that they pass for right kernels and fail for wrong ones. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  buffer,
  emitSelftest,
  kernel,
  u32,
  uniformValues,
  type EmitTarget,
  type Selftest,
} from "@evolver/kernel";
import {
  clang,
  compileCuda,
  compileHipHost,
  cpp,
  nvcc,
  runHip,
  type HipRun,
} from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { hasSwiftShader, swiftShaderEnvironment } from "../../../../test/support/swiftshader.ts";
import { large, saxpy } from "./zoo.ts";

/** Where the npm package webgpu is found. */
const SCRATCH = join(import.meta.dirname, "..", "..", "..", "..", "node_modules", ".cache");

const n = 1000;
const x = uniformValues(n, 7);
const y = uniformValues(n, 8);
const expected = x.map((value, i) => Math.fround(2 * value + (y[i] as number)));

function saxpyTest(values: Float32Array = expected): Selftest {
  return {
    title: "saxpy of 1000",
    workgroups: [4, 1, 1],
    args: {
      a: 2,
      n,
      x: { length: n, contents: { kind: "uniform", seed: 7 } },
      y: { length: n, contents: { kind: "values", values: y }, expected: { values, tolerance: null } },
    },
  };
}

const source = (target: EmitTarget, test = saxpyTest()): string =>
  emitSelftest(saxpy.build({ subgroup: 32 }), target, test, "saxpy").source;

function wrongAt(i: number): Float32Array {
  const values = expected.slice();
  values[i] = Math.fround((values[i] as number) * (1 + 1e-6));
  return values;
}

function runJs(
  text: string,
  env: NodeJS.ProcessEnv = process.env,
): { status: number | null; output: string } {
  mkdirSync(SCRATCH, { recursive: true });
  const folder = mkdtempSync(join(SCRATCH, "selftest-"));
  try {
    const path = join(folder, "saxpy.mjs");
    writeFileSync(path, text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [path], { encoding: "utf8", env });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a self-test", () => {
  it("is refused where it would check nothing", () => {
    const { args, ...rest } = saxpyTest();
    const blind = { ...rest, args: { ...args, y: { length: n, contents: { kind: "zeros" } } } } as const;
    expect(() => source("cuda", blind)).toThrow(expect.objectContaining({ code: "SELFTEST_EMPTY" }));
  });

  it("is refused without an argument, with a wrong one, and with no workgroups", () => {
    const test = saxpyTest();
    const { x: _, ...others } = test.args;
    expect(() => source("js", { ...test, args: others })).toThrow('needs a buffer for "x"');
    expect(() => source("js", { ...test, args: { ...test.args, x: 1 } })).toThrow('needs a buffer for "x"');
    expect(() => source("js", { ...test, workgroups: [0, 1, 1] })).toThrow(
      expect.objectContaining({ code: "SELFTEST_INVALID" }),
    );
  });

  it("is refused where it would carry too many numbers", () => {
    const values = new Float32Array(2 ** 20 + 1);
    const test = saxpyTest();
    const args = {
      ...test.args,
      x: { length: values.length, contents: { kind: "values", values } },
    } as const;
    expect(() => source("cuda", { ...test, args })).toThrow(
      expect.objectContaining({ code: "SELFTEST_TOO_LARGE" }),
    );
  });

  it("says how it is built", () => {
    expect(source("cuda")).toContain("nvcc -O3 -o saxpy saxpy.cu && ./saxpy");
    expect(source("hip")).toContain("hipcc -O3 -o saxpy saxpy.hip && ./saxpy");
    expect(source("js")).toContain("node saxpy.mjs");
    expect(source("wgsl")).toContain('<script type="module" src="saxpy.mjs">');
  });
});

describe("in JavaScript", () => {
  it("passes", () => {
    const { status, output } = runJs(source("js"));
    expect(output).toMatch(/y: 1000 elements as expected[^]*PASS saxpy/);
    expect(status).toBe(0);
  });

  it("fails by one unit in the last place", () => {
    const { status, output } = runJs(source("js", saxpyTest(wrongAt(500))));
    expect(output).toMatch(/y\[500\] is .*, not .*; 1 of 1000 are wrong[^]*FAIL saxpy/);
    expect(status).toBe(1);
  });
});

const withSwiftShader = requireOptional("SwiftShader", hasSwiftShader, "npm install @sparticuz/chromium");
withSwiftShader("in WGSL, by the WebGPU API alone", () => {
  const run = (text: string): ReturnType<typeof runJs> => runJs(text, swiftShaderEnvironment());

  it("passes", () => {
    const { status, output } = run(source("wgsl"));
    expect(output).toMatch(/y: 1000 elements as expected[^]*PASS saxpy/);
    expect(status).toBe(0);
  });

  it("fails by one unit in the last place", () => {
    const { status, output } = run(source("wgsl", saxpyTest(wrongAt(500))));
    expect(output).toMatch(/y\[500\] is .*, not .*; 1 of 1000 are wrong[^]*FAIL saxpy/);
    expect(status).toBe(1);
  });

  it("says where the device's subgroups are others than the kernel's", () => {
    const lowest = kernel(
      "lowest",
      { params: { x: buffer(u32), y: buffer(u32, "write") }, workgroup: [32] },
      ({ x, y: out }, gpu) => out.set(gpu.localIndex, gpu.subgroup.min(x.get(gpu.localIndex))),
    );
    const values = Uint32Array.from({ length: 32 }, (_, i) => 100 - i);
    const text = (subgroup: number): string =>
      emitSelftest(lowest.build({ subgroup }), "wgsl", {
        title: "the lowest of each subgroup",
        workgroups: [1, 1, 1],
        args: {
          x: { length: 32, contents: { kind: "values", values } },
          y: {
            length: 32,
            contents: { kind: "unset" },
            expected: { values: values.map((_, i) => 100 - (i | (subgroup - 1))), tolerance: null },
          },
        },
      }).source;
    expect(run(text(4)).output).toContain("PASS lowest");
    expect(run(text(32))).toMatchObject({
      status: 1,
      output: expect.stringContaining("subgroups have 4 to 4 invocations, and the kernel is built for 32"),
    });
  });
});

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
withCompiler("in HIP, on the processor", () => {
  const run = (text: string, subgroup: 32 | 64): HipRun => runHip(text, subgroup)[0] as HipRun;

  it("passes", () => {
    expect(run(source("hip"), 32)).toMatchObject({
      status: 0,
      output: expect.stringContaining("PASS saxpy"),
    });
  });

  it("fails by one unit in the last place", () => {
    const { status, output } = run(source("hip", saxpyTest(wrongAt(500))), 32);
    expect(output).toMatch(/y\[500\] is .*, not[^]*1 of 1000 elements are wrong[^]*FAIL saxpy/);
    expect(status).toBe(1);
  });

  it("fails where the kernel writes behind the end, or what it only reads", () => {
    const beyond = source("hip").replaceAll(/< n\b/g, "< n + 1u");
    expect(run(beyond, 32)).toMatchObject({
      status: 1,
      output: expect.stringContaining("y: the kernel wrote where it must not"),
    });
  });

  it("cannot run on wavefronts of another width, and says so", () => {
    const text = source("hip").replaceAll(/#error .*/g, "");
    const { status, output } = run(text, 64);
    expect(output).toContain("emit it with --subgroup 64");
    expect(status).toBe(2);
  });
});

const withNvcc = requireOptional("nvcc", nvcc !== null, "install the CUDA toolkit");
withNvcc("in CUDA", () => {
  it("compiles, with shared memory beyond the static limit too", () => {
    const values = new Float32Array(64).fill(1);
    const test: Selftest = {
      title: "large",
      workgroups: [1, 65_536, 1],
      args: {
        x: { length: 64, contents: { kind: "normal", seed: 1 } },
        out: {
          length: 64,
          contents: { kind: "unset" },
          expected: { values, tolerance: { relative: 1, absolute: 0 } },
        },
      },
    };
    const text = emitSelftest(large.build({ subgroup: 32 }), "cuda", test).source;
    expect(text).toContain("cudaFuncAttributeMaxDynamicSharedMemorySize, 52016");
    expect(text).toContain("<<<dim3(65536)");
    const sources = [{ name: "all", source: text.replace(/^int main.*$/m, "") }];
    expect(compileCuda(sources, ["sm_80", "sm_90a"]).log).toBe("");
  });
});

const withClang = requireOptional("clang-19", clang !== null, "apt-get install clang-19 lld-19");
withClang("in HIP, by clang", () => {
  it("compiles for the GPU", () => {
    const { log, ok } = compileHipHost(source("hip"), 32);
    expect(log).toBe("");
    expect(ok).toBe(true);
  });
});
