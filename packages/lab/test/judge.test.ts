import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openJudgeInProcess, openJudgeProcess } from "@evolver/lab";
import type { Candidate, Judge, JudgeRequest, Study, Verdict } from "@evolver/lab";
import type { Expectation } from "./cheats/cheat.ts";
import { until } from "./support/until.ts";
import { deaf, loose, notANumber, partly, toy, trapped } from "./support/toy-study.ts";

/** A deadline that no test reaches. */
const NEVER_MS = 2 ** 31 - 1;
const CHEATS = join(import.meta.dirname, "cheats");
const baseline = { rows: 1, vector: 1, weights: "global", unroll: 1 };

// A process of its own only where that is what a test is about; verdicts are the same.
let judge: Judge;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "evolver-test-"));
  judge = await openJudgeInProcess(toy, {}, { device: "sim" });
});
afterAll(async () => {
  await judge.close();
  rmSync(folder, { recursive: true, force: true });
});

function ask(candidate: Candidate, request: Partial<JudgeRequest> = {}, by = judge): Promise<Verdict> {
  return by.judge({ candidate, seed: 1, known: {}, champion: null, deadlineMs: NEVER_MS, ...request });
}

const point = (changes: object = {}): Candidate => ({ kind: "point", point: { ...baseline, ...changes } });

/** A candidate module with this text. */
function written(text: string, name = "candidate"): Candidate {
  const path = join(folder, `${name}-${Math.random().toString(36).slice(2)}.ts`);
  writeFileSync(path, text.replaceAll("MATVEC", join(CHEATS, "matvec.ts")));
  return { kind: "module", path };
}

/** Whether a process that builds one of this file's candidates is alive: it may read their folder, so that its command line names it. */
function isBuilding(): boolean {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false;
      }
    });
}

