/**
 * The conformance suite on the `hip` device, with the stand-in for AMD's libraries: what the HIP emitter writes is
 * compiled for this machine's processor and executed there lane by lane. docs/hip.md says what that proves.
 */

import { afterAll, beforeAll } from "vitest";
import { emit, type KernelIR } from "@evolver/kernel";
import { cpp } from "../../../../test/support/compilers.ts";
import { compileBatch, useStandIn, type StandIn } from "../../../../test/support/hip-cpu/batch.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import type { Launched } from "../../conformance/case.ts";
import { cases } from "../../conformance/cases/index.ts";
import { missing, targetOf } from "../../conformance/run.ts";
import { openHip, type HipDevice } from "@evolver/device/hip";
import { conformance } from "../conformance/suite.ts";

/** Sources of all kernels of the suite that the device takes. */
function sourcesFor(device: HipDevice): string[] {
  const target = targetOf(device);
  return cases.flatMap((item) => {
    if ("check" in item || missing(item, target) !== null) return [];
    const prepared = item.prepare(target);
    const launches = (Array.isArray(prepared) ? prepared : [prepared]) as readonly Launched[];
    return launches.map(({ kernel }) => {
      const ir: KernelIR = kernel.build({ subgroup: target.width });
      return emit(ir, "hip", { grid: "native" }).source;
    });
  });
}

/** Some 300 kernels; on a busy machine that takes its time. */
const COMPILING_MS = 300_000;

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
for (const width of [32, 64] as const) {
  withCompiler(`HIP on the processor, wavefronts of ${width}`, () => {
    let standIn: StandIn;
    beforeAll(async () => {
      standIn = useStandIn(width);
      const device = openHip();
      compileBatch(sourcesFor(device), width);
      await device.close();
    }, COMPILING_MS);
    afterAll(() => standIn.remove());
    conformance("hip", () => openHip(), ["progress"]);
  });
}
