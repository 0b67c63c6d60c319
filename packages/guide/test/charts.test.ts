/** Charts: the same bytes for the same plot, everything that the data say, and nothing else. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { categoryAxis, valueAxis, type PlotSpec } from "@evolver/base";
import { plotSvg } from "@evolver/guide/charts";
import { describe, expect, it } from "vitest";

const lines: PlotSpec = {
  id: "lines",
  title: "Time & size <of> everything",
  x: valueAxis("footprint", "bytes", { log: true }),
  y: valueAxis("time", "ns"),
  series: [
    {
      kind: "line",
      name: "first",
      points: [
        { x: 1024, y: 3 },
        { x: 4096, y: 5, low: 4, high: 7 },
        { x: 0, y: 5 },
      ],
    },
    {
      kind: "points",
      name: "second",
      light: true,
      points: [{ x: 2048, y: 4, label: "here", emphasis: true }],
    },
  ],
  notes: ["A sentence below."],
};

const bars: PlotSpec = {
  id: "bars",
  title: "Speeds",
  x: valueAxis("speed", "TFLOP/s"),
  y: categoryAxis("rung", ["k01", "k02"]),
  series: [
    {
      kind: "bars",
      name: "ours",
      points: [
        { x: 1.5, y: 0, label: "1.50" },
        { x: 3, y: 1, label: "3.00" },
      ],
    },
    {
      kind: "reference",
      name: "theirs: 2",
      light: true,
      points: [
        { x: 2, y: 0 },
        { x: 2, y: 1 },
      ],
    },
  ],
  notes: [],
};

describe("a plot as SVG", () => {
  it("says all that the plot says", () => {
    const svg = plotSvg(lines);
    expect(svg).toContain("<title>Time &amp; size &lt;of&gt; everything</title>");
    for (const text of [
      "footprint, bytes",
      "time, ns",
      "first",
      "second",
      "here",
      "A sentence below.",
      "2 KiB",
    ])
      expect(svg).toContain(`>${text}</text>`);
    for (const text of ["k01", "k02", "1.50", "3.00", "theirs: 2", "speed, TFLOP/s"])
      expect(plotSvg(bars)).toContain(`>${text}</text>`);
  });

  it("is one drawing without numbers that are none", () => {
    for (const plot of [lines, bars]) {
      const svg = plotSvg(plot);
      expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 780 \d+"[^>]*>\n[^]*\n<\/svg>\n$/);
      expect(svg).not.toMatch(/NaN|Infinity|undefined|zr\d/);
    }
  });

  it("is the same each time, whatever was drawn before, in this process and in another", () => {
    const first = plotSvg(lines);
    plotSvg(bars);
    expect(plotSvg(lines)).toBe(first);
    const script = `import { plotSvg } from "@evolver/guide/charts"; process.stdout.write(plotSvg(${JSON.stringify(lines)}))`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: join(import.meta.dirname, ".."),
      encoding: "utf8",
    });
    expect(stdout).toBe(first);
  });

  it("has a dark colour for each of its own", () => {
    for (const plot of [lines, bars]) {
      const svg = plotSvg(plot);
      const style = /<style>([^<]*)<\/style>/.exec(svg)?.[1] ?? "";
      const used = [...svg.matchAll(/ (?:fill|stroke)="(#[0-9a-f]{6})"/g)].map((match) => match[1] as string);
      expect(used.length).toBeGreaterThan(5);
      for (const colour of new Set(used)) expect(style).toContain(`[fill="${colour}"]`);
    }
  });

  it("is refused where there is nothing to draw", () => {
    const empty = { ...lines, series: [{ kind: "line", name: "", points: [{ x: 0, y: 1 }] }] } as const;
    expect(() => plotSvg(empty)).toThrow(expect.objectContaining({ code: "PLOT_EMPTY" }));
  });
});
