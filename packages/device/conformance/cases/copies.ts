/** Asynchronous copies, barriers of a subgroup, and subgroups that pass tiles on through phase barriers. */

import { buffer, f16, f32, kernel, u32 } from "@evolver/kernel";
import type { ElementType, TypeDescriptor, U32 } from "@evolver/kernel";
import { array, invocations, launch, smallFloat, type Case, type KernelCase } from "../case.ts";

/** Each invocation copies `width` elements; those from `n` on are zeros. All then read them back to front. */
const copied = <E extends ElementType>(element: TypeDescriptor<E>, width: 1 | 2 | 4): KernelCase => ({
  name: `asynchronous copies of ${width} ${element.type}, zeros where not active`,
  prepare(target) {
    const threads = invocations(target, 64);
    const size = threads * width;
    const n = size - 3 * width;
    const x = array(element, 2 * size, (i) => Math.abs(smallFloat(i) * 256));
    return launch({
      kernel: kernel(
        "copied",
        { params: { x: buffer(element), y: buffer(element, "write"), n: u32 }, workgroup: [threads] },
        ({ x, y, n }, gpu) => {
          const tile = gpu.shared(element, size, "tile");
          const rows = x.view({ strides: [size, 1] });
          const at = gpu.localIndex.mul(width);
          const group = gpu.workgroupIndex;
          gpu.copies.start({ to: tile, at: [at], from: rows, index: [group, at], width, active: at.lt(n) });
          gpu.copies.commit();
          gpu.copies.await();
          gpu.barrier();
          for (let k = 0; k < width; k++)
            y.set(
              group.mul(size).add(at).add(k),
              tile.get(gpu.constant(u32, size - 1).sub(at.add(k))) as never,
            );
        },
      ),
      workgroups: 2,
      args: { x, y: array(element, 2 * size), n },
      expected: {
        y: x.map((_, i) => {
          const from = size - 1 - (i % size);
          return from < n ? (x[i - (i % size) + from] as number) : 0;
        }),
      },
    });
  },
});

/** The next copies are under way while a tile is summed up: all but the `stages` − 2 youngest groups have landed. */
const ring = (stages: number): KernelCase => ({
  name: `a ring of ${stages} stages of asynchronous copies`,
  prepare(target) {
    const threads = invocations(target, 64);
    const tiles = 7;
    const x = array(f32, tiles * threads, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "ring",
        { params: { x: buffer(f32), y: buffer(f32, "write"), tiles: u32 }, workgroup: [threads] },
        ({ x, y, tiles }, gpu) => {
          const slots = gpu.shared(f32, stages * threads, "slots");
          const i = gpu.localIndex;
          const sum = gpu.var(f32, 0);
          const fill = (tile: U32): void => {
            gpu.if(tile.lt(tiles), () =>
              gpu.copies.start({
                to: slots,
                at: [tile.remTrunc(stages).mul(threads).add(i)],
                from: x,
                index: [tile.mul(threads).add(i)],
                width: 1,
              }),
            );
            gpu.copies.commit({ bytes: 4 * threads });
          };
          for (let tile = 0; tile < stages - 1; tile++) fill(gpu.constant(u32, tile));
          gpu.for({ from: 0, to: tiles }, (tile) => {
            gpu.copies.await(stages - 2);
            gpu.barrier();
            const at = tile.remTrunc(stages).mul(threads);
            sum.set(
              sum
                .get()
                .mul(0.5)
                .add(slots.get(at.add(threads - 1).sub(i))),
            );
            fill(tile.add(stages - 1));
          });
          y.set(i, sum.get());
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, threads), tiles },
      expected: {
        y: array(f32, threads, (i) => {
          let sum = 0;
          for (let t = 0; t < tiles; t++)
            sum = Math.fround(sum * 0.5 + (x[t * threads + threads - 1 - i] as number));
          return sum;
        }),
      },
    });
  },
});

