/** Attention in TensorFlow.js on its WebAssembly backend: matMul, softmax, matMul. In Node that backend has one thread. */

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Contender, Heads } from "./contender.ts";

/** What is used of @tensorflow/tfjs-core, which need not be installed where types are checked. */
interface TensorFlow {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  tensor3d(data: Float32Array, shape: readonly number[]): Tensor;
  mul(a: Tensor, b: number): Tensor;
  matMul(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Tensor;
  softmax(x: Tensor): Tensor;
  tidy(compute: () => Tensor): Tensor;
}
interface Tensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}
interface WasmBackend {
  setWasmPaths(folder: string): void;
}

export async function openTfjs({ heads, length, dim, scale, q, k, v }: Heads): Promise<Contender> {
  const require = createRequire(import.meta.url);
  const tf = require("@tensorflow/tfjs-core") as TensorFlow;
  const backend = require("@tensorflow/tfjs-backend-wasm") as WasmBackend;
  const main = require.resolve("@tensorflow/tfjs-backend-wasm");
  backend.setWasmPaths(join(dirname(main), "/"));
  await tf.setBackend("wasm");
  await tf.ready();
  const [queries, keys, values] = [q, k, v].map((data) => tf.tensor3d(data, [heads, length, dim])) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  return {
    name: "tfjs-wasm",
    threads: 1,
    async run() {
      const output = tf.tidy(() => {
        const scores = tf.matMul(tf.mul(queries, scale), keys, false, true);
        return tf.matMul(tf.softmax(scores), values, false, false);
      });
      const data = await output.data();
      output.dispose();
      return data;
    },
    async close() {
      for (const tensor of [queries, keys, values]) tensor.dispose();
    },
  };
}
