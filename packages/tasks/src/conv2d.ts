/**
 * A 3×3 convolution of images, with zeros around them.
 *
 * By `product`, it is a matrix product of the weights and what they are laid over, with 36 multiplications for 4 results. By
 * `winograd` it takes 16, and some additions. In both an invocation keeps `rows` outputs of `columns` pixels or windows in registers.
 */

import { assertNever } from "@evolver/base";
import { buildPlan, tunable, type Plan, type PlanBuild } from "@evolver/device";
import { f32, type Choices } from "@evolver/kernel";
import { productThreads, productTune } from "./support/product.ts";
import { convolve, orderWeights, TAPS } from "./support/window-product.ts";
import { turnWeights, winograd, winogradTune } from "./support/winograd.ts";
import { PLACES } from "./support/winograd-transforms.ts";

export const conv2d = tunable("conv2d", {
  sizes: { batch: 16, inputs: 64, outputs: 64, height: 56, width: 56 },
  tune: { way: ["product", "winograd"], ...productTune, places: [1, 2, 4] },
  variants: {
    fast: { way: "winograd", tileRows: 64, tileColumns: 32, depth: 8, rows: 8, columns: 8, places: 2 },
    direct: { tileRows: 64, tileColumns: 128, depth: 16, rows: 8, columns: 8, stages: 3 },
    deep: { tileRows: 64, tileColumns: 128, depth: 8, rows: 8, columns: 8, stages: 4 },
  },
  plan(sizes, { way, stages, places, ...choices }, build): Plan {
    switch (way) {
      case "product":
        return productPlan(sizes, { ...choices, stages }, build);
      case "winograd":
        return winogradPlan(sizes, { ...choices, places }, build);
      default:
        return assertNever(way, "way");
    }
  },
  reference({ x, w }, { batch, inputs, outputs, height, width }, round) {
    const size = height * width;
    const y = new Float64Array(batch * outputs * size);
    for (let i = 0; i < y.length; i++) {
      const [plane, row, column] = [Math.floor(i / size), Math.floor(i / width) % height, i % width];
      const [image, output] = [Math.floor(plane / outputs), plane % outputs];
      let sum = 0;
      for (let channel = 0; channel < inputs; channel++)
        for (let tap = 0; tap < TAPS; tap++) {
          const [r, c] = [row + Math.floor(tap / 3) - 1, column + (tap % 3) - 1];
          if (r < 0 || r >= height || c < 0 || c >= width) continue;
          const value = (x as Float64Array)[(image * inputs + channel) * size + r * width + c] as number;
          const weight = (w as Float64Array)[(output * inputs + channel) * TAPS + tap] as number;
          sum = round(sum + round(value * weight));
        }
      y[i] = sum;
    }
    return { y };
  },
  // Of the definition. A kernel by Winograd takes fewer, so it may be faster than the roofline that is drawn from these.
  work: ({ batch, inputs, outputs, height, width }) => ({
    flops: 2 * TAPS * batch * inputs * outputs * height * width,
  }),
});

type ConvolutionSizes = Readonly<Record<"batch" | "inputs" | "outputs" | "height" | "width", number>>;

function productPlan(sizes: ConvolutionSizes, choices: Choices<typeof productTune>, build: PlanBuild): Plan {
  const { batch, inputs, outputs, height, width } = sizes;
  const { tileRows, tileColumns, depth } = choices;
  if (productThreads(choices) < tileColumns) throw new Error("an invocation copies one column at most");
  const padded = depth * Math.ceil(inputs / depth);
  const pixels = batch * height * width;
  const weights = TAPS * padded * outputs;
  return buildPlan(build)
    .input("x", f32, pixels * inputs)
    .input("w", f32, outputs * inputs * TAPS)
    .output("y", f32, pixels * outputs)
    .scratch("ordered", f32, weights)
    .launch(orderWeights, {
      workgroups: Math.ceil(weights / 256),
      args: { w: "w", ordered: "ordered", outputs, inputs, padded },
    })
    .launch(convolve.at(choices), {
      workgroups: [Math.ceil(pixels / tileColumns), Math.ceil(outputs / tileRows)],
      args: { x: "x", ordered: "ordered", y: "y", pixels, outputs, inputs, padded, height, width },
    })
    .done();
}

function winogradPlan(
  sizes: ConvolutionSizes,
  choices: Choices<typeof winogradTune>,
  build: PlanBuild,
): Plan {
  const { batch, inputs, outputs, height, width } = sizes;
  const { tileRows, tileColumns, depth } = choices;
  const allInputs = depth * Math.ceil(inputs / depth);
  const allOutputs = tileRows * Math.ceil(outputs / tileRows);
  const windows = batch * Math.ceil(height / 2) * Math.ceil(width / 2);
  const all = { outputs, inputs, allOutputs, allInputs };
  return buildPlan(build)
    .input("x", f32, batch * inputs * height * width)
    .input("w", f32, outputs * inputs * TAPS)
    .output("y", f32, batch * outputs * height * width)
    .scratch("turned", f32, PLACES * allInputs * allOutputs)
    .launch(turnWeights, {
      workgroups: Math.ceil((allInputs * allOutputs) / 64),
      args: { w: "w", turned: "turned", ...all },
    })
    .launch(winograd.at(choices), {
      workgroups: [Math.ceil(windows / tileColumns), allOutputs / tileRows],
      args: { x: "x", turned: "turned", y: "y", batch, ...all, height, width },
    })
    .done();
}
