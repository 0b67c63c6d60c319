/** The tables of documents: what the evidence gives now, and nothing that it does not say. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COLUMNS, comparisons, EVIDENCE_BLOCKS, evidenceBlocks } from "@evolver/guide";
import { CHAMPION, FLOPS, SHAPE, someStudy } from "./support/some-study.ts";

const wrapped = (result: unknown): unknown => ({
  command: "some command",
  exitCode: 0,
  date: "2030-01-02",
  seconds: 12.5,
  versions: { commit: "abc1234" },
  machine: { gpu: "Some GPU" },
  result,
});

const entry = (id: string, kind: string, timeMs: number, more: object = {}): object => ({
  id,
  kind,
  title: id,
  point: someStudy.rungs.find((rung) => rung.id === id && kind === "rung")?.point ?? null,
  kernels: null,
  timeMs: { median: timeMs, least: timeMs, most: timeMs },
  tflops: FLOPS / timeMs / 1e9,
  shareOfPeak: 0.987,
  shareOfBandwidth: 0.123,
  verified: true,
  ofFastestTorch: kind === "rung" || kind === "point" ? 0.1 / timeMs : 1,
  ofTorchMath: 0.2 / timeMs,
  ...more,
});

const peers = (entries: readonly object[], torch: unknown = { torch: "2.11.0+cu130" }): unknown =>
  wrapped({
    deviceName: "Some GPU",
    torch,
    rounds: 7,
    shapes: [
      {
        shape: SHAPE,
        compulsoryBytes: 8_388_608,
        entries,
        refused: [{ id: "torch flash", why: "no float32" }],
        fastestTorch: torch === null ? null : "torch default",
      },
    ],
    failures: [{ shape: "B9,H9,S9,D9", why: "OUT_OF_DEVICE_MEMORY: too large" }],
  });

const cudaEntries = [
  entry("k01", "rung", 0.8),
  entry("k04", "rung", 0.25),
  entry("k11", "rung", 0.05, { verified: false }),
  entry("wide", "point", 0.125, { point: CHAMPION }),
  entry("torch default", "torch", 0.1, {
    kernels: ["fmha_cutlassF_f32_aligned_64x64(a<b>)"],
    verified: false,
  }),
  entry("torch math", "torch", 0.2, { kernels: ["sm80_xmma_gemm_f32f32_ffma", "softmax"] }),
];

const microbench = wrapped({
  timeKind: "measured",
  deviceName: "Some GPU",
  verified: true,
  sections: [
    { title: "Memory", figures: [{ id: "copyGBPerSecond", name: "copy", value: 2400, unit: "GB/s" }] },
    { title: "Arithmetic", figures: [{ id: "fmaPeak", name: "fma", value: 33_500, unit: "GFLOP/s" }] },
  ],
});

const ncuRow = (
  rung: string,
  counter: string,
  there: number | null,
  sim: number,
  flagged: boolean,
): object => ({
  rung,
  counter,
  ncu: there,
  sim,
  ratio: there === null ? null : sim / there,
  flagged,
  note: counter === "instructions" ? "what the measurement said" : null,
});

const ncu = wrapped({
  shape: SHAPE,
  allowed: 0.05,
  rows: [
    ncuRow("k01", "global load bytes", 4_297_064_448, 4_297_064_448, false),
    ncuRow("k01", "global store sectors", 139_264, 73_728, true),
    ncuRow("k01", "instructions", 100, 50, true),
    ncuRow("k01", "special-function instructions", 100, 80, true),
    ncuRow("k01", "barriers, one per subgroup", null, 8192, false),
    ncuRow("k02", "global store sectors", 139_264, 73_728, true),
  ],
});

const evolution = (point: unknown, more: object = {}): unknown =>
  wrapped({
    device: "cuda",
    input: `${SHAPE}, random data`,
    cycles: 7,
    trials: 29,
    interrupted: true,
    timeKind: "measured",
    baseline: { title: "the beginning", timeMs: 0.5 },
    champion: { title: "the end", timeMs: 0.16, candidate: { kind: "point", point } },
    speedup: 3.125,
    rejected: [{ reason: "launch-failed", count: 3 }],
    ...more,
  });

let folder: string;
const put = (name: string, document: unknown): void =>
  writeFileSync(
    join(folder, `${name}.json`),
    typeof document === "string" ? document : JSON.stringify(document),
  );
const block = (name: string): string => evidenceBlocks(folder, someStudy).get(name) ?? "";
/** Cells of the row that begins with the text. */
const cells = (text: string, first: string): string[] =>
  text
    .split("\n")
    .find((line) => line.startsWith(`| ${first} |`))
    ?.split("|")
    .slice(2, -1)
    .map((cell) => cell.trim()) ?? [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-h200-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("without evidence, every block says in a line that nothing was measured, and no number", () => {
  const blocks = evidenceBlocks(folder, someStudy);
  expect([...blocks.keys()]).toEqual([...EVIDENCE_BLOCKS]);
  for (const [name, text] of blocks) {
    expect(text, name).toContain("not measured");
    if (name !== "h200-checks") expect(text.split("\n"), name).toHaveLength(1);
    expect(text.replaceAll(/H200|h200|\.json/g, ""), name).not.toMatch(/\d/);
  }
});

describe("the ladder beside PyTorch", () => {
  beforeEach(() => put("peers", peers(cudaEntries)));

  it("has a row for each entry, with shares of what the microbenchmarks measured", () => {
    expect(cells(block("h200-peers"), "k04")).toEqual([
      "0.250",
      "8.59",
      "98.7 %",
      "12.3 %",
      "0.40×",
      "0.80×",
    ]);
    put("microbench", microbench);
    // 8.59 of 33.5 TFLOP/s; 8.39 MB in 0.25 ms of 2400 GB/s.
    expect(cells(block("h200-peers"), "k04").slice(2, 4)).toEqual(["25.6 %", "1.4 %"]);
    expect(cells(block("h200-peers"), "PyTorch math")).toHaveLength(6);
  });

  it("says which is the fastest that is right, what PyTorch ran, and what failed", () => {
    const text = block("h200-peers");
    expect(text).toContain("The fastest of ours is *wide*:");
    expect(text).toContain("| k11 ✗ |");
    expect(text).toMatch(
      /the efficient path, one kernel \(`fmha_cutlassF_f32_aligned_64x64`\)\. Its result is beyond/,
    );
    expect(text).toContain("PyTorch refuses float32 here by flash.");
    expect(text).toContain("B9,H9,S9,D9: not measured (OUT_OF_DEVICE_MEMORY: too large).");
    expect(text).toContain("- *wide*: k11 with queryRows 64 (128), unroll 8 (4)");
  });

  it("is README's table, too", () => {
    put("evolve-a", evolution(CHAMPION));
    expect(cells(block("readme-h200"), "B1 Hq8 Hkv8 S1024 D64")).toEqual([
      "wide",
      "17.2",
      "98.7 %",
      "21.5 ✗ / 10.7",
      "17.2",
    ]);
    put("peers", peers(cudaEntries.filter((each) => !("id" in each && each.id === "wide"))));
    expect(cells(block("readme-h200"), "B1 Hq8 Hkv8 S1024 D64").slice(0, 2)).toEqual(["k04", "8.59"]);
    put("peers", peers([...cudaEntries, entry("wrong", "point", 0.01, { verified: false })]));
    expect(cells(block("readme-h200"), "B1 Hq8 Hkv8 S1024 D64").slice(0, 2)).toEqual(["wide", "17.2"]);
    expect(block("readme-h200")).toContain("PyTorch 2.11 fp32, best / math");
    expect(block("readme-h200")).toContain("✗: its error is beyond");
    put("peers", peers(cudaEntries.map((each) => ({ ...each, verified: true }))));
    expect(cells(block("readme-h200"), "B1 Hq8 Hkv8 S1024 D64").slice(0, 2)).toEqual(["k11", "42.9"]);
    expect(block("readme-h200")).not.toContain("✗");
  });

  it("is set beside WebGPU", () => {
    const own = [entry("k01", "rung", 1.6), entry("k02", "rung", 3)].map((each) => ({
      ...each,
      ofFastestTorch: null,
      ofTorchMath: null,
    }));
    put("peers-webgpu", peers(own, null));
    const text = block("h200-webgpu");
    expect(cells(text, "k01")).toEqual(["1.60", "1.34", "98.7 %", "0.800", "2.00×"]);
    expect(cells(text, "k02").slice(3)).toEqual(["–", "–"]);
  });
});

describe("evolution", () => {
  it("is compared within the benchmark where that timed the champion", () => {
    put("peers", peers(cudaEntries));
    put("evolve-wide", evolution(CHAMPION));
    const text = block("h200-evolution");
    const [row, comparison] = text
      .split("\n")
      .filter((line) => line.startsWith("| wide |"))
      .map((line) => line.split("|").map((cell) => cell.trim()));
    expect(row?.slice(2, 11)).toEqual([
      "cuda",
      SHAPE,
      "7, stopped by time",
      "29",
      "3 launch-failed",
      "500",
      "160",
      "3.13×",
      "–",
    ]);
    // 0.125 ms, as timed in turn with the others: 0.25 of k04, 0.1 and 0.2 of PyTorch's. k11 is wrong there.
    expect(comparison?.slice(2, 8)).toEqual(["17.2", "–", "–", "2.00× (k04)", "0.80×", "1.60×"]);
    expect(text).toContain("- **wide**: k11 with queryRows 64 (128), unroll 8 (4)");
    expect(text).not.toContain("†");
  });

  it("marks numbers of two runs, and compares with nothing that was not measured", () => {
    put("evolve-wide", evolution({ ...CHAMPION, vector: 2 }));
    expect(block("h200-evolution")).toMatch(/\| wide \| 13\.4 \| – \| – \| – \| – \| – \|/);
    put("peers", peers(cudaEntries));
    expect(block("h200-evolution")).toContain("| 0.78× † (wide) | 0.63× † | 1.25× † |");
    expect(block("h200-evolution")).toContain("† Times of two runs");
  });

  it("takes a champion that is no point of today's space, or of another shape", () => {
    const { unroll: _, ...older } = CHAMPION;
    put("evolve-older", evolution(older));
    put("evolve-tensors", evolution(CHAMPION, { input: "tensors.safetensors" }));
    const text = block("h200-evolution");
    expect(text).toContain("- **older**: the end");
    expect(text).toContain("- **tensors**: the end");
    expect(text).toMatch(/\| tensors \| – \|/);
  });

  it("links to what is there", () => {
    put("evolve-wide", evolution(CHAMPION));
    expect(block("h200-evolution")).not.toContain("](");
    mkdirSync(join(folder, "evolution", "wide"), { recursive: true });
    writeFileSync(join(folder, "evolution", "wide", "trials.svg"), "<svg/>");
    expect(block("h200-evolution")).toContain(
      "![trials of wide](../evidence/h200/evolution/wide/trials.svg)",
    );
    expect(block("h200-evolution")).not.toContain("evolution_log.md");
  });
});

describe("the hardware's counters", () => {
  it("stand beside the simulator's, flagged where they differ, with the reason", () => {
    put("ncu", ncu);
    const text = block("h200-ncu");
    expect(cells(text, "k01")).toEqual(["4.30 G (1.00)", "–", "**139 k (0.53)**", "–", "–", "–"]);
    expect(text).toContain("1 of 5 counters do not");
    expect(cells(text, "global store sectors")).toEqual([
      "k01, k02",
      "0.53",
      expect.stringContaining("NVRTC 13"),
    ]);
    expect(cells(text, "instructions").at(-1)).toBe("what the measurement said");
    expect(cells(text, "special-function instructions").at(-1)).toBe("not explained");
  });

  it("are named as the measurement names them", () => {
    const titles = comparisons.map(({ title }) => title);
    for (const [counter] of COLUMNS) expect(titles).toContain(counter);
  });

  it("are explained only in the direction that the reason gives", () => {
    const why = (sim: number): string | undefined => {
      put(
        "ncu",
        wrapped({
          shape: SHAPE,
          allowed: 0.05,
          rows: [ncuRow("k01", "global load sectors", 100, sim, true)],
        }),
      );
      return cells(block("h200-ncu"), "global load sectors").at(-1);
    };
    expect(why(50)).toContain("one sector more");
    expect(why(200)).toBe("not explained");
  });
});

it("the machine's figures stand beside the datasheet's", () => {
  put("microbench", microbench);
  const text = block("h200-microbench");
  expect(cells(text, "Arithmetic")).toEqual(["fma", "33.5 TFLOP/s", "67.0 TFLOP/s", "50.0 %"]);
  expect(cells(text, "Memory")).toEqual(["copy", "2,400 GB/s", "4,800 GB/s", "50.0 %"]);
  expect(text).not.toContain(".svg");
});

it("checks that failed are said to have failed", () => {
  put("conformance-cuda", wrapped({ passed: 370, failed: 3, skipped: 1 }));
  put("selftest", {
    tests: [
      { name: "k01", pass: true },
      { name: "k02", pass: false },
    ],
  });
  put("large", wrapped({ results: [{ edge: "2^31 bytes", status: "wrong" }] }));
  const text = block("h200-checks");
  expect(cells(text, "cuda")).toEqual(["370 of 373, 1 not promised", "–", "–", "–"]);
  expect(text).toContain("1 of 2 pass (k01, k02 fails).");
  expect(text).toContain("0 of 1 right");
});

it("every file's origin is listed", () => {
  put("peers", peers(cudaEntries));
  put("devices", wrapped([]));
  const text = block("h200-sources");
  expect(text).toContain("Machine: Some GPU.");
  for (const file of ["peers.json", "devices.json"])
    expect(cells(text, file)).toEqual(["2030-01-02", "abc1234", "12.5", "0", "`some command`"]);
});

describe("malformed evidence is refused, by file and field", () => {
  it.each<[name: string, document: unknown, problem: RegExp]>([
    ["peers", "{", /peers\.json is not JSON/],
    ["peers", peers([entry("k01", "rung", -1)]), /shapes\[0\]\.entries\[0\]\.timeMs\.median" is -1/],
    [
      "peers",
      peers([entry("k01", "runge", 1, { point: null })]),
      /peers\.json: "result\.shapes\[0\]\.entries\[0\]\.kind" is "runge"/,
    ],
    [
      "peers-webgpu",
      peers([entry("k01", "rung", 1, { verified: "yes" })]),
      /peers-webgpu\.json: .*verified" is "yes"/,
    ],
    [
      "evolve-x",
      evolution(CHAMPION, { timeKind: "modelled" }),
      /evolve-x\.json: "result\.timeKind" is "modelled"/,
    ],
    ["evolve-x", evolution({ ...CHAMPION, vector: "4" }), /champion\.candidate\.point\.vector" is "4"/],
    ["ncu", wrapped({ shape: SHAPE, allowed: 0.05 }), /ncu\.json: "result\.rows" is missing/],
    [
      "microbench",
      wrapped({ timeKind: "none", sections: [] }),
      /microbench\.json: "result\.timeKind" is "none"/,
    ],
    [
      "goldens-cuda",
      wrapped({ passed: 3, failed: 0, cases: 3 }),
      /goldens-cuda\.json: "result\.rungs" is missing/,
    ],
    ["launch", wrapped({ evolver: {} }), /launch\.json: "result\.evolver\.enqueueMicroseconds" is missing/],
    ["selftest", { tests: [{ name: "k01" }] }, /selftest\.json: "tests\[0\]\.pass" is missing/],
  ])("%s.json", (name, document, problem) => {
    put(name, document);
    expect(() => evidenceBlocks(folder, someStudy)).toThrow(problem);
    expect(() => evidenceBlocks(folder, someStudy)).toThrow(
      expect.objectContaining({ code: "EVIDENCE_INVALID" }),
    );
  });

  it("and so is a folder that is not there", () => {
    expect(() => evidenceBlocks(join(folder, "nowhere"), someStudy)).toThrow(
      expect.objectContaining({ code: "EVIDENCE_NOT_FOUND" }),
    );
  });
});
