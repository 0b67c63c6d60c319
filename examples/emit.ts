/**
 * A kernel as source text for CUDA and for WebGPU, to put into a program of your own.
 *
 *     npx node examples/emit.ts
 *     npx evolver emit examples/emit.ts --target cuda --selftest -o clampAll.cu      with a program that tests it
 */

import { buffer, clamp, emit, f32, kernel, u32 } from "@evolver/kernel";

/** Brings the n elements of x to the range from low to high. */
export const clampAll = kernel(
  "clampAll",
  {
    params: { x: buffer(f32, "read_write"), low: f32, high: f32, n: u32 },
    workgroup: [128],
    example: { workgroups: 3, args: { x: 300, low: -0.5, high: 0.5, n: 300 } },
  },
  ({ x, low, high, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => x.set(i, clamp(x.get(i), low, high)));
  },
);

/** Prints the code that is left without the comments at its top, and returns all of it. */
export function main(): { cuda: string; wgsl: string } {
  // A kernel is built for a width of subgroups; here it makes no difference.
  const ir = clampAll.build({ subgroup: 32 });
  const [cuda, wgsl] = (["cuda", "wgsl"] as const).map((target) => emit(ir, target).source);
  for (const [target, code = ""] of Object.entries({ cuda, wgsl })) {
    console.log(`${target}:`);
    console.log(code.replace(/^\/\/.*\n|^\/\*[^]*?\*\/\n/gm, "").trim());
  }
  return { cuda: cuda ?? "", wgsl: wgsl ?? "" };
}

if (import.meta.main !== false) main();
