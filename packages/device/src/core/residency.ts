/** How many workgroups a machine holds at once, as far as its driver says enough. */

import type { MachineFacts } from "./device.ts";

/** The resources of a multiprocessor that a workgroup takes. */
export interface WorkgroupNeeds {
  readonly invocationsPerWorkgroup: number;
  readonly sharedBytesPerWorkgroup: number;
}

type Capacity = Pick<
  MachineFacts,
  "maxInvocationsPerMultiprocessor" | "maxWorkgroupsPerMultiprocessor" | "sharedBytesPerMultiprocessor"
>;

/** Bytes of shared memory that drivers reserve per workgroup that uses shared memory. */
const RESERVED_SHARED_BYTES = 1024;

/** Workgroups that fit on a multiprocessor by invocations and shared memory, at least one; null where it is not known. */
export function residentWorkgroupsOf(
  capacity: Capacity,
  { invocationsPerWorkgroup, sharedBytesPerWorkgroup }: WorkgroupNeeds,
): number | null {
  const { maxInvocationsPerMultiprocessor: invocations, maxWorkgroupsPerMultiprocessor: workgroups } =
    capacity;
  const { sharedBytesPerMultiprocessor: sharedBytes } = capacity;
  if (invocations === null || workgroups === null || sharedBytes === null) return null;
  const byShared =
    sharedBytesPerWorkgroup === 0
      ? Infinity
      : Math.floor(sharedBytes / (sharedBytesPerWorkgroup + RESERVED_SHARED_BYTES));
  return Math.max(1, Math.min(workgroups, Math.floor(invocations / invocationsPerWorkgroup), byShared));
}

/** Workgroups that the whole machine holds at once; null where it is not known. */
export function workgroupsHeldBy(machine: MachineFacts, needs: WorkgroupNeeds): number | null {
  const resident = residentWorkgroupsOf(machine, needs);
  return machine.multiprocessors === null || resident === null ? null : machine.multiprocessors * resident;
}
