/** A study without kernels and a judge without processes: for tests of the loop around them. */

import { emptyVerdict } from "./verdicts.ts";
import type { Judge, OpenJudge, Point, OpenStudy, Study, Verdict } from "@evolver/lab";

const axes = [
  { name: "tile", values: [1, 2, 4, 8, 16, 32] },
  { name: "stage", values: ["global", "shared"] },
  { name: "layout", values: ["rows", "padded", "swizzled"] },
  { name: "pipeline", values: [1, 2, 3, 4] },
  { name: "unroll", values: [1, 2, 4] },
] as const;

function whyInvalid(point: Point): string | null {
  return point["stage"] === "global" && point["layout"] !== "rows"
    ? "Only shared memory has a layout."
    : null;
}

/** A landscape with interactions: the best is tile 16, shared, swizzled, pipeline 3, unroll 2. */
export function fakeTime(point: Point, difficulty = 1): number {
  const tile = Number(point["tile"]);
  const shared = point["stage"] === "shared";
  const traffic = 8 / (shared ? tile : Math.sqrt(tile));
  const pressure = tile > 16 ? 2.5 : 1;
  const conflicts = !shared ? 1 : ({ rows: 1.8, padded: 1.2, swizzled: 1 }[String(point["layout"])] ?? 1);
  const overlap = shared ? [1.5, 1.2, 1, 1.05][Number(point["pipeline"]) - 1]! : 1.4;
  const unroll = { 1: 1.15, 2: 1, 4: tile >= 16 ? 1.3 : 0.97 }[Number(point["unroll"])] ?? 1;
  return difficulty * (0.5 + traffic) * pressure * conflicts * overlap * unroll;
}

export const fakeBaseline: Point = { tile: 1, stage: "global", layout: "rows", pipeline: 1, unroll: 1 };

export const fakeStudy: Study = {
  id: "fake",
  title: "Fake study",
  module: import.meta.url,
  export: "fakeStudy",
  options: [],
  parseInput: (input) => Promise.resolve({ size: 1, ...input }),
  open(input) {
    const opened: OpenStudy = {
      space: { axes, whyInvalid },
      baseline: fakeBaseline,
      named: { k01: fakeBaseline },
      inputTitle: `size ${input["size"]}`,
      profile: "made up",
      cases: () => [],
      objectiveCase: () => {
        throw new Error("the fake judge asks for no case");
      },
      plan: () => ({ kernels: [], buffers: [], launches: [] }),
      expected: () => ({}),
      measure: () => Promise.reject(new Error("the fake judge measures itself")),
      explain: (measurement) => ({
        bottleneck: measurement.timeMs > 2 ? "global memory" : "latency",
        observations: [`It took ${measurement.timeMs} ms.`],
        axes: ["tile", "layout"],
      }),
      describe: (point) => axes.map(({ name }) => `${name} ${point[name]}`).join(", "),
      emit: (point) => [
        { path: "kernel.js", text: `// ${JSON.stringify(point)}\n` },
        { path: `tile-${point["tile"]}.wgsl`, text: "// tile\n" },
      ],
    };
    return Promise.resolve(opened);
  },
};

/** Points that the judge rejects, to have failures in the memory. */
function fakeVerdict(point: Point, known: Readonly<Record<string, number>>): Verdict {
  const hash = JSON.stringify(point);
  const hidden = point["pipeline"] === 4 && point["layout"] === "padded";
  if (hidden) return { ...emptyVerdict, status: "findings", reason: "A race between lanes 0 and 1.", hash };
  const same = known[hash];
  if (same !== undefined)
    return { ...emptyVerdict, status: "duplicate", reason: `Same as trial ${same}.`, hash };
  return {
    ...emptyVerdict,
    status: "ok",
    hash,
    error: 1e-6,
    bound: 1e-5,
    timeMs: fakeTime(point),
    timeKind: "modelled",
  };
}

export interface FakeJudgeOptions {
  /** Each judging waits for it. */
  readonly gate?: () => Promise<void>;
  readonly onJudge?: (point: Point) => void;
  /** Times are measured: by `time` of the point and of how often the process was renewed. */
  readonly measured?: (point: Point, renewals: number) => number;
  /** Points on which it comes to no verdict. */
  readonly slow?: (point: Point) => boolean;
}

export function openFakeJudge({ gate, onJudge, measured, slow }: FakeJudgeOptions = {}): OpenJudge {
  let renewals = 0;
  const judge: Judge = {
    admission: { deviceName: "fake", subgroup: 32, forwardProgress: true, checks: ["Fake checks."] },
    async judge({ candidate, known, champion }, signal) {
      await gate?.();
      signal?.throwIfAborted();
      if (candidate.kind !== "point") throw new Error("the fake judge knows points only");
      onJudge?.(candidate.point);
      if (slow?.(candidate.point) === true)
        return { ...emptyVerdict, status: "timeout", reason: "No verdict." };
      const verdict = fakeVerdict(candidate.point, known);
      if (measured === undefined || verdict.status !== "ok") return verdict;
      const rival = champion?.kind === "point" ? measured(champion.point, renewals) : null;
      return {
        ...verdict,
        timeMs: measured(candidate.point, renewals),
        timeKind: "measured",
        noise: 0.01,
        championTimeMs: rival,
      };
    },
    async renew() {
      renewals++;
    },
    close: () => Promise.resolve(),
  };
  return () => Promise.resolve(judge);
}
