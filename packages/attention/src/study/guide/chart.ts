/** Charts of what was measured: speed by rung beside PyTorch's, and the roofline with the rungs under it. */

import { roofsOf, torchOn, type Evidence, type LadderEvidence, type PeerEntry } from "@evolver/guide";
import { dot, line, MARGIN, picture, polyline, rect, text, WIDTH, type Panel } from "./svg.ts";

const LEFT = 56;
const RIGHT = 66;
const GROUP = 42;

/** Of the first ladder; null where no time was measured. `ids`: the rungs to show, in order. */
export function speedChart({ ladders, peers }: Evidence, ids: readonly string[]): string | null {
  const [first] = ladders;
  const shown = first?.cuda ?? first?.webgpu ?? null;
  const measured = ids.some((id) => first?.cuda?.rungs.has(id) || first?.webgpu?.rungs.has(id));
  if (first === undefined || shown === null || !measured) return null;
  const lines = torchOn(peers, shown.input)
    .filter(({ id }) => CHARTED.some((name) => id.startsWith(name)))
    .toSorted((a, b) => a.tflops - b.tflops);
  return picture(`TFLOP/s by rung, ${shown.input}`, [speedPanel(first, shown, ids, lines)]);
}

const CHARTED = ["torch efficient", "torch math"];

function speedPanel(
  { cuda, webgpu }: { readonly cuda: LadderEvidence | null; readonly webgpu: LadderEvidence | null },
  shown: LadderEvidence,
  ids: readonly string[],
  peers: readonly PeerEntry[],
): Panel {
  const both = [cuda, webgpu];
  const speeds = both.flatMap((each) => ids.flatMap((id) => each?.rungs.get(id)?.tflops ?? []));
  const most = Math.max(...speeds, ...peers.map(({ tflops }) => tflops));
  const width = WIDTH - MARGIN - LEFT - RIGHT;
  const x = (tflops: number): number => LEFT + (tflops / most) * width;
  const high = ids.length * GROUP;
  return {
    title: `Measured TFLOP/s: ${shown.input}`,
    height: high + 40 + peers.length * 18,
    draw: (top) => [
      rect(LEFT, top, 14, 12, "global"),
      text(LEFT + 20, top + 10, "CUDA", "small"),
      rect(LEFT + 76, top, 14, 12, "other"),
      text(LEFT + 96, top + 10, "WebGPU", "small"),
      ...peers.map(({ tflops }, k) =>
        line(x(tflops), top + 18, x(tflops), top + 26 + high + k * 18, "shared-line dash"),
      ),
      ...ids.flatMap((id, k) => {
        const y = top + 22 + k * GROUP;
        return [
          text(MARGIN, y + 22, id, "bold"),
          ...both.flatMap((each, d) => {
            const own = each?.rungs.get(id);
            const barY = y + 2 + d * 17;
            if (own === undefined) return [text(LEFT + 4, barY + 12, "not measured", "small soft")];
            return [
              rect(LEFT, barY, Math.max(1, x(own.tflops) - LEFT), 15, d === 0 ? "global" : "other"),
              text(
                x(own.tflops) + 6,
                barY + 12,
                `${own.tflops.toFixed(2)}${own.verified ? "" : " (wrong result)"}`,
                "small halo",
              ),
            ];
          }),
        ];
      }),
      ...peers.flatMap(({ id, tflops, verified }, k) => {
        const y = top + 22 + high;
        const right = x(tflops) > WIDTH / 2;
        return [
          text(
            x(tflops) + (right ? -6 : 6),
            y + 14 + k * 18,
            `${id}: ${tflops.toFixed(2)}${verified ? "" : " (its error is above our tolerance)"}`,
            right ? "small end" : "small",
          ),
        ];
      }),
    ],
  };
}

const PLOT_HEIGHT = 300;
const LABELS = 150;
const SECTOR_BYTES = 32;
/** Memory's roof and the cache's, in the colours that the microbenchmarks' roofline has. */
const ROOF_STYLES = ["global-line thick", "shared-line thick"];
const LEGEND_STEP = 200;

/** Null without microbenchmarks or measured rungs. */
export function rooflineChart({ ladders, microbench }: Evidence, ids: readonly string[]): string | null {
  const shown = ladders[0]?.cuda ?? null;
  if (microbench === null || shown === null || !ids.some((id) => shown.rungs.has(id))) return null;
  const { peakGflops, memoryGBPerSecond, cacheGBPerSecond } = roofsOf(microbench);
  if (peakGflops === null || memoryGBPerSecond === null) return null;
  const roofs = [
    { name: "memory", gbPerSecond: memoryGBPerSecond },
    ...(cacheGBPerSecond === null ? [] : [{ name: "second-level cache", gbPerSecond: cacheGBPerSecond }]),
  ];
  return picture(`Roofline, ${shown.input}`, [rooflinePanel({ peakGflops, roofs }, shown, ids)]);
}

interface Roofs {
  readonly peakGflops: number;
  /** Memory first. */
  readonly roofs: readonly { readonly name: string; readonly gbPerSecond: number }[];
}

