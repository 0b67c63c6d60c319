/** Cases of one input and one output per lane. */

import { buffer, i32, kernel, type Gpu, type I32, type U32 } from "@evolver/kernel";
import { array, launch, noise, type KernelCase } from "../case.ts";

/**
 * A case of one input and one output per lane: `body` gives the lane's result for its input x and index i, and `expect`
 * says it again in JavaScript. Lanes take different ways, as the inputs look random.
 */
export function perLane(
  name: string,
  body: (x: I32, i: U32, gpu: Gpu, n: I32) => I32,
  expect: (x: number, i: number, n: number) => number,
): KernelCase {
  return {
    name,
    prepare({ width }) {
      const length = 5 * width;
      const n = 9;
      const x = array(i32, length, (i) => (noise(i) % 64) - 20);
      return launch({
        kernel: kernel(
          "perLane",
          { params: { x: buffer(i32), y: buffer(i32, "write"), n: i32 }, workgroup: [width] },
          ({ x, y, n }, gpu) => {
            const i = gpu.globalId.x;
            y.set(i, body(x.get(i), i, gpu, n));
          },
        ),
        workgroups: 5,
        args: { x, y: array(i32, length), n },
        expected: { y: array(i32, length, (i) => expect(x[i] as number, i, n)) },
      });
    },
  };
}
