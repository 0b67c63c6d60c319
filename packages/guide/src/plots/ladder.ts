/** A ladder as plots: the speed of its rungs beside PyTorch's, and a roofline. */

import { SECTOR_BYTES } from "@evolver/device";
import { categoryAxis, roofSeries, valueAxis, type PlotPoint, type PlotSpec } from "@evolver/base";
import type { Evidence } from "../evidence/read-folder.ts";
import type { LadderEvidence } from "../evidence/ladder.ts";
import { roofsOf } from "../evidence/microbench.ts";
import { torchOn } from "../evidence/peers.ts";

/** PyTorch's ways that are shown; a table has all of them. */
const CHARTED = ["torch efficient", "torch math"];

/** Of the first ladder; null where no time was measured. `ids`: the rungs to show, in order. */
export function speedPlot({ ladders, peers }: Evidence, ids: readonly string[]): PlotSpec | null {
  const [first] = ladders;
  const shown = first?.cuda ?? first?.webgpu ?? null;
  const measured = ids.some((id) => first?.cuda?.rungs.has(id) || first?.webgpu?.rungs.has(id));
  if (first === undefined || shown === null || !measured) return null;
  const torch = torchOn(peers, shown.input)
    .filter(({ id }) => CHARTED.some((name) => id.startsWith(name)))
    .toSorted((a, b) => a.tflops - b.tflops);
  const wrong = torch.filter(({ verified }) => !verified).map(({ id }) => id);
  return {
    id: "speed",
    title: `Measured TFLOP/s: ${shown.input}`,
    x: valueAxis("speed", "TFLOP/s"),
    y: categoryAxis("rung", ids),
    series: [
      { kind: "bars", name: "CUDA", points: ids.map((id, k) => barOf(first.cuda, id, k)) },
      { kind: "bars", name: "WebGPU", points: ids.map((id, k) => barOf(first.webgpu, id, k)) },
      ...torch.map(({ id, tflops }) => ({
        kind: "reference" as const,
        name: `${id}: ${tflops.toFixed(2)}`,
        light: true,
        points: ids.map((_, y) => ({ x: tflops, y })),
      })),
    ],
    notes: wrong.length === 0 ? [] : [`${wrong.join(", ")}: its error is above our tolerance.`],
  };
}

function barOf(ladder: LadderEvidence | null, id: string, y: number): PlotPoint {
  const rung = ladder?.rungs.get(id);
  if (rung === undefined) return { x: 0, y, label: "not measured" };
  return { x: rung.tflops, y, label: `${rung.tflops.toFixed(2)}${rung.verified ? "" : " (wrong result)"}` };
}

/** Null without microbenchmarks or measured rungs. */
export function rooflinePlot({ ladders, microbench }: Evidence, ids: readonly string[]): PlotSpec | null {
  const shown = ladders[0]?.cuda ?? null;
  if (microbench === null || shown === null) return null;
  const { peakGflops, memoryGBPerSecond, cacheGBPerSecond } = roofsOf(microbench);
  if (peakGflops === null || memoryGBPerSecond === null) return null;
  const points = ids.flatMap((id): PlotPoint[] => {
    const rung = shown.rungs.get(id);
    if (rung === undefined) return [];
    const flops = rung.tflops * rung.timeMs * 1e9;
    return [
      {
        x: flops / (rung.globalSectors * SECTOR_BYTES),
        y: rung.tflops * 1000,
        label: `${id}: ${rung.tflops.toFixed(2)} TFLOP/s`,
      },
    ];
  });
  if (points.length === 0) return null;
  const roofs = [
    { name: "memory", gbPerSecond: memoryGBPerSecond },
    ...(cacheGBPerSecond === null ? [] : [{ name: "second-level cache", gbPerSecond: cacheGBPerSecond }]),
  ];
  const places = [...roofs.map(({ gbPerSecond }) => peakGflops / gbPerSecond), ...points.map(({ x }) => x)];
  const ends = { from: Math.min(...places) / 2, to: Math.max(...places) * 3 };
  return {
    id: "roofline",
    title: `Roofline, measured: ${shown.input}`,
    x: valueAxis("FLOPs for each byte of the sectors that the simulator counts", null, { log: true }),
    y: valueAxis("speed", "GFLOP/s", { log: true }),
    series: [
      ...roofSeries(peakGflops, roofs, ends).map((roof) => ({ ...roof, name: `roof of ${roof.name}` })),
      { kind: "points", name: "a rung", points },
    ],
    notes: [
      `Roofs, measured: ${(peakGflops / 1000).toFixed(1)} TFLOP/s; ${roofs.map(({ name, gbPerSecond }) => `${name} ${gbPerSecond.toFixed(0)} GB/s`).join("; ")}.`,
      "Sectors that a cache holds do not reach memory: a rung may stand above memory's roof.",
    ],
  };
}
