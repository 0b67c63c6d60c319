/** `attention()` as users call it: what it gives, and what it refuses before anything runs. */

import { isClocked, openDevice, type Device } from "@evolver/device";
import {
  attention,
  compareAttention,
  createProblem,
  ladder,
  prepareAttention,
  randomInputs,
  toStrided,
} from "@evolver/attention";
import type { AttentionOptions, AttentionProblem, AttentionTensor } from "@evolver/attention";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasSwiftShader, useSwiftShader } from "../../../test/support/swiftshader.ts";

const shape = { batch: 2, headsQ: 6, headsKv: 2, seqQ: 9, seqK: 12, dim: 16 };
const qShape = [2, 6, 9, 16];
const kShape = [2, 2, 12, 16];

function tensorsOf(problem: AttentionProblem) {
  const inputs = randomInputs(problem, { seed: 1 });
  const { q, k, v } = inputs;
  const tensors = {
    q: { data: q, shape: qShape },
    k: { data: k, shape: kShape },
    v: { data: v, shape: kShape },
  };
  return { inputs, tensors };
}

/** A device that must not be touched. */
const untouchable = new Proxy({} as Device, {
  get: (_, property) => {
    throw new Error(`the device was asked for ${String(property)}`);
  },
});

describe.each(["sim", "cpu"] as const)("attention on %s", (id) => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice(id);
  });
  afterAll(() => device.close());

  it("gives o and lse, dense", async () => {
    const problem = createProblem(shape, { causal: true, softcap: 5, scale: 0.3 });
    const { inputs, tensors } = tensorsOf(problem);
    const given = await attention(device, { ...tensors, causal: true, softcap: 5, scale: 0.3, lse: true });
    expect(given.lse).toHaveLength(2 * 6 * 9);
    expect(compareAttention(problem, inputs, given)).toMatchObject({ pass: true });
    expect(given.result.findings).toEqual([]);
  });

  it("gives no lse unless asked", async () => {
    const problem = createProblem(shape);
    const { inputs, tensors } = tensorsOf(problem);
    const given = await attention(device, tensors);
    expect(given.lse).toBeNull();
    expect(compareAttention(problem, inputs, given)).toMatchObject({ pass: true, lseError: null });
  });

  it.each(ladder)("runs $id by name, and its point", async ({ id: kernel, point }) => {
    const problem = createProblem(shape, { window: [3, 1] });
    const { inputs, tensors } = tensorsOf(problem);
    const byName = await attention(device, { ...tensors, window: [3, 1], kernel });
    const byPoint = await attention(device, { ...tensors, window: [3, 1], kernel: point });
    expect(compareAttention(problem, inputs, byName)).toMatchObject({ pass: true });
    expect(byPoint.o).toEqual(byName.o);
  });

  it("takes buffers of the device and leaves them alone", async () => {
    const problem = createProblem(shape);
    const { inputs, tensors } = tensorsOf(problem);
    const buffers = {
      q: device.createBuffer("f32", inputs.q),
      k: device.createBuffer("f32", inputs.k),
      v: device.createBuffer("f32", inputs.v),
    };
    const first = await attention(device, tensors);
    for (let repeat = 0; repeat < 2; repeat++) {
      const { o } = await attention(device, {
        q: { data: buffers.q, shape: qShape },
        k: { data: buffers.k, shape: kShape },
        v: { data: buffers.v, shape: kShape },
      });
      expect(o).toEqual(first.o);
    }
    expect(await buffers.k.read()).toEqual(inputs.k);
  });

  it("takes strides in and gives strides out", async () => {
    const outputStrides = [6 * 9 * 20, 20, 6 * 20, 1] as const;
    const strides = [400, 200, 1, 12] as const;
    const problem = createProblem(shape, { strides: { k: strides, o: outputStrides } });
    const { inputs } = tensorsOf(createProblem(shape));
    const k = toStrided(inputs.k, [2, 2, 12, 16], strides, 5);
    const given = await attention(device, {
      q: { data: inputs.q, shape: qShape },
      k: { data: k, shape: kShape, strides },
      v: { data: inputs.v, shape: kShape },
      outputStrides,
      lse: true,
    });
    expect(compareAttention(problem, { ...inputs, k }, given)).toMatchObject({ pass: true });
    expect([...given.o.subarray(16, 20)]).toEqual([0, 0, 0, 0]);
  });

  it("gives zeros where there are no keys", async () => {
    const none = { data: new Float32Array(), shape: [2, 2, 0, 16] };
    const q = { data: new Float32Array(2 * 6 * 9 * 16).fill(1), shape: qShape };
    const { o, lse } = await attention(device, { q, k: none, v: none, lse: true });
    expect(o).toEqual(new Float32Array(2 * 6 * 9 * 16));
    expect(lse).toEqual(new Float32Array(2 * 6 * 9).fill(-Infinity));
  });

  it.each([1, 7, 96, 256])("has a kernel for dim %i by default", async (dim) => {
    const problem = createProblem({ ...shape, dim });
    const { q, k, v } = randomInputs(problem, { seed: 2 });
    const given = await attention(device, {
      q: { data: q, shape: qShape.with(3, dim) },
      k: { data: k, shape: kShape.with(3, dim) },
      v: { data: v, shape: kShape.with(3, dim) },
    });
    expect(compareAttention(problem, { q, k, v }, given)).toMatchObject({ pass: true });
  });
});

