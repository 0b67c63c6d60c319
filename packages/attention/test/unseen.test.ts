/**
 * What a row may not see does not reach it, whatever it is: NaN and infinities in keys and values of other rows, of the same tile
 * too, leave every bit of the row as it was. What a row sees reaches it as the reference says.
 */

import { openDevice, type Device } from "@evolver/device";
import {
  createProblem,
  ladder,
  randomInputs,
  referenceAttention,
  rungById,
  visibleKeys,
} from "@evolver/attention";
import type { AttentionProblem, FlashPoint, FloatInputs } from "@evolver/attention";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { requireOptional } from "../../../test/support/optional.ts";
import { hasSwiftShader, useSwiftShader } from "../../../test/support/swiftshader.ts";
import { squareShape } from "./support/problems.ts";
import { runPoint, type PointRun } from "./support/run.ts";

const grouped = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 5, seqK: 37, dim: 8 };

/** Each with keys that some rows see and others do not. */
const problems: Readonly<Record<string, AttentionProblem>> = {
  "a tile, causal": createProblem(squareShape(1, 7, 7, 8), { causal: true }),
  "three tiles and a part, causal": createProblem(squareShape(2, 70, 70, 12), { causal: true }),
  "more queries than keys, causal": createProblem(squareShape(1, 40, 9, 8), { causal: true }),
  "grouped heads, causal": createProblem(grouped, { causal: true }),
  "a window on both sides": createProblem(squareShape(1, 41, 41, 8), { window: [2, 1] }),
  "a window ahead, with a softcap": createProblem(grouped, { window: [0, 3], softcap: 5 }),
};

interface Poison {
  readonly tensor: "k" | "v";
  readonly value: number;
  readonly key: number;
}

function poisonsOf({ shape: { seqK } }: AttentionProblem): Poison[] {
  const last = seqK - 1;
  return [
    { tensor: "v", value: NaN, key: last },
    { tensor: "v", value: Infinity, key: seqK >> 1 },
    { tensor: "v", value: -Infinity, key: 1 },
    { tensor: "k", value: NaN, key: seqK >> 1 },
    { tensor: "k", value: Infinity, key: last },
  ];
}

/** The key's row of the tensor, in all batches and heads, replaced. */
function poisoned({ shape }: AttentionProblem, inputs: FloatInputs, { tensor, value, key }: Poison) {
  const data = inputs[tensor].slice();
  const { batch, headsKv, seqK, dim } = shape;
  for (let head = 0; head < batch * headsKv; head++)
    data.fill(value, (head * seqK + key) * dim, (head * seqK + key + 1) * dim);
  return { ...inputs, [tensor]: data };
}

/** Rows that do not see the key and changed, and those that do and are not what the reference says, as far as that is a sign or NaN. */
function wrongRows(
  problem: AttentionProblem,
  inputs: FloatInputs,
  poison: Poison,
  runs: readonly PointRun[],
) {
  const [clean, dirty] = runs as [PointRun, PointRun];
  const { dim, seqQ } = problem.shape;
  const reference = referenceAttention(problem, inputs);
  const wrong: string[] = [];
  for (let row = 0; row < dirty.lse.length; row++) {
    const { begin, end } = visibleKeys(problem.mask, problem.shape, row % seqQ);
    const sees = begin <= poison.key && poison.key < end;
    const of = (data: ArrayLike<number>) => Array.from({ length: dim }, (_, d) => data[row * dim + d]!);
    const expected = sees ? [...of(reference.o), reference.lse[row]!] : [...of(clean.o), clean.lse[row]!];
    const given = [...of(dirty.o), dirty.lse[row]!];
    const isRight = sees
      ? given.every((x, i) => Number.isFinite(expected[i]) || Object.is(x, expected[i]))
      : given.every((x, i) => Object.is(x, expected[i]));
    if (!isRight) wrong.push(`row ${row} ${sees ? "sees" : "does not see"} it: ${given.join(" ")}`);
  }
  return wrong;
}

async function check(device: Device, point: FlashPoint, some: (index: number) => boolean): Promise<void> {
  const odd: string[] = [];
  let index = 0;
  for (const [name, problem] of Object.entries(problems)) {
    const inputs = randomInputs(problem, { seed: 5 });
    let clean: PointRun | null = null;
    for (const poison of poisonsOf(problem)) {
      if (!some(index++)) continue;
      clean ??= await runPoint(device, point, problem, inputs);
      const given = poisoned(problem, inputs, poison);
      const wrong = wrongRows(problem, given, poison, [clean, await runPoint(device, point, problem, given)]);
      for (const text of wrong)
        odd.push(`${name}, ${poison.value} in ${poison.tensor} ${poison.key}, ${text}`);
    }
  }
  expect(odd).toEqual([]);
}

const points = ladder.flatMap(({ id, point, variants }) =>
  Object.entries({ itself: point, ...variants }).map(([variant, each]) => ({
    id: `${id} ${variant}`,
    point: each,
  })),
);
/** A point that the ladder has not: several rows per subgroup read values straight from global memory, four keys at a time. */
const global: FlashPoint = { ...rungById("k01").point, queryRows: 8, rowsPerSubgroup: 4, exchange: "shared" };
const all = [...points, { id: "several rows per subgroup, global", point: global }];

describe.each([
  { title: "sim", open: () => openDevice("sim", { subgroup: 32, counters: false }), step: inFull(1, 3) },
  {
    title: "sim, subgroups of 4",
    open: () => openDevice("sim", { subgroup: 4, counters: false }),
    step: inFull(2, 9),
  },
  { title: "cpu", open: () => openDevice("cpu"), step: 1 },
])("$title", ({ open, step }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  it.each(all.map((each, p) => ({ ...each, p })))("$id", ({ point, p }) =>
    check(device, point, (index) => (index + p) % step === 0),
  );
});

requireOptional(
  "SwiftShader",
  hasSwiftShader,
  "npm ci with dev dependencies, on Linux on x64",
)("webgpu", () => {
  it.each(["k01", "k04", "k06", "k09", "k11", "k12"])("%s", async (id) => {
    useSwiftShader();
    const device = await openDevice("webgpu");
    try {
      await check(device, rungById(id).point, (index) => index % inFull(1, 7) === 0);
    } finally {
      await device.close();
    }
  });
});

it("a row whose keys all have a score of −∞ is NaN, as 0 / 0 is; one that sees no key is 0", async () => {
  const device = await openDevice("cpu");
  const problem = createProblem(squareShape(1, 3, 2, 4), { causal: true });
  const inputs = {
    q: new Float32Array(12).fill(1),
    k: new Float32Array(8).fill(-Infinity),
    v: new Float32Array(8),
  };
  for (const { point } of ladder) {
    const { o, lse } = await runPoint(device, point, problem, inputs);
    expect([...o]).toEqual([0, 0, 0, 0, ...Array.from({ length: 8 }, () => NaN)]);
    expect([...lse]).toEqual([-Infinity, NaN, NaN]);
  }
  await device.close();
});
