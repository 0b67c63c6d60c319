/**
 * Streams: copy, scale, add, triad, dot, and reading and writing alone, by the width of the accesses; then copy by how the
 * work is laid out. Each invocation has several independent accesses in flight and there is no loop, so that what is
 * measured is memory. Arrays are far larger than caches, and every element is compared with the analytic result.
 */

import { valueAxis } from "@evolver/base";
import { buffer, f32, kernel, u32, vec } from "@evolver/kernel";
import type { Buffer, F32, Gpu, Kernel, U32 } from "@evolver/kernel";
import {
  fill,
  FILL_BLOCK,
  once,
  POISON,
  random16,
  randomHalf,
  randomise,
  report,
  verdictParam,
} from "../kernels.ts";
import type { BufferSpec, CaseSpec, LaunchSpec, Setup } from "../spec.ts";
import { best, bySize, figure, powerOfTwo, seriesBy, type TestPlan, type Test } from "../benchmark.ts";

type Width = 1 | 2 | 4;

/** Seeds of the two inputs, and the factor of scale and triad: with it all results are exact, fused or not. */
const SEEDS = { x: 0, y: 0x5bd1e995 } as const;
const FACTOR = 0.75;

function loadWide(from: Pick<Buffer<"f32", "read">, "get" | "getVec">, at: U32, width: Width): F32[] {
  if (width === 1) return [from.get(at)];
  return [...from.getVec(width, at).components];
}

function storeWide(
  to: Pick<Buffer<"f32", "write">, "set" | "setVec">,
  at: U32,
  values: readonly F32[],
): void {
  const [a, b, c, d] = values as [F32, F32, F32, F32];
  if (values.length === 1) to.set(at, a);
  else if (values.length === 2) to.setVec(at, vec(a, b));
  else to.setVec(at, vec(a, b, c, d));
}

interface Operation {
  readonly name: string;
  readonly reads: 0 | 1 | 2;
  /** What is written for each element; null for operations that give one number for each invocation. */
  readonly result: ((x: F32, y: F32, factor: F32) => F32) | null;
}

const OPERATIONS: readonly Operation[] = [
  { name: "copy", reads: 1, result: (x) => x },
  { name: "scale", reads: 1, result: (x, _, factor) => factor.mul(x) },
  { name: "add", reads: 2, result: (x, y) => x.add(y) },
  { name: "triad", reads: 2, result: (x, y, factor) => x.add(factor.mul(y)) },
  { name: "dot", reads: 2, result: null },
  { name: "read", reads: 1, result: null },
  { name: "write", reads: 0, result: (_x, _y, factor) => factor },
];

interface Shape {
  readonly width: Width;
  readonly block: number;
  /** Accesses of each invocation to each array. */
  readonly unroll: number;
}

/** Element offset of access k of an invocation: neighbours access neighbours. */
function place(gpu: Gpu, { width, block, unroll }: Shape, k: number): U32 {
  return gpu.workgroupIndex
    .mul(block * unroll)
    .add(gpu.localIndex)
    .add(k * block)
    .mul(width);
}

function streamKernel({ name, reads, result }: Operation, shape: Shape): Kernel {
  const { width, block, unroll } = shape;
  return once(`${name}_v${width}_b${block}_u${unroll}`, (title) =>
    kernel(
      title,
      {
        params: { x: buffer(f32), y: buffer(f32), z: buffer(f32, "write"), factor: f32 },
        workgroup: [block],
      },
      ({ x, y, z, factor }, gpu) => {
        const places = Array.from({ length: unroll }, (_, k) => place(gpu, shape, k));
        const xs = places.map((at) => (reads >= 1 ? loadWide(x, at, width) : []));
        const ys = places.map((at) => (reads === 2 ? loadWide(y, at, width) : []));
        if (result === null) {
          const sum = gpu.var(f32, 0);
          xs.flat().forEach((value, k) => {
            const other = ys.flat()[k];
            sum.add(other === undefined ? value : value.mul(other));
          });
          z.set(gpu.globalId.x, sum.get());
          return;
        }
        places.forEach((at, k) => {
          const values = Array.from({ length: width }, (_, c) =>
            result(xs[k]?.[c] ?? factor, ys[k]?.[c] ?? factor, factor),
          );
          storeWide(z, at, values);
        });
      },
    ),
  );
}

/** One element per invocation, computed again from its index. */
function checkElements({ name, result }: Operation): Kernel {
  return once(`check_${name}`, (title) =>
    kernel(
      title,
      { params: { z: buffer(f32), factor: f32, n: u32, ...verdictParam }, workgroup: [FILL_BLOCK] },
      ({ z, factor, n, verdict }, gpu) => {
        const i = gpu.workgroupIndex.mul(FILL_BLOCK).add(gpu.localIndex);
        const [x, y] = [randomHalf(i.xor(SEEDS.x)), randomHalf(i.xor(SEEDS.y))];
        gpu.if(i.lt(n), () =>
          report(gpu, verdict, z.get(i).ne((result as NonNullable<typeof result>)(x, y, factor)), i),
        );
      },
    ),
  );
}

