/** What was checked on the GPU: the suites by device, and what concerns the machine as a whole. */

import { evidenceDevices } from "@evolver/lab";
import { percent, NOTHING } from "@evolver/base";
import { table } from "../markdown.ts";
import { notMeasured } from "./format.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";
import type { Checks } from "../evidence/checks.ts";

const ofAll = ({ passed, failed }: { readonly passed: number; readonly failed: number }): string =>
  `${passed} of ${passed + failed}`;

const counted = ({
  passed,
  failed,
}: {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}): string => ofAll({ passed: passed.length, failed: failed.length });

const unless = <T>(value: T | null, print: (value: T) => string): string =>
  value === null ? NOTHING : print(value);

export function checksBlock({ checks }: MachineEvidence): string {
  const rows = evidenceDevices.map((device) => {
    const { conformance, goldens, faults, property } = checks.devices[device];
    return [
      device,
      unless(conformance, (own) => `${ofAll(own)}, ${own.skipped} not promised`),
      unless(goldens, (own) => `${ofAll(own)} (${own.cases} × ${own.rungs})`),
      unless(faults, counted),
      unless(property, ({ programs, agree }) => `${agree ? "agree" : "differ"} (${programs} programs)`),
    ];
  });
  return [
    table(
      ["device", "conformance", "goldens × rungs", "faults reported correctly", "random programs"],
      "lllll",
      rows,
    ),
    ...sentences(checks),
  ].join("\n\n");
}

function sentences({ selftest, hip, large, launch, noise }: Checks): string[] {
  const tested = (own: NonNullable<Checks["selftest"]>): string =>
    `${counted(own)} pass (${[...own.passed, ...own.failed.map((name) => `${name} fails`)].join(", ")}).`;
  return [
    selftest === null
      ? notMeasured("Emitted programs", "selftest.json")
      : `Emitted CUDA programs, built by nvcc and run: ${tested(selftest)}`,
    hip === null
      ? notMeasured("Emitted HIP programs", "hip-nvidia.json")
      : `Emitted HIP programs through HIP's NVIDIA path: ${tested(hip)}`,
    large === null
      ? notMeasured("Large offsets", "large.json")
      : `Large buffers: ${counted(large)} right (accesses around ${[...large.passed, ...large.failed].join(", ")}).`,
    launch === null
      ? notMeasured("The cost of a launch", "launch.json")
      : `A launch through our API takes ${launch.evolver.toFixed(2)} µs; a bare loop of cuLaunchKernel in C on the same machine ${launch.bare.toFixed(2)} µs.`,
    noise === null
      ? notMeasured("The noise test", "noise-cuda.json")
      : `The noise test: ${noise.cycles} cycles in which every candidate was the champion under another name kept ${noise.kept}; measured "gains" ran from ${percent(noise.smallest, 2)} to ${percent(noise.largest, 2)}.`,
  ];
}
