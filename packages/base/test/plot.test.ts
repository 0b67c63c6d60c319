import { categoryAxis, axisTitle, hasPoints, roofSeries, valueAxis, visiblePoints } from "@evolver/base";
import type { PlotSeries, PlotSpec } from "@evolver/base";
import { expect, test } from "vitest";

const points = (...pairs: readonly (readonly [number, number])[]): PlotSeries => ({
  kind: "points",
  name: "",
  points: pairs.map(([x, y]) => ({ x, y })),
});

test("an axis writes its unit behind its label", () => {
  expect(axisTitle(valueAxis("time", "ms"))).toBe("time, ms");
  expect(axisTitle(valueAxis("FLOPs per byte"))).toBe("FLOPs per byte");
  expect(axisTitle(categoryAxis("rung", ["k01"]))).toBe("rung");
});

test("what an axis cannot show is left out", () => {
  const series = points([0, 1], [1, 0], [2, 2], [Number.NaN, 1], [1, Infinity]);
  const linear = { x: valueAxis("x"), y: valueAxis("y") };
  expect(visiblePoints(linear, series).map(({ x }) => x)).toEqual([0, 1, 2]);
  const log = { x: valueAxis("x", null, { log: true }), y: valueAxis("y", null, { log: true }) };
  expect(visiblePoints(log, series)).toEqual([{ x: 2, y: 2 }]);
  const named = { x: valueAxis("x"), y: categoryAxis("y", ["a", "b"]) };
  expect(visiblePoints(named, series).map(({ y }) => y)).toEqual([1, 0]);
});

test("a plot that can show none of its points is empty", () => {
  const plot = (series: PlotSeries): PlotSpec => ({
    id: "p",
    title: "",
    x: valueAxis("x", null, { log: true }),
    y: valueAxis("y"),
    series: [series],
    notes: [],
  });
  expect(hasPoints(plot(points([0, 1])))).toBe(false);
  expect(hasPoints(plot(points([1, 0])))).toBe(true);
});

test("a roof rises with the bytes and is flat from its corner on", () => {
  const [memory, cache] = roofSeries(
    1000,
    [
      { name: "memory", gbPerSecond: 100 },
      { name: "cache", gbPerSecond: 500 },
    ],
    { from: 0.1, to: 100 },
  );
  expect(memory?.points).toEqual([
    { x: 0.1, y: 10 },
    { x: 10, y: 1000 },
    { x: 100, y: 1000 },
  ]);
  expect(cache?.points[1]).toEqual({ x: 2, y: 1000 });
});
