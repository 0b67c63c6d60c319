/** Plans on every device that this machine has: a chain of kernels, buffers of the caller's, time, and half precision. */

import { f16, f32 } from "@evolver/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requireOptional } from "../../../../test/support/optional.ts";
import { hasSwiftShader, useSwiftShader } from "../../../../test/support/swiftshader.ts";
import {
  bindPlan,
  buildOf,
  buildPlan,
  deviceRows,
  fromF16Bits,
  isClocked,
  openDevice,
  parsePlan,
  planHash,
  printPlan,
  toF16Bits,
  type Device,
  type DeviceId,
} from "@evolver/device";
import { COLUMNS, counting, increment, normalise, normalised, ROWS, rowsInput, sumRows } from "./kernels.ts";

/** GPUs with a driver of their own are held to the same by the conformance suite. */
const devices = [
  { id: "sim", here: true },
  { id: "cpu", here: true },
  { id: "webgpu", here: hasSwiftShader },
] as const satisfies readonly { readonly id: DeviceId; readonly here: boolean }[];

const close = (given: ArrayLike<number>, wanted: ArrayLike<number>): void => {
  expect(given.length).toBe(wanted.length);
  for (let i = 0; i < wanted.length; i++) expect(given[i]).toBeCloseTo(wanted[i] as number, 5);
};

for (const { id, here } of devices)
  requireOptional(
    id,
    here,
    "npm ci with dev dependencies, on Linux on x64",
  )(`on ${id}`, () => {
    let device: Device;
    beforeAll(async () => {
      if (id === "webgpu") useSwiftShader();
      device = await openDevice(id);
    });
    afterAll(() => device.close());

    test("a chain of three kernels runs in order, and again", async () => {
      const bound = await bindPlan(device, normalise(device, 2), { inputs: { x: rowsInput } });
      for (let run = 0; run < 2; run++) {
        const results = await bound.run();
        expect(results).toHaveLength(3);
        expect(results.every(({ counters }) => (counters !== null) === deviceRows[id].reports)).toBe(true);
        close(await bound.read("y"), normalised(2));
      }
      bound.destroy();
    });

    test("a plan that was written and read again does the same", async () => {
      const plan = normalise(device);
      const again = parsePlan(printPlan(plan));
      expect(planHash(again)).toBe(planHash(plan));
      const bound = await bindPlan(device, again, { inputs: { x: rowsInput } });
      await bound.run();
      close((await bound.read("y")) as Float32Array, normalised());
      bound.destroy();
    });

    test("buffers of the caller's pass from plan to plan, and outlive them", async () => {
      const middle = device.createBuffer("f32", ROWS * COLUMNS + 3);
      const first = await bindPlan(device, normalise(device), {
        inputs: { x: rowsInput },
        buffers: { y: middle },
      });
      const second = await bindPlan(
        device,
        buildPlan(buildOf(device))
          .input("rows", f32, ROWS * COLUMNS)
          .output("sums", f32, ROWS)
          .launch(sumRows, { workgroups: ROWS, args: { x: "rows", sums: "sums", columns: COLUMNS } })
          .done(),
        { buffers: { rows: middle }, fill: "nan" },
      );
      expect((await second.read("sums")).every(Number.isNaN)).toBe(true);
      if (first.enqueue !== null && second.enqueue !== null && isClocked(device)) {
        first.enqueue();
        second.enqueue();
        await device.synchronize();
      } else {
        await first.run();
        await second.run();
      }
      close(await second.read("sums"), new Float64Array(ROWS).fill(1));
      expect(await first.read("y")).toHaveLength(ROWS * COLUMNS);
      expect(first.buffers.y).toBe(middle);
      first.destroy();
      second.destroy();
      close((await middle.read()).subarray(0, ROWS * COLUMNS), normalised());
      await expect(first.read("x")).rejects.toMatchObject({ code: "BUFFER_DESTROYED" });
      middle.destroy();
    });

    test("enqueue is there where the device has a clock, and time gives milliseconds anywhere", async () => {
      const bound = await bindPlan(device, normalise(device), { inputs: { x: rowsInput } });
      expect(bound.enqueue !== null).toBe(deviceRows[id].clocked);
      expect(await bound.time(3)).toBeGreaterThanOrEqual(0);
      close(await bound.read("y"), normalised());
      bound.destroy();
    });

    test("one launch is changed, on the same buffers", async () => {
      const bound = await bindPlan(device, normalise(device), { inputs: { x: rowsInput } });
      await bound.run();
      await bound.runChanged({ launch: 2, args: { gain: 3 } });
      close(await bound.read("y"), normalised(3));
      await bound.runChanged({ launch: 2, workgroups: 1, args: { gain: 5 } });
      const y = await bound.read("y");
      close(y.subarray(0, COLUMNS), normalised(5).subarray(0, COLUMNS));
      close(y.subarray(COLUMNS), normalised(3).subarray(COLUMNS));
      bound.destroy();
    });

    test("scratch begins with zeros before each run, or before the first", async () => {
      const seen = async (zeroed: true | "once"): Promise<number[]> => {
        const bound = await bindPlan(device, counting(device, zeroed), { fill: "nan" });
        expect(bound.enqueue === null).toBe(zeroed === true || !isClocked(device));
        const values: number[] = [];
        for (let run = 0; run < 3; run++) {
          await bound.run();
          values.push((await bound.read("seen"))[0] as number);
        }
        bound.destroy();
        return values;
      };
      expect(await seen(true)).toEqual([0, 0, 0]);
      expect(await seen("once")).toEqual([0, 1, 2]);
    });

    test("buffers of f16 hold bits", async () => {
      const numbers = [0.5, -1, 1024, 65504, 2 ** -24];
      const plan = buildPlan(buildOf(device))
        .input("x", f16, numbers.length)
        .output("y", f16, numbers.length)
        .launch(increment, { workgroups: 1, args: { x: "x", y: "y", n: numbers.length } })
        .done();
      const bound = await bindPlan(device, plan, { inputs: { x: toF16Bits(numbers) }, fill: "nan" });
      expect(fromF16Bits(await bound.read("y")).every(Number.isNaN)).toBe(true);
      await bound.run();
      expect([...fromF16Bits(await bound.read("y"))]).toEqual([1.5, 0, 1025, 65504, 1]);
      bound.destroy();
    });
  });
