/** What a device refuses before it runs anything, and host buffers. On `sim`, whose front door all devices share. */

import { buffer, f32, i32, kernel, u32, type Buffer, type I32 } from "@evolver/kernel";
import { EvolverError } from "@evolver/base";
import { listDevices, openCpu, openDevice, openSim } from "@evolver/device";
import { describe, expect, test } from "vitest";

const copy = kernel(
  "copy",
  { params: { x: buffer(f32), y: buffer(f32, "read_write"), n: u32, k: i32, s: f32 }, workgroup: [32] },
  ({ x, y, n, k, s }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(s).add(k.toF32())));
  },
);

async function refused(code: string, run: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(run)
    .then(
      () => undefined,
      (caught: unknown) => caught,
    );
  expect(error).toBeInstanceOf(EvolverError);
  expect((error as EvolverError).code).toBe(code);
  return (error as EvolverError).message;
}

async function setup() {
  const device = openSim();
  const program = await device.compile(copy);
  const x = device.createBuffer("f32", 32);
  const y = device.createBuffer("f32", 32);
  const args = { x, y, n: 32, k: 0, s: 1 };
  return { device, program, x, y, args };
}

describe("arguments", () => {
  test("a parameter may have the name of what every record has", async () => {
    for (const [ofBuffer, ofScalar] of [
      ["y", "__proto__"],
      ["__proto__", "constructor"],
    ] as const) {
      const params = { [ofBuffer]: buffer(i32, "write"), [ofScalar]: i32 };
      const named = kernel("named", { params, workgroup: [32] }, (given, gpu) => {
        const { [ofBuffer]: y, [ofScalar]: s } = given as unknown as Record<string, never>;
        (y as unknown as Buffer<"i32", "write">).set(gpu.localIndex, s as unknown as I32);
      });
      for (const device of [openSim(), await openCpu()]) {
        const y = device.createBuffer("i32", 32);
        const program = await device.compile(named);
        await program.run({ workgroups: 1, args: { [ofBuffer]: y, [ofScalar]: 7 } as never });
        expect((await y.read())[31], `${device.id}, ${ofScalar}`).toBe(7);
        await device.close();
      }
    }
  });

  test("a good launch runs; 0 workgroups run nothing", async () => {
    const { program, args } = await setup();
    expect((await program.run({ workgroups: 1, args })).counters?.workgroups).toBe(1);
    expect((await program.run({ workgroups: [1, 0], args })).counters?.workgroups).toBe(0);
  });

  test("missing and unknown ones", async () => {
    const { program, args } = await setup();
    const { n: _, ...rest } = args;
    expect(
      await refused("MISSING_ARGUMENT", () => program.run({ workgroups: 1, args: rest as never })),
    ).toContain('"n"');
    const message = await refused("UNKNOWN_ARGUMENT", () =>
      program.run({ workgroups: 1, args: { ...args, m: 1 } as never }),
    );
    expect(message).toContain("its parameters are x, y, n, k, s");
  });

  test.each([
    ["n", -1, "n"],
    ["n", 1.5, "u32"],
    ["n", 2 ** 32, "u32"],
    ["n", Number.NaN, "u32"],
    ["k", 2 ** 31, "i32"],
    ["k", "3", "i32"],
    ["s", null, "f32"],
    ["x", 3, "buffer"],
    ["x", new Float32Array(32), "Float32Array"],
  ])("%s = %s is refused", async (name, value, part) => {
    const { program, args } = await setup();
    const message = await refused("INVALID_ARGUMENT", () =>
      program.run({ workgroups: 1, args: { ...args, [name]: value } as never }),
    );
    expect(message).toContain(part);
  });

  test("scalars are rounded to f32 before the kernel sees them", async () => {
    const { program, args, y, x } = await setup();
    await x.write(new Float32Array([1]));
    await program.run({ workgroups: 1, args: { ...args, s: 0.1 } });
    expect((await y.read())[0]).toBe(Math.fround(0.1));
  });

  test("buffers of another type, another device, or destroyed", async () => {
    const { device, program, args } = await setup();
    const wrong = device.createBuffer("u32", 32);
    expect(
      await refused("INVALID_ARGUMENT", () =>
        program.run({ workgroups: 1, args: { ...args, x: wrong as never } }),
      ),
    ).toContain("holds f32; the buffer passed holds u32");
    const foreign = openSim().createBuffer("f32", 32);
    await refused("INVALID_ARGUMENT", () => program.run({ workgroups: 1, args: { ...args, x: foreign } }));
    args.x.destroy();
    await refused("BUFFER_DESTROYED", () => program.run({ workgroups: 1, args }));
    await refused("BUFFER_DESTROYED", () => args.x.read());
  });

  test.each([[-1], [1.5], ["2"], [[]], [[1, 2, 3, 4]], [[65536, 65536]], [Number.NaN], [2 ** 33]])(
    "workgroups of %s are refused",
    async (workgroups) => {
      const { program, args } = await setup();
      await refused("INVALID_WORKGROUPS", () => program.run({ workgroups: workgroups as never, args }));
    },
  );

  test("samples are of workgroups that exist", async () => {
    const { program, args } = await setup();
    await refused("INVALID_ARGUMENT", () => program.run({ workgroups: 2, sample: [2], args }));
  });

  test("a closed device", async () => {
    const { device, program, args, x } = await setup();
    await device.close();
    await refused("DEVICE_CLOSED", () => program.run({ workgroups: 1, args }));
    await refused("DEVICE_CLOSED", () => device.createBuffer("f32", 1));
    await refused("DEVICE_CLOSED", () => device.compile(copy));
    await refused("DEVICE_CLOSED", () => x.read());
  });
});

