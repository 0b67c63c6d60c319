/**
 * A 3×3 convolution with 16 products for 4 results instead of 36 (Winograd's F(2×2, 3×3); Lavin and Gray 2016, "Fast algorithms for
 * convolutional neural networks"). Weights and windows of 4×4 elements are transformed; at each of the 16 places it takes a matrix
 * product, weights times windows; and its 16 results are transformed back to 2×2.
 */

import {
  buffer,
  f32,
  fma,
  kernel,
  padded,
  select,
  u32,
  Vec,
  type Bool,
  type F32,
  type SharedArray,
  type U32,
} from "@evolver/kernel";
import { placeIn, productTune, share } from "./product.ts";
import { readVector, writeVector, type Width } from "./vectors.ts";
import { ofResults, ofWeights, ofWindow, PLACES, squareOf, transformed } from "./winograd-transforms.ts";

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
  ({ x, turned, y, ...size }, gpu, choices) => {
    const { tileRows, tileColumns, depth, rows, columns, places } = choices;
    const { batch, outputs, inputs, allOutputs, allInputs, height, width } = size;
    const weights = gpu.shared(f32, [2 * PLACES * depth, tileRows]);
    const windows = gpu.shared(f32, [2 * PLACES * depth, tileColumns]);
    const top = gpu.workgroupId.y.mul(tileRows);

    // An invocation transforms windows of one column of the tile, there and back.
    const [high, wide] = [height.add(1).shr(1), width.add(1).shr(1)];
    const mine = gpu.workgroupId.x.mul(tileColumns).add(gpu.localIndex.remTrunc(tileColumns));
    const line = mine.divTrunc(wide);
    const image = line.divTrunc(high);
    const imageExists = image.lt(batch);
    const row = line.sub(image.mul(high)).mul(2);
    const column = mine.sub(line.mul(wide)).mul(2);
    const area = height.mul(width);
    // A window begins a row above its results and a column before them. Before the first these are beyond every end.
    const inRow = [0, 1, 2, 3].map((k) => row.add(k).sub(1));
    const inColumn = [0, 1, 2, 3].map((k) => column.add(k).sub(1));
    const rowPlaces = inRow.map((at) => at.min(height.sub(1)).mul(width));
    const columnPlaces = inColumn.map((at) => at.min(width.sub(1)));
    const imagePlace = image.min(batch.sub(1)).mul(inputs);

    /** Reads what the invocation will transform for a step. */
    const readWindows = (step: U32): F32[][][] => {
      const read: F32[][][] = [];
      share(gpu, { rows: depth, lanes: tileColumns }, (k) => {
        const channel = step.mul(depth).add(k);
        const exists = imageExists.and(channel.lt(inputs));
        const first = imagePlace.add(channel.min(inputs.sub(1))).mul(area);
        const inside = inRow.map((at) => exists.and(at.lt(height)));
        read.push(
          squareOf(4, (r, c) => {
            const at = first.add(rowPlaces[r] as U32).add(columnPlaces[c] as U32);
            const isThere = (inside[r] as Bool).and((inColumn[c] as U32).lt(width));
            return select(isThere, x.get(at), 0);
          }),
        );
      });
      return read;
    };
    const rowOf = (slot: U32, place: number | U32, k: U32): U32 =>
      slot.mul(PLACES).add(place).mul(depth).add(k);
    const writeWindows = (slot: U32, read: readonly F32[][][]): void => {
      let nth = 0;
      share(gpu, { rows: depth, lanes: tileColumns }, (k, lane) => {
        const values = transformed(read[nth++] as F32[][], ofWindow).flat();
        for (const [place, value] of values.entries()) windows.set(rowOf(slot, place, k), lane, value);
      });
    };
    const copyWeights = (step: U32, slot: U32): void =>
      share(gpu, { rows: PLACES * depth, lanes: tileRows / 4 }, (nth, lane) => {
        const place = nth.divTrunc(depth);
        const channel = step.mul(depth).add(nth.sub(place.mul(depth)));
        const at = place.mul(allInputs).add(channel).mul(allOutputs).add(top).add(lane.mul(4));
        const to = [slot.mul(PLACES * depth).add(nth), lane.mul(4)];
        gpu.copies.start({ to: weights, at: to, from: turned, index: [at], width: 4 });
      });

    const [across, down] = [tileColumns / columns, tileRows / rows];
    const lane = gpu.localIndex.remTrunc(across * down);
    const firstPlace = gpu.localIndex.divTrunc(across * down).mul(places);
    const [widthX, widthY] = [Math.min(columns, 4) as Width, Math.min(rows, 4) as Width];
    const own = placeIn(lane, across, down);
    const columnOf = (vector: number): U32 => own.x.add(vector * across).mul(widthX);
    const rowVector = (vector: number): U32 => own.y.add(vector * down).mul(widthY);
    const vectorsX = Array.from({ length: columns / widthX }, (_, k) => k);
    const vectorsY = Array.from({ length: rows / widthY }, (_, k) => k);
    const sums = Array.from({ length: places }, () => gpu.registers(f32, rows * columns, 0));

    const steps = allInputs.divTrunc(depth);
    const zero = gpu.constant(u32, 0);
    copyWeights(zero, zero);
    gpu.copies.commit();
    writeWindows(zero, readWindows(zero));
    gpu.for({ from: 0, to: steps }, (step) => {
      gpu.copies.await();
      gpu.barrier();
      const [slot, next] = [step.and(1), step.add(1)];
      gpu.if(next.lt(steps), () => copyWeights(next, next.and(1)));
      gpu.copies.commit();
      // On their way while the products are computed; after the last step they are zeros that nobody uses.
      const read = readWindows(next);
      gpu.for({ from: 0, to: depth, unroll: true }, (k) => {
        for (const [p, some] of sums.entries()) {
          const at = rowOf(slot, firstPlace.add(p), k);
          const left = vectorsY.flatMap((v) => readRow(weights, at, rowVector(v), widthY));
          const right = vectorsX.flatMap((v) => readRow(windows, at, columnOf(v), widthX));
          for (const [r, a] of left.entries())
            for (let nth = 0; nth < columns; nth++) {
              const c = r % 2 === 0 ? nth : columns - 1 - nth;
              some.set(r * columns + c, fma(a, right[c] as F32, some.get(r * columns + c)));
            }
        }
      });
      writeWindows(next.and(1), read);
    });

    // Outputs of one vector of each invocation come to shared memory at a time, all places of them, and are transformed back. First
    // come the first outputs of all vectors, and rows are a little apart, so that what lanes write goes to different banks.
    const atOnce = down * widthY;
    const products = gpu.shared(f32, padded([PLACES * atOnce, tileColumns], 8));
    for (const v of vectorsY) {
      gpu.barrier();
      for (const [p, some] of sums.entries())
        for (let r = 0; r < widthY; r++)
          for (const h of vectorsX) {
            const values = Array.from({ length: widthX }, (_, k) =>
              some.get((v * widthY + r) * columns + h * widthX + k),
            );
            writeRow(
              products,
              firstPlace
                .add(p)
                .mul(atOnce)
                .add(r * down)
                .add(own.y),
              columnOf(h),
              values,
            );
          }
      gpu.barrier();
      share(gpu, { rows: atOnce, lanes: tileColumns }, (k, at) => {
        const output = top
          .add(v * atOnce)
          .add(k.remTrunc(down).mul(widthY))
          .add(k.divTrunc(down));
        const square = squareOf(4, (r, c) => products.get(k.add((4 * r + c) * atOnce), at));
        const results = transformed(square, ofResults);
        const first = image.mul(outputs).add(output).mul(area).add(column);
        gpu.if(imageExists.and(output.lt(outputs)), () => {
          for (const [r, [one, two]] of results.entries() as IterableIterator<[number, [F32, F32]]>)
            gpu.if(row.add(r).lt(height), () => {
              const place = first.add(row.add(r).mul(width));
              gpu.if(
                width.and(1).eq(0),
                () => y.setVec(place, new Vec(2, [one, two])),
                () => {
                  y.set(place, one);
                  gpu.if(column.add(1).lt(width), () => y.set(place.add(1), two));
                },
              );
            });
        });
      });
    }
  },
);
