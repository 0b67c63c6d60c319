/** A trial's budget is processor time: a busy machine is no fault of the candidate. */

import { spawn } from "node:child_process";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { byProcessorTime, processorTimeOf } from "@evolver/lab/internal";
import { until } from "./support/until.ts";

let used: number | null;
let expired: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  used = 1000;
  expired = false;
});
afterEach(() => vi.useRealTimers());

const start = (milliseconds: number): (() => void) =>
  byProcessorTime({ milliseconds, used: () => used }, () => (expired = true));

/** So long by the clock, with that share of a processor. */
function pass(milliseconds: number, share: number): void {
  for (let at = 0; at < milliseconds; at += 100) {
    if (used !== null) used += 100 * share;
    vi.advanceTimersByTime(100);
  }
}

it.each([1, 0.5, 0.1])("with %f of a processor it ends when the processor time is used up", (share) => {
  start(2000);
  pass(2000 / share - 300, share);
  expect(expired).toBe(false);
  pass(1000, share);
  expect(expired).toBe(true);
});

it("what waits for something else than a processor ends by the clock", () => {
  start(2000);
  pass(2100, 0.001);
  expect(expired).toBe(true);
});

it("where processor time is not known, the clock counts", () => {
  used = null;
  start(2000);
  pass(1900, 1);
  expect(expired).toBe(false);
  pass(200, 1);
  expect(expired).toBe(true);
});

it("has an end on the busiest machine", () => {
  start(2000);
  pass(60_000, 0.025);
  expect(expired).toBe(true);
});

it("stopped, it never ends", () => {
  start(2000)();
  pass(10_000, 1);
  expect(expired).toBe(false);
});

it.runIf(process.platform === "linux")("counts what a group of processes has used", async () => {
  vi.useRealTimers();
  const child = spawn(process.execPath, ["-e", "for (;;);"], { detached: true, stdio: "ignore" });
  const group = child.pid as number;
  try {
    await until(() => (processorTimeOf(group) ?? 0) >= 50);
  } finally {
    process.kill(-group, "SIGKILL");
  }
  await new Promise((resolve) => child.once("exit", resolve));
  expect(processorTimeOf(group)).toBe(null);
});
