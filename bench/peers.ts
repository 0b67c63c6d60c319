/**
 * Attention on the processor, ours beside what people would take instead: onnxruntime-node (MatMul, Softmax, MatMul) and
 * TensorFlow.js on WebAssembly, on the same data in one run. Rounds in which each takes its turn; the best of each.
 * Run: node bench/peers.ts [heads] [length] [dim]
 */

import { setTimeout as sleep } from "node:timers/promises";
import { attention } from "@evolver/attention";
import { Random } from "@evolver/base";
import { openCpu } from "@evolver/device";
import type { Contender, Heads } from "./contender.ts";
import { openOnnx } from "./onnx.ts";
import { openTfjs } from "./tfjs.ts";

const [HEADS, LENGTH, DIM] = [8, 1024, 64].map((usual, i) => Number(process.argv[2 + i] ?? usual)) as [
  number,
  number,
  number,
];
const ROUNDS = 5;
/** Per round and contender. */
const RUNS = 3;
/** Threads of the one before go on looking for work for a while. */
const REST_MS = 30;

async function openOurs({ heads, length, dim, q, k, v }: Heads, workers: number): Promise<Contender> {
  const device = openCpu({ workers });
  const shape = [1, heads, length, dim];
  const [queries, keys, values] = [q, k, v].map((data) => ({
    data: device.createBuffer("f32", data),
    shape,
  })) as [{ data: ReturnType<typeof device.createBuffer<"f32">>; shape: number[] }, never, never];
  return {
    name: "ours",
    threads: workers,
    run: async () => (await attention(device, { q: queries, k: keys, v: values })).o,
    close: () => device.close(),
  };
}

function randomHeads(): Heads {
  const numbers = new Random(1);
  const random = (): Float32Array =>
    Float32Array.from({ length: HEADS * LENGTH * DIM }, () => 2 * numbers.uniform() - 1);
  return {
    heads: HEADS,
    length: LENGTH,
    dim: DIM,
    scale: 1 / Math.sqrt(DIM),
    q: random(),
    k: random(),
    v: random(),
  };
}

const heads = randomHeads();
const contenders = [await openOurs(heads, 1), await openOurs(heads, 2)];
for (const open of [() => openOnnx(heads, 1), () => openOnnx(heads, 2), () => openTfjs(heads)])
  try {
    contenders.push(await open());
  } catch (error) {
    if ((error as { code?: string }).code?.endsWith("MODULE_NOT_FOUND") !== true) throw error;
  }

const best = new Map<Contender, number>();
const outputs = new Map<Contender, Float32Array>();
for (let round = 0; round <= ROUNDS; round++)
  for (const contender of contenders) {
    await sleep(REST_MS);
    for (let i = 0; i < RUNS; i++) {
      const start = performance.now();
      const output = await contender.run();
      const ms = performance.now() - start;
      // The first round is for warming up.
      if (round > 0) best.set(contender, Math.min(ms, best.get(contender) ?? Infinity));
      else outputs.set(contender, output);
    }
  }

const expected = outputs.get(contenders[0] as Contender) as Float32Array;
const flops = 4 * HEADS * LENGTH * LENGTH * DIM;
console.log(
  `attention, ${HEADS} heads, ${LENGTH} queries and keys, ${DIM} dimensions, float32; best of ${ROUNDS * RUNS}`,
);
console.log("                  threads          ms   GFLOP/s   difference from ours");
for (const contender of contenders) {
  const ms = best.get(contender) as number;
  const output = outputs.get(contender) as Float32Array;
  const difference = output.reduce((most, x, i) => Math.max(most, Math.abs(x - (expected[i] as number))), 0);
  const columns = [
    contender.name.padEnd(18),
    String(contender.threads).padStart(7),
    ms.toFixed(2).padStart(11),
    (flops / ms / 1e6).toFixed(1).padStart(9),
    difference.toExponential(1).padStart(22),
  ];
  console.log(columns.join(" "));
  await contender.close();
}
if (contenders.length < 5)
  console.log("onnxruntime-node and tfjs-wasm are not installed: npm ci --prefix bench");
