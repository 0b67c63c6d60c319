/** Every task at its first choices, its named ones and some others, on ragged sizes, against its reference. */

import { Random } from "@evolver/base";
import { baselineOf, openDevice, openSim, type Device, type Tunable } from "@evolver/device";
import { leastSizes, raggedSizes } from "@evolver/kernel";
import { tasks } from "@evolver/tasks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { hasSwiftShader, useSwiftShader } from "../../../test/support/swiftshader.ts";
import { tunableOfTask, verify, type Setting } from "./support/verify.ts";

const DEVICES: readonly (readonly [name: string, open: () => Promise<Device>])[] = [
  ...inFull([4, 8, 32, 64, 128], [8, 32]).map(
    (subgroup) => [`sim ${subgroup}`, async () => openSim({ subgroup })] as const,
  ),
  ["cpu", () => openDevice("cpu")],
  ...inFull(hasSwiftShader ? [["webgpu", openWebgpu] as const] : [], []),
];

function openWebgpu(): Promise<Device> {
  useSwiftShader();
  return openDevice("webgpu");
}

/** Sizes at which whole turns of the best points run, and rests of them; beside those that every task is tried at. */
const LARGER: Readonly<Record<string, readonly Setting["sizes"][]>> = {
  "bias-gelu": [{ rows: 19, columns: 1028 }],
  swiglu: [{ rows: 5, columns: 4100 }],
  adam: [{ n: 4100 }],
  sum: [{ n: 20_004 }],
  "column-mean": [{ rows: 300, columns: 132 }],
  "argmax-rows": [{ rows: 3, columns: 5000 }],
  "layer-norm": [
    { rows: 2, columns: 4096 },
    { rows: 9, columns: 100 },
  ],
  "rms-norm": [{ rows: 2, columns: 4092 }],
  "log-softmax": [{ rows: 2, columns: 4092 }],
  "cross-entropy": [{ rows: 2, columns: 9000 }],
  "huber-loss": [{ n: 20_004 }],
  matmul: [{ m: 70, n: 136, k: 44 }],
  "batched-matmul": [{ batch: 3, m: 20, n: 36, k: 12 }],
  "prefix-sum": [{ n: 9004 }],
  "cumsum-rows": [{ rows: 2, columns: 2100 }],
  "sort-rows": [{ rows: 3, columns: 1024 }],
  conv2d: [{ batch: 2, inputs: 20, outputs: 12, height: 6, width: 8 }],
  matvec: [{ rows: 2, columns: 8192 }],
  "conv1d-depthwise": [{ batch: 2, channels: 3, length: 2100 }],
  "depthwise-conv2d": [{ batch: 2, channels: 2, height: 15, width: 12 }],
  "max-pool": [{ planes: 3, height: 10, width: 24 }],
  "laplace-2d": [{ height: 19, width: 132 }],
  "heat-3d": [{ x: 10, y: 9, z: 132 }],
  embedding: [{ rows: 3, columns: 1500, vocabulary: 7 }],
};

/** The first choices, named ones, and some drawn ones. */
function pointsOf(tunable: Tunable, count: number): Setting["choices"][] {
  const random = new Random(count);
  const drawn = Array.from({ length: count }, () =>
    Object.fromEntries(Object.entries(tunable.tune).map(([name, values]) => [name, random.pick(values)])),
  );
  const named = Object.values(tunable.variants);
  return [baselineOf(tunable), ...named.slice(0, inFull(named.length, 1)), ...drawn];
}

describe.each(DEVICES)("on %s", (_, open) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  it.each(tasks.map((task) => [task.id, task] as const))("%s is right", async (id, task) => {
    const tunable = await tunableOfTask(task);
    const { sizes: rules } = tunable;
    let tried = 0;
    for (const sizes of [raggedSizes(rules), leastSizes(rules), ...(LARGER[id] ?? [])])
      for (const choices of pointsOf(tunable, inFull(24, 3))) {
        const wrong = await verify({ device, tunable, sizes, choices });
        if (wrong === null) continue;
        tried++;
        expect(wrong, JSON.stringify({ sizes, choices })).toEqual([]);
      }
    expect(tried).toBeGreaterThan(3);
  });
});
