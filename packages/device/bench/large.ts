/**
 * Buffers and offsets beyond 32 bits: a kernel writes and reads elements on both sides of 2^31 bytes, 2^31 elements and
 * 2^32 elements, where the device has the memory. Prints one JSON document; exits 1 if an element is wrong.
 *
 *     node packages/device/bench/large.ts --device cuda
 */

import { parseArgs } from "node:util";
import { buffer, kernel, u32 } from "@evolver/kernel";
import { openDevice, type DeviceId } from "@evolver/device";

/** Elements around which offsets are tried, by what would break there. */
const EDGES = {
  "2^31 bytes": 2 ** 29,
  "2^32 bytes": 2 ** 30,
  "2^31 elements": 2 ** 31,
  "2^32 elements": 2 ** 32,
};
const AROUND = 64;

/** x[row · stride + column] ← 7 · column + row through a view, whose offsets are exact beyond 32 bits. */
const fill = kernel(
  "fill",
  { params: { x: buffer(u32, "read_write"), row: u32, stride: u32, first: u32 }, workgroup: [AROUND] },
  ({ x, row, stride, first }, gpu) => {
    const column = first.add(gpu.localIndex);
    const view = x.view({ strides: [stride, 1] });
    view.set(row, column, column.mul(7).add(row).add(view.get(row, column)));
  },
);

const { values } = parseArgs({ options: { device: { type: "string", default: "cuda" } } });
const device = await openDevice(values.device as DeviceId);
const results: {
  edge: string;
  elements: number;
  status: "right" | "wrong" | "not enough memory";
  why: string | null;
}[] = [];
for (const [edge, at] of Object.entries(EDGES)) {
  // Rows of 2^28 elements, so that row · stride passes the edge; the last row begins AROUND / 2 before it.
  const stride = 2 ** 28;
  const row = at / stride - 1;
  const first = stride - AROUND / 2;
  const length = at + AROUND;
  try {
    const x = device.createBuffer("u32", length);
    const program = await device.compile(fill);
    await program.run({ workgroups: 1, args: { x, row, stride, first } });
    const written = await x.read(at - AROUND / 2, AROUND);
    // A wrapped offset would land at the beginning.
    const beginning = await x.read(0, AROUND);
    const wrong = written.findIndex((value, i) => value !== (7 * (first + i) + row) >>> 0);
    const stray = beginning.findIndex((value) => value !== 0);
    const why =
      wrong >= 0
        ? `element ${at - AROUND / 2 + wrong} is ${written[wrong]}`
        : stray >= 0
          ? `element ${stray} was written`
          : null;
    results.push({ edge, elements: length, status: why === null ? "right" : "wrong", why });
    x.destroy();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "BUFFER_TOO_LARGE" && code !== "OUT_OF_DEVICE_MEMORY" && code !== "OUT_OF_MEMORY")
      throw error;
    results.push({
      edge,
      elements: length,
      status: "not enough memory",
      why: (error as Error).message.split("\n")[0] as string,
    });
  }
}
process.stdout.write(`${JSON.stringify({ device: values.device, name: device.name, results }, null, 2)}\n`);
await device.close();
process.exitCode = results.some(({ status }) => status === "wrong") ? 1 : 0;
