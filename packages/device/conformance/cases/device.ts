/** The device's own interface: buffers, what it refuses and with which code, and its end. */

import { atomic, buffer, f32, i32, kernel, SUBGROUP_SIZES, u32 } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import type { Args } from "@evolver/kernel";
import type { AnyTypedArray, Device, DeviceBuffer, Launch } from "@evolver/device";
import type { DeviceCase, Target } from "../case.ts";
import { invocations } from "../case.ts";
import { refuses } from "../refuses.ts";

const params = { x: buffer(f32), y: buffer(f32, "read_write"), n: u32, k: i32, s: f32 } as const;

const scaled = kernel(
  "scaled",
  { params, workgroup: ({ subgroup }) => [subgroup] },
  ({ x, y, n, k, s }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(s).add(k.toF32())));
  },
);

function equal(
  what: string,
  got: AnyTypedArray | number | string,
  wanted: AnyTypedArray | number | string,
): void {
  const text = (value: typeof got): string =>
    typeof value === "object" ? `${value.constructor.name} [${value.join(", ")}]` : String(value);
  if (text(got) !== text(wanted)) throw new Error(`${what} is ${text(got)}, not ${text(wanted)}`);
}

interface Ready {
  readonly device: Device;
  readonly target: Target;
  readonly x: DeviceBuffer<"f32">;
  readonly y: DeviceBuffer<"f32">;
  readonly args: Args<typeof params>;
  /** Runs the kernel with other arguments, or with other workgroups. */
  run(args?: Record<string, unknown>, workgroups?: unknown): Promise<unknown>;
}

const withProgram = (name: string, check: (ready: Ready) => Promise<void>): DeviceCase => ({
  name,
  async check(device, target) {
    const program = await device.compile(scaled);
    const x = device.createBuffer("f32", Float32Array.of(1, 2, 3));
    const y = device.createBuffer("f32", 3);
    const args = { x, y, n: 3, k: -1, s: 2 };
    const run = (given: Record<string, unknown> = args, workgroups: unknown = 1): Promise<unknown> =>
      program.run({ workgroups, args: given } as unknown as Launch<typeof params>);
    try {
      await check({ device, target, x, y, args, run });
    } finally {
      x.destroy();
      y.destroy();
    }
  },
});

const contents: DeviceCase = {
  name: "device: buffers from a length hold zeros, from data a copy; reads are copies",
  async check(device) {
    for (const [element, data] of [
      ["f32", Float32Array.of(1.5, -0, NaN, Infinity)],
      ["i32", Int32Array.of(-1, 2147483647, 0, -2147483648)],
      ["u32", Uint32Array.of(4294967295, 0, 1, 2)],
      ["f16", Uint16Array.of(0x3c00, 0x7bff, 0x8001, 0x7e01, 5)],
      ["bf16", Uint16Array.of(0x3f80, 0x7f7f, 0x8001)],
    ] as const) {
      const ofLength = device.createBuffer(element, 3);
      equal(`a buffer of ${element} made from a length`, await ofLength.read(), data.slice(0, 3).fill(0));
      equal("its element type", ofLength.element, element);
      equal("its length", ofLength.length, 3);
      const given = data.slice();
      const ofData = device.createBuffer(element, given as never);
      given.fill(9);
      const first = await ofData.read();
      equal(`a buffer of ${element} made from data`, first, data);
      first.fill(7);
      equal("a second read", await ofData.read(), data);
      ofLength.destroy();
      ofData.destroy();
    }
    const part = device.createBuffer("f32", new Float32Array(6).fill(4).subarray(1, 4));
    equal("a buffer made from part of an array", await part.read(), Float32Array.of(4, 4, 4));
    part.destroy();
    const ramp = device.createBuffer("u32", Uint32Array.of(10, 11, 12, 13, 14, 15));
    equal("a read from an offset on", await ramp.read(4), Uint32Array.of(14, 15));
    equal("a read of some elements", await ramp.read(1, 3), Uint32Array.of(11, 12, 13));
    equal("a read of none", await ramp.read(6), new Uint32Array(0));
    ramp.destroy();
    const none = device.createBuffer("u32", 0);
    equal("an empty buffer", await none.read(), new Uint32Array(0));
    await none.write(new Uint32Array(0));
    none.destroy();
  },
};

