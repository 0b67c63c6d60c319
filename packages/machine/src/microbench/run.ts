/** Runs the suite, or some of its tests, on a device and gives the report. */

import { deviceRows, type Device } from "@evolver/device";
import { assertNever, EvolverError } from "@evolver/base";
import type { Clock, MicrobenchReport, Result, Section } from "./report.ts";
import { Runner, type Outcome } from "./runner.ts";
import { MAX_MULTIPROCESSORS, type Setup } from "./spec.ts";
import { arithmetic } from "./benchmarks/arithmetic.ts";
import { tests } from "./benchmarks/index.ts";
import type { Test } from "./benchmark.ts";

/** What `runMicrobench` runs. */
export interface MicrobenchOptions {
  /** Ids of tests; all if absent. */
  readonly only?: readonly string[];
  /** Smaller arrays and fewer settings. */
  readonly quick?: boolean;
  readonly onProgress?: (done: number, total: number, text: string) => void;
}

/** Repetitions of every timed launch; results are medians. */
const REPETITIONS = 11;
const QUICK_REPETITIONS = 9;
/** Multiprocessors to lay grids out for where the driver does not say: enough to fill any GPU. */
const GUESSED_MULTIPROCESSORS = 128;
/** Slower than this and a device is a processor, whatever it calls itself. */
const GPU_GFLOPS = 400;

/** Each once, however often it is named. @throws EvolverError UNKNOWN_TEST, and NO_TESTS for a list of none */
export function findTests(only: readonly string[] | undefined): readonly Test[] {
  if (only === undefined) return tests;
  if (only.length === 0) {
    throw new EvolverError("NO_TESTS", "no microbenchmark is named", {
      hint: `there are ${tests.map((test) => test.id).join(", ")}; leave the list out for all`,
    });
  }
  return [...new Set(only)].map((id) => {
    const found = tests.find((test) => test.id === id);
    if (found !== undefined) return found;
    throw new EvolverError("UNKNOWN_TEST", `there is no microbenchmark "${id}"`, {
      hint: `there are ${tests.map((test) => test.id).join(", ")}`,
    });
  });
}

/** @throws EvolverError UNKNOWN_TEST, NO_TESTS, and what the device throws; a wrong result is no error but `verified: false` */
export async function runMicrobench(
  device: Device,
  options: MicrobenchOptions = {},
): Promise<MicrobenchReport> {
  const { only, quick = false, onProgress = () => {} } = options;
  const chosen = findTests(only);
  const began = performance.now();
  const machine = device.machine ?? null;
  const size = await sizeOf(device);
  const setup: Setup = setupOf(device, size, quick);
  const multiprocessors = Math.min(
    MAX_MULTIPROCESSORS,
    machine?.multiprocessors ?? (size === "full" ? GUESSED_MULTIPROCESSORS : 8),
  );
  const clock: Clock | null =
    machine?.clockGHz == null
      ? null
      : { gigahertz: machine.clockGHz, source: "the highest clock, as the driver says" };
  const repetitions = size === "tiny" ? 0 : quick ? QUICK_REPETITIONS : REPETITIONS;
  const targetMs = size === "full" ? (quick ? 0.3 : 0.6) : quick ? 1.5 : 3;
  const sections: Section[] = [];
  const context = {
    setup,
    multiprocessors,
    clockGHz: clock?.gigahertz ?? null,
    cacheBytes: machine?.cacheBytes ?? null,
  };
  const plans = chosen.map((test) => ({ test, plan: test.plan(setup) }));
  const total = plans.reduce((sum, { plan }) => sum + plan.cases.length, 0);
  let done = 0;
  for (const { test, plan } of plans) {
    const runner = new Runner(device, { multiprocessors, repetitions, targetMs });
    try {
      for (const fill of plan.fills) await runner.launch(fill);
      const outcomes = await runner.measure(plan.cases, (id) =>
        onProgress(done++, total, `${test.id}: ${id}`),
      );
      const { id, title, about } = test;
      sections.push({ id, title, about, results: outcomes.map(resultOf), ...plan.read(outcomes, context) });
    } finally {
      runner.release();
    }
  }
  return {
    device: device.id,
    deviceName: device.name,
    subgroup: device.subgroupSize,
    timeKind: size === "tiny" ? "none" : "measured",
    quick,
    clock,
    machine,
    multiprocessors,
    sections,
    verified: sections.every(({ results }) => results.every(({ verified }) => verified)),
    seconds: (performance.now() - began) / 1000,
  };
}

export function setupOf(
  { subgroupSize, limits, forwardProgress }: Pick<Device, "subgroupSize" | "limits" | "forwardProgress">,
  size: Setup["size"],
  quick: boolean,
): Setup {
  return {
    subgroup: subgroupSize,
    size,
    quick,
    maxInvocations: limits.maxInvocationsPerWorkgroup,
    maxSharedBytes: limits.maxSharedBytes,
    maxBufferBytes: limits.maxBufferBytes,
    forwardProgress,
  };
}

async function sizeOf(device: Device): Promise<Setup["size"]> {
  const { measures, hardware } = deviceRows[device.id];
  if (!measures) return "tiny";
  switch (hardware) {
    case "processor":
      return "small";
    case "gpu":
      return "full";
    case "any":
      return (await isFast(device)) ? "full" : "small";
    default:
      return assertNever(hardware, "hardware");
  }
}

/** There may be a processor underneath: a short run of multiply-adds tells. */
async function isFast(device: Device): Promise<boolean> {
  const runner = new Runner(device, { multiprocessors: 8, repetitions: 3, targetMs: 1 });
  try {
    const { cases } = arithmetic.plan(setupOf(device, "small", true));
    const probe = cases.find(({ settings }) => settings["kind"] === "throughput");
    if (probe === undefined) return false;
    const [outcome] = await runner.measure([{ ...probe, launch: { ...probe.launch, workgroups: 64 } }]);
    return (outcome?.value ?? 0) >= GPU_GFLOPS;
  } finally {
    runner.release();
  }
}

function resultOf({ spec, ...outcome }: Outcome): Result {
  const { id, name, unit, settings } = spec;
  return { id, name, unit, settings, ...outcome };
}