function rooflinePanel({ peakGflops, roofs }: Roofs, shown: LadderEvidence, ids: readonly string[]): Panel {
  const points = ids.flatMap((id) => {
    const rung = shown.rungs.get(id);
    if (rung === undefined) return [];
    const flops = rung.tflops * rung.timeMs * 1e9;
    return [{ id, intensity: flops / (rung.globalSectors * SECTOR_BYTES), gflops: rung.tflops * 1000 }];
  });
  const corners = roofs.map(({ gbPerSecond }) => peakGflops / gbPerSecond);
  const intensities = [...corners, ...points.map(({ intensity }) => intensity)];
  const [fromX, toX] = [Math.min(...intensities) / 2, Math.max(...intensities) * 3];
  const least = Math.min(...points.map(({ gflops }) => gflops), fromX * (roofs[0]?.gbPerSecond ?? Infinity));
  const [fromY, toY] = [least / 1.5, peakGflops * 1.6];
  const width = WIDTH - MARGIN - LEFT - LABELS;
  const log = (value: number, from: number, to: number): number =>
    Math.log(value / from) / Math.log(to / from);
  const x = (value: number): number => LEFT + log(value, fromX, toX) * width;
  return {
    title: `Roofline, measured: ${shown.input}`,
    height: PLOT_HEIGHT + 104,
    draw: (top) => {
      const y = (value: number): number => top + PLOT_HEIGHT * (1 - log(value, fromY, toY));
      const labels = apart(
        points.map((point) => ({ ...point, labelY: y(point.gflops) })),
        top + PLOT_HEIGHT,
      );
      return [
        rect(LEFT, top, width, PLOT_HEIGHT, "plain", 0),
        ...decades(fromX, toX).map((value) => line(x(value), top, x(value), top + PLOT_HEIGHT, "edge-line")),
        ...decades(fromY / 1000, toY / 1000).map((value) =>
          line(LEFT, y(1000 * value), LEFT + width, y(1000 * value), "edge-line"),
        ),
        ...roofs.map(({ gbPerSecond }, k) =>
          polyline(
            [
              [x(Math.max(fromX, fromY / gbPerSecond)), y(Math.max(fromY, fromX * gbPerSecond))],
              [x(corners[k] as number), y(peakGflops)],
              [x(toX), y(peakGflops)],
            ],
            ROOF_STYLES[k] as string,
          ),
        ),
        ...labels.flatMap(({ id, intensity, gflops, labelY }) => [
          line(x(intensity), y(gflops), LEFT + width + 10, labelY, "edge-line"),
          dot(x(intensity), y(gflops), "compute"),
          text(LEFT + width + 14, labelY + 4, `${id}: ${(gflops / 1000).toFixed(2)} TFLOP/s`, "small"),
        ]),
        text(LEFT + 6, top + 16, "TFLOP/s", "small soft"),
        ...decades(fromX, toX).map((value) =>
          text(x(value), top + PLOT_HEIGHT + 16, String(value), "small middle"),
        ),
        ...decades(fromY / 1000, toY / 1000).map((value) =>
          text(LEFT - 6, y(1000 * value) + 4, String(value), "small end"),
        ),
        text(
          LEFT + width / 2,
          top + PLOT_HEIGHT + 34,
          "FLOPs for each byte of the sectors that the simulator counts",
          "small middle",
        ),
        text(
          MARGIN,
          top + PLOT_HEIGHT + 58,
          `Roofs, measured: ${(peakGflops / 1000).toFixed(1)} TFLOP/s; ${roofs.map(({ name, gbPerSecond }) => `${name} ${gbPerSecond.toFixed(0)} GB/s`).join("; ")}.`,
        ),
        ...roofs.flatMap(({ name }, k) => {
          const left = MARGIN + k * LEGEND_STEP;
          const middle = top + PLOT_HEIGHT + 73;
          return [
            line(left, middle, left + 24, middle, ROOF_STYLES[k] as string),
            text(left + 30, middle + 4, `roof of ${name}`, "small"),
          ];
        }),
        dot(MARGIN + 2 * LEGEND_STEP + 12, top + PLOT_HEIGHT + 73, "compute"),
        text(MARGIN + 2 * LEGEND_STEP + 22, top + PLOT_HEIGHT + 77, "a rung", "small"),
        text(
          MARGIN,
          top + PLOT_HEIGHT + 95,
          "Sectors that a cache holds do not reach memory: a rung may stand above memory's roof.",
          "small soft",
        ),
      ];
    },
  };
}

/** Powers of ten in a range. */
function decades(from: number, to: number): number[] {
  const first = Math.ceil(Math.log10(from));
  const last = Math.floor(Math.log10(to));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => Number(`1e${first + k}`));
}

const LABEL_HEIGHT = 15;

/** Moves labels down until none covers another, and up again where they would leave the plot at `bottom`. */
function apart<T extends { readonly labelY: number }>(labels: readonly T[], bottom: number): T[] {
  let free = -Infinity;
  const down = labels
    .toSorted((a, b) => a.labelY - b.labelY)
    .map((label) => {
      const labelY = Math.max(label.labelY, free);
      free = labelY + LABEL_HEIGHT;
      return { ...label, labelY };
    });
  return down.map((label, k) => ({
    ...label,
    labelY: Math.min(label.labelY, bottom - (down.length - 1 - k) * LABEL_HEIGHT),
  }));
}
