import { attentionPlan, fitPoint, randomInputs, rungById, type FlashPoint } from "@evolver/attention";
import { h200Datasheet } from "@evolver/machine";
import { bindPlan, buildOf, openSim, type Counters, type SimDevice } from "@evolver/device";
import { afterAll, beforeAll, expect, it } from "vitest";
import { canExtrapolate, Extrapolator } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";

let sim: SimDevice;
beforeAll(() => {
  sim = openSim({ subgroup: h200Datasheet.subgroupSize, checks: false });
});
afterAll(() => sim.close());

const COMPARED = [
  "globalReadBytes",
  "globalSectors",
  "sharedPasses",
  "flops",
  "specials",
  "issuedArithmetic",
  "issuedInteger",
  "issuedMemory",
  "issuedSubgroup",
  "barriers",
] as const satisfies readonly (keyof Counters)[];

async function countBoth(shape: string, point: FlashPoint) {
  const problem = parseShape(shape);
  const plan = attentionPlan(point, problem, buildOf(sim));
  const bound = await bindPlan(sim, plan, { inputs: { ...randomInputs(problem, { seed: 1 }) } });
  try {
    const tiles =
      (plan.launches[0]?.args["tileCount"] as number | undefined) ?? plan.launches[0]?.workgroups[0];
    const extrapolated = await new Extrapolator(sim).launchCounters(point, problem, tiles as number);
    const [full] = await bound.run();
    return { extrapolated, full: full?.counters as Counters };
  } finally {
    bound.destroy();
  }
}

const pointOf = (rung: string, shape: string): FlashPoint =>
  fitPoint(rungById(rung).point, parseShape(shape), sim.subgroupSize);

it.each([
  ["B1,H2,S128,D32", "k01", 0.001],
  ["B1,H2,S128,D32", "k04", 0.001],
  ["H1,S128,D16", "k06", 0.01],
  ["H1,Sq128,Sk256,D32", "k11", 0.001],
  ["H1,S128,D32,causal", "k04", 0.02],
  ["H1,S256,D16,causal", "k11", 0.05],
  ["Hq4,Hkv1,S128,D32", "k09", 0.01],
  ["Hq4,Hkv2,S128,D32,causal", "k10", 0.03],
])("one tile, counted twice, gives what the whole of %s does under %s", async (shape, rung, tolerance) => {
  const { extrapolated, full } = await countBoth(shape, pointOf(rung, shape));
  for (const name of COMPARED) {
    if (full[name] === 0) expect(extrapolated[name], name).toBe(0);
    else expect(Math.abs(extrapolated[name] / full[name] - 1), name).toBeLessThanOrEqual(tolerance);
  }
});

it("counts a point once for all lengths and numbers of heads", async () => {
  const shape = "H1,S256,D32";
  const extrapolator = new Extrapolator(sim);
  const point = pointOf("k04", shape);
  const [short, long] = await Promise.all(
    ["H1,S512,D32", "H4,S1024,D32"].map((text) => extrapolator.launchCounters(point, parseShape(text), 64)),
  );
  expect((long as Counters).flops / (short as Counters).flops).toBeGreaterThan(1.9);
  expect((long as Counters).flops / (short as Counters).flops).toBeLessThan(2);
});

it("a window is not extrapolated", async () => {
  const problem = parseShape("H1,S256,D32,window:16:0");
  expect(canExtrapolate(problem)).toBe(false);
  await expect(
    new Extrapolator(sim).launchCounters(pointOf("k04", "H1,S256,D32"), problem, 4),
  ).rejects.toThrow(expect.objectContaining({ code: "MASK_UNSUPPORTED" }));
});
