/** Studies of anybody's kernels: what they are verified on, what passes and what does not, and that they get faster. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tunableOf, type Tunable } from "@evolver/device";
import { buffer, f32, kernel, log2, select, u32 } from "@evolver/kernel";
import {
  evolve,
  fileStudy,
  isTrusted,
  objectiveSlug,
  openJudgeInProcess,
  studyOf,
  type EvolveEvent,
  type EvolveResult,
  type Objective,
  type OpenStudy,
  type StudyInput,
  type Verdict,
} from "@evolver/lab";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dot, large, mixed, rowSums, sixTimes } from "./studies.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-tunable-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const study = (tunable: Tunable) => studyOf(tunable, { module: "none", export: "none", input: {} });
const open = async (tunable: Tunable, given: StudyInput = {}, device = "sim"): Promise<OpenStudy> => {
  const own = study(tunable);
  return own.open(await own.parseInput(given), { id: device });
};

const improve = (tunable: Tunable, options: object = {}): Promise<EvolveResult> =>
  evolve(study(tunable), {
    cycles: 1,
    trialsPerCycle: 6,
    workspace: mkdtempSync(join(folder, "workspace-")),
    openJudge: openJudgeInProcess,
    ...options,
  });

async function judged(tunable: Tunable, point: object, device = "sim"): Promise<Verdict> {
  const own = study(tunable);
  const judge = await openJudgeInProcess(own, await own.parseInput({}), { device });
  const candidate = { kind: "point", point: point as Readonly<Record<string, string>> } as const;
  try {
    return await judge.judge({ candidate, seed: 3, known: {}, champion: null, deadlineMs: 1e6 });
  } finally {
    await judge.close();
  }
}

describe("cases", () => {
  it("have ragged, small and thin sizes, and data that probe an edge", async () => {
    const ids = (await open(tunableOf(rowSums))).cases(1).map(({ id }) => id);
    expect(ids).toEqual([
      "normal values, rows 64, columns 97",
      "normal values, rows 64, columns 211",
      "normal values, rows 64, columns 100",
      "few outliers, rows 64, columns 100",
      "normal values, rows 1, columns 1",
      "normal values, rows 1, columns 97",
      "normal values, rows 64, columns 1",
      "zeros, rows 64, columns 97",
      "equal values, rows 64, columns 97",
      "mixed signs, rows 64, columns 97",
      "large values, rows 64, columns 97",
      "small values, rows 64, columns 97",
      "values far from zero, rows 64, columns 97",
      "few outliers, rows 64, columns 97",
    ]);
  });

  it("keep to the rules of sizes, contents and scalars", async () => {
    const opened = await open(tunableOf(mixed));
    const cases = opened.cases(1);
    for (const { shape, inputs } of cases) {
      const { sizes } = shape as { sizes: { n: number } };
      expect(sizes.n % 4).toBe(0);
      expect(sizes.n).toBeLessThanOrEqual(256);
      expect(inputs["keys"]?.every((key) => key <= 7)).toBe(true);
      expect(inputs["bins"]).toEqual(new Uint32Array(8));
    }
    expect(cases.map(({ id }) => id)).toContain("normal values, n 256, a -2");
    expect(new Set(cases.map(({ shape }) => (shape as { scalars: { a: number } }).scalars.a))).toEqual(
      new Set([0.5, -2]),
    );
  });

  it("are the same for a seed, and others for another", async () => {
    const opened = await open(tunableOf(dot));
    const [first, again, other] = [1, 1, 2].map((seed) => opened.cases(seed)[0]?.inputs["x"]);
    expect(first).toEqual(again);
    expect(first).not.toEqual(other);
  });

  it("leave out data on which the reference leaves the range of f32", async () => {
    const squares = kernel(
      "cubes",
      {
        params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
        sizes: { n: 100 },
        workgroup: [32],
        example: ({ n }) => ({ workgroups: Math.ceil(n / 32), args: { x: n, y: n, n } }),
        reference: ({ x }, round) => ({ y: x.map((value) => round(value ** 3)) }),
      },
      ({ x, y, n }, gpu) => {
        const i = gpu.globalId.x;
        gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(x.get(i)).mul(x.get(i))));
      },
    );
    const ids = (await open(tunableOf(squares))).cases(1).map(({ id }) => id.split(",")[0]);
    expect(ids).not.toContain("large values");
    expect(ids).toContain("small values");
  });
});

describe("the judge", () => {
  it.each([
    ["a kernel with two sizes", tunableOf(rowSums), { width: 64, order: "stride" }],
    ["two launches", sixTimes, { width: 64 }],
    ["buffers in place, integers, halves and an atomic", tunableOf(mixed), { width: 64 }],
    ["one output, and a reference that does not round", tunableOf(dot), {}],
  ])("passes what is right: %s", async (_, tunable, point) => {
    expect(await judged(tunable, point)).toMatchObject({ status: "ok", reason: "" });
  });

  it("compares with the baseline where the reference would take too long", async () => {
    const tunable = tunableOf(large);
    const opened = await open(tunable);
    const expected = opened.expected(opened.objectiveCase(1));
    expect(Object.values(expected).every(isTrusted)).toBe(true);
    expect(await judged(tunable, { way: "right" }, "cpu")).toMatchObject({ status: "ok" });
    for (const way of ["wrong at the end", "rough"]) {
      const { status, reason } = await judged(tunable, { way }, "cpu");
      expect([status, reason]).toEqual([
        "wrong-result",
        expect.stringContaining("the study's baseline gives"),
      ]);
    }
  }, 60_000);

  /** A kernel that is right at its first choice, and wrong in a way of its own at the others. */
  const flawed = kernel(
    "flawed",
    {
      params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
      tune: { flaw: ["none", "last element", "a part in ten thousand", "outside", "too large", "throws"] },
      sizes: { n: 500 },
      workgroup: ({ tune }) => (tune.flaw === "too large" ? [1024, 2] : [32]),
      example: ({ n }) => ({ workgroups: Math.ceil(n / 32), args: { x: n, y: n, n } }),
      reference: ({ x }, round) => ({ y: x.map((value) => round(value * 3)) }),
    },
    ({ x, y, n }, gpu, { flaw }) => {
      if (flaw === "throws") throw new Error("there is no such kernel");
      const i = gpu.globalId.x;
      const end = flaw === "last element" ? n.sub(1) : flaw === "outside" ? n.add(1) : n;
      gpu.if(i.lt(end), () => y.set(i, x.get(i).mul(flaw === "a part in ten thousand" ? 3.0003 : 3)));
    },
  );
  it.each([
    ["none", "ok", ""],
    ["last element", "wrong-result", "is NaN: it was never written"],
    ["a part in ten thousand", "wrong-result", "times what may be"],
    ["outside", "out-of-bounds-write", "element 500 is outside"],
    ["too large", "invalid", "[1024, 2, 1] is not a workgroup size"],
    ["throws", "invalid", "there is no such kernel"],
  ])("finds what is wrong: %s", async (flaw, status, reason) => {
    const verdict = await judged(tunableOf(flawed), { flaw });
    expect(verdict).toMatchObject({ status, reason: expect.stringContaining(reason) });
  });
});

