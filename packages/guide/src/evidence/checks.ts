/** Results of checks on a GPU: conformance, golden values, faults, self-tests, noise. Null is what was not run. */

import * as v from "valibot";
import { evidenceDevices, type EvidenceDevice } from "@evolver/lab";
import { flag, number, positive, text } from "./schema-parts.ts";

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
  readonly devices: Readonly<Record<EvidenceDevice, DeviceChecks>>;
  /** Emitted programs, built by nvcc. */
  readonly selftest: Passed | null;
  /** The same as HIP, through HIP's own NVIDIA path. */
  readonly hip: Passed | null;
  /** Accesses beyond 2³¹ and 2³² bytes and elements. */
  readonly large: Passed | null;
  /** Microseconds per launch. */
  readonly launch: { readonly evolver: number; readonly bare: number } | null;
  readonly noise: {
    readonly cycles: number;
    readonly kept: number;
    readonly smallest: number;
    readonly largest: number;
  } | null;
}

export type Load = <Report>(name: string, schema: v.GenericSchema<unknown, Report>) => Report | null;

const counts = { passed: number, failed: number, skipped: v.optional(number, 0) };

const sorted = (items: readonly { readonly name: string; readonly right: boolean }[]): Passed => {
  const named = (right: boolean): string[] =>
    items.filter((item) => item.right === right).map(({ name }) => name);
  return { passed: named(true), failed: named(false) };
};

const faults = v.pipe(
  v.object({ results: v.array(v.object({ fault: text, right: flag })) }),
  v.transform(({ results }) => sorted(results.map(({ fault, right }) => ({ name: fault, right })))),
);

const tests = v.pipe(
  v.object({ tests: v.array(v.object({ name: text, pass: flag })) }),
  v.transform((report) => sorted(report.tests.map(({ name, pass }) => ({ name, right: pass })))),
);

const large = v.pipe(
  v.object({ results: v.array(v.object({ edge: text, status: text })) }),
  v.transform(({ results }) =>
    sorted(results.map(({ edge, status }) => ({ name: edge, right: status === "right" }))),
  ),
);

const enqueued = v.object({ enqueueMicroseconds: positive });

const launch = v.pipe(
  v.object({ evolver: enqueued, cuLaunchKernelInC: enqueued }),
  v.transform(({ evolver, cuLaunchKernelInC }) => ({
    evolver: evolver.enqueueMicroseconds,
    bare: cuLaunchKernelInC.enqueueMicroseconds,
  })),
);

const noise = v.pipe(
  v.object({ cycles: positive, kept: number, gains: v.object({ smallest: number, largest: number }) }),
  v.transform(({ cycles, kept, gains }) => ({ cycles, kept, ...gains })),
);

/** @throws EvolverError EVIDENCE_INVALID */
export function readChecks(load: Load): Checks {
  const checksOf = (device: EvidenceDevice): DeviceChecks => ({
    conformance: load(`conformance-${device}`, v.object(counts)),
    goldens: load(`goldens-${device}`, v.object({ ...counts, cases: positive, rungs: positive })),
    faults: load(`faults-${device}`, faults),
    property: load(`property-${device}`, v.object({ programs: positive, agree: flag })),
  });
  return {
    devices: Object.fromEntries(
      evidenceDevices.map((device) => [device, checksOf(device)]),
    ) as Checks["devices"],
    selftest: load("selftest", tests),
    hip: load("hip-nvidia", tests),
    large: load("large", large),
    launch: load("launch", launch),
    noise: load("noise-cuda", noise),
  };
}