describe("a candidate that is right", () => {
  it("is verified on all cases before and after timing, and timed", async () => {
    const verdict = await ask(point());
    expect(verdict).toMatchObject({ status: "ok", reason: "", timeKind: "modelled", noise: 0 });
    expect(verdict.timeMs).toBeGreaterThan(0);
    expect(verdict.counters?.globalReadBytes).toBe(2 * 4 * 40 * 256);
    expect(verdict.error!).toBeLessThanOrEqual(verdict.bound!);
    const stages = verdict.cases.map(({ stage }) => stage);
    expect(stages).toEqual([...stages].toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    expect(verdict.cases.filter(({ stage }) => stage === "verify").map((outcome) => outcome.case)).toEqual([
      "random 5×36",
      "one row",
      "one hot 7×64",
      "zeros and ones 5×36",
      "all zero 3×8",
      "objective 40×256",
    ]);
    const seedsOf = (stage: string): Set<number> =>
      new Set(verdict.cases.filter((outcome) => outcome.stage === stage).map(({ seed }) => seed));
    // The data that it was timed on are among those after.
    expect(seedsOf("verify-after-timing").size).toBe(seedsOf("verify").size + 1);
    for (const seed of seedsOf("verify-after-timing")) expect(seedsOf("verify")).not.toContain(seed);
  });

  it("gets the same verdict again, bit for bit, and other data with another seed", async () => {
    const first = await ask(point({ vector: 4 }));
    expect(await ask(point({ vector: 4 }))).toEqual(first);
    const other = await ask(point({ vector: 4 }), { seed: 2 });
    expect(other.cases.map(({ seed }) => seed)).not.toEqual(first.cases.map(({ seed }) => seed));
  });

  it("is refused if a trial before did the same under another name", async () => {
    const { hash } = await ask(point());
    const verdict = await ask(point(), { known: { [hash as string]: 12 } });
    expect(verdict).toMatchObject({
      status: "duplicate",
      reason: "It does the same as trial 12.",
      timeMs: null,
    });
    // Unrolling is a request to a compiler; it makes another program.
    expect((await ask(point({ unroll: 2 }), { known: { [hash as string]: 12 } })).status).toBe("ok");
  });

  it("has the hash that a module with the same kernel has, whatever it calls things", async () => {
    const text = (name: string): string => `
      import { matvec } from "MATVEC";
      export function plan(shape, build) {
        const plan = matvec(shape, build);
        const rename = (text) => text === "memory" ? "${name}" : text;
        return { ...plan, timeMs: 0, buffers: plan.buffers.map((b) => ({ ...b, name: rename(b.name) })),
          launches: plan.launches.map((l) => ({ ...l, args: { ...l.args, memory: { buffer: "${name}" } } })) };
      }`;
    const [a, b] = [await ask(written(text("memory"))), await ask(written(text("other")))];
    expect(a).toMatchObject({ status: "ok", reason: "" });
    expect(a.hash).toBe(b.hash);
    // Its own claim of a time is nobody's business.
    expect(a.timeMs).toBeGreaterThan(0);
  });
});

describe("scratch", () => {
  const text = (zeroed: boolean | "once", left = "count"): string => `
    import { matvec } from "MATVEC";
    export function plan(shape, build) {
      const plan = matvec(shape, build, {
        write({ y, row, memory }, sum) {
          const count = memory.get(row).add(1);
          memory.set(row, ${left});
          y.set(row, sum.mul(count.toF32()));
        },
      });
      return { ...plan, buffers: plan.buffers.map((b) => b.name === "memory" ? { ...b, zeroed: ${JSON.stringify(zeroed)} } : b) };
    }`;

  it("is zero before every run if the plan says so", async () => {
    expect(await ask(written(text(true)))).toMatchObject({ status: "ok", reason: "" });
  });

  it("is zero before the first run if the plan says that, and then holds what the kernel left", async () => {
    expect(await ask(written(text("once", "count.sub(1)")))).toMatchObject({ status: "ok", reason: "" });
    const left = await ask(written(text("once")));
    expect(left).toMatchObject({
      status: "invalid",
      reason: expect.stringMatching(/It left memory\[0\] = 1; /),
    });
  });

  it("is little where it is zeroed once, so that it can be looked at", async () => {
    const large = `
      import { matvec } from "MATVEC";
      export function plan(shape, build) {
        const plan = matvec(shape, build);
        const more = { name: "more", role: "scratch", element: "f32", length: 65537, zeroed: "once" };
        return { ...plan, buffers: [...plan.buffers, more] };
      }`;
    expect(await ask(written(large))).toMatchObject({
      status: "invalid",
      reason: expect.stringMatching(/more has 65537 elements/),
    });
  });

  it("is garbage otherwise, so that nothing may be taken for granted", async () => {
    expect(await ask(written(text(false)))).toMatchObject({ status: "wrong-result" });
  });
});

const ORDER = ["verify", "repeat", "verify-after-timing"];

describe("planted cheats", async () => {
  const names = readdirSync(CHEATS).filter((name) => /^\d\d-/.test(name));
  const caught: string[] = [];
  afterAll(() => {
    console.log(`caught ${caught.length} of ${names.length} planted cheats`);
  });

  it.each(names)("%s is caught for the stated reason, and its honest twin passes", async (name) => {
    const path = join(CHEATS, name);
    const { expectation } = (await import(path)) as { readonly expectation: Expectation };
    const cheat = await ask({ kind: "module", path });
    expect({ status: cheat.status, reason: cheat.reason }).toEqual({
      status: expectation.status,
      reason: expect.stringMatching(expectation.reason),
    });
    expect(cheat.timeMs).toBeNull();
    const twin = await ask({ kind: "module", path, export: "honest" });
    expect({ status: twin.status, reason: twin.reason }).toEqual({ status: "ok", reason: "" });
    caught.push(name);
  });

  it("cover the cases that a first set must", () => {
    const numbers = new Set(names.map((name) => Number(name.slice(0, 2))));
    expect([...numbers]).toEqual([1, 2, 7, 8, 10, 19, 20, 23, 24, 29, 31]);
  });
});

it("what the truth is not known for must be what the baseline gives", async () => {
  const own = await openJudgeInProcess(partly, {}, { device: "sim" });
  const wrongFrom = (first: number): Candidate =>
    written(`
      import { matvec } from "MATVEC";
      import { f32, select } from "@evolver/kernel";
      export const plan = (shape, build) => matvec(shape, build, {
        write: ({ gpu, y, row }, sum) => y.set(row, select(row.ge(${first}), gpu.constant(f32, 1), sum)),
      });`);
  try {
    expect(await ask(wrongFrom(39), {}, own)).toMatchObject({
      status: "wrong-result",
      reason: expect.stringMatching(/y\[39\] is 1, and the study's baseline gives/),
    });
    expect(await ask(wrongFrom(40), {}, own)).toMatchObject({ status: "ok", reason: "" });
  } finally {
    await own.close();
  }
});

describe("a candidate that is no candidate", () => {
  it.each([
    ["a value that the axis lacks", { vector: 3 }, /vector is 3, and must be one of 1, 2, 4/],
    ["an axis that there is not", { colour: "red" }, /no axis colour/],
    ["an axis missing", { rows: undefined }, /no rows/],
  ])("a point with %s is invalid", async (_, changes, reason) => {
    const verdict = await ask(point(changes));
    expect(verdict).toMatchObject({ status: "invalid", reason: expect.stringMatching(reason) });
  });

  const plans: [string, string, string, RegExp][] = [
    [
      "throws",
      `export function plan() { throw new RangeError("no tile of 0"); }`,
      "build-failed",
      /no tile of 0/,
    ],
    ["is no TypeScript", `export const plan = ;`, "build-failed", /SyntaxError/],
    ["exports no plan", `export const nothing = 1;`, "build-failed", /exports no function called plan/],
    ["gives no plan", `export const plan = () => ({ kernels: [] });`, "invalid", /lists of kernels/],
    ["ends its process", `process.exit(0);`, "invalid", /can't be read/],
    [
      "exhausts its memory",
      `const all = []; for (;;) all.push(new Array(1e6).fill(1));`,
      "build-failed",
      /./,
    ],
    [
      "prints a verdict of its own",
      `import { writeSync } from "node:fs"; writeSync(3, '{"kind":"verdict","status":"ok"}'); process.exit(0);`,
      "invalid",
      /something else than its plans/,
    ],
    [
      "starts a process",
      `import { spawn } from "node:child_process"; spawn("sleep", ["1000"], { detached: true });
       export const plan = () => null;`,
      "build-failed",
      /ERR_ACCESS_DENIED|restricted|permission/i,
    ],
    [
      "writes a file",
      `import { writeFileSync } from "node:fs"; writeFileSync("/tmp/evolver-forged", "x"); export const plan = () => null;`,
      "build-failed",
      /ERR_ACCESS_DENIED|restricted|permission/i,
    ],
    [
      "reads what is none of its business",
      `import { readFileSync } from "node:fs"; readFileSync("/etc/hostname"); export const plan = () => null;`,
      "build-failed",
      /ERR_ACCESS_DENIED|restricted|permission/i,
    ],
    [
      "takes an input of another length",
      `import { matvec } from "MATVEC";
       export const plan = (shape, build) => matvec({ ...shape, rows: shape.rows + 1 }, build);`,
      "invalid",
      /input x is \d+ f32; the plan says/,
    ],
    [
      "has no output",
      `import { matvec } from "MATVEC";
       export function plan(shape, build) {
         const plan = matvec(shape, build);
         return { ...plan, buffers: plan.buffers.map((b) => b.name === "y" ? { ...b, role: "scratch" } : b) };
       }`,
      "invalid",
      /no output called y/,
    ],
    [
      "may read its output, and so see whether it was there before",
      `import { kernel, buffer, f32 } from "@evolver/kernel";
       import { matvec } from "MATVEC";
       export function plan(shape, build) {
         const plan = matvec(shape, build);
         const ir = kernel("again", { params: { y: buffer(f32, "read_write") }, workgroup: [32] },
           ({ y }, gpu) => gpu.if(gpu.lane.eq(0), () => y.set(0, y.get(0)))).build(build);
         const launch = { kernel: 1, workgroups: [1, 1, 1], args: { y: { buffer: "y" } } };
         return { ...plan, kernels: [...plan.kernels, ir], launches: [...plan.launches, launch] };
       }`,
      "invalid",
      /may read the output y/,
    ],
    [
      "wants a workgroup of 4096",
      `import { kernel, buffer, f32 } from "@evolver/kernel";
       export function plan({ rows, columns }) {
         const ir = kernel("k", { params: { y: buffer(f32, "write") }, workgroup: [4096] },
           ({ y }, gpu) => y.set(gpu.globalId.x, 0)).build({ subgroup: 32 });
         const buffers = [["x", "input", rows * columns], ["w", "input", columns], ["y", "output", rows]]
           .map(([name, role, length]) => ({ name, role, element: "f32", length }));
         return { kernels: [ir], buffers, launches: [{ kernel: 0, workgroups: [1, 1, 1], args: { y: { buffer: "y" } } }] };
       }`,
      "build-failed",
      /4096/,
    ],
  ];

  it.each(plans)("a module that %s", async (_, text, status, reason) => {
    const verdict = await ask(written(text));
    expect(verdict).toMatchObject({ status, reason: expect.stringMatching(reason) });
  });

  it("a race is a finding, with its line", async () => {
    const text = `
      import { matvec } from "MATVEC";
      export const plan = (shape, build) => matvec(shape, build, {
        around({ gpu, y, row }, work) { y.set(row, gpu.lane.toF32()); work(); },
      });`;
    const verdict = await ask(written(text));
    expect(verdict).toMatchObject({
      status: "findings",
      reason: expect.stringMatching(/data-race.*candidate-\w+\.ts:\d/s),
    });
  });

  it("an answer that changes from run to run is nondeterministic, though within its tolerance", async () => {
    const text = `
      import { f32, select } from "@evolver/kernel";
      import { counting } from "${join(CHEATS, "counting.ts")}";
      export const plan = counting((step, run, work) => work(), {
        write({ gpu, y, row, memory }, sum) {
          const odd = memory.get(row).and(1).eq(1);
          y.set(row, sum.mul(select(odd, gpu.constant(f32, 1 + 2 ** -23), 1)));
        },
      });`;
    expect(await ask(written(text))).toMatchObject({
      status: "nondeterministic",
      reason: expect.stringMatching(/the same input gave y/),
    });
  });
});

describe("in a separate process", () => {
  let isolated: Judge;
  beforeAll(async () => {
    isolated = await openJudgeProcess(toy, {}, { device: "sim" });
  });
  afterAll(() => isolated.close());

  it("the verdict and what was made sure of are those of a judge in this process", async () => {
    expect(isolated.admission).toEqual(judge.admission);
    expect(await ask(point({ vector: 2 }), {}, isolated)).toEqual(await ask(point({ vector: 2 })));
  });

  it("kills a module that ignores signals and loops forever, with all its group, and the next one is judged", async () => {
    const { own, expire, begun } = await openWithDeadline();
    try {
      const candidate = written(
        `for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]) process.on(signal, () => {});
         for (;;);`,
        "stubborn",
      );
      const asked = ask(candidate, {}, own);
      // It is tried twice before there is no verdict.
      for (const tries of [1, 2]) {
        await until(() => isBuilding() && begun() === tries);
        expire();
      }
      expect(await asked).toMatchObject({
        status: "timeout",
        timeMs: null,
        reason: expect.stringMatching(/^No verdict: /),
      });
      await until(() => !isBuilding());
      expect((await ask(point(), {}, own)).status).toBe("ok");
    } finally {
      await own.close();
    }
  });

  it("kills a kernel that never ends", async () => {
    const { own, expire, begun } = await openWithDeadline();
    try {
      const text = `
        import { matvec } from "MATVEC";
        export const plan = (shape, build) => matvec(shape, build, {
          around({ gpu, memory, row }, work) { gpu.while(() => memory.get(row).ne(1), () => { memory.get(row); }); work(); },
        });`;
      const asked = ask(written(text), {}, own);
      // Once its process has built the plan, the kernel is what runs. Unless it was found at fault before, it is tried twice.
      let isOver = false;
      void asked.then(() => (isOver = true));
      for (const tries of [1, 2]) {
        await until(() => isOver || (isBuilding() && begun() === tries));
        await until(() => isOver || !isBuilding());
        if (!isOver) expire();
      }
      expect(["timeout", "findings"]).toContain((await asked).status);
      expect((await ask(point(), {}, own)).status).toBe("ok");
    } finally {
      await own.close();
    }
  });

  it("and ends of the judge's process are verdicts too", async () => {
    const own = await openJudgeProcess(trapped, {}, { device: "sim" });
    try {
      // It never ends, so that any budget is used up.
      expect((await ask(point({ unroll: 2 }), { deadlineMs: 500 }, own)).status).toBe("timeout");
      const crashed = await ask(point({ unroll: 4 }), {}, own);
      expect(crashed).toMatchObject({ status: "crashed", reason: expect.stringContaining("exit code 7") });
      expect((await ask(point(), {}, own)).status).toBe("ok");
    } finally {
      await own.close();
    }
  });

  it("an abort stops it at once", async () => {
    const controller = new AbortController();
    const request = {
      candidate: written("for (;;);"),
      seed: 1,
      known: {},
      champion: null,
      deadlineMs: NEVER_MS,
    };
    const asked = isolated.judge(request, controller.signal);
    await until(isBuilding);
    controller.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
  });

  /** A judge whose deadlines are over when the test says so. */
  async function openWithDeadline(): Promise<{
    readonly own: Judge;
    readonly expire: () => void;
    /** How often a trial was begun. */
    readonly begun: () => number;
  }> {
    let expire = (): void => {};
    let count = 0;
    const own = await openJudgeProcess(
      toy,
      {},
      {
        device: "sim",
        startDeadline(_, end) {
          expire = end;
          count++;
          return () => {};
        },
      },
    );
    return { own, expire: () => expire(), begun: () => count };
  }
});

describe("admission", () => {
  const refused: [string, Study, RegExp][] = [
    ["zeros would pass", loose, /All zeros would pass for the output y in case random/],
    ["the answer does not depend on an input", deaf, /does not depend on w/],
    ["the truth has a NaN", notANumber, /the truth of y in case .* has a NaN/],
  ];
  it.each(refused)("refuses a study where %s", async (_, study, reason) => {
    const error = await openJudgeInProcess(study, {}, { device: "sim" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "STUDY_REFUSED" });
    expect(String(error)).toMatch(reason);
  });

  it("refuses it in a separate process, too", async () => {
    const opened = openJudgeProcess(loose, {}, { device: "sim" });
    await expect(opened).rejects.toMatchObject({ code: "STUDY_REFUSED" });
  });

  it("says what it checked", () => {
    expect(judge.admission.checks.join(" ")).toMatch(/zeros, constants, the mean and permutations fail/);
    expect(judge.admission.subgroup).toBe(32);
  });
});
