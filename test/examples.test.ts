/** Each program of examples/ on three devices: what it computes, against plain TypeScript, and what it prints. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { openDevice, type Device } from "@evolver/device";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as attention from "../examples/attention.ts";
import * as check from "../examples/check.ts";
import * as convolution from "../examples/convolution.ts";
import * as emit from "../examples/emit.ts";
import * as half from "../examples/half.ts";
import * as histogram from "../examples/histogram.ts";
import * as life from "../examples/life.ts";
import * as mandelbrot from "../examples/mandelbrot.ts";
import * as matmul from "../examples/matmul.ts";
import * as monteCarlo from "../examples/monte-carlo.ts";
import * as pipeline from "../examples/pipeline.ts";
import * as reduction from "../examples/reduction.ts";
import * as saxpy from "../examples/saxpy.ts";
import * as scan from "../examples/scan.ts";
import * as softmax from "../examples/softmax.ts";
import * as stencil from "../examples/stencil.ts";
import * as transpose from "../examples/transpose.ts";
import { hasSwiftShader, useSwiftShader } from "./support/swiftshader.ts";

const at = (list: ArrayLike<number>, i: number): number => list[i] ?? 0;
const sum = (list: Iterable<number>): number => [...list].reduce((a, b) => a + b, 0);

let printed: string[];
beforeEach(() => {
  printed = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => printed.push(...line.split("\n")));
});

describe.each(hasSwiftShader ? ["sim", "cpu", "webgpu"] : ["sim", "cpu"])("on %s", (id) => {
  const counts = id === "sim";
  let device: Device;
  beforeAll(async () => {
    if (id === "webgpu") useSwiftShader();
    device = await openDevice(id as Device["id"]);
  });
  afterAll(() => device.close());

  test("saxpy", async () => {
    expect(await saxpy.main(device)).toEqual(Float32Array.from({ length: 1000 }, (_, i) => 2 * i + 1));
    expect(printed).toEqual([
      "y = 1, 3, 5, 7, 9, 11, …, 1999",
      ...(counts ? ["8000 bytes read, 4000 written"] : []),
    ]);
  });

  test("matmul", async () => {
    const { m, n, k } = { m: 35, n: 30, k: 19 };
    const number = (i: number): number => ((i * 37) % 17) - 8;
    const expected = Float32Array.from({ length: m * n }, (_, i) => {
      const [row, column] = [Math.floor(i / n), i % n];
      return sum(Array.from({ length: k }, (__, j) => number(row * k + j) * number(j * n + column)));
    });
    expect(await matmul.main(device)).toEqual({ plain: expected, tiled: expected });
    const bytes = printed.map((line) => Number(/(\d+) bytes/.exec(line)?.[1] ?? NaN));
    // Each element of c takes a row and a column; tiles of 16 take each element of a twice and of b three times.
    expect(bytes).toEqual(
      counts ? [4 * m * n * 2 * k, 4 * (Math.ceil(n / 16) * m * k + Math.ceil(m / 16) * k * n)] : [NaN, NaN],
    );
  });

  test("scan", async () => {
    const expected = Uint32Array.from({ length: 1000 }, (_, i) => ((i + 1) * (i + 2)) / 2);
    expect(await scan.main(device)).toEqual(expected);
    expect(printed[1]).toBe("1 + … + 1000 = 500500, in 2 launches");
  });

  test("histogram", async () => {
    const text = "to be, or not to be: that is the question. ".repeat(60);
    const expected = new Uint32Array(256);
    for (const character of text) expected[character.charCodeAt(0)]!++;
    expect(await histogram.main(device, text)).toEqual(expected);
    expect(printed.slice(0, 5).map((line) => line[0])).toEqual([..."toebh"]);
  });

  test("softmax", async () => {
    const result = await softmax.main(device);
    for (let row = 0; row < 5; row++) {
      const values = Array.from({ length: 50 }, (_, i) => Math.fround(50 * row + Math.sin(50 * row + i)));
      const total = sum(values.map((value) => Math.exp(value - 50 * row)));
      for (const [column, value] of values.entries())
        expect(at(result, row * 50 + column)).toBeCloseTo(Math.exp(value - 50 * row) / total, 6);
    }
    expect(printed.slice(0, 5).every((line) => line.endsWith("sum 1.0000"))).toBe(true);
  });

  test("transpose", async () => {
    const results = await transpose.main(device);
    const expected = Float32Array.from({ length: 3500 }, (_, i) => (i % 70) * 50 + Math.floor(i / 70));
    for (const { output } of Object.values(results)) expect(output).toEqual(expected);
    const conflicts = Object.values(results).map((each) => each.conflicts);
    if (!counts) return expect(conflicts).toEqual([null, null, null]);
    // 32 lanes read a column of the plain tile in as many passes as lanes are inside.
    const [plain, padding, swizzle] = conflicts;
    expect(plain).toBeGreaterThan(50 * 60);
    expect([padding, swizzle]).toEqual([0, 0]);
  });

  test("reduction", async () => {
    expect(await reduction.main(device)).toBe((5000 * 5001) / 2);
    if (counts) expect(printed[1]).toBe("12 atomic additions for 5000 elements");
  });

  test("pipeline", async () => {
    const { sums, found } = await pipeline.main(device);
    const width = device.subgroupSize;
    expect(sums).toEqual(Float32Array.from({ length: width }, (_, lane) => 45 * width + 10 * lane));
    expect(found).toContain("copy-in-flight");
    expect(printed[2]).toMatch(/^copy-in-flight: .*wait for the copy first/);
  });

  test("half", async () => {
    const { exact, single, half: rough } = await half.main(device);
    for (let row = 0; row < 40; row++) {
      // Halves are within 2⁻¹¹ of their numbers.
      const numbers = Array.from({ length: 2048 }, (_, i) => 1 + Math.sin(row * 2048 + i));
      expect(Math.abs(at(exact, row) / sum(numbers) - 1)).toBeLessThan(2 ** -11);
      expect(Math.abs(at(single, row) / at(exact, row) - 1)).toBeLessThan(1e-5);
      expect(Math.abs(at(rough, row) / at(exact, row) - 1)).toBeLessThan(0.05);
    }
    expect(printed[0]).toBe("163840 bytes instead of 327680");
  });

  test("stencil", async () => {
    const [columns, rows] = [40, 15];
    let grid = new Float32Array(columns * rows);
    grid[7 * columns + 12] = 100;
    const cell = (row: number, column: number): number =>
      row >= 0 && row < rows && column >= 0 && column < columns ? at(grid, row * columns + column) : 0;
    for (let step = 0; step < 6; step++)
      grid = grid.map((_, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        const neighbours = [
          cell(row - 1, column),
          cell(row + 1, column),
          cell(row, column - 1),
          cell(row, column + 1),
        ];
        return sum(neighbours) / 4;
      });
    // So few steps are exact: 100 over powers of four.
    expect(await stencil.main(device, 6)).toEqual(grid);
    expect(printed).toHaveLength(rows);
    const middle = printed[7] ?? "";
    expect([middle.indexOf("█"), middle.lastIndexOf("█")]).toEqual([10, 14]);
  });

  test("convolution", async () => {
    const weights = [1, 6, 15, 20, 15, 6, 1];
    const signal = (i: number): number => (i >= 100 && i < 200 ? 64 : 0);
    const expected = Float32Array.from({ length: 200 }, (_, i) =>
      sum(weights.map((weight, j) => (weight / 64) * signal(i + j - 3))),
    );
    expect(await convolution.main(device)).toEqual(expected);
    expect(printed[0]).toBe("around the jump: 0 0 1 7 22 42 57 63 64 64");
  });

  test("life", async () => {
    const grids = await life.main(device);
    // A glider moves by one cell in each direction in four generations.
    const glider = ["1 0", "2 1", "0 2", "1 2", "2 2"].map((cell) => cell.split(" ").map(Number));
    for (const [k, grid] of grids.entries()) {
      const expected = new Uint32Array(20 * 8);
      for (const [x = 0, y = 0] of glider) expected[((y + 3 * k) % 8) * 20 + ((x + 3 * k) % 20)] = 1;
      expect(grid).toEqual(expected);
    }
    expect(printed.slice(0, 4)).toEqual([
      "generation 0",
      ...[".#.", "..#", "###"].map((line) => line.padEnd(20, ".")),
    ]);
  });

  test("mandelbrot", async () => {
    const folder = mkdtempSync(join(tmpdir(), "evolver-examples-"));
    const file = join(folder, "set.png");
    const counted = await mandelbrot.main(device, file);
    const picture = readFileSync(file);
    rmSync(folder, { recursive: true });
    let different = 0;
    for (const [i, count] of counted.entries())
      if (count !== escape((i % 180) / 60 - 2, Math.floor(i / 180) / 60 - 1)) different++;
    // Single precision changes some counts at the edge of the set.
    expect(different).toBeLessThan(counted.length / 50);
    expect(at(counted, 60 * 180 + 120)).toBe(60);
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([180, 120]);
    const rows = inflateSync(picture.subarray(41, 41 + picture.readUInt32BE(33)));
    expect(rows[60 * 181 + 1 + 120]).toBe(0);
    expect(rows[1]).toBe(255 - 4 * at(counted, 0));
  });

  test("monte-carlo", async () => {
    const hits = await monteCarlo.main(device);
    let expected = 0;
    for (let invocation = 0; invocation < 1024; invocation++) {
      let state = pcg(invocation + 1);
      for (let k = 0; k < 64; k++) {
        const first = pcg(state);
        state = pcg(first);
        if ((first >>> 16) ** 2 + (state >>> 16) ** 2 < 2 ** 32) expected++;
      }
    }
    expect(hits).toBe(expected);
    expect(Math.abs((4 * hits) / 65536 - Math.PI)).toBeLessThan(0.02);
  });
});

test("attention", async () => {
  const o = await attention.main();
  const { q, k, v } = attention.tensors;
  const dot = (a: Float32Array, i: number, b: Float32Array, j: number): number =>
    sum(Array.from({ length: 32 }, (_, d) => at(a, 32 * i + d) * at(b, 32 * j + d)));
  for (const [head, row] of [
    [0, 63],
    [3, 17],
    [4, 0],
    [7, 40],
  ] as const) {
    const keys = Array.from({ length: row + 1 }, (_, i) => 64 * Math.floor(head / 4) + i);
    const weights = keys.map((key) => Math.exp(dot(q.data, 64 * head + row, k.data, key) / Math.sqrt(32)));
    for (let d = 0; d < 32; d++) {
      const expected = sum(keys.map((key, i) => at(weights, i) * at(v.data, 32 * key + d))) / sum(weights);
      expect(at(o, 32 * (64 * head + row) + d)).toBeCloseTo(expected, 5);
    }
  }
  expect(printed[2]).toMatch(/^right: at most/);
});

test("check", async () => {
  expect(await check.main()).toEqual({
    reverse: [],
    hasty: ["uninitialised-shared-memory", "data-race"],
  });
  expect(printed[0]).toBe("reverse: 0 findings in 3 launches");
});

test("emit", () => {
  const { cuda, wgsl } = emit.main();
  expect(cuda).toContain("__global__ void __launch_bounds__(128) clampAll(");
  expect(wgsl).toContain("@compute @workgroup_size(128, 1, 1)");
  expect(printed.join("\n")).toContain("fminf(fmaxf(x[i], low), high)");
});

/** Steps until z leaves the circle, in double precision. */
function escape(cx: number, cy: number): number {
  let [x, y, steps] = [0, 0, 0];
  while (steps < 60 && x * x + y * y <= 4) {
    [x, y] = [x * x - y * y + cx, 2 * x * y + cy];
    steps++;
  }
  return steps;
}

/** In whole numbers of any length, so that nothing depends on how the kernel wraps around. */
function pcg(seed: number): number {
  const wrap = (value: bigint): bigint => value & 0xffffffffn;
  const state = wrap(BigInt(seed) * 747796405n + 2891336453n);
  const word = wrap(((state >> ((state >> 28n) + 4n)) ^ state) * 277803737n);
  return Number((word >> 22n) ^ word);
}
