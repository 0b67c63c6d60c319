/** The study as the lab and the command line see it. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emitSelftest } from "@evolver/kernel";
import { pointAt, spaceSize, type StudyInput } from "@evolver/lab";
import { ladder, namedRungs, rowOperations, type RowPoint } from "@evolver/softmax";
import { study } from "@evolver/softmax/study";
import { expect, it } from "vitest";
import { cpp, runHip } from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";

const inputOf = (rows: number, columns: number, operation = "softmax"): Promise<StudyInput> =>
  study.parseInput({ operation, rows, columns });

it("refuses an input that is none, and gives one in full", async () => {
  expect(await study.parseInput({ rows: 3 })).toMatchObject({ operation: "softmax", rows: 3 });
  for (const wrong of [
    { rows: 0 },
    { columns: 1.5 },
    { operation: "sort" },
    { rows: 131_072, columns: 65_536 },
  ])
    await expect(study.parseInput(wrong)).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

it.each(rowOperations)(
  "the ladder of %s is verified, counted, modelled, and keeps its claims",
  async (operation) => {
    const input = await inputOf(100, 130, operation);
    const report = await study.ladder!.run({ device: "sim", input, rungs: null, seed: 1 });
    expect(report).toMatchObject({ study: "softmax", device: "sim", timeKind: "modelled" });
    expect(report.rungs.map(({ id }) => id)).toEqual(ladder.map(({ id }) => id));
    for (const { id, verified, error, bound, claims } of report.rungs) {
      expect(verified, id).toBe(true);
      expect(error).toBeLessThanOrEqual(bound);
      expect(claims.every(({ holds }) => holds)).toBe(true);
    }
    const times = report.rungs.map(({ timeMs }) => timeMs);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  },
);

it("counts a large matrix on some of its workgroups as in full", async () => {
  const input = await inputOf(4096, 256);
  const { rungs } = await study.ladder!.run({ device: "sim", input, rungs: ["s03"], seed: 1 });
  const [rung] = rungs;
  expect(rung!.sampledTiles).toBeLessThan(rung!.tiles);
  expect(rung!.counters.globalReadBytes).toBe(4 * 4096 * 256);
});

it("a variant is verified, counted and timed where it is named, and says what it is", async () => {
  const input = await inputOf(20, 130);
  const { rungs } = await study.ladder!.run({ device: "sim", input, rungs: ["s02 online", "s02"], seed: 1 });
  const [online, plain] = rungs;
  expect(online).toMatchObject({
    id: "s02 online",
    title: "s02 with passes two",
    verified: true,
    claims: [],
  });
  expect(online!.counters.globalReadBytes / plain!.counters.globalReadBytes).toBe(2 / 3);
  const open = await study.open(input, { id: "sim" });
  expect(open.named["s02 online"]).toMatchObject({ passes: "two" });
});

it("explains a modelled time by axes that there are, and emits sources for each target", async () => {
  const open = await study.open(await inputOf(64, 128), { id: "sim" });
  const names = open.space.axes.map(({ name }) => name);
  const details = { bottleneck: "latency", terms: { latency: 2, shuffles: 1 }, residentWorkgroups: 1 };
  const measurement = {
    timeMs: 1,
    timeKind: "modelled",
    noise: 0,
    championTimeMs: null,
    counters: null,
    details,
  } as const;
  for (const point of [open.baseline, null]) {
    const { bottleneck, observations, axes } = open.explain(measurement, point);
    expect(bottleneck).toBe("latency");
    expect(observations.at(-1)).toMatch(/; 1 workgroup fits on a multiprocessor\.$/);
    for (const axis of axes) expect(names).toContain(axis);
  }
  const files = await open.emit(open.baseline, { subgroup: 32, forwardProgress: true });
  for (const path of ["kernel.js", "kernel.cu", "kernel.hip", "kernel.wgsl", "launch.json", "point.json"])
    expect(files.find((file) => file.path === path)?.text).toMatch(/\w/);
});

it("has a plan for every point that is valid", async () => {
  const open = await study.open(await inputOf(10, 48), { id: "sim" });
  const size = spaceSize(open.space as never);
  for (let i = 0; i < size; i++) {
    const point = pointAt(open.space as never, i) as RowPoint;
    if (open.space.whyInvalid(point) !== null) continue;
    const { launches } = open.plan(point, open.objectiveCase(1).shape, {
      subgroup: 32,
      forwardProgress: true,
    });
    expect(launches).toHaveLength(1);
  }
});

it("the guide tells every rung, and is the same each time", async () => {
  const options = { evidence: null, pictures: "rows" };
  const guide = await study.guide!(options);
  for (const { id, title } of ladder) expect(guide.markdown).toContain(`## ${id}: ${title}`);
  expect(guide.markdown).not.toContain("✗");
  expect(guide.pictures.size).toBe(0);
  expect(await study.guide!(options)).toEqual(guide);
});

it.each(rowOperations)(
  "self-tests of %s in JavaScript pass, and fail where a result is wrong",
  async (operation) => {
    const folder = mkdtempSync(join(tmpdir(), "evolver-rows-"));
    const input = await inputOf(20, 50, operation);
    for (const { id } of namedRungs) {
      const candidate = { kind: "rung", id } as const;
      const { kernel, selftest } = study.kernel!({ candidate, input, target: "js", subgroup: 32 });
      const { source } = emitSelftest(kernel, "js", selftest);
      const wrong = source
        .replace("const allowed = ", "y[0] += 0.01; const allowed = ")
        .replace("let [kernel", "y[0] += 0.01;\n  let [kernel");
      for (const [text, status] of [
        [source, 0],
        [wrong, 1],
      ] as const) {
        const file = join(folder, `${id}-${status}.mjs`);
        writeFileSync(file, text);
        expect(spawnSync(process.execPath, [file]).status).toBe(status);
      }
    }
    rmSync(folder, { recursive: true });
  },
);

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
withCompiler("HIP run on the processor", () => {
  it.each(rowOperations)("self-tests of %s pass", async (operation) => {
    const input = await inputOf(20, 50, operation);
    for (const { id } of namedRungs) {
      const candidate = { kind: "rung", id } as const;
      const { kernel, selftest } = study.kernel!({ candidate, input, target: "hip", subgroup: 32 });
      const [run] = runHip(emitSelftest(kernel, "hip", selftest).source, 32);
      expect(run?.output).toContain(`PASS ${operation}`);
    }
  });
});
