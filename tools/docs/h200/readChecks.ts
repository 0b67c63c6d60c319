/** Results of checks on the GPU, as evidence holds them. Null is what was not run. */

import type { Field } from "../../../packages/attention/src/study/guide/field.ts";

export const GPU_DEVICES = ["cuda", "webgpu"] as const;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** What the device does not promise; 0 where everything has to pass. */
  readonly skipped: number;
}

interface Goldens extends Counts {
  readonly cases: number;
  readonly rungs: number;
}

interface Passed {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

interface DeviceChecks {
  readonly conformance: Counts | null;
  readonly goldens: Goldens | null;
  readonly faults: Passed | null;
  readonly property: { readonly programs: number; readonly agree: boolean } | null;
}

export interface Checks {
  readonly devices: Readonly<Record<(typeof GPU_DEVICES)[number], DeviceChecks>>;
  /** Emitted programs, built by nvcc. */
  readonly selftest: Passed | null;
  /** The same as HIP, through HIP's own NVIDIA path. */
  readonly hip: Passed | null;
  /** Accesses beyond 2³¹ and 2³² bytes and elements. */
  readonly large: Passed | null;
  /** Microseconds a launch. */
  readonly launch: { readonly evolver: number; readonly bare: number } | null;
  readonly noise: {
    readonly cycles: number;
    readonly kept: number;
    readonly smallest: number;
    readonly largest: number;
  } | null;
}

type Load = <T>(name: string, parse: (report: Field) => T) => T | null;

/** @throws EvolverError EVIDENCE_INVALID */
export function readChecks(load: Load): Checks {
  const checksOf = (device: string): DeviceChecks => ({
    conformance: load(`conformance-${device}`, parseCounts),
    goldens: load(`goldens-${device}`, (report) => ({
      ...parseCounts(report),
      cases: report.get("cases").positive(),
      rungs: report.get("rungs").positive(),
    })),
    faults: load(`faults-${device}`, (report) => passedIn(report, "results", "fault", isRight)),
    property: load(`property-${device}`, (report) => ({
      programs: report.get("programs").positive(),
      agree: report.get("agree").flag(),
    })),
  });
  const passes = (report: Field): Passed =>
    passedIn(report, "tests", "name", (test) => test.get("pass").flag());
  return {
    devices: { cuda: checksOf("cuda"), webgpu: checksOf("webgpu") },
    selftest: load("selftest", passes),
    hip: load("hip-nvidia", passes),
    large: load("large", (report) =>
      passedIn(report, "results", "edge", (edge) => edge.get("status").text() === "right"),
    ),
    launch: load("launch", (report) => ({
      evolver: report.get("evolver").get("enqueueMicroseconds").positive(),
      bare: report.get("cuLaunchKernelInC").get("enqueueMicroseconds").positive(),
    })),
    noise: load("noise-cuda", (report) => ({
      cycles: report.get("cycles").positive(),
      kept: report.get("kept").number(),
      smallest: report.get("gains").get("smallest").number(),
      largest: report.get("gains").get("largest").number(),
    })),
  };
}

const isRight = (result: Field): boolean => result.get("right").flag();

function parseCounts(report: Field): Counts {
  return {
    passed: report.get("passed").number(),
    failed: report.get("failed").number(),
    skipped: report.has("skipped") ? report.get("skipped").number() : 0,
  };
}

function passedIn(report: Field, list: string, name: string, passes: (item: Field) => boolean): Passed {
  const items = report
    .get(list)
    .items()
    .map((item) => ({ name: item.get(name).text(), right: passes(item) }));
  const named = (right: boolean): string[] =>
    items.filter((item) => item.right === right).map((item) => item.name);
  return { passed: named(true), failed: named(false) };
}
