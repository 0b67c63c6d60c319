/** The cpu device itself: options, threads, memory, the cache of compiled kernels, and machines without fused multiply-add. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Random } from "@evolver/base";
import { buffer, exp2, f32, fma, kernel, math, u32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { openCpu, openDevice } from "@evolver/device";
import { compileKernel } from "@evolver/device/internal";
import { instantiate } from "@evolver/device/internal";
import { DeviceMemory } from "@evolver/device/internal";

const scale = kernel(
  "scale",
  { params: { x: buffer(f32), y: buffer(f32, "write"), factor: f32, n: u32 }, workgroup: [64] },
  ({ x, y, factor, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => {
      const value = gpu.var(f32, x.get(i));
      gpu.for({ from: 0, to: 20 }, () => value.set(exp2(value.get().mul(0.01)).mul(factor)));
      y.set(i, value.get());
    });
  },
);

function expectedScale(x: number, factor: number): number {
  let value = x;
  for (let k = 0; k < 20; k++)
    value = Math.fround(math.exp2(Math.fround(value * Math.fround(0.01))) * Math.fround(factor));
  return value;
}

test("is what openDevice gives for cpu, and says what it is", async () => {
  const device = await openDevice("cpu", { workers: 1 });
  expect(device.id).toBe("cpu");
  expect(device.subgroupSize).toBe(32);
  expect(device.name).toMatch(/1 thread$/);
  expect(device.limits.subgroupSizes).toEqual([4, 8, 16, 32, 64, 128]);
  await device.close();
  await device.close();
  expect(() => device.createBuffer("f32", 4)).toThrow(expect.objectContaining({ code: "DEVICE_CLOSED" }));
});

test.each([{ subgroup: 3 }, { subgroup: 256 }, { workers: 0 }, { workers: 1.5 }, { workers: 1000 }])(
  "refuses %o",
  (options) => {
    expect(() => openCpu(options)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  },
);

test("threads give the same as none, over launches of every size", async () => {
  const alone = openCpu({ workers: 1 });
  const threads = openCpu({ workers: 2 });
  for (const n of [0, 1, 63, 64, 1000, 300_000]) {
    const outputs: Float32Array[] = [];
    for (const device of [alone, threads]) {
      const x = device.createBuffer(
        "f32",
        Float32Array.from({ length: n }, (_, i) => (i % 700) / 7),
      );
      const y = device.createBuffer("f32", n);
      const program = await device.compile(scale);
      const result = await program.run({ workgroups: Math.ceil(n / 64), args: { x, y, factor: 1.25, n } });
      expect(result.timeMs).toBeGreaterThanOrEqual(0);
      expect(result.counters).toBeNull();
      outputs.push(await y.read());
    }
    expect(outputs[1]).toEqual(outputs[0]);
    for (let i = 0; i < n; i += 997)
      expect(outputs[0]?.[i]).toBe(expectedScale(Math.fround((i % 700) / 7), 1.25));
  }
  await alone.close();
  await threads.close();
});

test("launches run in the order of the calls", async () => {
  const device = openCpu({ workers: 2 });
  const add = kernel(
    "add",
    { params: { y: buffer(f32, "read_write"), n: u32 }, workgroup: [32] },
    ({ y, n }, gpu) => {
      const i = gpu.globalId.x;
      y.set(i, y.get(i).mul(2).add(n.toF32()));
    },
  );
  const y = device.createBuffer("f32", 32 * 200);
  const program = await device.compile(add);
  await Promise.all([1, 2, 3].map((n) => program.run({ workgroups: 200, args: { y, n } })));
  expect(new Set(await y.read())).toEqual(new Set([11]));
  await device.close();
});

test("a trap in a thread ends the launch with an error, and the threads go on", async () => {
  const device = openCpu({ workers: 2 });
  const late = kernel(
    "late",
    { params: { y: buffer(f32, "write"), bad: u32 }, workgroup: [32] },
    ({ y, bad }, gpu) => {
      const value = gpu.var(f32, 1);
      gpu.for({ from: 0, to: 2000 }, () => value.set(exp2(value.get().mul(0.3))));
      gpu.if(gpu.workgroupIndex.ge(bad), () => y.set(gpu.lane.add(900_000_000), value.get()));
      y.set(gpu.lane, value.get());
    },
  );
  const y = device.createBuffer("f32", 32);
  const program = await device.compile(late);
  const fails = program.run({ workgroups: 3000, args: { y, bad: 2000 } });
  await expect(fails).rejects.toMatchObject({ code: "KERNEL_TRAP" });
  await program.run({ workgroups: 3000, args: { y, bad: 5000 } });
  expect((await y.read())[0]).toBeGreaterThan(1);
  await device.close();
});

test("bad launches are refused before anything runs", async () => {
  const device = openCpu({ workers: 1 });
  const program = await device.compile(scale);
  const x = device.createBuffer("f32", 4);
  const args = { x, y: x, factor: 1, n: 4 };
  await expect(program.run({ workgroups: -1, args })).rejects.toMatchObject({ code: "INVALID_WORKGROUPS" });
  await expect(program.run({ workgroups: 1, args: { ...args, n: 1.5 } })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
  const other = openCpu({ workers: 1 });
  const foreign = other.createBuffer("f32", 4);
  await expect(program.run({ workgroups: 1, args: { ...args, x: foreign } })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
  await other.close();
  await device.close();
});

test("a process ends by itself although a device with threads is open", async () => {
  const script = `
    import { buffer, exp2, f32, kernel } from "@evolver/kernel";
    import { openCpu } from "@evolver/device";
    const device = openCpu({ workers: 2 });
    const made = kernel("work", { params: { y: buffer(f32, "write") }, workgroup: [32] }, ({ y }, gpu) => {
      const value = gpu.var(f32, 1);
      gpu.for({ from: 0, to: 3000 }, () => value.set(exp2(value.get().mul(0.5))));
      y.set(gpu.globalId.x, value.get());
    });
    const y = device.createBuffer("f32", 32 * 4000);
    const program = await device.compile(made);
    await program.run({ workgroups: 4000, args: { y } });
    console.log((await y.read())[32 * 4000 - 1]);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module-typescript", "-e", script],
    {
      cwd: import.meta.dirname,
      timeout: 50_000,
    },
  );
  expect(Number(stdout)).toBeGreaterThan(1);
});

describe("memory", () => {
  test("grows beyond its initial size, and earlier buffers keep their contents", async () => {
    const device = openCpu({ workers: 1 });
    const first = device.createBuffer("u32", Uint32Array.from([1, 2, 3]));
    const large = Array.from({ length: 4 }, () => device.createBuffer("f32", 3_000_000));
    const x = device.createBuffer("f32", Float32Array.from([8]));
    const last = large.at(-1) as (typeof large)[number];
    await (await device.compile(scale)).run({ workgroups: 1, args: { x, y: last, factor: 1, n: 1 } });
    expect(Array.from(await first.read())).toEqual([1, 2, 3]);
    expect((await last.read())[0]).toBe(expectedScale(8, 1));
    await device.close();
  });

  test("is reused once destroyed, and new buffers are zeroed", async () => {
    const memory = new DeviceMemory();
    const blocks = [100, 64, 5000].map((bytes) => memory.allocate(bytes));
    expect(new Set(blocks.map((address) => address % 64))).toEqual(new Set([0]));
    new Uint8Array(memory.memory.buffer, blocks[0], 100).fill(255);
    for (const address of [blocks[0], blocks[2], blocks[1]]) memory.free(address as number);
    const whole = memory.allocate(5100);
    expect(whole).toBe(blocks[0]);
    expect(new Uint8Array(memory.memory.buffer, whole, 5100).every((byte) => byte === 0)).toBe(true);
  });

  test("that does not suffice is an error", () => {
    const memory = new DeviceMemory();
    expect(() => memory.allocate(2 ** 33)).toThrow(expect.objectContaining({ code: "OUT_OF_MEMORY" }));
    expect(memory.allocate(64)).toBeGreaterThan(0);
  });
});

test("kernels that compute the same are compiled once", async () => {
  const compile = WebAssembly.compile;
  let compilations = 0;
  WebAssembly.compile = ((bytes: BufferSource) => {
    compilations++;
    return compile(bytes);
  }) as typeof compile;
  const device = openCpu({ workers: 1 });
  const build = (name: string, factor: number) =>
    kernel(name, { params: { y: buffer(f32, "write") }, workgroup: [32] }, ({ y }, gpu) =>
      y.set(gpu.lane, gpu.lane.toF32().mul(factor)),
    );
  try {
    await device.compile(build("one", 2));
    await device.compile(build("two", 2));
    expect(compilations).toBe(1);
    await device.compile(build("three", 3));
    expect(compilations).toBe(2);
  } finally {
    WebAssembly.compile = compile;
    await device.close();
  }
});

test("without a fused multiply-add in the machine, fma still rounds once", () => {
  const made = kernel(
    "multiply_add",
    { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [4] },
    ({ x, y }, gpu) => {
      const i = gpu.globalId.x.mul(3);
      y.set(gpu.globalId.x, fma(x.get(i), x.get(i.add(1)), x.get(i.add(2))));
    },
  );
  const memory = new DeviceMemory();
  const compiled = compileKernel(made.build({ subgroup: 4 }), {
    fusedMultiplyAdd: false,
    maximumPages: memory.maximumPages,
  });
  const count = 40_000;
  const [args, x, y, context] = [64, count * 12, count * 4, compiled.contextBytes].map((bytes) =>
    memory.allocate(bytes),
  ) as [number, number, number, number];
  const input = new Float32Array(memory.memory.buffer, x, count * 3);
  const numbers = new Random(7);
  const random = (): number => Math.fround((numbers.uniform() - 0.5) * 2 ** numbers.integer(-30, 29));
  const special = [0, -0, Infinity, -Infinity, NaN, 1e-45, 3.4e38];
  for (let i = 0; i < count; i++) {
    const a = random();
    const b = random();
    const c = i % 3 === 0 ? random() : Math.fround(-a * b * (i % 3 === 1 ? 1 : 2 ** 24));
    input.set(
      i < 343
        ? [special[i % 7], special[Math.trunc(i / 7) % 7], special[Math.trunc(i / 49)]].map(Number)
        : [a, b, c],
      3 * i,
    );
  }
  new Uint32Array(memory.memory.buffer, args, 5).set([count / 4, 1, 1, x, y]);
  const runWorkgroups = instantiate(new WebAssembly.Module(compiled.bytes), memory.memory);
  runWorkgroups(args, 0, context, 0, count / 4);
  const got = new Float32Array(memory.memory.buffer, y, count);
  let onceOnly = 0;
  for (let i = 0; i < count; i++) {
    const [a, b, c] = input.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number];
    const expected = math.fma(a, b, c);
    if (expected !== Math.fround(Math.fround(a * b) + c)) onceOnly++;
    if (!Object.is(got[i], expected)) expect(got[i], `fma(${a}, ${b}, ${c})`).toBe(expected);
  }
  // The inputs must be such that rounding twice would show.
  expect(onceOnly).toBeGreaterThan(1000);
});
