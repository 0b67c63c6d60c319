/** Kernels that use asynchronous copies, subgroup barriers and phase barriers in every way there is. */

import { buffer, f16, f32, kernel, u32 } from "@evolver/kernel";

/** A tile copied in every width, from buffers and views, where all take part and where some do not. */
export const copies = kernel(
  "copies",
  {
    params: {
      x: buffer(f32),
      h: buffer(f16),
      words: buffer(u32, "read_write"),
      y: buffer(f32, "write"),
      n: u32,
    },
    workgroup: ({ subgroup }) => [2 * subgroup],
  },
  ({ x, h, words, y, n }, gpu) => {
    const size = 2 * gpu.subgroupSize;
    const tile = gpu.shared(f32, 4 * size, "tile");
    const pairs = gpu.shared(f16, 4 * size, "pairs");
    const numbers = gpu.shared(u32, 2 * size, "numbers");
    const i = gpu.localIndex;
    const view = x.view({ strides: [n, 1] });
    const row = gpu.workgroupIndex;
    gpu.copies.start({ to: tile, at: [i.mul(4)], from: view, index: [row, i.mul(4)], width: 4 });
    gpu.copies.commit({ bytes: 16 * size });
    gpu.copies.start({ to: pairs, at: [i.mul(4)], from: h, index: [i.mul(4)], width: 4, active: i.lt(n) });
    gpu.copies.start({ to: numbers, at: [i.mul(2)], from: words, index: [i.mul(2)], width: 2 });
    gpu.copies.commit();
    gpu.copies.await(1);
    gpu.barrier();
    const sum = gpu.var(f32, tile.get(i.xor(1)), "sum");
    gpu.barrier();
    gpu.copies.start({ to: tile, at: [i], from: x, index: [i], width: 1, active: i.lt(n) });
    gpu.copies.start({ to: tile, at: [i.add(size)], from: x, index: [i], width: 1 });
    gpu.copies.commit();
    gpu.copies.await();
    gpu.subgroup.barrier();
    sum.add(tile.get(i.xor(1)).add(numbers.get(i.mul(2).xor(2)).toF32()));
    sum.add(pairs.get(i.mul(4).xor(4)).toF32());
    gpu.barrier();
    gpu.copies.start({ to: pairs, at: [i.mul(2)], from: h, index: [i.mul(2)], width: 2 });
    gpu.copies.await();
    gpu.barrier();
    y.set(gpu.globalId.x, sum.get().add(pairs.get(i.xor(1)).toF32()));
  },
);

/** One subgroup copies and another adds up; where subgroups cannot wait, all copy and all meet. */
export const pipelined = kernel(
  "pipelined",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
    workgroup: ({ subgroup }) => [2 * subgroup],
  },
  ({ x, y, n }, gpu) => {
    const width = gpu.subgroupSize;
    const stages = 3;
    const tiles = gpu.shared(f32, stages * width, "tiles");
    const sum = gpu.var(f32, 0, "sum");
    const copy = (slot: Parameters<typeof tiles.get>[0], fill: Parameters<typeof x.get>[0]): void =>
      gpu.copies.start({
        to: tiles,
        at: [gpu.lane.add(typeof slot === "number" ? slot * width : slot.toU32().mul(width))],
        from: x,
        index: [gpu.lane.add(typeof fill === "number" ? fill * width : fill.toU32().mul(width))],
        width: 1,
      });
    if (!gpu.forwardProgress) {
      gpu.for({ from: 0, to: n }, (fill) => {
        gpu.barrier();
        copy(0, fill);
        gpu.copies.await();
        gpu.barrier();
        sum.add(tiles.get(gpu.lane.xor(1)));
      });
    } else {
      const pipeline = gpu.pipeline({ stages, producers: width, consumers: width, bytes: 4 * width });
      const done = gpu.phaseBarriers({ count: 1, arrivals: width, name: "done" });
      gpu.roles([
        {
          name: "producer",
          subgroups: 1,
          body: () =>
            gpu.for({ from: 0, to: n }, (fill) => {
              pipeline.acquire(fill);
              copy(pipeline.slot(fill), fill);
              pipeline.commit(fill);
            }),
        },
        {
          name: "consumer",
          subgroups: 1,
          body: () => {
            gpu.for({ from: 0, to: n }, (fill) => {
              pipeline.wait(fill);
              sum.add(tiles.get(pipeline.slot(fill).mul(width).add(gpu.lane.xor(1))));
              pipeline.release(fill);
            });
            done.arrive(0);
          },
        },
      ]);
      done.wait(0, 0);
    }
    y.set(gpu.globalId.x, sum.get());
  },
);
