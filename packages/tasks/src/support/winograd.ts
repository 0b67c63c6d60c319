/**
 * A 3×3 convolution with 16 products for 4 results instead of 36 (Winograd's F(2×2, 3×3); Lavin and Gray 2016, "Fast algorithms for
 * convolutional neural networks"). Weights and windows of 4×4 elements are transformed; at each of the 16 places it takes a matrix
 * product, weights times windows; and its 16 results are transformed back to 2×2.
 */

import {
  buffer,
  f32,
  kernel,
  padded,
  select,
  u32,
  type F32,
  type Gpu,
  type SharedArray,
  type U32,
} from "@evolver/kernel";
import { addProducts, placeIn, productTune, share } from "./product.ts";
import { readVector, writeVector, type Width } from "./vectors.ts";
import { ofWeights, PLACES, squareOf, transformed } from "./winograd-transforms.ts";
import { WindowColumn } from "./winograd-windows.ts";

/** What this convolution chooses. */
interface WinogradChoices {
  /** Outputs and windows of a workgroup. */
  readonly tileRows: number;
  readonly tileColumns: number;
  /** Channels in a step. */
  readonly depth: number;
  /** Outputs and windows of an invocation, at so many places. */
  readonly rows: number;
  readonly columns: number;
  readonly places: number;
}

const { stages: _stages, ...tileTune } = productTune;

export const winogradTune = { ...tileTune, places: [1, 2, 4] } as const;

/** Invocations of a workgroup. Throws where it cannot be divided so. */
function winogradThreads(choices: WinogradChoices): number {
  const { tileRows, tileColumns, depth, rows, columns, places } = choices;
  if (rows > tileRows || columns > tileColumns) throw new Error("an invocation has more than the tile");
  const threads = ((tileRows / rows) * (tileColumns / columns) * PLACES) / places;
  if (threads > 1024 || threads < 64) throw new Error(`a tile takes ${threads} invocations, not 64 to 1024`);
  if (threads < tileColumns || threads > tileColumns * depth)
    throw new Error("an invocation has windows of one column, and at least one");
  if (rows * columns * places > 128) throw new Error("an invocation has more than registers hold");
  return threads;
}

/** turned[place][channel][output] = the transformed weights, and zeros for what does not exist. */
export const turnWeights = kernel(
  "turnWeights",
  {
    params: {
      w: buffer(f32),
      turned: buffer(f32, "write"),
      outputs: u32,
      inputs: u32,
      allOutputs: u32,
      allInputs: u32,
    },
    workgroup: [64],
  },
  ({ w, turned, outputs, inputs, allOutputs, allInputs }, gpu) => {
    const i = gpu.globalId.x;
    const count = allOutputs.mul(allInputs);
    gpu.if(i.lt(count), () => {
      const channel = i.divTrunc(allOutputs);
      const output = i.sub(channel.mul(allOutputs));
      const exists = channel.lt(inputs).and(output.lt(outputs));
      const first = select(exists, output.mul(inputs).add(channel), 0).mul(9);
      const given = squareOf(3, (r, c) => select(exists, w.get(first.add(3 * r + c)), 0));
      for (const [place, value] of transformed(given, ofWeights).flat().entries())
        turned.set(count.mul(place).add(i), value);
    });
  },
);

/** `width` neighbours of a row of a shared array. */
const readRow = (from: SharedArray<"f32">, row: U32, first: U32, width: Width): readonly F32[] =>
  readVector({ get: (i) => from.get(row, i), getVec: (n, i) => from.getVec(n, row, i) }, first, width);

const writeRow = (to: SharedArray<"f32">, row: U32, first: U32, values: readonly F32[]): void =>
  writeVector(
    { set: (i, value) => to.set(row, i, value), setVec: (i, value) => to.setVec(row, i, value) },
    first,
    values,
  );

/** Which outputs and windows of the tile an invocation has, in vectors, and at which places. */
function partOf(gpu: Gpu, { tileRows, tileColumns, rows, columns, places }: WinogradChoices) {
  const [across, down] = [tileColumns / columns, tileRows / rows];
  const [widthX, widthY] = [Math.min(columns, 4) as Width, Math.min(rows, 4) as Width];
  const { x, y } = placeIn(gpu.localIndex.remTrunc(across * down), across, down);
  return {
    down,
    y,
    widthX,
    widthY,
    firstPlace: gpu.localIndex.divTrunc(across * down).mul(places),
    outputs: Array.from({ length: rows / widthY }, (_, v) => y.add(v * down).mul(widthY)),
    windows: Array.from({ length: columns / widthX }, (_, v) => x.add(v * across).mul(widthX)),
  };
}