const writes: DeviceCase = {
  name: "device: writes replace elements from an offset on, and copy what they are given",
  async check(device) {
    const x = device.createBuffer("i32", Int32Array.of(1, 2, 3, 4, 5));
    const data = Int32Array.of(-7, -8);
    const writing = x.write(data, 2);
    await writing;
    data.fill(0);
    equal("a buffer after a write at 2", await x.read(), Int32Array.of(1, 2, -7, -8, 5));
    await x.write(Int32Array.of(9));
    equal("a buffer after a write at 0", await x.read(), Int32Array.of(9, 2, -7, -8, 5));
    await x.write(new Int32Array(0), 5);
    await x.write(Int32Array.of(1, 2, 3, 4, 5));
    equal("a buffer after a write of all of it", await x.read(), Int32Array.of(1, 2, 3, 4, 5));
    await refuses("INVALID_ARGUMENT", "a write beyond the end", () => x.write(Int32Array.of(1, 2), 4));
    await refuses("INVALID_ARGUMENT", "a write at a negative offset", () => x.write(Int32Array.of(1), -1));
    await refuses("INVALID_ARGUMENT", "a write at half an element", () => x.write(Int32Array.of(1), 0.5));
    await refuses("INVALID_ARGUMENT", "a read beyond the end", () => x.read(4, 2));
    await refuses("INVALID_ARGUMENT", "a read at a negative offset", () => x.read(-1, 1));
    await refuses("INVALID_ARGUMENT", "a write of another type", () => x.write(Float32Array.of(1) as never));
    equal("a buffer after writes that were refused", await x.read(), Int32Array.of(1, 2, 3, 4, 5));
    x.destroy();
  },
};

const halfWrites: DeviceCase = {
  name: "device: writes of two-byte elements leave their neighbours alone, wherever they start and end",
  async check(device) {
    const start = Uint16Array.from({ length: 7 }, (_, i) => 100 + i);
    for (let offset = 0; offset < 7; offset++)
      for (let length = 0; length <= 7 - offset; length++) {
        const x = device.createBuffer("f16", start);
        const data = Uint16Array.from({ length }, (_, i) => 200 + i);
        await x.write(data, offset);
        const wanted = start.slice();
        wanted.set(data, offset);
        equal(`a buffer after a write of ${length} at ${offset}`, await x.read(), wanted);
        equal("a part of it", await x.read(offset, length), wanted.slice(offset, offset + length));
        x.destroy();
      }
    await refuses("INVALID_ARGUMENT", "numbers instead of bits", async () =>
      device.createBuffer("f16", Float32Array.of(1) as never),
    );
  },
};

const badBuffers: DeviceCase = {
  name: "device: buffers that cannot be made are refused",
  async check(device) {
    const make = (element: unknown, given: unknown) => () =>
      device.createBuffer(element as "f32", given as number);
    for (const length of [-1, 1.5, NaN, Infinity])
      await refuses("INVALID_ARGUMENT", `a buffer of length ${length}`, make("f32", length));
    await refuses("INVALID_ARGUMENT", "an unknown element type", make("f64", 1));
    await refuses("INVALID_ARGUMENT", "data of another type", make("f32", Int32Array.of(1)));
    await refuses("INVALID_ARGUMENT", "a list instead of a typed array", make("f32", [1, 2]));
    const beyond = Math.floor(device.limits.maxBufferBytes / 4) + 1;
    await refuses("BUFFER_TOO_LARGE", "a buffer beyond the limit", make("u32", beyond));
  },
};

const destroyed: DeviceCase = withProgram(
  "device: a destroyed buffer is refused, the others stay usable",
  async ({ device, args, run, y }) => {
    const gone = device.createBuffer("f32", 3);
    gone.destroy();
    gone.destroy();
    await refuses("BUFFER_DESTROYED", "reading a destroyed buffer", () => gone.read());
    await refuses("BUFFER_DESTROYED", "writing a destroyed buffer", () => gone.write(new Float32Array(1)));
    await refuses("BUFFER_DESTROYED", "running with a destroyed buffer", () => run({ ...args, x: gone }));
    await run();
    equal("the result of the next run", await y.read(), Float32Array.of(1, 3, 5));
  },
);

