/** The measurements of a study that `evolver evidence collect` can run on a machine. */

import type { DeviceId } from "@evolver/device";

/** The devices that evidence is kept of, in the order in which tables have them beside each other. */
export const evidenceDevices = Object.freeze(["cuda", "webgpu"] as const satisfies readonly DeviceId[]);

/** A device that evidence can be measured on. */
export type EvidenceDevice = (typeof evidenceDevices)[number];

/** Whether evidence can be measured on the device. */
export const isEvidenceDevice = (name: string): name is EvidenceDevice =>
  (evidenceDevices as readonly string[]).includes(name);

/** Something that a machine has or lacks: a device, a program, data, or what another measurement leaves. */
export type EvidenceNeed =
  | EvidenceDevice
  | "nvcc"
  | "ncu"
  | "torch"
  | "goldens"
  | "hip-headers"
  /** The machine profile that the microbenchmarks write. */
  | "profile";

/** A command that prints one JSON document, and what it needs. */
export interface EvidenceCommand {
  /** Of its file: "ladder-cuda" for ladder-cuda.json. */
  readonly name: string;
  /** What it measures, in a few words. */
  readonly what: string;
  /**
   * Program and arguments, as run in the repository's root; `evolver` and `node` are those that run now. $OUT stands for the
   * folder of the evidence, $SCRATCH for a temporary one, $WORKSPACE for a workspace that is kept as evidence keeps one,
   * $GOLDENS and $HIP_HEADERS for what the options name.
   */
  readonly command: readonly string[];
  readonly needs: readonly EvidenceNeed[];
  readonly limitSeconds: number;
  /** At the limit it is interrupted and prints what is complete, and that is its result; else it is ended, and has none. */
  readonly untilLimit?: boolean;
}
