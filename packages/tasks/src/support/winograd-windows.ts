/** The windows of 4×4 elements that an invocation transforms for Winograd's convolution, and the results that come back for them. */

import { select, Vec, type Bool, type Buffer, type F32, type Gpu, type U32 } from "@evolver/kernel";
import { share } from "./product.ts";
import { ofResults, ofWindow, squareOf, transformed } from "./winograd-transforms.ts";

/** A stack of images. */
export interface Images {
  readonly batch: U32;
  readonly height: U32;
  readonly width: U32;
}

/** One column of a tile of windows: the same window of all channels, which has 2×2 results. */
export class WindowColumn {
  readonly #gpu: Gpu;
  readonly #images: Images;
  readonly #image: U32;
  readonly #exists: Bool;
  /** Of the first result. */
  readonly #row: U32;
  readonly #column: U32;
  /** Windows of a workgroup. */
  readonly #lanes: number;

  /** @param tile which tile of `lanes` windows this is */
  constructor(gpu: Gpu, images: Images, tile: U32, lanes: number) {
    const [high, wide] = [images.height.add(1).shr(1), images.width.add(1).shr(1)];
    const mine = tile.mul(lanes).add(gpu.localIndex.remTrunc(lanes));
    const line = mine.divTrunc(wide);
    this.#gpu = gpu;
    this.#images = images;
    this.#lanes = lanes;
    this.#image = line.divTrunc(high);
    this.#exists = this.#image.lt(images.batch);
    this.#row = line.sub(this.#image.mul(high)).mul(2);
    this.#column = mine.sub(line.mul(wide)).mul(2);
  }

  /** Reads windows of some channels, as many as the invocation has of `depth`. */
  reader(from: Buffer<"f32", "read">, channels: U32, depth: number): (first: U32) => F32[][][] {
    const { batch, height, width } = this.#images;
    // A window begins a row above its results and a column before them. Before the first these are beyond every end.
    const rows = [0, 1, 2, 3].map((k) => this.#row.add(k).sub(1));
    const columns = [0, 1, 2, 3].map((k) => this.#column.add(k).sub(1));
    // Reads are of places inside, and what is outside is replaced after them.
    const starts = rows.map((row) => row.min(height.sub(1)).mul(width));
    const places = columns.map((column) => column.min(width.sub(1)));
    const image = this.#image.min(batch.sub(1)).mul(channels);
    return (firstChannel) => {
      const read: F32[][][] = [];
      share(this.#gpu, { rows: depth, lanes: this.#lanes }, (k) => {
        const channel = firstChannel.add(k);
        const plane = image.add(channel.min(channels.sub(1))).mul(height.mul(width));
        const exists = this.#exists.and(channel.lt(channels));
        const inside = rows.map((row) => exists.and(row.lt(height)));
        read.push(
          squareOf(4, (r, c) => {
            const isThere = (inside[r] as Bool).and((columns[c] as U32).lt(width));
            const at = plane.add(starts[r] as U32).add(places[c] as U32);
            return select(isThere, from.get(at), 0);
          }),
        );
      });
      return read;
    };
  }

  /** Transforms windows, and gives each place of them with the channel that it is of. */
  spread(
    read: readonly F32[][][],
    depth: number,
    write: (place: number, k: U32, lane: U32, value: F32) => void,
  ): void {
    let nth = 0;
    share(this.#gpu, { rows: depth, lanes: this.#lanes }, (k, lane) => {
      const values = transformed(read[nth++] as F32[][], ofWindow).flat();
      for (const [place, value] of values.entries()) write(place, k, lane, value);
    });
  }

  /** Transforms products back. @param output of all outputs */
  store(
    to: Buffer<"f32", "write">,
    { output, outputs }: { readonly output: U32; readonly outputs: U32 },
    products: readonly (readonly F32[])[],
  ): void {
    const gpu = this.#gpu;
    const { height, width } = this.#images;
    const results = transformed(products, ofResults);
    const start = this.#image.mul(outputs).add(output).mul(height.mul(width)).add(this.#column);
    gpu.if(this.#exists.and(output.lt(outputs)), () => {
      for (const [r, pair] of results.entries()) {
        const row = this.#row.add(r);
        const place = start.add(row.mul(width));
        const [left, right] = pair as [F32, F32];
        gpu.if(row.lt(height), () =>
          gpu.if(
            width.and(1).eq(0),
            () => to.setVec(place, new Vec(2, [left, right])),
            () => {
              to.set(place, left);
              gpu.if(this.#column.add(1).lt(width), () => to.set(place.add(1), right));
            },
          ),
        );
      }
    });
  }
}
