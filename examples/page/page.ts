/**
 * A web page with one kernel, which draws ripples around the pointer on the visitor's GPU.
 *
 *     npx vite examples/page          serves it
 *     npx vite build examples/page    bundles it for any static server
 */

import { openWebgpu } from "@evolver/device/webgpu";
import { buffer, cos, EvolverError, f32, kernel, sqrt, u32 } from "@evolver/kernel";

/** pixels = shades of grey as a canvas wants them (a byte each for red, green, blue and opacity), by the distance from (x, y). */
export const ripples = kernel(
  "ripples",
  { params: { pixels: buffer(u32, "write"), width: u32, height: u32, x: f32, y: f32 }, workgroup: [8, 8] },
  ({ pixels, width, height, x, y }, gpu) => {
    const { x: column, y: row } = gpu.globalId;
    gpu.if(column.lt(width).and(row.lt(height)), () => {
      const across = column.toF32().sub(x);
      const down = row.toF32().sub(y);
      const distance = sqrt(across.mul(across).add(down.mul(down)));
      const shade = cos(distance.mul(0.25)).mul(100).add(128).toU32();
      const grey = shade.or(shade.shl(8)).or(shade.shl(16));
      pixels.set(row.mul(width).add(column), grey.or(0xff000000));
    });
  },
);

const canvas = document.querySelector("canvas")!;
const status = document.querySelector("#status")!;
const context = canvas.getContext("2d")!;
const { width, height } = canvas;

/** Opens the GPU, draws once, and again wherever the pointer goes. */
async function start(): Promise<void> {
  const device = await openWebgpu();
  const program = await device.compile(ripples);
  const pixels = device.createBuffer("u32", width * height);
  const workgroups = [Math.ceil(width / 8), Math.ceil(height / 8)] as const;
  const draw = async (x: number, y: number): Promise<void> => {
    await program.run({ workgroups, args: { pixels, width, height, x, y } });
    const bytes = new Uint8ClampedArray((await pixels.read()).buffer as ArrayBuffer);
    context.putImageData(new ImageData(bytes, width, height), 0, 0);
  };
  await draw(width / 2, height / 2);
  status.textContent = `Drawn by ${device.name}. Move the pointer over the picture.`;

  let isDrawing = false;
  canvas.addEventListener("pointermove", async ({ offsetX, offsetY }) => {
    if (isDrawing) return;
    isDrawing = true;
    const scale = width / canvas.clientWidth;
    await draw(offsetX * scale, offsetY * scale);
    isDrawing = false;
  });
}

try {
  await start();
} catch (error) {
  // Without WebGPU the error says so, and its hint says what the visitor can do.
  status.textContent =
    error instanceof EvolverError
      ? `No picture: ${error.what}. What to do: ${error.hint ?? "try another browser"}.`
      : String(error);
}
