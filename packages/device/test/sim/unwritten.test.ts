/** Buffers that are created by length: elements that nobody wrote, and outputs that a launch leaves unwritten. */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { Kernel } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import type { DeviceBuffer, Finding, SimOptions } from "@evolver/device";
import { describe, expect, test } from "vitest";

const SIZE = 64;

/** Each invocation writes to scratch below `count`, and reads what `shift` invocations further on wrote. */
const passOn = kernel(
  "passOn",
  {
    params: { scratch: buffer(f32, "read_write"), out: buffer(f32, "write"), count: u32, shift: u32 },
    workgroup: [SIZE],
  },
  ({ scratch, out, count, shift }, gpu) => {
    const i = gpu.localIndex;
    gpu.if(i.lt(count), () => scratch.set(i, i.toF32()));
    gpu.barrier();
    out.set(i, scratch.get(i.add(shift).remTrunc(SIZE)));
  },
);

async function findingsOf(
  made: Kernel,
  args: (device: ReturnType<typeof openSim>) => Record<string, number | DeviceBuffer>,
  { workgroups = 1, ...options }: SimOptions & { workgroups?: number; sample?: number[] } = {},
): Promise<readonly Finding[]> {
  const { sample, ...rest } = options;
  const device = openSim({ onFinding: "collect", ...rest });
  const program = await device.compile(made);
  const launch = { workgroups, args: args(device) as never, ...(sample === undefined ? {} : { sample }) };
  const { findings } = await program.run(launch);
  return findings;
}

const passing = (scratch: number | Float32Array<ArrayBuffer>, count: number, options: SimOptions = {}) =>
  findingsOf(
    passOn as unknown as Kernel,
    (device) => ({
      scratch: device.createBuffer("f32", scratch),
      out: device.createBuffer("f32", SIZE),
      count,
      shift: 7,
    }),
    options,
  );

describe("a buffer that the kernel writes before it reads", () => {
  test("is scratch: an element that nobody wrote is a finding, with the reader's line and lanes", async () => {
    const findings = await passing(SIZE, 60);
    expect(findings).toMatchObject([
      { kind: "uninitialised-global-memory", accesses: [{ action: "read", lanes: [53, 54, 55, 56] }] },
    ]);
    expect(findings[0]?.message).toMatch(
      /^buffer "scratch"\[\d+\] is read before anything was written there, and the value is stored in out in line \d+$/,
    );
  });

  test.each([
    ["all of it is written", SIZE, SIZE],
    ["it was made from data", new Float32Array(SIZE), 60],
  ] as const)("has no finding where %s", async (_, scratch, count) => {
    expect(await passing(scratch, count)).toEqual([]);
  });

  test("is not followed without checks", async () => {
    expect(await passing(SIZE, 60, { checks: false })).toEqual([]);
  });

  test("may hold what the host or an earlier launch wrote", async () => {
    const device = openSim({ onFinding: "collect" });
    const program = await device.compile(passOn);
    const scratch = device.createBuffer("f32", SIZE);
    const out = device.createBuffer("f32", SIZE);
    const kinds = async (count: number): Promise<string[]> => {
      const { findings } = await program.run({ workgroups: 1, args: { scratch, out, count, shift: 7 } });
      return findings.map(({ kind }) => kind);
    };
    expect(await kinds(40)).toEqual(["uninitialised-global-memory"]);
    // A launch that runs a second time to follow such values leaves no more written than it wrote once.
    expect(await kinds(40)).toEqual(["uninitialised-global-memory"]);
    await scratch.write(new Float32Array(14), 40);
    expect(await kinds(0)).toEqual(["uninitialised-global-memory"]);
    await scratch.write(new Float32Array(10), 54);
    expect(await kinds(0)).toEqual([]);
    expect(await kinds(SIZE)).toEqual([]);
  });
});

test("a buffer that is read first is an input, and its zeros are what createBuffer promises", async () => {
  const made = kernel(
    "add",
    { params: { sums: buffer(f32, "read_write"), x: buffer(f32) }, workgroup: [SIZE] },
    ({ sums, x }, gpu) => {
      const i = gpu.localIndex;
      sums.set(i, sums.get(i).add(x.get(i)));
    },
  ) as unknown as Kernel;
  const findings = await findingsOf(made, (device) => ({
    sums: device.createBuffer("f32", SIZE),
    x: device.createBuffer("f32", SIZE),
  }));
  expect(findings).toEqual([]);
});

describe("an output", () => {
  const table = kernel(
    "table",
    { params: { out: buffer(f32, "write"), rows: u32, columns: u32 }, workgroup: [8, 8] },
    ({ out, rows, columns }, gpu) => {
      const { x, y } = gpu.globalId;
      gpu.if(y.lt(rows).and(x.lt(columns)), () => out.set(y.mul(columns).add(x), 1));
    },
  ) as unknown as Kernel;
  const filled = (
    length: number | Float32Array<ArrayBuffer>,
    rows: number,
    columns: number,
    sample?: number[],
  ) =>
    findingsOf(
      table,
      (device) => ({ out: device.createBuffer("f32", length), rows, columns }),
      sample === undefined ? {} : { sample },
    );

  test("of which a launch too small leaves rows unwritten is a finding", async () => {
    const findings = await filled(12 * 8, 12, 8);
    expect(findings).toMatchObject([{ kind: "output-not-written", accesses: [{ action: "write" }] }]);
    expect(findings[0]?.message).toMatch(
      /^elements 64 to 95 of buffer "out" are never written: line \d+ lets pass what is below 12, and this launch has nothing there beyond 7$/,
    );
  });

  test.each([
    ["is written whole", 6 * 5, 6, 5],
    ["has room that the launch was not told of", 1000, 8, 8],
    ["was made from data", new Float32Array(12 * 8), 12, 8],
  ] as const)("that %s has none", async (_, length, rows, columns) => {
    expect(await filled(length, rows, columns)).toEqual([]);
  });

  test("of a launch of which a sample runs has none", async () => {
    expect(await filled(12 * 8, 12, 8, [0])).toEqual([]);
  });

  test("of which data decides what is written has none", async () => {
    const made = kernel(
      "positive",
      { params: { x: buffer(f32), out: buffer(f32, "write"), n: u32 }, workgroup: [SIZE] },
      ({ x, out, n }, gpu) => {
        const i = gpu.localIndex;
        gpu.if(i.lt(n).and(x.get(i).gt(0)), () => out.set(i, 1));
      },
    ) as unknown as Kernel;
    const x = Float32Array.from({ length: SIZE }, (_, i) => i % 3);
    const findings = await findingsOf(made, (device) => ({
      x: device.createBuffer("f32", x),
      out: device.createBuffer("f32", SIZE),
      n: SIZE,
    }));
    expect(findings).toEqual([]);
  });
});
