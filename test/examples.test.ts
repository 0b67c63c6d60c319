/** The kernels of examples/classics.ts against plain TypeScript, with sizes that no workgroup divides. */

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDevice, type Device } from "@evolver/device";
import { lintFiles } from "@evolver/kernel/lint";
import { byteHistogram, convolution, matmul, scan, stencil } from "../examples/classics.ts";

const floats = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => ((i * 37) % 17) - 8);
const words = (length: number): Uint32Array =>
  Uint32Array.from({ length }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
const at = (list: ArrayLike<number>, i: number): number => list[i] ?? 0;

describe.each(["sim", "cpu"] as const)("on %s", (id) => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice(id);
  });
  afterAll(() => device.close());

  test("matmul", async () => {
    const [m, n, k] = [35, 30, 19];
    const [a, b] = [floats(m * k), floats(k * n)];
    const c = device.createBuffer("f32", m * n);
    const args = { a: device.createBuffer("f32", a), b: device.createBuffer("f32", b), c, m, n, k };
    await (await device.compile(matmul)).run({ workgroups: [2, 3], args });
    const dot = (row: number, column: number): number =>
      Array.from({ length: k }, (_, i) => at(a, row * k + i) * at(b, i * n + column)).reduce(
        (s, p) => s + p,
        0,
      );
    expect(await c.read()).toEqual(
      Float32Array.from({ length: m * n }, (_, i) => dot(Math.floor(i / n), i % n)),
    );
  });

  test("byteHistogram", async () => {
    const data = words(1000);
    const bins = device.createBuffer("u32", new Uint32Array(256));
    const args = { data: device.createBuffer("u32", data), bins };
    await (await device.compile(byteHistogram)).run({ workgroups: 4, args });
    const expected = new Uint32Array(256);
    for (const byte of new Uint8Array(data.buffer)) expected[byte] = at(expected, byte) + 1;
    expect(await bins.read()).toEqual(expected);
  });

  test("scan", async () => {
    const x = words(700);
    const sums = device.createBuffer("u32", 700);
    await (
      await device.compile(scan)
    ).run({ workgroups: 3, args: { x: device.createBuffer("u32", x), sums } });
    const expected = x.slice();
    for (let i = 0; i < 700; i++) if (i % 256 > 0) expected[i] = at(expected, i) + at(expected, i - 1);
    expect(await sums.read()).toEqual(expected);
  });

  test("stencil", async () => {
    const [columns, rows] = [20, 13];
    const grid = floats(columns * rows);
    const next = device.createBuffer("f32", columns * rows);
    const args = { grid: device.createBuffer("f32", grid), next, columns, rows };
    await (await device.compile(stencil)).run({ workgroups: [3, 2], args });
    const cell = (row: number, column: number): number =>
      row >= 0 && row < rows && column >= 0 && column < columns ? at(grid, row * columns + column) : 0;
    expect(await next.read()).toEqual(
      Float32Array.from({ length: columns * rows }, (_, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        const around =
          cell(row - 1, column) + cell(row + 1, column) + cell(row, column - 1) + cell(row, column + 1);
        return around / 4;
      }),
    );
  });

  test("convolution", async () => {
    const [x, weights] = [floats(200), floats(7)];
    const y = device.createBuffer("f32", 200);
    const args = { x: device.createBuffer("f32", x), weights: device.createBuffer("f32", weights), y };
    await (await device.compile(convolution)).run({ workgroups: 4, args });
    const sum = (i: number): number =>
      weights.reduce((total, weight, j) => total + weight * at(x, i + j - 3), 0);
    expect(await y.read()).toEqual(Float32Array.from({ length: 200 }, (_, i) => sum(i)));
  });
});

test("no example uses a run-time value as a JavaScript value", () => {
  const folder = join(import.meta.dirname, "..", "examples");
  expect(lintFiles(["classics.ts", "kernels.ts", "attention.ts"].map((name) => join(folder, name)))).toEqual(
    [],
  );
});
