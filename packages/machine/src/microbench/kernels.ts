/**
 * What the kernels of all tests share: random data as a function of the index, so that results can be computed again on
 * the device, and the kernels that fill buffers and report what is wrong.
 */

import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { AtomicArray, Bool, F32, Gpu, Kernel, U32 } from "@evolver/kernel";
import type { BufferSpec, LaunchSpec } from "./spec.ts";

/** Invocations per workgroup of the kernels that fill and check. */
export const FILL_BLOCK = 256;

const made = new Map<string, Kernel>();

/** The kernel of this name, made when it is first asked for: devices compile each kernel object once. */
export function once(name: string, make: (name: string) => unknown): Kernel {
  const known = made.get(name);
  if (known !== undefined) return known;
  const fresh = make(name) as Kernel;
  made.set(name, fresh);
  return fresh;
}

/** 16 bits that look random, a function of the index. */
export function random16(i: U32): U32 {
  const mixed = i.add(0x632be5ab).mul(0x9e3779b9);
  return mixed.xor(mixed.shr(15)).mul(0x85ebca6b).shr(16);
}

/** Random odd multiples of ½ from −127.5 to 127.5: never 0, and small sums of products are exact. */
export const randomHalf = (i: U32): F32 => random16(i).and(255).toF32().sub(127.5);

export const verdictParam = { verdict: buffer(atomic(u32)) };

/** Counts a wrong result, and keeps the smallest index of one. */
export function report(gpu: Gpu, verdict: AtomicArray<"u32">, wrong: Bool, index: U32): void {
  gpu.if(wrong, () => {
    verdict.add(0, 1);
    verdict.min(1, index);
  });
}

/** Fills with random halves; another seed, other data. */
const fillRandom = (): Kernel =>
  once("fillRandom", (name) =>
    kernel(
      name,
      { params: { to: buffer(f32, "write"), seed: u32, n: u32 }, workgroup: [FILL_BLOCK] },
      ({ to, seed, n }, gpu) => {
        const i = gpu.workgroupIndex.mul(FILL_BLOCK).add(gpu.localIndex);
        gpu.if(i.lt(n), () => to.set(i, randomHalf(i.xor(seed))));
      },
    ),
  );

const fillValue = (element: "f32" | "u32"): Kernel =>
  once(`fill_${element}`, (name) =>
    element === "f32"
      ? kernel(
          name,
          { params: { to: buffer(f32, "write"), value: f32, n: u32 }, workgroup: [FILL_BLOCK] },
          ({ to, value, n }, gpu) => {
            const i = gpu.workgroupIndex.mul(FILL_BLOCK).add(gpu.localIndex);
            gpu.if(i.lt(n), () => to.set(i, value));
          },
        )
      : kernel(
          name,
          { params: { to: buffer(u32, "write"), value: u32, n: u32 }, workgroup: [FILL_BLOCK] },
          ({ to, value, n }, gpu) => {
            const i = gpu.workgroupIndex.mul(FILL_BLOCK).add(gpu.localIndex);
            gpu.if(i.lt(n), () => to.set(i, value));
          },
        ),
  );

/** A value that no test computes. */
export const POISON = 12345.25;

export function fill(to: BufferSpec, value: number, n = to.length): LaunchSpec {
  return { kernel: fillValue(to.element), workgroups: Math.ceil(n / FILL_BLOCK), args: { to, value, n } };
}

export function randomise(to: BufferSpec, seed: number): LaunchSpec {
  const workgroups = Math.ceil(to.length / FILL_BLOCK);
  return { kernel: fillRandom(), workgroups, args: { to, seed, n: to.length } };
}
