/** The task suite from the command line: a report of some tasks, beside a program that plays the other library. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TasksReport } from "@evolver/studies";
import { afterAll, beforeAll, expect, it } from "vitest";
import { evolver, start } from "./support/command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-tasks-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const bench = (...args: string[]): string[] => [
  ...[
    "bench",
    "tasks",
    "--trials",
    "1",
    "--shrink",
    "4096",
    "--workspace",
    join(folder, "workspace"),
    ...args,
  ],
];

/** Answers as torch.py does; knows no embedding. */
const PEER = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { task, sizes } = JSON.parse(line);
  if (task === "embedding") console.log(JSON.stringify({ error: "it has none" }));
  else if (task !== undefined) console.log(JSON.stringify({ ready: Object.keys(sizes).length > 0, version: "1.2.3" }));
  else console.log(JSON.stringify({ eagerMs: 1e-6, compiledMs: null }));
}
`;

it("reports each task's time, modelled, and its roof", async () => {
  const { code, stdout } = await evolver(bench("--only", "sum,rms-norm", "--json"));
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as TasksReport;
  expect(report).toMatchObject({ device: "sim", timeKind: "modelled", peer: null, failures: [] });
  expect(report.tasks.map(({ id }) => id)).toEqual(["sum", "rms-norm"]);
  for (const { championMs, baselineMs, shareOfRoof, roof } of report.tasks) {
    expect(championMs).toBeLessThanOrEqual(baselineMs);
    expect(shareOfRoof).toBeCloseTo((roof?.timeMs ?? 0) / championMs, 12);
  }
}, 60_000);

it("times the champion and the other library in turns, where times are measured", async () => {
  writeFileSync(join(folder, "peer.mjs"), PEER);
  const peer = `${process.execPath} ${join(folder, "peer.mjs")}`;
  const args = bench("--only", "bias-gelu,embedding", "--device", "cpu", "--peer", peer, "--json");
  const { code, stdout } = await evolver(args);
  expect(code).toBe(0);
  const { tasks, peer: version } = JSON.parse(stdout) as TasksReport;
  expect(version).toBe("1.2.3");
  expect(tasks.map(({ peer: times }) => times)).toEqual([
    { eagerMs: 1e-6, compiledMs: null },
    { eagerMs: null, compiledMs: null },
  ]);
  expect(tasks[0]?.ofPeer).toBeCloseTo(1e-6 / (tasks[0]?.championMs ?? 0), 9);
  expect(tasks[1]?.ofPeer).toBeNull();
}, 60_000);

it("goes on where a task fails, and says so", async () => {
  const { code, stdout } = await evolver(
    bench("--only", "sum", "--peer", "no-such-program", "--device", "cpu"),
  );
  expect([code, stdout]).toEqual([1, expect.stringContaining("sum failed: PEER_FAILED")]);
}, 60_000);

it("stops on Ctrl-C, and reports what is finished", async () => {
  let asked = false;
  const { finished } = start(bench("--only", "sum,rms-norm,adam", "--json"), {
    onStderr(text, child) {
      if (asked || !text.includes("rms-norm")) return;
      asked = true;
      child.kill("SIGINT");
    },
  });
  const { code, stdout } = await finished;
  const { tasks, interrupted, failures } = JSON.parse(stdout) as TasksReport;
  expect({ code, interrupted, failures }).toEqual({ code: 130, interrupted: true, failures: [] });
  expect(tasks.map(({ id }) => id)).toEqual(["sum"]);
}, 60_000);

it("refuses tasks that there are not, before any work", async () => {
  expect(await evolver(bench("--only", "sum,som"))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no task "som"'),
  });
});

it("improves a task by its name", async () => {
  const { code, stdout } = await evolver([
    "evolve",
    "tasks/sum",
    "--n",
    "5000",
    "--cycles",
    "0",
    "--json",
    "--workspace",
    join(folder, "one"),
  ]);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ study: "tasks-sum", input: "n 5000" }),
  ]);
  expect(await evolver(["evolve", "tasks/none"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("UNKNOWN_TASK"),
  });
}, 60_000);
