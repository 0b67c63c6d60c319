/** What is measured of attention on a machine: the ladder, beside PyTorch and by hardware counters, and evolution. */

import { evidenceDevices, type EvidenceCommand } from "@evolver/lab";

const BENCH = "packages/attention/bench";

/** The ladder's own report, on a plain shape and on one with grouped heads. */
const SHAPES = [
  ["", "B1,H8,S1024,D64"],
  ["-gqa", "B1,Hq32,Hkv8,S512,D128,causal"],
] as const;

const ladders = evidenceDevices.flatMap((device) =>
  SHAPES.map(([suffix, shape]): EvidenceCommand => ({
    name: `ladder-${device}${suffix}`,
    what: `the ladder's own report on ${shape}`,
    command: ["evolver", "ladder", "attention", "--device", device, "--shape", shape, "--json"],
    needs: [device],
    limitSeconds: 120,
  })),
);

const goldens = evidenceDevices.map((device): EvidenceCommand => ({
  name: `goldens-${device}`,
  what: "golden values from an independent implementation",
  command: ["node", `${BENCH}/goldens.ts`, "--device", device, "--data", "$GOLDENS"],
  needs: [device, "goldens"],
  limitSeconds: 240,
}));

/** Runs of evolution: each as long as its limit, and none says more than the champion that it had then. */
const RUNS = [
  ["s64", "cuda", "B1,H8,S1024,D64", []],
  ["s128", "cuda", "B1,H8,S1024,D128", []],
  ["llama", "cuda", "B1,Hq32,Hkv8,S1024,D128,causal", []],
  ["s64-random", "cuda", "B1,H8,S1024,D64", ["--agent", "random"]],
  ["webgpu", "webgpu", "B1,H8,S1024,D64", []],
] as const;

const evolutions = RUNS.map(([name, device, shape, more]): EvidenceCommand => ({
  name: `evolve-${name}`,
  what: `evolution on ${shape}`,
  command: [
    ...["evolver", "evolve", "attention", "--device", device, "--cycles", "40", "--trials", "2"],
    ...["--shape", shape, "--workspace", "$WORKSPACE", "--json", ...more],
  ],
  needs: [device],
  limitSeconds: 150,
  untilLimit: true,
}));

export const attentionCommands: readonly EvidenceCommand[] = [
  {
    name: "peers",
    what: "every rung beside PyTorch",
    command: [
      ...["node", `${BENCH}/peers.ts`, "--device", "cuda", "--budget-ms", "40"],
      ...["--profile", "$OUT/profile.json"],
    ],
    needs: ["cuda", "torch", "profile"],
    limitSeconds: 240,
  },
  {
    name: "peers-webgpu",
    what: "every rung over WebGPU",
    command: [
      ...["node", `${BENCH}/peers.ts`, "--device", "webgpu", "--no-torch", "--budget-ms", "40"],
      ...["--profile", "$OUT/profile.json"],
    ],
    needs: ["webgpu", "profile"],
    limitSeconds: 180,
  },
  {
    name: "ncu",
    what: "the hardware's counters beside the simulator's",
    command: ["node", `${BENCH}/ncu.ts`, "--shape", "B1,H8,S1024,D64"],
    needs: ["cuda", "ncu"],
    limitSeconds: 180,
  },
  ...ladders,
  ...goldens,
  {
    name: "noise-cuda",
    what: "cycles in which every candidate is the champion",
    command: ["node", `${BENCH}/noise.ts`, "--device", "cuda", "--cycles", "50", "--shape", "B1,H4,S128,D64"],
    needs: ["cuda"],
    limitSeconds: 240,
  },
  {
    name: "cost-measured",
    what: "times of many points, which the cost model is held against",
    command: ["node", `${BENCH}/cost-model.ts`, "--measure", "--device", "cuda"],
    needs: ["cuda"],
    limitSeconds: 300,
  },
  {
    name: "selftest",
    what: "emitted CUDA programs, built by nvcc and run",
    command: ["sh", "tools/gpu/selftest.sh", "$SCRATCH/selftest"],
    needs: ["cuda", "nvcc"],
    limitSeconds: 300,
  },
  {
    name: "hip-nvidia",
    what: "emitted HIP programs through HIP's NVIDIA path",
    command: ["sh", "tools/gpu/hip-nvidia.sh", "$HIP_HEADERS", "$SCRATCH/hip-nvidia"],
    needs: ["cuda", "nvcc", "hip-headers"],
    limitSeconds: 300,
  },
  ...evolutions,
];