describe("buffers", () => {
  test("hold copies, are written in part and read in whole", async () => {
    const device = openSim();
    const data = new Float32Array([1, 2, 3]);
    const x = device.createBuffer("f32", data);
    data[0] = 9;
    await x.write(new Float32Array([7]), 2);
    expect(await x.read()).toEqual(new Float32Array([1, 2, 7]));
    expect(x).toMatchObject({ element: "f32", length: 3 });
  });

  test("refuse bad lengths, types and ranges", async () => {
    const device = openSim();
    await refused("INVALID_ARGUMENT", () => device.createBuffer("f32", -1));
    await refused("INVALID_ARGUMENT", () => device.createBuffer("f32", 1.5));
    await refused("INVALID_ARGUMENT", () => device.createBuffer("f64" as never, 1));
    await refused("INVALID_ARGUMENT", () => device.createBuffer("f32", new Int32Array(1) as never));
    await refused("BUFFER_TOO_LARGE", () => device.createBuffer("f32", 2 ** 40));
    const x = device.createBuffer("f32", 4);
    await refused("INVALID_ARGUMENT", () => x.write(new Float32Array(5)));
    await refused("INVALID_ARGUMENT", () => x.write(new Float32Array(1), 4));
    await refused("INVALID_ARGUMENT", () => x.write(new Int32Array(1) as never));
  });
});

describe("kernels that do not fit", () => {
  test("shared memory", async () => {
    const big = kernel("big", { params: { y: buffer(f32, "write") }, workgroup: [32] }, ({ y }, gpu) => {
      const s = gpu.shared(f32, 60_000);
      s.set(gpu.lane, 1);
      y.set(gpu.lane, s.get(gpu.lane));
    });
    expect(await refused("SHARED_MEMORY_TOO_LARGE", () => openSim().compile(big))).toContain("240000 bytes");
  });

  test("shared memory counts phase barriers", async () => {
    const full = (length: number) =>
      kernel("full", { params: { y: buffer(f32, "write") }, workgroup: [32] }, ({ y }, gpu) => {
        gpu.phaseBarriers({ count: 4, arrivals: 32 }).arrive(0);
        gpu.shared(f32, length).set(gpu.lane, 1);
        y.set(gpu.lane, 1);
      });
    const { maxSharedBytes } = openSim().limits;
    expect((await openSim().compile(full(maxSharedBytes / 4 - 8))).ir.phaseBarriers).toHaveLength(1);
    await refused("SHARED_MEMORY_TOO_LARGE", () => openSim().compile(full(maxSharedBytes / 4 - 7)));
  });

  test("phase barriers, where subgroups cannot wait for each other", async () => {
    const waiting = kernel("waiting", { params: {}, workgroup: [64] }, (_, gpu) => {
      if (gpu.forwardProgress) gpu.phaseBarriers({ count: 1, arrivals: 64 }).arrive(0);
    });
    const cpu = openCpu();
    expect([cpu.forwardProgress, openSim().forwardProgress]).toEqual([false, true]);
    expect((await cpu.compile(waiting)).ir.phaseBarriers).toEqual([]);
    expect((await openSim().compile(waiting)).ir.phaseBarriers).toHaveLength(1);
    const message = await refused("FORWARD_PROGRESS_UNAVAILABLE", () =>
      cpu.compile(waiting.build({ subgroup: 32 })),
    );
    expect(message).toContain("{ forwardProgress: false }");
    await cpu.close();
  });

  test("options", async () => {
    await refused("INVALID_OPTION", () => openSim({ subgroup: 12 }));
    await refused("INVALID_OPTION", () => openSim({ seed: 0.5 }));
    await refused("INVALID_OPTION", () => openSim({ maxFindings: 0 }));
    await refused("INVALID_OPTION", () => openSim({ onFinding: "ignore" as never }));
  });
});

describe("opening by name", () => {
  test("devices that are here open, unknown ones are refused", async () => {
    expect((await openDevice("sim", { subgroup: 8 })).subgroupSize).toBe(8);
    expect(await refused("UNKNOWN_DEVICE", () => openDevice("tpu" as never))).toContain("sim");
  });

  test("the list says why in one line where a device is not here", async () => {
    const entries = await listDevices();
    expect(entries.map(({ id }) => id)).toEqual(["sim", "cpu", "webgpu", "cuda", "hip"]);
    for (const { available, why, name, subgroup, limits } of entries) {
      expect([name, subgroup, limits].every((field) => (field !== null) === available)).toBe(true);
      expect(why === null).toBe(available);
      expect(why ?? "").not.toContain("\n");
    }
    expect(entries[0]).toMatchObject({ available: true, subgroup: 32 });
  });
});
