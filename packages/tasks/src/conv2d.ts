/**
 * A 3×3 convolution of images, with zeros around them, as a matrix product: weights times what the weights are laid over.
 *
 * The inner dimension goes over places of the window, and for each over the channels. So in a step all columns look at one place of their
 * windows, and neighbours read neighbours. A first launch brings the weights into this order, with zeros where a step has no channel.
 */

import { buildPlan, tunable } from "@evolver/device";
import { buffer, f32, kernel, select, u32, Vec, type F32, type U32 } from "@evolver/kernel";
import { copyRows } from "./support/factors.ts";
import { multiplyTile, productThreads, productTune, share } from "./support/product.ts";

/** Places of a window. */
const TAPS = 9;

/** ordered[tap][channel][output] = w[output][channel][tap], and zeros for channels that do not exist. */
const orderWeights = kernel(
  "orderWeights",
  {
    params: { w: buffer(f32), ordered: buffer(f32, "write"), outputs: u32, inputs: u32, padded: u32 },
    workgroup: [256],
  },
  ({ w, ordered, outputs, inputs, padded }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(padded.mul(TAPS).mul(outputs)), () => {
      const k = i.divTrunc(outputs);
      const tap = k.divTrunc(padded);
      const [output, channel] = [i.sub(k.mul(outputs)), k.sub(tap.mul(padded))];
      const exists = channel.lt(inputs);
      const value = w.get(
        output
          .mul(inputs)
          .add(channel.min(inputs.sub(1)))
          .mul(TAPS)
          .add(tap),
      );
      ordered.set(i, select(exists, value, 0));
    });
  },
);

const convolve = kernel(
  "convolve",
  {
    params: {
      x: buffer(f32),
      ordered: buffer(f32),
      y: buffer(f32, "write"),
      pixels: u32,
      outputs: u32,
      inputs: u32,
      padded: u32,
      height: u32,
      width: u32,
    },
    tune: productTune,
    workgroup: ({ tune }) => [productThreads(tune)],
  },
  ({ x, ordered, y, pixels, outputs, inputs, padded, height, width }, gpu, choices) => {
    const { tileRows, tileColumns, depth } = choices;
    const top = gpu.workgroupId.y.mul(tileRows);
    const side = gpu.workgroupId.x.mul(tileColumns);
    const size = height.mul(width);
    // Pixels of all images are columns. An invocation copies one column of each step.
    const pixel = side.add(gpu.localIndex.remTrunc(tileColumns));
    const image = pixel.divTrunc(size);
    const within = pixel.sub(image.mul(size));
    const row = within.divTrunc(width);
    const column = within.sub(row.mul(width));
    const weights = {
      from: ordered,
      base: gpu.constant(u32, 0),
      rows: padded.mul(TAPS),
      columns: outputs,
    };
    const store = (output: U32, at: U32, values: readonly F32[]): void => {
      const which = at.divTrunc(size);
      const place = which
        .mul(outputs)
        .add(output)
        .mul(size)
        .add(at.sub(which.mul(size)));
      const [value] = values;
      if (values.length === 1) y.set(place, value as F32);
      else y.setVec(place, new Vec(values.length as 2 | 4, values));
    };
    multiplyTile(gpu, weights.rows, choices, {
      copy(step) {
        copyRows(gpu, weights, top, step, step.left);
        const tap = step.first.divTrunc(padded);
        const tapRow = tap.divTrunc(3);
        // Left of or above the image these are beyond every end, since they wrap around.
        const [r, c] = [row.add(tapRow).sub(1), column.add(tap.sub(tapRow.mul(3))).sub(1)];
        const inside = pixel.lt(pixels).and(r.lt(height)).and(c.lt(width));
        const first = step.first.sub(tap.mul(padded));
        const at = image.mul(inputs).mul(size).add(r.mul(width)).add(c);
        share(gpu, { rows: depth, lanes: tileColumns }, (k, lane) => {
          const channel = first.add(k);
          gpu.copies.start({
            to: step.right,
            at: [step.slot.add(k), lane],
            from: x,
            index: [at.add(channel.mul(size))],
            width: 1,
            active: inside.and(channel.lt(inputs)),
          });
        });
      },
      store({ row: r, column: c, values }) {
        const [output, first] = [top.add(r), side.add(c)];
        const single = (): void =>
          values.forEach((value, k) =>
            gpu.if(first.add(k).lt(pixels), () => store(output, first.add(k), [value])),
          );
        gpu.if(output.lt(outputs), () => {
          if (values.length === 1) single();
          else
            gpu.if(
              size.and(values.length - 1).eq(0),
              () => gpu.if(first.lt(pixels), () => store(output, first, values)),
              single,
            );
        });
      },
    });
  },
);

export const conv2d = tunable("conv2d", {
  sizes: { batch: 16, inputs: 64, outputs: 64, height: 56, width: 56 },
  tune: productTune,
  variants: {
    fast: { tileRows: 64, tileColumns: 128, depth: 16, rows: 8, columns: 8, stages: 3 },
    deep: { tileRows: 64, tileColumns: 128, depth: 8, rows: 8, columns: 8, stages: 4 },
    large: { tileRows: 64, tileColumns: 256, depth: 8, rows: 8, columns: 8, stages: 3 },
  },
  plan({ batch, inputs, outputs, height, width }, choices, build) {
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
  work: ({ batch, inputs, outputs, height, width }) => ({
    flops: 2 * TAPS * batch * inputs * outputs * height * width,
  }),
});