export const winograd = kernel(
  "winograd",
  {
    params: {
      x: buffer(f32),
      turned: buffer(f32),
      y: buffer(f32, "write"),
      batch: u32,
      outputs: u32,
      inputs: u32,
      allOutputs: u32,
      allInputs: u32,
      height: u32,
      width: u32,
    },
    tune: winogradTune,
    workgroup: ({ tune }) => [winogradThreads(tune)],
  },
  ({ x, turned, y, outputs, inputs, allOutputs, allInputs, ...images }, gpu, choices) => {
    const { tileRows, tileColumns, depth, rows, columns, places } = choices;
    const weights = gpu.shared(f32, [2 * PLACES * depth, tileRows]);
    const windows = gpu.shared(f32, [2 * PLACES * depth, tileColumns]);
    const top = gpu.workgroupId.y.mul(tileRows);
    const column = new WindowColumn(gpu, images, gpu.workgroupId.x, tileColumns);
    const readWindows = column.reader(x, inputs, depth);

    const rowOf = (step: U32, place: number | U32, k: U32): U32 =>
      step.and(1).mul(PLACES).add(place).mul(depth).add(k);
    const writeWindows = (step: U32, read: readonly F32[][][]): void =>
      column.spread(read, depth, (place, k, lane, value) => windows.set(rowOf(step, place, k), lane, value));
    const copyWeights = (step: U32): void =>
      share(gpu, { rows: PLACES * depth, lanes: tileRows / 4 }, (nth, lane) => {
        const place = nth.divTrunc(depth);
        const k = nth.sub(place.mul(depth));
        const from = place.mul(allInputs).add(step.mul(depth)).add(k).mul(allOutputs).add(top);
        const index = [from.add(lane.mul(4))];
        gpu.copies.start({
          to: weights,
          at: [rowOf(step, place, k), lane.mul(4)],
          from: turned,
          index,
          width: 4,
        });
      });

    const part = partOf(gpu, choices);
    const { down, widthX, widthY, firstPlace } = part;
    const sums = Array.from({ length: places }, () => gpu.registers(f32, rows * columns, 0));
    const steps = allInputs.divTrunc(depth);
    const zero = gpu.constant(u32, 0);
    copyWeights(zero);
    gpu.copies.commit();
    writeWindows(zero, readWindows(zero));
    gpu.for({ from: 0, to: steps }, (step) => {
      gpu.copies.await();
      gpu.barrier();
      const next = step.add(1);
      gpu.if(next.lt(steps), () => copyWeights(next));
      gpu.copies.commit();
      // On their way while the products are computed; after the last step they are zeros that nobody uses.
      const read = readWindows(next.mul(depth));
      gpu.for({ from: 0, to: depth, unroll: true }, (k) => {
        for (const [p, own] of sums.entries()) {
          const at = rowOf(step, firstPlace.add(p), k);
          const left = part.outputs.flatMap((first) => readRow(weights, at, first, widthY));
          const right = part.windows.flatMap((first) => readRow(windows, at, first, widthX));
          addProducts(own, left, right);
        }
      });
      writeWindows(next, read);
    });

    // Outputs of one vector of each invocation come to shared memory at a time, all places of them, and are transformed back. First
    // come the first outputs of all vectors, and rows are a little apart, so that what lanes write goes to different banks.
    const atOnce = down * widthY;
    const products = gpu.shared(f32, padded([PLACES * atOnce, tileColumns], 8));
    for (const v of part.outputs.keys()) {
      gpu.barrier();
      for (const [p, own] of sums.entries())
        for (let r = 0; r < widthY; r++)
          for (const [h, first] of part.windows.entries()) {
            const start = (v * widthY + r) * columns + h * widthX;
            const values = Array.from({ length: widthX }, (_, k) => own.get(start + k));
            const line = firstPlace
              .add(p)
              .mul(atOnce)
              .add(r * down);
            writeRow(products, line.add(part.y), first, values);
          }
      gpu.barrier();
      share(gpu, { rows: atOnce, lanes: tileColumns }, (k, lane) => {
        const output = k.remTrunc(down).mul(widthY).add(k.divTrunc(down)).add(top);
        const square = squareOf(4, (r, c) => products.get(k.add((4 * r + c) * atOnce), lane));
        column.store(y, { output: output.add(v * atOnce), outputs }, square);
      });
    }
  },
);
