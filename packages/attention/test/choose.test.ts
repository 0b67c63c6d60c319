/** Which kernel attention() takes where the user names none. */

import { openDevice, type Device } from "@evolver/device";
import type { Kernel, KernelIR, Params } from "@evolver/kernel";
import { expect, it } from "vitest";
import { attention, compareAttention, createProblem, randomInputs, rungById } from "@evolver/attention";
import type { AttentionShape, FlashPoint } from "@evolver/attention";
import { preferredPoints } from "@evolver/attention/internal";

const gpu = { id: "cuda", subgroupSize: 32 } as const;
const { point: whole, variants } = rungById("k11");
const half = variants["half tiles"];
const plain = rungById("k06").point;
const shape = { batch: 1, headsQ: 8, headsKv: 8, seqQ: 1024, seqK: 1024, dim: 64 };

it.each<[string, Partial<AttentionShape>, object | undefined]>([
  ["many tiles: the largest", { batch: 4, headsQ: 16, headsKv: 16, seqQ: 4096 }, whole],
  ["many tiles of wide heads: half as large", { batch: 4, headsQ: 16, headsKv: 16, dim: 128 }, half],
  ["few tiles: half as large", { seqQ: 1024 }, half],
  ["grouped heads with long queries: by index", { batch: 16, headsKv: 2 }, whole],
  ["short queries of a group: packed", { headsKv: 2, seqQ: 32 }, { ...half, heads: "packed" }],
  ["decoding: one row per subgroup, packed", { headsKv: 2, seqQ: 1 }, { ...plain, heads: "packed" }],
  ["decoding without groups", { seqQ: 1 }, plain],
  [
    "decoding with a large group: register tiles again",
    { headsQ: 64, headsKv: 2, seqQ: 1 },
    { ...half, heads: "packed" },
  ],
])("on a GPU, %s", (_, change, first) =>
  expect(preferredPoints(createProblem({ ...shape, ...change }), gpu)[0]).toEqual(first),
);

it.each([
  ["sim", 32],
  ["cpu", 8],
  ["webgpu", 4],
] as const)("on %s with subgroups of %d, a processor: one row per subgroup", (id, subgroupSize) =>
  expect(preferredPoints(createProblem(shape), { id, subgroupSize })[0]).toEqual(plain),
);

it("on the cpu device with wide subgroups, four rows per subgroup where there are enough", () => {
  const first = (seqQ: number): FlashPoint | undefined =>
    preferredPoints(createProblem({ ...shape, seqQ }), { id: "cpu", subgroupSize: 32 })[0];
  expect(first(1024)).toMatchObject({ rowsPerSubgroup: 4, keysPerLane: 1, layout: "row-major" });
  expect(first(8)).toEqual(plain);
});

it("ends with kernels that fit anywhere", () =>
  expect(preferredPoints(createProblem(shape), gpu).at(-1)).toEqual(rungById("k01").point));

it.each<[string, Partial<AttentionShape>, number, number]>([
  ["enough shared memory", {}, 227, 256],
  ["little shared memory", {}, 48, 256],
  ["a group to pack", { headsQ: 6, headsKv: 2, seqQ: 9 }, 227, 256],
  ["decoding", { headsQ: 6, headsKv: 2, seqQ: 1 }, 227, 256],
])("what is taken for a GPU with %s is right", async (_, change, kib, invocations) => {
  const cpu = await openDevice("cpu");
  const problem = createProblem(
    { batch: 2, headsQ: 2, headsKv: 2, seqQ: 90, seqK: 100, dim: 64, ...change },
    { causal: true },
  );
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  const inputs = randomInputs(problem, { seed: 1 });
  const compiled: KernelIR[] = [];
  const keys = [batch, headsKv, seqK, dim];
  const given = await attention(likeGpu(cpu, kib * 1024, compiled), {
    q: { data: inputs.q, shape: [batch, headsQ, seqQ, dim] },
    k: { data: inputs.k, shape: keys },
    v: { data: inputs.v, shape: keys },
    causal: true,
    lse: true,
  });
  expect(compareAttention(problem, inputs, given)).toMatchObject({ pass: true });
  expect(compiled.map(({ workgroupSize }) => workgroupSize[0])).toEqual([
    expect.toSatisfy((size: number) => size <= invocations),
  ]);
  await cpu.close();
});

/** The processor in a GPU's name and with its shared memory. */
function likeGpu(cpu: Device, sharedBytes: number, compiled: KernelIR[]): Device {
  return {
    id: "cuda",
    name: cpu.name,
    subgroupSize: cpu.subgroupSize,
    forwardProgress: cpu.forwardProgress,
    limits: { ...cpu.limits, maxSharedBytes: sharedBytes },
    createBuffer: (element, contents) => cpu.createBuffer(element, contents),
    compile: async <P extends Params>(kernel: Kernel<P> | KernelIR) => {
      const program = await cpu.compile<P>(kernel);
      compiled.push(program.ir);
      return program;
    },
    close: () => cpu.close(),
  };
}
