/** The `hip` device against a stand-in for AMD's libraries: what it calls, and what it makes of their errors. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buffer, f32, i32, kernel, u32 } from "@evolver/kernel";
import { cpp } from "../../../../test/support/compilers.ts";
import { useStandIn, type StandIn } from "../../../../test/support/hip-cpu/batch.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { openHip } from "@evolver/device/hip";
import { listDevices, openDevice } from "@evolver/device";

const code = (name: string): unknown => expect.objectContaining({ code: name });

const mixed = kernel(
  "mixed",
  {
    params: { a: f32, x: buffer(f32), n: u32, out: buffer(f32, "write"), k: i32, tags: buffer(i32, "write") },
    workgroup: ({ subgroup }) => [subgroup],
  },
  ({ a, x, n, out, k, tags }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => {
      out.set(i, x.get(i).mul(a));
      tags.set(i, k.sub(i.toI32()));
    });
  },
);

describe("without AMD's libraries", () => {
  it("says in one line what is missing and what to do", async () => {
    process.env["EVOLVER_HIP"] = "/nowhere/libamdhip64.so";
    const entry = (await listDevices()).find(({ id }) => id === "hip");
    delete process.env["EVOLVER_HIP"];
    expect(entry).toMatchObject({ available: false, name: null });
    expect(entry?.why).toMatch(
      /no HIP run time \(\/nowhere\/libamdhip64.so is not found\); install ROCm's HIP/,
    );
    expect(entry?.why).not.toContain("\n");
  });
});

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
withCompiler("with a stand-in for them", () => {
  let standIn: StandIn;
  let calls: string;
  beforeAll(() => {
    standIn = useStandIn(64);
    calls = join(standIn.folder, "calls");
  });
  afterAll(() => standIn.remove());
  afterEach(() => {
    for (const name of ["CALLS", "INIT", "LAUNCH", "MEMORY", "UNKNOWN"])
      delete process.env[`HIP_CPU_${name}`];
    process.env["HIP_CPU_WIDTH"] = "64";
  });

  const recorded = async (work: () => Promise<void>): Promise<string[]> => {
    writeFileSync(calls, "");
    process.env["HIP_CPU_CALLS"] = calls;
    await work();
    return readFileSync(calls, "utf8").trim().split("\n");
  };

  it.each([
    [64, "gfx942:sramecc+:xnack-"],
    [32, "gfx1100"],
  ])("takes wavefronts of %d and the architecture from the GPU", async (width, architecture) => {
    process.env["HIP_CPU_WIDTH"] = String(width);
    const device = openHip();
    expect(device).toMatchObject({
      id: "hip",
      name: "the processor",
      architecture,
      subgroupSize: width,
      driverVersion: "6.2",
      limits: {
        subgroupSizes: [width],
        maxInvocationsPerWorkgroup: 1024,
        maxSharedBytes: 65536,
        maxBufferBytes: 2 ** 32,
      },
    });
    await device.close();
  });

  it("reads the structures of before ROCm 6 too", async () => {
    const old = useStandIn(32, ["HIP_CPU_OLD"]);
    const device = openHip();
    expect(device).toMatchObject({ architecture: "gfx1100", subgroupSize: 32, driverVersion: "5.2" });
    expect(device.limits).toMatchObject({ maxInvocationsPerWorkgroup: 1024, maxSharedBytes: 65536 });
    await device.close();
    old.remove();
    process.env["EVOLVER_HIP"] = standIn.library;
    process.env["EVOLVER_CACHE"] = standIn.folder;
  });

  it("passes arguments of every kind in order, and gives a time", async () => {
    const device = await openDevice("hip");
    const n = 100;
    const x = device.createBuffer(
      "f32",
      Float32Array.from({ length: n }, (_, i) => i / 3),
    );
    const [out, tags] = [device.createBuffer("f32", n), device.createBuffer("i32", n)];
    const program = await device.compile(mixed);
    let timeMs: number | null = null;
    const seen = await recorded(async () => {
      const args = { a: -1.5, x, n, out, k: -7, tags };
      ({ timeMs } = await program.run({ workgroups: 2, args }));
    });
    expect(seen).toEqual(["hipModuleLaunchKernel mixed 2 1 1 64 1 1 0"]);
    expect(timeMs).toBeGreaterThanOrEqual(0);
    expect(await out.read()).toEqual(Float32Array.from({ length: n }, (_, i) => Math.fround(i / 3) * -1.5));
    expect(await tags.read()).toEqual(Int32Array.from({ length: n }, (_, i) => -7 - i));
    await device.close();
  });

  it("compiles once for the architecture, then takes the code from the disk; a torn file is made again", async () => {
    const name = kernel("cached", { params: { x: buffer(f32, "write") }, workgroup: [64] }, ({ x }, gpu) =>
      x.set(gpu.localIndex, 3),
    );
    const compile = () =>
      recorded(async () => {
        const device = openHip();
        await device.compile(name);
        await device.close();
      });
    const compilations = (lines: readonly string[]): string[] =>
      lines.filter((line) => line.startsWith("hiprtcCompileProgram"));
    const folder = join(standIn.folder, "hsaco");
    const before = new Set(existsSync(folder) ? readdirSync(folder) : []);
    expect(compilations(await compile())).toEqual([
      "hiprtcCompileProgram --offload-arch=gfx942:sramecc+:xnack- -std=c++17 -O3",
    ]);
    expect(compilations(await compile())).toEqual([]);
    const [file] = readdirSync(folder).filter((each) => !before.has(each));
    writeFileSync(join(folder, file as string), "torn");
    expect(compilations(await compile())).toHaveLength(1);
  });

  it("shows the compiler's log where it refuses a kernel", async () => {
    const device = openHip();
    process.env["HIP_CPU_CXX"] = "sh -c 'echo error: no such thing; exit 1' --";
    const other = kernel("other", { params: { x: buffer(f32, "write") }, workgroup: [64] }, ({ x }, gpu) =>
      x.set(gpu.localIndex, 4),
    );
    await expect(device.compile(other)).rejects.toThrow(
      /hiprtc refuses kernel "other" for gfx942:sramecc\+:xnack-:\nerror: no such thing/,
    );
    process.env["HIP_CPU_CXX"] = cpp as string;
    await device.close();
  });

  it.each([
    ["100", /HIP sees no AMD GPU/],
    ["3", /HIP does not start: hipErrorNotInitialized .*\n.*amdgpu/],
  ])("is not available where HIP gives error %s at the start", (error, message) => {
    process.env["HIP_CPU_INIT"] = error;
    expect(openHip).toThrow(message);
    expect(openHip).toThrow(code("HIP_UNAVAILABLE") as Error);
  });

  it("is not available where the GPU is described in an unknown way, or does not exist", () => {
    expect(() => openHip({ ordinal: 1 })).toThrow(/opening GPU 1 failed: hipErrorInvalidDevice/);
    process.env["HIP_CPU_UNKNOWN"] = "1";
    expect(openHip).toThrow(/describes the GPU "the processor" in a way that is not known/);
  });

  it("reports when memory is exhausted, and continues when some is free again", async () => {
    process.env["HIP_CPU_MEMORY"] = "1000000";
    const device = openHip();
    const first = device.createBuffer("f32", 150_000);
    expect(() => device.createBuffer("f32", 150_000)).toThrow(code("OUT_OF_DEVICE_MEMORY") as Error);
    first.destroy();
    const second = device.createBuffer("f32", 150_000);
    expect((await second.read()).every((value) => value === 0)).toBe(true);
    await device.close();
  });

  it("frees all when it is closed, and is of no use then", async () => {
    const device = openHip();
    device.createBuffer("u32", 4);
    const seen = await recorded(() => device.close());
    expect(seen).toEqual(["hipFree", "hipEventDestroy", "hipEventDestroy", "hipStreamDestroy"]);
    expect(() => device.createBuffer("u32", 4)).toThrow(code("DEVICE_CLOSED") as Error);
  });

  // Last: like a real one, the stand-in does not recover.
  it("is lost after an illegal access, says so each time, and still closes", async () => {
    const device = openHip();
    const x = device.createBuffer("f32", 4);
    const [out, tags] = [device.createBuffer("f32", 4), device.createBuffer("i32", 4)];
    const program = await device.compile(mixed);
    process.env["HIP_CPU_LAUNCH"] = "700";
    const run = () => program.run({ workgroups: 1, args: { a: 1, x, n: 4, out, k: 0, tags } });
    await expect(run()).rejects.toThrow(/the hip device failed while .*hipErrorIllegalAddress/);
    await expect(run()).rejects.toThrow(/was lost earlier/);
    await expect(x.read()).rejects.toThrow(code("DEVICE_LOST") as Error);
    expect(() => device.createBuffer("f32", 1)).toThrow(code("DEVICE_LOST") as Error);
    await device.close();
  });
});
