/**
 * How long it takes to make a kernel: recording, verifying, analysing and the rest of the IR's services on 10,000
 * operations, and the type check of the whole repository (--tsc).
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "@evolver/base";
import {
  analyseUniformity,
  buffer,
  deserialise,
  f32,
  hash,
  kernel,
  print,
  serialise,
  u32,
  verify,
} from "@evolver/kernel";
import type { KernelIR } from "@evolver/kernel";

const OPERATIONS = 10_000;
const RUNS = 9;

/** A kernel of about OPERATIONS nodes in loops and branches, as unrolled tiles give them. */
function record(): KernelIR {
  const large = kernel(
    "large",
    { params: { n: u32, x: buffer(f32), y: buffer(f32, "read_write") }, workgroup: [64] },
    ({ n, x, y }, gpu) => {
      const i = gpu.globalId.x;
      const sums = gpu.registers(f32, 8, 0);
      for (let tile = 0; tile < OPERATIONS / 100; tile++) {
        gpu.for({ from: 0, to: n }, (j) => {
          for (let k = 0; k < 8; k++) {
            const loaded = x.get(j.mul(8).add(k));
            const scaled = loaded.mul(2).add(1).max(0).sub(loaded).mul(loaded);
            sums.at(k).add(scaled);
          }
          gpu.if(j.lt(i), () => sums.at(0).set(sums.at(1).get().add(1)));
        });
        gpu.barrier();
      }
      y.set(i, sums.at(0).get());
    },
  );
  return large.build({ subgroup: 32 });
}

function medianMs(run: () => void): number {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return median(times);
}

const start = performance.now();
const ir = record();
const firstMs = performance.now() - start;
const nodes = print(ir).split("\n").length;
const text = serialise(ir);

const rows: readonly (readonly [string, number])[] = [
  ["record, verify and analyse, first time", firstMs],
  ["record, verify and analyse", medianMs(record)],
  ["verify", medianMs(() => verify(ir))],
  ["analyseUniformity", medianMs(() => void analyseUniformity(ir))],
  ["print", medianMs(() => void print(ir))],
  ["hash", medianMs(() => void hash(ir))],
  ["serialise", medianMs(() => void serialise(ir))],
  ["deserialise", medianMs(() => void deserialise(text))],
];
console.log(`a kernel of ${nodes} lines; medians of ${RUNS} runs`);
for (const [what, ms] of rows) console.log(`${ms.toFixed(1).padStart(8)} ms  ${what}`);

if (process.argv.includes("--tsc")) {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const begin = performance.now();
  spawnSync("npx", ["tsc", "--noEmit", "-p", "tsconfig.json"], { cwd: root, stdio: "inherit" });
  console.log(`${(performance.now() - begin).toFixed(0).padStart(8)} ms  tsc on the repository`);
}