/** One invocation's sum, computed again in whole numbers: halves times two, products times four. */
function checkSums({ name, reads }: Operation, shape: Shape): Kernel {
  const { width, block, unroll } = shape;
  return once(`check_${name}_v${width}_b${block}_u${unroll}`, (title) =>
    kernel(
      title,
      { params: { z: buffer(f32), ...verdictParam }, workgroup: [block] },
      ({ z, verdict }, gpu) => {
        const sum = gpu.var(u32, 0);
        const twice = (i: U32): U32 => random16(i).and(255).mul(2).sub(255);
        for (let k = 0; k < unroll; k++)
          for (let c = 0; c < width; c++) {
            const i = place(gpu, shape, k).add(c);
            const x = twice(i.xor(SEEDS.x));
            sum.add(reads === 2 ? x.mul(twice(i.xor(SEEDS.y))) : x);
          }
        const i = gpu.globalId.x;
        const scaled = z.get(i).mul(reads === 2 ? 4 : 2);
        report(gpu, verdict, scaled.ne(sum.get().toI32().toF32()), i);
      },
    ),
  );
}

function operationNamed(name: string): Operation {
  return OPERATIONS.find((operation) => operation.name === name) as Operation;
}

/** Elements of each of the three arrays. */
function streamElements(setup: Setup): number {
  const wanted = bySize(setup, 2 ** 13, setup.quick ? 2 ** 22 : 2 ** 23, setup.quick ? 2 ** 28 : 2 ** 30);
  return powerOfTwo(Math.min(wanted, setup.maxBufferBytes / 32));
}

interface Arrays {
  readonly x: BufferSpec;
  readonly y: BufferSpec;
  readonly z: BufferSpec;
}

function streamArrays(length: number): Arrays {
  const array = (name: string): BufferSpec => ({ name, element: "f32", length });
  return { x: array("x"), y: array("y"), z: array("z") };
}

const fillInputs = ({ x, y }: Arrays): LaunchSpec[] => [randomise(x, SEEDS.x), randomise(y, SEEDS.y)];

function streamCase(operation: Operation, shape: Shape, arrays: Arrays): CaseSpec {
  const { width, block, unroll } = shape;
  const { length } = arrays.z;
  const each = block * unroll * width;
  const { name, reads, result } = operation;
  const { x, y, z } = arrays;
  const sums = result === null;
  return {
    id: `${name}.v${width}.b${block}.u${unroll}`,
    name: `${name}, ${width * 4} bytes per access, ${block} × ${unroll}`,
    unit: "GB/s",
    launch: {
      kernel: streamKernel(operation, shape),
      workgroups: length / each,
      args: { x, y, z, factor: FACTOR },
    },
    before: [fill(z, POISON, sums ? length / (unroll * width) : length)],
    check: sums
      ? { kernel: checkSums(operation, shape), workgroups: length / each, args: { z } }
      : {
          kernel: checkElements(operation),
          workgroups: Math.ceil(length / FILL_BLOCK),
          args: { z, factor: FACTOR, n: length },
        },
    work: 4 * (each * reads + (sums ? block : each)),
    settings: { operation: name, width, block, unroll },
  };
}

export const streams: Test = {
  id: "streams",
  title: "Memory bandwidth",
  about:
    "Bytes read and written each second by streaming kernels over arrays that no cache holds. Copy's best is the machine's memory bandwidth; narrower accesses show what vector loads are worth.",
  plan: (setup): TestPlan => {
    const arrays = streamArrays(streamElements(setup));
    const widths: readonly Width[] = setup.size === "tiny" ? [1, 4] : [1, 2, 4];
    const main = OPERATIONS.flatMap((operation) =>
      widths.map((width) => streamCase(operation, { width, block: 256, unroll: 4 }, arrays)),
    );
    const layouts: readonly (readonly [number, number])[] = bySize(
      setup,
      [],
      [],
      setup.quick
        ? [
            [512, 4],
            [1024, 2],
          ]
        : [
            [128, 8],
            [256, 1],
            [256, 2],
            [256, 8],
            [512, 1],
            [512, 2],
            [512, 4],
            [1024, 1],
            [1024, 2],
            [1024, 4],
          ],
    );
    const more = layouts
      .filter(([block]) => block <= setup.maxInvocations)
      .map(([block, unroll]) => streamCase(operationNamed("copy"), { width: 4, block, unroll }, arrays));
    return {
      fills: fillInputs(arrays),
      cases: [...main, ...more],
      read: (outcomes) => {
        const of = (name: string) => outcomes.filter(({ spec }) => spec.settings["operation"] === name);
        const simple = outcomes.filter(
          ({ spec }) => spec.settings["block"] === 256 && spec.settings["unroll"] === 4,
        );
        return {
          figures: ["copy", "read", "write", "triad"].flatMap((name) =>
            figure(`${name}GBPerSecond`, `${name}, best`, best(of(name))?.value ?? null, "GB/s"),
          ),
          plots: [
            {
              id: "streams",
              title: "Memory bandwidth by width of access",
              x: valueAxis("elements per access", null, { log: true }),
              y: valueAxis("bandwidth", "GB/s"),
              notes: [],
              series: seriesBy(simple, "width", "operation"),
            },
          ],
        };
      },
    };
  },
};
