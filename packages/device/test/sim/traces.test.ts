/** gpu.trace: what is shown, of whom, and that it changes nothing. */

import { expect, test, vi } from "vitest";
import { buffer, emit, f32, hash, kernel, u32, vec } from "@evolver/kernel";
import { formatTrace, openDevice, type SimOptions, type Trace } from "@evolver/device";

const params = { x: buffer(f32), y: buffer(f32, "write"), n: u32 };
const traced = kernel("traced", { params, workgroup: [8] }, ({ x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  const total = gpu.var(f32, 0);
  gpu.for({ from: 0, to: n }, (k) => {
    total.add(x.get(i));
    gpu.if(gpu.localIndex.eq(3).and(k.ge(1)), () =>
      gpu.trace("turn", k, total, i.lt(9), -1, vec(x.get(i), x.get(0))),
    );
  });
  gpu.trace("n", n.sub(3));
  y.set(i, total.get());
});

async function run(options: SimOptions, body = traced): Promise<number[]> {
  const device = await openDevice("sim", { subgroup: 4, ...options });
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: 16 }, (_, i) => i + 0.5),
  );
  const y = device.createBuffer("f32", new Float32Array(16));
  await (await device.compile(body)).run({ workgroups: 2, args: { x, y, n: 2 } });
  const result = [...(await y.read())];
  await device.close();
  return result;
}

test("shows label, values, workgroup, invocation and line of each active invocation", async () => {
  const traces: Trace[] = [];
  const y = await run({ onTrace: (trace) => traces.push(trace) });
  expect(y).toEqual(Array.from({ length: 16 }, (_, i) => 2 * (i + 0.5)));
  const turns = traces.filter(({ label }) => label === "turn");
  expect(turns.map(({ workgroup, invocation, values }) => ({ workgroup, invocation, values }))).toEqual([
    { workgroup: [0, 0, 0], invocation: 3, values: [1, 7, true, -1, 3.5, 0.5] },
    { workgroup: [1, 0, 0], invocation: 3, values: [1, 23, false, -1, 11.5, 0.5] },
  ]);
  const all = traces.filter(({ label }) => label === "n");
  expect(all.map(({ invocation }) => invocation)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
  expect(all[0]?.values).toEqual([2 ** 32 - 1]);
  expect(formatTrace(turns[0] as Trace)).toBe(
    "turn: 1, 7, true, -1, 3.5, 0.5 (invocation 3 of workgroup [0, 0, 0], traces.test.ts:14)",
  );
});

test("prints lines by itself, and says how many it leaves out", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  await run({ maxTraces: 3 });
  expect(log).toHaveBeenCalledTimes(3);
  expect(warn.mock.calls).toEqual([["traced: 15 more traces, which maxTraces leaves out"]]);
  vi.restoreAllMocks();
});

test("other devices compute the same without it, and say so", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const device = await openDevice("cpu");
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: 16 }, (_, i) => i + 0.5),
  );
  const y = device.createBuffer("f32", 16);
  await (await device.compile(traced)).run({ workgroups: 2, args: { x, y, n: 2 } });
  expect([...(await y.read())]).toEqual(Array.from({ length: 16 }, (_, i) => 2 * (i + 0.5)));
  await device.close();
  expect(log).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  const { source, lowering } = emit(traced.build({ subgroup: 32 }), "cuda");
  expect(source).not.toContain("- 3u");
  expect(lowering.entries.map(({ request, became }) => `${request}: ${became}`)).toEqual([
    'trace "turn": nothing: only the simulator shows it',
    'trace "n": nothing: only the simulator shows it',
  ]);
});

test("a kernel that shows more is another kernel, so that no compiled one is taken for it", () => {
  const plain = kernel("plain", { params, workgroup: [8] }, ({ y }, gpu) => y.set(gpu.globalId.x, 1));
  const shows = kernel("shows", { params, workgroup: [8] }, ({ y }, gpu) => {
    gpu.trace("here");
    y.set(gpu.globalId.x, 1);
  });
  expect(hash(shows.build({ subgroup: 32 }))).not.toBe(hash(plain.build({ subgroup: 32 })));
});
