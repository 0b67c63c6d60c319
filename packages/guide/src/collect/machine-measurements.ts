/** What is measured of a machine whatever the study: its devices, their correctness, their speed. */

import { evidenceDevices, type EvidenceCommand, type EvidenceDevice } from "@evolver/lab";

const checks = (device: EvidenceDevice): EvidenceCommand[] => [
  {
    name: `conformance-${device}`,
    what: "the conformance suite",
    command: ["node", "packages/device/conformance/cli.node.ts", "--device", device, "--json"],
    needs: [device],
    limitSeconds: 240,
  },
  {
    name: `property-${device}`,
    what: "random programs, compared with the simulator",
    command: ["node", "packages/device/test/property/cli.ts", "--device", device, "--runs", "150"],
    needs: [device],
    limitSeconds: 240,
  },
  {
    name: `faults-${device}`,
    what: "the device's error messages",
    command: ["node", "tools/gpu/faults.ts", "--device", device],
    needs: [device],
    limitSeconds: 120,
  },
];

export const machineCommands: readonly EvidenceCommand[] = [
  {
    name: "devices",
    what: "which devices there are",
    command: ["evolver", "devices", "--json"],
    needs: [],
    limitSeconds: 60,
  },
  {
    name: "microbench",
    what: "the microbenchmarks, with plots and the machine profile",
    command: [
      ...["evolver", "bench", "microbench", "--device", "cuda", "--json"],
      ...["--save", "$OUT/profile.json", "--report", "$OUT/microbench"],
    ],
    needs: ["cuda"],
    limitSeconds: 180,
  },
  ...evidenceDevices.flatMap((device) => checks(device)),
  {
    name: "large",
    what: "accesses beyond 2³¹ and 2³² bytes and elements",
    command: ["node", "packages/device/bench/large.ts", "--device", "cuda"],
    needs: ["cuda"],
    limitSeconds: 240,
  },
  {
    name: "launch",
    what: "the cost of a launch",
    command: ["node", "packages/device/bench/launch.ts"],
    needs: ["cuda"],
    limitSeconds: 120,
  },
];
