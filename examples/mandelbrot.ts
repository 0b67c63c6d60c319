/**
 * The Mandelbrot set as a picture: writes mandelbrot.png.
 *
 *     npx node examples/mandelbrot.ts cpu
 */

import { writeFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";

/** counts = after how many steps z ← z² + c leaves the circle of radius 2, at most `limit`. */
export const mandelbrot = kernel(
  "mandelbrot",
  {
    params: { counts: buffer(u32, "write"), width: u32, height: u32, limit: u32 },
    workgroup: [8, 8],
    example: { workgroups: [4, 3], args: { counts: 30 * 20, width: 30, height: 20, limit: 40 } },
  },
  ({ counts, width, height, limit }, gpu) => {
    const { x: column, y: row } = gpu.globalId;
    gpu.if(column.lt(width).and(row.lt(height)), () => {
      // The plane from −2 to 1 and from −1 to 1.
      const cx = column.toF32().mul(3).div(width.toF32()).sub(2);
      const cy = row.toF32().mul(2).div(height.toF32()).sub(1);
      const x = gpu.var(f32, 0);
      const y = gpu.var(f32, 0);
      const count = gpu.var(u32, 0);
      gpu.while(
        () =>
          count
            .get()
            .lt(limit)
            .and(x.get().mul(x.get()).add(y.get().mul(y.get())).le(4)),
        () => {
          const [oldX, oldY] = [x.get(), y.get()];
          x.set(oldX.mul(oldX).sub(oldY.mul(oldY)).add(cx));
          y.set(oldX.mul(oldY).mul(2).add(cy));
          count.add(1);
        },
      );
      counts.set(row.mul(width).add(column), count.get());
    });
  },
);

/** Computes the set, writes the picture, and returns the counts. */
export async function main(device: Device, file = "mandelbrot.png"): Promise<Uint32Array> {
  const [width, height, limit] = [180, 120, 60];
  const counts = device.createBuffer("u32", width * height);
  const program = await device.compile(mandelbrot);
  const workgroups = [Math.ceil(width / 8), Math.ceil(height / 8)] as const;
  const { counters } = await program.run({ workgroups, args: { counts, width, height, limit } });

  const steps = await counts.read();
  writeFileSync(
    file,
    png(width, height, (i) => (steps[i] === limit ? 0 : 255 - 4 * (steps[i] as number))),
  );
  console.log(`wrote ${width} × ${height} pixels of ${device.name}`);
  if (counters !== null) {
    const { branches, divergentBranches } = counters;
    console.log(`lanes disagree on ${Math.round((100 * divergentBranches) / branches)} % of the branches`);
  }
  return steps;
}

/** A picture in shades of grey: signature, size, rows with a filter byte each, end. */
function png(width: number, height: number, shade: (pixel: number) => number): Uint8Array {
  const rows = Buffer.alloc(height * (width + 1));
  for (let i = 0; i < width * height; i++)
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = shade(i);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
