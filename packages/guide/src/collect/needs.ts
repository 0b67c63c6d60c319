/** Whether a machine has what a measurement needs, and if not, why, in a line that says what to do. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { assertNever } from "@evolver/base";
import { listDevices, type DeviceId } from "@evolver/device";
import { isEvidenceDevice, type EvidenceNeed } from "@evolver/lab";

export interface Places {
  /** The folder of the evidence. */
  readonly out: string;
  readonly goldens: string | null;
  readonly hipHeaders: string | null;
}

const runs = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/** Null where it is there. */
export async function whyMissing(
  need: EvidenceNeed,
  { out, goldens, hipHeaders }: Places,
): Promise<string | null> {
  if (isEvidenceDevice(need)) return whyNoDevice(need);
  switch (need) {
    case "nvcc":
      return runs("nvcc", "--version") || existsSync("/usr/local/cuda/bin/nvcc")
        ? null
        : "there is no nvcc: install the CUDA toolkit";
    case "ncu":
      return runs("ncu", "--version") || existsSync("/usr/local/cuda/bin/ncu")
        ? null
        : "there is no ncu: install Nsight Compute";
    case "torch":
      return runs("python3", "-c", "import torch") ? null : "python3 has no torch: pip install torch";
    case "goldens":
      return goldens === null ? "name the folder of golden values: --goldens DIR" : null;
    case "hip-headers":
      return hipHeaders === null ? "name the folder of HIP's headers: --hip-headers DIR" : null;
    case "profile":
      return existsSync(join(out, "profile.json"))
        ? null
        : "there is no machine profile: collect microbench first, or with it";
    default:
      return assertNever(need, "need of a measurement");
  }
}

async function whyNoDevice(id: DeviceId): Promise<string | null> {
  const found = (await listDevices()).find((device) => device.id === id);
  return found === undefined || found.available ? null : (found.why ?? `there is no device ${id}`);
}
