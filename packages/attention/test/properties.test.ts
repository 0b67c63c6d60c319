/** Random problems on the rungs against the reference, and relations that must hold between problems. */

import { openDevice } from "@evolver/device";
import type { Device } from "@evolver/device";
import {
  attentionTruth,
  createProblem,
  extentsOf,
  ladder,
  randomInputs,
  spanOf,
  toDense,
  toStrided,
} from "@evolver/attention";
import type { AttentionProblem, FloatInputs } from "@evolver/attention";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anyProblem } from "./support/random.ts";
import { checkPointOn, runPoint } from "./support/run.ts";

describe("any problem", () => {
  let cpu: Device;
  beforeAll(async () => {
    cpu = await openDevice("cpu");
  });
  afterAll(() => cpu.close());

  it("is right on any rung", async () => {
    await fc.assert(
      fc.asyncProperty(anyProblem, fc.constantFrom(...ladder), fc.nat(), async (asked, { point }, seed) => {
        const { verdict } = await checkPointOn(cpu, point, asked, randomInputs(asked, { seed, padding: 5 }));
        expect(verdict).toBe("right");
      }),
      { numRuns: 40 },
    );
  });
});

describe.each(ladder)("$id", ({ point }) => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice("cpu");
  });
  afterAll(() => device.close());

  const shape = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 11, seqK: 45, dim: 24 };

  /** Both results are right, so each is within a bound of the truth. */
  async function expectSame(
    a: readonly [AttentionProblem, FloatInputs],
    b: readonly [AttentionProblem, FloatInputs],
  ) {
    const extents = extentsOf(a[0].shape).o;
    const { bound, lseBound } = attentionTruth(...a);
    const [first, second] = [await runPoint(device, point, ...a), await runPoint(device, point, ...b)];
    const dense = [
      toDense(first.o, extents, a[0].strides.o),
      toDense(second.o, extents, b[0].strides.o),
    ] as const;
    expect(dense[0]).toHaveLength(dense[1].length);
    expect(farthest(...dense)).toBeLessThanOrEqual(2 * bound);
    expect(farthest(first.lse, second.lse)).toBeLessThanOrEqual(2 * lseBound);
  }

  it("shared key heads are as good as repeated ones", async () => {
    const grouped = createProblem(shape, { causal: true });
    const repeated = createProblem({ ...shape, headsKv: 4 }, { causal: true });
    const inputs = randomInputs(grouped, { seed: 1 });
    const repeat = (data: Float32Array) => toDense(data, [4, 2, 45, 24], [45 * 24, 0, 24, 1]);
    await expectSame(
      [grouped, inputs],
      [repeated, { q: inputs.q, k: repeat(inputs.k), v: repeat(inputs.v) }],
    );
  });

  it("strided tensors are as good as dense ones", async () => {
    const dense = createProblem(shape, { softcap: 5 });
    const strides = {
      q: [24, 48, 960, 1],
      k: [1, 2, 4, 200],
      v: [4000, 2000, 31, 1],
      o: [1, 2, 8, 100],
    } as const;
    const strided = createProblem(shape, { softcap: 5, strides });
    const inputs = randomInputs(dense, { seed: 2 });
    const extents = extentsOf(shape);
    const spread = {
      q: toStrided(inputs.q, extents.q, strides.q),
      k: toStrided(inputs.k, extents.k, strides.k),
      v: toStrided(inputs.v, extents.v, strides.v),
    };
    expect(spread.q).toHaveLength(spanOf(extents.q, strides.q));
    await expectSame([dense, inputs], [strided, spread]);
  });

  it("causal is a window without a left side", async () => {
    const inputs = randomInputs(createProblem(shape), { seed: 3 });
    const causal = createProblem(shape, { causal: true });
    await expectSame([causal, inputs], [createProblem(shape, { window: [Infinity, 0] }), inputs]);
  });

  it("a wide window is no mask", async () => {
    const inputs = randomInputs(createProblem(shape), { seed: 4 });
    await expectSame(
      [createProblem(shape), inputs],
      [createProblem(shape, { window: [1000, 1000] }), inputs],
    );
  });

  it("scaled queries are as good as a scale", async () => {
    const half = createProblem(shape, { scale: 0.5 });
    const inputs = randomInputs(half, { seed: 5 });
    const scaled = { ...inputs, q: inputs.q.map((value) => value / 2) };
    await expectSame([half, inputs], [createProblem(shape, { scale: 1 }), scaled]);
  });

  it("is the same, bit for bit, on the simulator", async () => {
    const problemOf = createProblem(shape, { causal: true, softcap: 5 });
    const inputs = randomInputs(problemOf, { seed: 6 });
    const sim = await openDevice("sim", { subgroup: device.subgroupSize });
    const [a, b] = [
      await runPoint(device, point, problemOf, inputs),
      await runPoint(sim, point, problemOf, inputs),
    ];
    expect(a.o).toEqual(b.o);
    expect(a.lse).toEqual(b.lse);
    await sim.close();
  });
});

/** The largest distance of two arrays' elements; equal infinities are at distance 0, NaN is infinitely far. */
function farthest(a: Float32Array, b: Float32Array): number {
  let most = 0;
  for (const [i, value] of a.entries()) {
    if (value === b[i]) continue;
    const distance = Math.abs(value - b[i]!);
    most = Math.max(most, Number.isNaN(distance) ? Infinity : distance);
  }
  return most;
}