const badArguments: DeviceCase = withProgram(
  "device: launches with bad arguments are refused, each with its code",
  async ({ device, args, run, y }) => {
    const { n: _, ...withoutN } = args;
    await refuses("MISSING_ARGUMENT", "a launch without n", () => run(withoutN));
    await refuses("UNKNOWN_ARGUMENT", "an argument that is no parameter", () => run({ ...args, m: 1 }));
    for (const n of [-1, 1.5, 2 ** 32, NaN, "3", true, null])
      await refuses("INVALID_ARGUMENT", `${String(n)} for a u32`, () => run({ ...args, n }));
    for (const k of [2 ** 31, -(2 ** 31) - 1, 0.5])
      await refuses("INVALID_ARGUMENT", `${k} for an i32`, () => run({ ...args, k }));
    await refuses("INVALID_ARGUMENT", "text for an f32", () => run({ ...args, s: "1" }));
    await refuses("INVALID_ARGUMENT", "a number for a buffer", () => run({ ...args, x: 1 }));
    await refuses("INVALID_ARGUMENT", "an array for a buffer", () =>
      run({ ...args, x: new Float32Array(3) }),
    );
    const integers = device.createBuffer("i32", 3);
    await refuses("INVALID_ARGUMENT", "a buffer of another type", () => run({ ...args, x: integers }));
    integers.destroy();
    equal("the output after refused launches", await y.read(), new Float32Array(3));
  },
);

const badCounts: DeviceCase = withProgram(
  "device: workgroup counts that are no counts are refused",
  async ({ args, run }) => {
    for (const workgroups of [-1, 0.5, NaN, 2 ** 32, "1", [], [1, 2, 3, 4], [1, -1], null])
      await refuses("INVALID_WORKGROUPS", `${JSON.stringify(workgroups)} workgroups`, () =>
        run(args, workgroups),
      );
    await refuses("INVALID_WORKGROUPS", "more workgroups than the device takes", () =>
      run(args, [2 ** 31, 2 ** 31, 2]),
    );
  },
);

const foreign: DeviceCase = withProgram(
  "device: a buffer of another device is refused",
  async ({ args, run }) => {
    const other = openSim();
    const x = other.createBuffer("f32", 3);
    await refuses("INVALID_ARGUMENT", "a buffer of another device", () => run({ ...args, x }));
    await other.close();
  },
);

const aliases: DeviceCase = withProgram(
  "device: a buffer that the kernel writes is passed once",
  async ({ device, args, run, x }) => {
    await refuses("ALIASED_BUFFER", "one buffer to read and to write", () => run({ ...args, y: x }));
    await run({ ...args, x });
    const pair = kernel(
      "pair",
      {
        params: { a: buffer(u32, "write"), b: buffer(atomic(u32)), c: buffer(u32) },
        workgroup: ({ subgroup }) => [subgroup],
      },
      ({ a, b, c }, gpu) => a.set(gpu.localIndex, b.get(0).add(c.get(0))),
    );
    const program = await device.compile(pair);
    const [a, b] = [device.createBuffer("u32", device.subgroupSize), device.createBuffer("u32", 4)];
    await refuses("ALIASED_BUFFER", "one buffer to write and for atomics", () =>
      program.run({ workgroups: 1, args: { a, b: a, c: b } }),
    );
    await refuses("ALIASED_BUFFER", "one buffer for atomics and to read", () =>
      program.run({ workgroups: 1, args: { a, b, c: b } }),
    );
    a.destroy();
    b.destroy();
  },
);

const concurrentRuns: DeviceCase = withProgram(
  "device: runs started together happen one after another",
  async ({ args, run, x, y }) => {
    const swapped = { ...args, x: y, y: x };
    await Promise.all([run(), run(swapped), run({ ...args, s: 1, k: 0 })]);
    equal("the output", await y.read(), Float32Array.of(1, 5, 9));
  },
);

const results: DeviceCase = withProgram(
  "device: a run says how long it took where the device has a clock",
  async ({ device, args, run }) => {
    const result = (await run(args, 2)) as { timeMs: number | null; findings: readonly unknown[] };
    const isTime = typeof result.timeMs === "number" && result.timeMs >= 0 && Number.isFinite(result.timeMs);
    if (device.id === "sim" ? result.timeMs !== null : !isTime) throw new Error(`timeMs is ${result.timeMs}`);
    equal("the number of findings", result.findings.length, 0);
    const none = (await run(args, 0)) as { timeMs: number | null };
    if (none.timeMs !== null && !(none.timeMs >= 0))
      throw new Error(`timeMs of no workgroups is ${none.timeMs}`);
  },
);