describe("the judge of kernels with a path of their own for multiples of 4", () => {
  const clipped = kernel(
    "clipped",
    {
      params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
      tune: { vectors: ["right", "clipped"] },
      sizes: { n: 2001 },
      workgroup: [32],
      example: ({ n }) => ({ workgroups: Math.ceil(n / 32), args: { x: n, y: n, n } }),
      reference: ({ x }, round) => ({ y: x.map((value) => round(value * 3)) }),
    },
    ({ x, y, n }, gpu, { vectors }) => {
      const i = gpu.globalId.x;
      gpu.if(i.lt(n), () => {
        const value = x.get(i);
        const kept = vectors === "right" ? value : select(n.and(3).eq(0), value.min(50), value);
        y.set(i, kept.mul(3));
      });
    },
  );

  it.each([
    ["right", "ok"],
    ["clipped", "wrong-result"],
  ])("sees that path with outliers: %s", async (vectors, status) => {
    expect(await judged(tunableOf(clipped), { vectors })).toMatchObject({ status });
  });
});

describe("a study", () => {
  it("gets faster, and says how near it is to the roof", async () => {
    const result = await improve(tunableOf(rowSums));
    expect(result.speedup).toBeGreaterThan(1.2);
    expect(result.champion.candidate).toMatchObject({ point: { order: "stride" } });
    expect(result).toMatchObject({ study: "row_sums", input: "rows 64, columns 512", exhausted: false });
    expect(result.roof?.what).toBe("0.131 MB of memory at 4,800 GB/s");
    expect(result.explanation.observations[0]).toMatch(/^It is at .* % of the roof of H200/);
  });

  it("ends when all its points are tried, and without choices after the baseline", async () => {
    expect(await improve(sixTimes, { cycles: 5 })).toMatchObject({ trials: 2, exhausted: true });
    expect(await improve(tunableOf(dot), { cycles: 5 })).toMatchObject({ trials: 1, exhausted: true });
  });

  it("tries what the author names first", async () => {
    const tried: unknown[] = [];
    await improve(tunableOf(rowSums), {
      trialsPerCycle: 2,
      onEvent: (event: EvolveEvent) => event.kind === "trial" && tried.push(event.trial.candidate),
    });
    expect(tried[1]).toEqual({ kind: "point", point: { width: 32, order: "stride" } });
    expect(tried).toHaveLength(3);
  });

  it("begins at a variant", async () => {
    const result = await improve(tunableOf(rowSums), { cycles: 0, from: "fast" });
    expect(result.baseline.candidate).toMatchObject({ point: { width: 32, order: "stride" } });
  });

  it("takes its sizes as options", async () => {
    const own = study(tunableOf(mixed));
    const option = own.options.find(({ name }) => name === "n");
    expect(option?.parse?.("64")).toBe(64);
    expect(() => option?.parse?.("63")).toThrow("n is 63, and must be a multiple of 4.");
    expect(() => option?.parse?.("many")).toThrow("many");
    expect(await own.parseInput({ n: 128 })).toMatchObject({ n: 128 });
    await expect(own.parseInput({ n: 1.5 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("refuses names of sizes that the command line has, and data that cannot be judged", async () => {
    const logs = (sizes: object) =>
      kernel(
        "logs",
        {
          params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
          sizes: { n: 100, ...sizes },
          workgroup: [32],
          example: ({ n }) => ({ workgroups: Math.ceil(n / 32), args: { x: n, y: n, n } }),
          reference: ({ x }) => ({ y: x.map((value) => Math.log2(value)) }),
        },
        ({ x, y, n }, gpu) =>
          gpu.if(gpu.globalId.x.lt(n), () => y.set(gpu.globalId.x, log2(x.get(gpu.globalId.x)))),
      );
    expect(() => study(tunableOf(logs({ device: 3 })))).toThrow('cannot be called "device"');
    await expect(open(tunableOf(logs({})))).rejects.toMatchObject({ code: "DATA_INVALID" });
  });

  it("refuses sizes that no device has room for, before anything is made", async () => {
    await expect(open(tunableOf(dot), { n: 2 ** 29 })).rejects.toMatchObject({
      code: "INVALID_SIZE",
      message: expect.stringContaining('the buffer "x" would have 536,870,912 elements'),
    });
  });

  it("gives a kernel and its self-test", () => {
    const request = {
      candidate: { kind: "rung", id: "fast" },
      input: {},
      target: "js",
      subgroup: 32,
    } as const;
    const found = study(tunableOf(rowSums)).kernel?.(request);
    expect(found?.kernel.name).toBe("row_sums");
    expect(found?.selftest.args["y"]).toMatchObject({ expected: { tolerance: { relative: 0 } } });
    expect(() =>
      study(tunableOf(rowSums)).kernel?.({ ...request, candidate: { kind: "rung", id: "slow" } }),
    ).toThrow('has no variant "slow"');
    expect(() =>
      study(sixTimes).kernel?.({ ...request, candidate: { kind: "rung", id: "baseline" } }),
    ).toThrow('"six times" is 2 launches');
  });
});

it("is the same objective wherever its file lies, and another one where the file has changed", () => {
  const objective = (file: string, fileHash: string): Objective => ({
    study: "double",
    title: "double",
    input: { file, fileHash, export: "double", n: 8 },
    inputTitle: "n 8",
    device: "sim",
    profile: "any",
  });
  const slug = objectiveSlug(objective("/here/double.ts", "1234"));
  expect(objectiveSlug(objective("/there/double.ts", "1234"))).toBe(slug);
  expect(objectiveSlug(objective("/here/double.ts", "5678"))).not.toBe(slug);
});

describe("a file", () => {
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const KERNEL = `import { buffer, f32, kernel, u32 } from "@evolver/kernel";
const make = (name) => kernel(name, {
  params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
  tune: { width: [32, 64, 256] },
  sizes: { n: 3000 },
  workgroup: ({ tune }) => [tune.width],
  example: ({ n }, { width }) => ({ workgroups: Math.ceil(n / width), args: { x: n, y: n, n } }),
  reference: ({ x }) => ({ y: x.map((value) => 2 * value) }),
}, ({ x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(2)));
});
`;

  it("is a study, which the judge's own process loads again", async () => {
    const path = file(
      "double.mjs",
      `${KERNEL}export const double = make("double");\nexport const other = 1;\n`,
    );
    const result = await evolve(await fileStudy(path), {
      cycles: 1,
      trialsPerCycle: 2,
      workspace: join(folder, "by-file"),
    });
    expect(result).toMatchObject({ study: "double", trials: 3, input: "n 3000" });
  }, 60_000);

  it("is refused where it has changed, and where it is not clear what to improve", async () => {
    const path = file("two.mjs", `${KERNEL}export const a = make("a");\nexport const b = make("b");\n`);
    await expect(fileStudy(path)).rejects.toMatchObject({ code: "EXPORT_MISSING" });
    const own = await fileStudy(`${path}#b`);
    const input = await own.parseInput({});
    expect(input).toMatchObject({ file: path, export: "b" });
    writeFileSync(path, `${KERNEL}export const b = make("b");\n`);
    const changed = evolve(own, { input, cycles: 0, workspace: join(folder, "changed") });
    await expect(changed).rejects.toMatchObject({ code: "INPUT_CHANGED" });
    await expect(fileStudy(`${path}#c`)).rejects.toMatchObject({ code: "EXPORT_NOT_FOUND" });
    await expect(fileStudy(join(folder, "none.ts"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    const empty = file("empty.mjs", "export const one = 1;\n");
    await expect(fileStudy(empty)).rejects.toMatchObject({ code: "NO_STUDY" });
  }, 60_000);
});
