import { attentionPlan, fitPoint, rungById } from "@evolver/attention";
import { h200Datasheet } from "@evolver/machine";
import { bindPlan, buildOf, openSim, type SimDevice } from "@evolver/device";
import { afterAll, beforeAll, expect, it } from "vitest";
import { countAttention } from "@evolver/attention/study/internal";
import { TimePredictor } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";
import { study } from "@evolver/attention/study";
import { randomInputs } from "@evolver/attention";

let sim: SimDevice;
let predictor: TimePredictor;
beforeAll(() => {
  sim = openSim({ subgroup: h200Datasheet.subgroupSize, checks: false });
  predictor = new TimePredictor(sim);
});
afterAll(() => sim.close());

const pointOf = (rung: string, shape: string) =>
  fitPoint(rungById(rung).point, parseShape(shape), sim.subgroupSize);

it.each([
  ["B1,H8,S128,D32", "k04"],
  ["B1,H8,S128,D32,causal", "k02"],
  ["B1,Hq4,Hkv2,S128,D32", "k08"],
])("predicts on %s what counting a launch of %s gives", async (shape, rung) => {
  const problem = parseShape(shape);
  const point = pointOf(rung, shape);
  const inputs = { ...randomInputs(problem, { seed: 1 }) };
  const bound = await bindPlan(sim, attentionPlan(point, problem, buildOf(sim)), { inputs });
  try {
    const { modelled, tiles } = await countAttention(bound, {
      problem,
      machine: h200Datasheet,
      seed: 1,
      inputs: () => inputs,
    });
    const predicted = await predictor.predict(point, problem);
    expect(predicted.tiles).toBe(tiles);
    expect(predicted.model(h200Datasheet).timeMs / modelled.timeMs).toBeCloseTo(1, 1);
  } finally {
    bound.destroy();
  }
});

it("orders rungs at a size that is never run here as an H200 was measured to", async () => {
  const shape = "B4,H16,S4096,D64";
  const times: number[] = [];
  for (const rung of ["k11", "k04", "k01", "k02"])
    times.push(
      (await predictor.predict(pointOf(rung, shape), parseShape(shape))).model(h200Datasheet).timeMs,
    );
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  // 30.2 ms of k04 and 132 of k02, measured.
  expect(times[1]).toBeGreaterThan(30.2 / 1.3);
  expect(times[1]).toBeLessThan(30.2 * 1.3);
  expect((times[3] as number) / (times[1] as number)).toBeGreaterThan(3);
});

it("takes counters that are known already, and another profile, without counting again", async () => {
  const shape = "B1,H8,S128,D32";
  const { counters } = await predictor.predict(pointOf("k04", shape), parseShape(shape));
  const doubled = { ...counters, sharedPasses: counters.sharedPasses * 100 };
  const known = await predictor.predict(pointOf("k04", shape), parseShape(shape), doubled);
  expect(known.counters).toBe(doubled);
  const fast = known.model(h200Datasheet).timeMs;
  const slow = known.model({ ...h200Datasheet, clockGHz: { value: 0.99, source: "assumed" } }).timeMs;
  expect(slow).toBeGreaterThan(1.5 * fast);
});

it("a study predicts only for a GPU: not where times are modelled, nor for a processor", async () => {
  const input = await study.parseInput({ shape: "H1,S64,D32" });
  for (const id of ["sim", "cpu"]) expect((await study.open(input, { id })).predict).toBeUndefined();
});