const plain = { params: { y: buffer(u32, "write") } } as const;

const tooLarge: DeviceCase = {
  name: "device: kernels that need more than the device has are refused before they run",
  async check(device, target) {
    const { limits, width } = target;
    const words = Math.floor(limits.maxSharedBytes / 4) + 1;
    const shared = kernel("shared", { ...plain, workgroup: [width] }, ({ y }, gpu) => {
      const all = gpu.shared(u32, words);
      all.set(gpu.localIndex, gpu.localIndex);
      y.set(gpu.localIndex, all.get(gpu.localIndex));
    });
    await refuses("SHARED_MEMORY_TOO_LARGE", `${words * 4} bytes of shared memory`, () =>
      device.compile(shared),
    );
    const size = limits.maxInvocationsPerWorkgroup + width;
    const workgroup = kernel("workgroup", { ...plain, workgroup: [size] }, ({ y }, gpu) =>
      y.set(gpu.localIndex, 1),
    );
    // The language itself has a limit of 1024.
    const code = size > 1024 ? "INVALID_WORKGROUP" : "WORKGROUP_TOO_LARGE";
    await refuses(code, `a workgroup of ${size}`, () => device.compile(workgroup));
    const partial = kernel("partial", { ...plain, workgroup: [width + 1] }, ({ y }, gpu) =>
      y.set(gpu.localIndex, gpu.subgroup.sum(gpu.lane)),
    );
    await refuses("INVALID_WORKGROUP", "a subgroup operation where a subgroup is not full", () =>
      device.compile(partial),
    );
    const foreignWidth = SUBGROUP_SIZES.find((other) => !limits.subgroupSizes.includes(other));
    if (foreignWidth === undefined) return;
    const built = kernel("built", { ...plain, workgroup: [128] }, ({ y }, gpu) => y.set(gpu.localIndex, 1));
    await refuses("UNSUPPORTED_SUBGROUP", `a kernel built for subgroups of ${foreignWidth}`, () =>
      device.compile(built.build({ subgroup: foreignWidth })),
    );
  },
};

const compiled: DeviceCase = {
  name: "device: compiles a kernel and its IR, which give the same",
  async check(device, target) {
    const threads = invocations(target, 64);
    const squares = kernel("squares", { ...plain, workgroup: [threads] }, ({ y }, gpu) => {
      y.set(gpu.globalId.x, gpu.globalId.x.mul(gpu.globalId.x));
    });
    const wanted = Uint32Array.from({ length: threads }, (_, i) => i * i);
    for (const source of [squares, squares.build({ subgroup: target.width })]) {
      const program = await device.compile<typeof plain.params>(source);
      equal("the kernel's name", program.ir.name, "squares");
      equal("the width of its IR", program.ir.subgroupSize, target.width);
      const y = device.createBuffer("u32", threads);
      await program.run({ workgroups: 1, args: { y } });
      equal("its output", await y.read(), wanted);
      y.destroy();
    }
  },
};

export const deviceCases: readonly DeviceCase[] = [
  contents,
  writes,
  halfWrites,
  badBuffers,
  destroyed,
  badArguments,
  badCounts,
  foreign,
  aliases,
  concurrentRuns,
  results,
  tooLarge,
  compiled,
];

/** Uses a device up: what it refuses once it is closed. For a device that nobody else uses. */
export async function checkClose(device: Device): Promise<void> {
  const program = await device.compile(scaled);
  const [x, y] = [device.createBuffer("f32", 3), device.createBuffer("f32", 3)];
  const launch = { workgroups: 1, args: { x, y, n: 3, k: 0, s: 1 } };
  await program.run(launch);
  await device.close();
  await device.close();
  await refuses("DEVICE_CLOSED", "a buffer after close", () => device.createBuffer("f32", 1));
  await refuses("DEVICE_CLOSED", "compiling after close", () => device.compile(scaled));
  await refuses("DEVICE_CLOSED", "running after close", () => program.run(launch));
  await refuses("DEVICE_CLOSED", "reading after close", () => x.read());
  await refuses("DEVICE_CLOSED", "writing after close", () => y.write(new Float32Array(1)));
  x.destroy();
}