/** Lanes add up what their neighbours at ever larger distances hold, through shared memory. */
function butterfly(inRoles: boolean): KernelCase {
  return {
    name: `barriers of a subgroup order shared memory, ${inRoles ? "in roles" : "in flow that all share"}`,
    ...(inRoles ? { needs: ["subgroupBarriers"] } : {}),
    prepare(target) {
      const { width } = target;
      const threads = invocations(target, 2 * width);
      const subgroups = threads / width;
      const x = array(f32, threads, (i) => smallFloat(i));
      return launch({
        kernel: kernel(
          "butterfly",
          { params: { x: buffer(f32), y: buffer(f32, "write"), rounds: u32 }, workgroup: [threads] },
          ({ x, y, rounds }, gpu) => {
            const tile = gpu.shared(f32, threads, "tile");
            const i = gpu.localIndex;
            const body = (): void => {
              const mine = gpu.var(f32, x.get(i));
              gpu.for({ from: 0, to: rounds }, (round) => {
                tile.set(i, mine.get());
                gpu.subgroup.barrier();
                mine.add(tile.get(i.xor(gpu.constant(u32, 1).shl(round))));
                gpu.subgroup.barrier();
              });
              y.set(i, mine.get());
            };
            if (!inRoles) return body();
            gpu.roles(
              Array.from({ length: subgroups }, (_, k) => ({ name: `role${k}`, subgroups: 1, body })),
            );
          },
        ),
        workgroups: 1,
        args: { x, y: array(f32, threads), rounds: Math.log2(width) },
        expected: {
          y: array(f32, threads, (i) => {
            const first = i - (i % width);
            return x.subarray(first, first + width).reduce((sum, value) => sum + value, 0);
          }),
        },
      });
    },
  };
}

/** Two subgroups fill and two use, over two loops one after the other; what is beyond `n` is zeros. */
const pipeline = (stages: number): KernelCase => ({
  name: `a pipeline of ${stages} stages between producers and consumers, over two loops`,
  needs: ["forwardProgress"],
  prepare({ width }) {
    const size = 2 * width;
    const loops = [7, 4] as const;
    const tiles = loops[0] + loops[1];
    const n = tiles * size - 5;
    const x = array(f32, tiles * size, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "pipeline",
        {
          params: { x: buffer(f32), y: buffer(f32, "write"), first: u32, second: u32, n: u32 },
          workgroup: [4 * width],
        },
        ({ x, y, first, second, n }, gpu) => {
          const slots = gpu.shared(f32, stages * size, "slots");
          const pipeline = gpu.pipeline({ stages, producers: size, consumers: size, bytes: 4 * size });
          const producer = gpu.localIndex;
          const consumer = producer.sub(size);
          const each = (body: (fill: U32) => void, after: (loop: number) => void): void => {
            gpu.for({ from: 0, to: first }, body);
            after(0);
            gpu.for({ from: first, to: first.add(second) }, body);
            after(1);
          };
          const produce = (): void =>
            each(
              (fill) => {
                const index = fill.mul(size).add(producer);
                pipeline.acquire(fill);
                gpu.copies.start({
                  to: slots,
                  at: [pipeline.slot(fill).mul(size).add(producer)],
                  from: x,
                  index: [index],
                  width: 1,
                  active: index.lt(n),
                });
                pipeline.commit(fill);
              },
              () => {},
            );
          const consume = (): void => {
            const sum = gpu.var(f32, 0);
            each(
              (fill) => {
                pipeline.wait(fill);
                const other = gpu.constant(u32, size - 1).sub(consumer);
                const value = slots.get(pipeline.slot(fill).mul(size).add(other));
                pipeline.release(fill);
                sum.set(sum.get().mul(0.5).add(value));
              },
              (loop) => y.set(consumer.add(loop * size), sum.get()),
            );
          };
          gpu.roles([
            { name: "producers", subgroups: 2, body: produce },
            { name: "consumers", subgroups: 2, body: consume },
          ]);
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, 2 * size), first: loops[0], second: loops[1], n },
      expected: {
        y: array(f32, 2 * size, (i) => {
          let sum = 0;
          for (let t = 0; t < (i < size ? loops[0] : tiles); t++) {
            const at = t * size + size - 1 - (i % size);
            sum = Math.fround(sum * 0.5 + (at < n ? (x[at] as number) : 0));
          }
          return sum;
        }),
      },
    });
  },
});

