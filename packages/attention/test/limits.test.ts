/** attention() on a device that gives a workgroup less than most do: its kernel fits, and its result is right. */

import { openDevice, type Device, type DeviceLimits } from "@evolver/device";
import type { Kernel, KernelIR, Params } from "@evolver/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  attention,
  checkPoint,
  compareAttention,
  createProblem,
  fitPoint,
  ladder,
  limitsOf,
  randomInputs,
  rungById,
} from "@evolver/attention";

/** What WebGPU guarantees, and SwiftShader and many phones have not much more of. */
const SMALL = { maxSharedBytes: 16 * 1024, maxInvocationsPerWorkgroup: 256 };

describe("a device with little shared memory", () => {
  let cpu: Device;
  beforeAll(async () => {
    cpu = await openDevice("cpu");
  });
  afterAll(() => cpu.close());

  const shape = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 24, seqK: 24, dim: 128 };
  const problem = createProblem(shape);
  const inputs = randomInputs(problem, { seed: 3 });
  const extents = [1, 1, 24, 128];
  const tensors = {
    q: { data: inputs.q, shape: extents },
    k: { data: inputs.k, shape: extents },
    v: { data: inputs.v, shape: extents },
  };

  test("its limits are those of points; a device with more counts as an ordinary one", () => {
    expect(limitsOf(limited(cpu, SMALL, []))).toEqual({ sharedBytes: 16384, invocations: 256 });
    expect(limitsOf(cpu)).toEqual({ sharedBytes: 232_448, invocations: 1024 });
  });

  test("a processor that poses as a GPU has few registers", () => {
    const webgpu = (subgroupSize: number) =>
      limitsOf({ ...limited(cpu, SMALL, []), id: "webgpu", subgroupSize });
    expect(webgpu(32)).toEqual({ sharedBytes: 16384, invocations: 256 });
    const narrow = webgpu(4);
    expect(narrow).toEqual({ sharedBytes: 16384, invocations: 256, registers: 96 });
    const { point } = rungById("k11");
    const smaller = fitPoint(point, problem, 4, narrow);
    expect(checkPoint(point, problem, 4, narrow)).not.toBeNull();
    expect(checkPoint({ ...smaller, rowsPerSubgroup: 8 }, problem, 4, narrow)).toMatch(/registers; 96/);
  });

  test.each([undefined, ...ladder.map(({ id }) => id)])("kernel %s fits and is right", async (kernel) => {
    const compiled: KernelIR[] = [];
    const device = limited(cpu, SMALL, compiled);
    const { o } = await attention(device, { ...tensors, ...(kernel === undefined ? {} : { kernel }) });
    expect(compareAttention(problem, inputs, { o, lse: null }).pass).toBe(true);
    expect(compiled).toHaveLength(1);
    for (const { shared, workgroupSize } of compiled) {
      expect(4 * shared.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(
        SMALL.maxSharedBytes,
      );
      expect(workgroupSize[0]).toBeLessThanOrEqual(SMALL.maxInvocationsPerWorkgroup);
    }
  });

  test("a rung that no tile makes fit is refused by name; without one, a lower rung is taken", async () => {
    const tiny = limited(cpu, { ...SMALL, maxInvocationsPerWorkgroup: 32 }, []);
    await expect(attention(tiny, { ...tensors, kernel: "k07" })).rejects.toMatchObject({
      code: "INVALID_POINT",
    });
    const { o } = await attention(tiny, tensors);
    expect(compareAttention(problem, inputs, { o, lse: null }).pass).toBe(true);
  });
});

/** The device with other limits; what it compiles is kept. */
function limited(device: Device, limits: Partial<DeviceLimits>, compiled: KernelIR[]): Device {
  return {
    id: device.id,
    name: device.name,
    subgroupSize: device.subgroupSize,
    forwardProgress: device.forwardProgress,
    limits: { ...device.limits, ...limits },
    createBuffer: (element, contents) => device.createBuffer(element, contents),
    compile: async <P extends Params>(kernel: Kernel<P> | KernelIR) => {
      const program = await device.compile<P>(kernel);
      compiled.push(program.ir);
      return program;
    },
    close: () => device.close(),
  };
}
