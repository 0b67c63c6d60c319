/**
 * A 3×3 convolution as a matrix product: weights times what they are laid over.
 *
 * The inner dimension goes over places of the window, and for each over the channels. So in a step all columns look at one place of their
 * windows, and neighbours read neighbours. A first launch brings the weights into this order, with zeros where a step has no channel.
 */

import { buffer, f32, kernel, select, u32, Vec, type F32, type U32 } from "@evolver/kernel";
import { copyRows } from "./factors.ts";
import { multiplyTile, productThreads, productTune, share } from "./product.ts";

/** Places of a window. */
export const TAPS = 9;

/** ordered[tap][channel][output] = w[output][channel][tap], and zeros for channels that do not exist. */
export const orderWeights = kernel(
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

export const convolve = kernel(
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