const present = hasSwiftShader ? (["sim", "cpu", "webgpu"] as const) : (["sim", "cpu"] as const);
describe.each(present)("attention into buffers on %s", (id) => {
  let device: Device;
  beforeAll(async () => {
    if (id === "webgpu") useSwiftShader();
    device = await openDevice(id);
  });
  afterAll(() => device.close());

  const problem = createProblem(shape, { causal: true });
  const { inputs, tensors } = tensorsOf(problem);
  const made = () => ({
    q: device.createBuffer("f32", inputs.q),
    k: device.createBuffer("f32", inputs.k),
    v: device.createBuffer("f32", inputs.v),
    o: device.createBuffer("f32", inputs.q.length + 7),
    lse: device.createBuffer("f32", 2 * 6 * 9),
  });
  const rightIn = async ({ o, lse }: Pick<ReturnType<typeof made>, "o" | "lse">) => {
    const given = { o: await o.read(0, inputs.q.length), lse: await lse.read() };
    expect(compareAttention(problem, inputs, given)).toMatchObject({ pass: true });
  };

  it("writes where it is told to, and reads nothing back", async () => {
    const { o, lse } = made();
    const written = await attention(device, { ...tensors, causal: true, o, lse });
    expect(Object.keys(written)).toEqual(["result"]);
    await rightIn({ o, lse });
    const alone = device.createBuffer("f32", inputs.q.length);
    await attention(device, { ...tensors, causal: true, o: alone });
    expect(await alone.read()).toEqual(await o.read(0, inputs.q.length));
  });

  it.each([undefined, "k02", "k08"])(
    "prepared once, it runs and is enqueued again and again (%s)",
    async (kernel) => {
      const buffers = made();
      const attend = await prepareAttention(device, problem, buffers, { kernel });
      expect(attend.enqueue !== null).toBe(isClocked(device));
      for (let again = 0; again < 2; again++) {
        await buffers.o.write(new Float32Array(inputs.q.length).fill(Number.NaN));
        if (attend.enqueue !== null && isClocked(device)) {
          attend.enqueue();
          await device.synchronize();
        } else await attend.run();
        await rightIn(buffers);
      }
      attend.destroy();
      await rightIn(buffers);
    },
  );

  it("one attention's output is the next one's input, without a wait between them", async () => {
    const { k, v, q, o: middle } = made();
    const o = device.createBuffer("f32", inputs.q.length);
    const [first, second] = [
      await prepareAttention(device, problem, { q, k, v, o: middle }),
      await prepareAttention(device, problem, { q: middle, k, v, o }),
    ];
    if (first.enqueue !== null && second.enqueue !== null) {
      first.enqueue();
      second.enqueue();
    } else {
      const running = [first.run(), second.run()];
      await Promise.all(running);
    }
    const between = (await middle.read(0, inputs.q.length)) as Float32Array;
    const given = { o: await o.read(), lse: null };
    expect(compareAttention(problem, { ...inputs, q: between }, given)).toMatchObject({ pass: true });
  });

  it("refuses buffers that are too short, and runs nothing where there is nothing", async () => {
    const { q, k, v, o, lse } = made();
    const short = device.createBuffer("f32", 5);
    await expect(prepareAttention(device, problem, { q, k, v, o: short })).rejects.toMatchObject({
      code: "ATTENTION_DATA",
      message: expect.stringContaining("o has 5 elements"),
    });
    await expect(prepareAttention(device, problem, { q, k, v, o, lse: short })).rejects.toMatchObject({
      code: "ATTENTION_DATA",
      message: expect.stringContaining("lse has 5 elements; the problem has 108 rows"),
    });
    const written = attention(device, { ...tensors, o: new Float32Array(5000) as never, lse });
    await expect(written).rejects.toMatchObject({
      code: "ATTENTION_DATA",
      message: expect.stringContaining("o is not a device buffer"),
    });
    const none = createProblem({ ...shape, seqQ: 0 });
    const attend = await prepareAttention(device, none, { q: short, k, v, o: short });
    expect(attend.point).toBeNull();
    attend.enqueue?.();
    expect(await attend.run()).toEqual({ timeMs: null, counters: null, findings: [] });
    attend.destroy();
  });
});

describe("work that is none", () => {
  it.each([
    ["no queries", [2, 6, 0, 16], [2, 2, 12, 16]],
    ["no batch", [0, 6, 9, 16], [0, 2, 12, 16]],
    ["no heads", [2, 0, 9, 16], [2, 0, 12, 16]],
  ])("%s: the device is not touched", async (_, q, k) => {
    const data = new Float32Array(2000);
    const tensors = { q: { data, shape: q }, k: { data, shape: k }, v: { data, shape: k } };
    const { o, lse, result } = await attention(untouchable, { ...tensors, lse: true });
    expect([o.length, lse?.length]).toEqual([0, 0]);
    expect(result).toEqual({ timeMs: null, counters: null, findings: [] });
  });
});

