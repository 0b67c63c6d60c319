/** The benchmark against PyTorch, as a program, with a stand-in for PyTorch. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const peers = join(import.meta.dirname, "../../bench/peers.ts");
const worker = join(import.meta.dirname, "fixtures/fake-torch.ts");
const SMALL = ["--device", "cpu", "--budget-ms", "1", "--rungs", "k02"];

interface Outcome {
  readonly status: number | null;
  readonly stderr: string;
  // What is looked at is asserted.
  readonly report: {
    readonly torch: unknown;
    readonly failures: readonly { shape: string; why: string }[];
    readonly roofs: Record<string, { value: number; from: string } | null>;
    readonly shapes: readonly {
      readonly fastestTorch: string | null;
      readonly truth: string;
      readonly refused: readonly { id: string }[];
      readonly entries: readonly {
        readonly id: string;
        readonly error: number | null;
        readonly verified: boolean;
        readonly timeMs: { median: number };
        readonly tflops: number;
        readonly shareOfPeak: number | null;
        readonly shareOfBandwidth: number | null;
        readonly ofFastestTorch: number | null;
      }[];
    }[];
  } | null;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-peers-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(args: readonly string[], behaviour = ""): Promise<Outcome> {
  const env = { ...process.env, FAKE_TORCH: behaviour, FAKE_TORCH_LOG: join(folder, "asked") };
  const child = spawn(process.execPath, [peers, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((settle) => {
    child.on("close", (status) =>
      settle({ status, stderr, report: stdout === "" ? null : (JSON.parse(stdout) as Outcome["report"]) }),
    );
  });
}

const withTorch = (...args: string[]): string[] => [
  ...SMALL,
  ...["--python", process.execPath, "--worker", worker, ...args],
];

it("measures in turns, compares with the fastest peer that is right, and takes roofs as given or measured", async () => {
  const { status, report } = await start(
    withTorch("--shape", "B1,Hq2,Hkv1,S40,D32", "--rounds", "2", "--peak-tflops", "2"),
  );
  expect(status).toBe(0);
  const [shape] = report?.shapes ?? [];
  expect(shape?.entries.map(({ id }) => id)).toEqual(["k02", "torch math", "torch efficient"]);
  expect(shape?.fastestTorch).toBe("torch efficient");
  expect(shape?.refused).toEqual([{ id: "torch flash", why: "no float32" }]);
  const [rung, math] = shape?.entries ?? [];
  expect(math).toMatchObject({
    ofFastestTorch: 0.5,
    ofTorchMath: 1,
    timeMs: { median: 2000 },
    verified: true,
  });
  const flops = 4 * 2 * 40 * 40 * 32;
  expect(math?.tflops).toBeCloseTo(flops / 2 / 1e12, 15);
  expect(math?.shareOfPeak).toBeCloseTo(flops / 2 / 1e12 / 2, 15);
  // q and o of two heads, k and v of one, in two seconds, of 4000 GB/s
  expect(math?.shareOfBandwidth).toBeCloseTo((4 * 40 * 32 * 6) / 2 / 4000e9, 15);
  expect(rung).toMatchObject({ error: 4e-7, verified: true });
  expect(rung?.ofFastestTorch).toBeGreaterThan(1);
  expect(report?.roofs["gbPerSecond"]).toMatchObject({ value: 4000 });
  const asked = readFileSync(join(folder, "asked"), "utf8").trim().split("\n");
  const turns = asked
    .filter((line) => line.startsWith("time"))
    .map((line) => line.slice("time torch ".length));
  // Once each to see how long it takes, then a round forwards and one backwards.
  expect(turns).toEqual(["math", "efficient", "math", "efficient", "efficient", "math"]);
});

it("holds a NaN, or an output that PyTorch's truth refuses, against the rung", async () => {
  const { status, report } = await start(
    withTorch("--shape", "B1,H1,S8,D32", "--rounds", "1"),
    "finds a NaN",
  );
  expect(status).toBe(1);
  expect(report?.shapes[0]?.entries[0]).toMatchObject({ id: "k02", error: null, verified: false });
});

it("does not compare with a peer that is fast and wrong", async () => {
  const { status, report } = await start(
    withTorch("--shape", "B1,H1,S8,D32", "--rounds", "1"),
    "fast and wrong",
  );
  expect(status).toBe(0);
  expect(report?.shapes[0]?.fastestTorch).toBe("torch math");
  expect(report?.shapes[0]?.entries.at(-1)).toMatchObject({ id: "torch efficient", verified: false });
});

it.each([
  ["dies", "exit code 7"],
  ["talks", "something else than an answer: hello"],
])("says so where the worker %s", async (behaviour, said) => {
  const { status, stderr, report } = await start(withTorch("--shape", "B1,H1,S8,D32"), behaviour);
  expect(status).toBe(1);
  expect(report?.shapes ?? []).toEqual([]);
  expect(stderr).toContain(said);
});

it("measures the other shapes where one fails", async () => {
  const shapes = ["--shape", "B1,H1,S8,D32,window:2:0", "--shape", "B1,H1,S8,D32"];
  const { status, report } = await start(withTorch(...shapes, "--rounds", "1"));
  expect(status).toBe(1);
  expect(report?.failures).toEqual([
    { shape: "B1,Hq1,Hkv1,S8,D32,window:2:0", why: expect.stringContaining("PEER_UNSUPPORTED") },
  ]);
  expect(report?.shapes.map(({ entries }) => entries.length)).toEqual([3]);
});

it("measures without PyTorch, points of a file too, and against a profile", async () => {
  const points = join(folder, "points.json");
  const { rungById } = await import("@evolver/attention");
  const { point } = rungById("k04");
  writeFileSync(
    points,
    JSON.stringify([
      { id: "mine", point },
      { id: "odd", point: { ...point, queryRows: 3 } },
    ]),
  );
  const { h200Datasheet } = await import("@evolver/machine");
  const profile = join(folder, "profile.json");
  writeFileSync(profile, JSON.stringify(h200Datasheet));
  const { status, report } = await start([
    ...SMALL,
    ...["--no-torch", "--shape", "B1,Hq2,Hkv1,S40,D32,window:8:0", "--rounds", "1"],
    ...["--points", points, "--profile", profile],
  ]);
  expect(status).toBe(0);
  expect(report?.torch).toBeNull();
  expect(report?.roofs["peakTflops"]?.value).toBeCloseTo(66.9, 1);
  const [shape] = report?.shapes ?? [];
  expect(shape?.truth).toBe("float64 reference, all of o and lse");
  expect(shape?.entries.map(({ id, verified, ofFastestTorch }) => [id, verified, ofFastestTorch])).toEqual([
    ["k02", true, null],
    ["mine", true, null],
  ]);
  expect(shape?.refused.map(({ id }) => id)).toEqual(["odd"]);
});

it("refuses roofs, profiles and numbers of rounds that are none", async () => {
  const noProfile = join(folder, "no-profile.json");
  writeFileSync(noProfile, `{"name": "nothing"}`);
  const small = ["--shape", "B1,H1,S8,D32", "--rounds", "1"];
  const [roof, profile, rounds] = await Promise.all([
    start([...SMALL, "--no-torch", ...small, "--peak-tflops", "fast"]),
    start([...SMALL, "--no-torch", ...small, "--profile", noProfile]),
    start([...SMALL, "--no-torch", "--shape", "B1,H1,S8,D32", "--rounds", "0"]),
  ]);
  expect(roof.stderr).toContain("ROOF_INVALID");
  expect(profile.stderr).toContain("PROFILE_INVALID");
  expect(rounds).toMatchObject({ status: 2, report: null });
});
