/**
 * A kernel checked from a program, as a test does it: `explore` runs it under several schedules in the simulator and says what is
 * wrong. From the command line `npx evolver check FILE` does the same, and in Vitest `expectClean` of @evolver/vitest.
 *
 *     npx node examples/check.ts
 */

import { strict as assert } from "node:assert";
import { explore, formatFinding, type Device, type FindingKind, type Launch } from "@evolver/device";
import { buffer, f32, kernel, type Kernel } from "@evolver/kernel";

const params = { x: buffer(f32), y: buffer(f32, "write") };

const reverseWith = (name: string, { barrier }: { readonly barrier: boolean }): Kernel<typeof params> =>
  kernel(
    name,
    { params, workgroup: [64], example: { workgroups: 2, args: { x: 128, y: 128 } } },
    ({ x, y }, gpu) => {
      const tile = gpu.shared(f32, 64);
      tile.set(gpu.localIndex, x.get(gpu.globalId.x));
      if (barrier) gpu.barrier();
      y.set(gpu.globalId.x, tile.get(gpu.localIndex.xor(63)));
    },
  );

/** Reverses each 64 elements. */
export const reverse = reverseWith("reverse", { barrier: true });
/** The same without the barrier between the writes and the reads. */
const hasty = reverseWith("hasty", { barrier: false });

/** Explores both, and returns the kinds of findings of each. */
export async function main(): Promise<{ reverse: FindingKind[]; hasty: FindingKind[] }> {
  // Called for each schedule, with a device of its own.
  const launch = (device: Device): Launch<typeof params> => ({
    workgroups: 2,
    args: {
      x: device.createBuffer("f32", new Float32Array(128).fill(1)),
      y: device.createBuffer("f32", 128),
    },
  });
  const kindsOf = async (subject: Kernel<typeof params>): Promise<FindingKind[]> => {
    const { findings, launches, counters } = await explore(subject, launch);
    console.log(`${subject.name}: ${findings.length} findings in ${launches} launches`);
    for (const finding of findings) console.log(formatFinding(finding));
    // Claims of another kind: what the kernel does to memory.
    assert.equal(counters?.sharedConflicts, 0);
    assert.equal(counters.globalReadBytes, 128 * 4);
    return findings.map(({ kind }) => kind);
  };
  return { reverse: await kindsOf(reverse), hasty: await kindsOf(hasty) };
}

if (import.meta.main !== false) await main();