describe("what is refused before anything runs", () => {
  const { tensors } = tensorsOf(createProblem(shape));
  const change = (name: "q" | "k" | "v", tensor: Partial<AttentionTensor> | object) => ({
    [name]: { ...tensors[name], ...tensor },
  });

  it.each<[string, object, string, RegExp]>([
    ["a missing tensor", { k: undefined }, "ATTENTION_OPTION", /k is missing/],
    ["a rank of 3", change("q", { shape: [6, 9, 16] }), "ATTENTION_SHAPE", /q has a shape of 3/],
    [
      "another batch",
      change("k", { shape: [1, 2, 12, 16] }),
      "ATTENTION_SHAPE",
      /q .* and k .* batch \(axis 0\)/,
    ],
    ["another dim", change("q", { shape: [2, 6, 9, 8] }), "ATTENTION_SHAPE", /dim \(axis 3\): 8 and 16/],
    [
      "another length of v",
      change("v", { shape: [2, 2, 11, 16] }),
      "ATTENTION_SHAPE",
      /sequence \(axis 2\): 12 and 11/,
    ],
    [
      "heads that do not divide",
      change("q", { shape: [2, 5, 9, 16] }),
      "ATTENTION_SHAPE",
      /5 query heads .* 2 key heads/,
    ],
    [
      "data too short",
      change("v", { data: new Float32Array(767) }),
      "ATTENTION_DATA",
      /v has 767 .* needs 768/,
    ],
    [
      "data too short for strides",
      change("k", { strides: [384, 192, 17, 1] }),
      "ATTENTION_DATA",
      /k has 768 .* needs 779/,
    ],
    ["a plain array", change("q", { data: [1, 2, 3] }), "ATTENTION_DATA", /q is neither/],
    ["float64", change("q", { data: new Float64Array(2000) }), "ATTENTION_DATA", /q is neither/],
    ["no data", change("q", { data: undefined }), "ATTENTION_DATA", /q is neither/],
    [
      "a negative stride",
      change("q", { strides: [864, 144, 16, -1] }),
      "ATTENTION_STRIDES",
      /q along dim \(axis 3\) is -1/,
    ],
    [
      "an output that overlaps",
      { outputStrides: [864, 144, 0, 1] },
      "ATTENTION_STRIDES",
      /o along sequence \(axis 2\) is 0/,
    ],
    ["a scale of NaN", { scale: NaN }, "ATTENTION_OPTION", /scale is NaN/],
    ["a negative softcap", { softcap: -2 }, "ATTENTION_OPTION", /softcap is -2/],
    ["a negative window", { window: [-1, 2] }, "ATTENTION_OPTION", /left side is -1/],
    ["a fractional window", { window: [1, 2.5] }, "ATTENTION_OPTION", /right side is 2.5/],
    ["two masks", { causal: true, window: [1, 1] }, "ATTENTION_OPTION", /causal and window/],
    ["a misspelt option", { softCap: 1 }, "ATTENTION_OPTION", /no option "softCap"/],
    ["an lse that is no boolean", { lse: "yes" }, "ATTENTION_OPTION", /lse is yes/],
    ["an unknown kernel", { kernel: "k99" }, "UNKNOWN_RUNG", /k99.*\n.*k01/],
    ["a kernel of null", { kernel: null }, "ATTENTION_OPTION", /kernel is null/],
  ])("%s", async (_, options, code, message) => {
    const call = attention(untouchable, { ...tensors, ...options } as AttentionOptions);
    await expect(call).rejects.toThrow(message);
    await expect(call).rejects.toMatchObject({ code });
  });

  it("a point that is none", async () => {
    const device = await openDevice("sim");
    const kernel = { ...ladder[0]!.point, queryRows: 3 };
    await expect(attention(device, { ...tensors, kernel })).rejects.toMatchObject({ code: "INVALID_POINT" });
    await device.close();
  });

  it("buffers of another device, of another type, or destroyed", async () => {
    const [device, other] = [await openDevice("sim"), await openDevice("sim")];
    const run = (data: object) =>
      attention(device, { ...tensors, ...change("v", { data }) } as AttentionOptions);
    await expect(run(other.createBuffer("f32", 768))).rejects.toMatchObject({
      code: "ATTENTION_DATA",
      message: expect.stringContaining("v is a buffer of another device"),
    });
    await expect(run(device.createBuffer("u32", 768))).rejects.toMatchObject({
      code: "ATTENTION_DATA",
      message: expect.stringContaining("v is a buffer of u32"),
    });
    const destroyed = device.createBuffer("f32", 768);
    destroyed.destroy();
    await expect(run(destroyed)).rejects.toMatchObject({ code: "BUFFER_DESTROYED" });
    await device.close();
    await other.close();
  });

  it("a device that is closed", async () => {
    const device = await openDevice("sim");
    await device.close();
    await expect(attention(device, tensors)).rejects.toMatchObject({ code: "DEVICE_CLOSED" });
  });
});