/** What is stored before an arrival is there after the wait, whichever way the arrival is made. */
const handedOver = (after: "now" | "copies"): KernelCase => ({
  name: `stores before an arrival ${after === "now" ? "at once" : "after copies"} are seen by those who wait`,
  needs: ["forwardProgress"],
  prepare({ width }) {
    const rounds = 5;
    const x = array(u32, rounds * width, (i) => 3 * i + 1);
    return launch({
      kernel: kernel(
        "handedOver",
        { params: { x: buffer(u32), y: buffer(u32, "write"), rounds: u32 }, workgroup: [2 * width] },
        ({ x, y, rounds }, gpu) => {
          const stored = gpu.shared(u32, width, "stored");
          const copied = gpu.shared(u32, width, "copied");
          const full = gpu.phaseBarriers({ count: 1, arrivals: width, name: "full" });
          const empty = gpu.phaseBarriers({ count: 2, arrivals: width, name: "empty" });
          const { lane } = gpu;
          gpu.roles([
            {
              name: "producer",
              subgroups: 1,
              body: () =>
                gpu.for({ from: 0, to: rounds }, (round) => {
                  empty.wait(1, round.and(1).xor(1));
                  const index = round.mul(width).add(lane);
                  stored.set(lane, round.mul(1000).add(lane));
                  gpu.copies.start({ to: copied, at: [lane], from: x, index: [index], width: 1 });
                  if (after === "copies") return full.arriveAfterCopies(0);
                  gpu.copies.commit();
                  gpu.copies.await();
                  full.arrive(0);
                }),
            },
            {
              name: "consumer",
              subgroups: 1,
              body: () =>
                gpu.for({ from: 0, to: rounds }, (round) => {
                  full.wait(0, round.and(1));
                  const other = lane.xor(1);
                  y.set(round.mul(width).add(lane), stored.get(other).add(copied.get(other)));
                  empty.arrive(1);
                }),
            },
          ]);
        },
      ),
      workgroups: 1,
      args: { x, y: array(u32, rounds * width), rounds },
      expected: {
        y: array(u32, rounds * width, (i) => {
          const lane = i % width;
          return Math.floor(i / width) * 1000 + (lane ^ 1) + (x[i ^ 1] as number);
        }),
      },
    });
  },
});

const eitherWay: KernelCase = {
  name: "a kernel that asks whether subgroups may wait runs either way",
  prepare(target) {
    const { width } = target;
    const threads = invocations(target, 2 * width);
    const subgroups = threads / width;
    return launch({
      kernel: kernel(
        "eitherWay",
        { params: { y: buffer(u32, "write") }, workgroup: [threads] },
        ({ y }, gpu) => {
          const tile = gpu.shared(u32, threads, "tile");
          tile.set(gpu.localIndex, gpu.localIndex.mul(5));
          if (gpu.forwardProgress && subgroups > 1) {
            const there = gpu.phaseBarriers({ count: 1, arrivals: threads });
            there.arrive(0);
            there.wait(0, 0);
          } else gpu.barrier();
          y.set(gpu.localIndex, tile.get(gpu.constant(u32, threads - 1).sub(gpu.localIndex)));
        },
      ),
      workgroups: 1,
      args: { y: array(u32, threads) },
      expected: { y: array(u32, threads, (i) => 5 * (threads - 1 - i)) },
    });
  },
};

const WIDTHS = [1, 2, 4] as const;

export const copyCases: readonly Case[] = [
  ...WIDTHS.map((width) => copied(f32, width)),
  ...WIDTHS.map((width) => copied(u32, width)),
  copied(f16, 2),
  copied(f16, 4),
  ring(2),
  ring(3),
  butterfly(false),
  butterfly(true),
  ...[1, 2, 3, 4].map(pipeline),
  handedOver("now"),
  handedOver("copies"),
  eitherWay,
];
