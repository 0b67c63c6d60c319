/** Kernels that together use every operation, access and control structure of the IR, for compilers and snapshots. */

import {
  abs,
  atomic,
  bf16,
  bool,
  buffer,
  ceil,
  clamp,
  cos,
  exp,
  exp2,
  f16,
  f32,
  floor,
  fma,
  i32,
  kernel,
  log,
  log2,
  max,
  min,
  round,
  rsqrt,
  select,
  sin,
  sqrt,
  tanh,
  trunc,
  u32,
} from "@evolver/kernel";
import type { BF16, F16, F32, HalfType, I32, TypeDescriptor, U32 } from "@evolver/kernel";
import { copies, pipelined } from "./zoo-async.ts";

export const saxpy = kernel(
  "saxpy",
  {
    params: { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 },
    workgroup: [256],
  },
  ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, fma(a, x.get(i), y.get(i))));
  },
);

/** Every f32 operation. */
const floats = kernel(
  "floats",
  {
    params: { x: buffer(f32), y: buffer(f32), out: buffer(f32, "write"), n: u32 },
    workgroup: [64],
  },
  ({ x, y, out, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => {
      const a = x.get(i);
      const b = y.get(i);
      const results: F32[] = [
        a.add(b),
        a.sub(b),
        a.mul(b),
        a.div(b),
        a.min(b),
        a.max(b),
        a.neg(),
        a.abs(),
        fma(a, b, 1.5),
        select(a.lt(b), a, b),
        sqrt(a.abs()),
        rsqrt(a.abs().add(1)),
        exp(a),
        exp2(b),
        log(a.abs().add(0.5)),
        log2(b.abs().add(0.5)),
        sin(a),
        cos(b),
        tanh(a),
        floor(a),
        ceil(a),
        round(b),
        trunc(b),
        a.toI32().toF32(),
        b.toU32().toF32(),
        a.eq(b).toF32(),
        a.ne(b).toF32(),
        a.le(b).or(a.gt(b)).toF32(),
        a.ge(b).and(b.ge(a).not()).toF32(),
        a.toBool().xor(b.toBool()).toF32(),
        a.bitcast(u32).shr(3).bitcast(f32),
        a.bitcast(i32).bitcast(f32),
        select(a.gt(Infinity), gpu.constant(f32, NaN), clamp(a, -Infinity, 3.4028234663852886e38)),
        a.mul(b).add(a).sub(a.mul(1e-7)).mul(gpu.constant(f32, -0)),
        abs(min(a, b, 2)).mul(max(a, b)),
        gpu.constant(f32, 3e38).mul(gpu.constant(f32, 10)).add(1e-45),
        gpu.constant(f32, 1).div(0),
      ];
      results.forEach((result, k) => out.set(i.mul(results.length).add(k), result));
    });
  },
);

function integers<T extends I32 | U32>(a: T, b: T, amount: U32): T[] {
  type One = { [K in keyof I32]: I32[K] };
  const [p, q] = [a as unknown as One, b as unknown as One];
  const results = [
    p.add(q as never),
    p.sub(q as never),
    p.mul(q as never),
    p.divTrunc(q as never),
    p.divFloor(q as never),
    p.remTrunc(q as never),
    p.modFloor(q as never),
    p.divTrunc(7),
    p.divFloor(8),
    p.remTrunc(7),
    p.modFloor(8),
    p.divTrunc(0),
    p.min(q as never),
    p.max(q as never),
    p.and(q as never),
    p.or(q as never),
    p.xor(q as never),
    p.not(),
    p.shl(amount),
    p.shr(amount),
    p.shl(5),
    p.shr(31),
    p.popcount(),
    p.clz(),
  ];
  return results as unknown as T[];
}

/** Every operation on i32. */
const signed = kernel(
  "signed",
  {
    params: { x: buffer(i32), y: buffer(i32), out: buffer(i32, "write"), n: i32 },
    workgroup: [64],
  },
  ({ x, y, out, n }, gpu) => {
    const i = gpu.globalId.x.toI32();
    gpu.if(i.lt(n), () => {
      const [a, b] = [x.get(i), y.get(i)];
      const results = [
        ...integers(a, b, b.toU32()),
        a.neg(),
        a.abs(),
        a.toF32().toI32(),
        a.toU32().bitcast(i32),
        a.toBool().toI32(),
        select(a.eq(b), gpu.constant(i32, -2147483648), a.ne(b).toI32()),
        a.lt(b).and(a.le(b)).or(a.gt(b)).xor(a.ge(b)).toI32(),
        gpu.constant(i32, 2147483647).add(gpu.constant(i32, 1)),
        gpu.constant(i32, 7).divTrunc(0),
        gpu.constant(i32, -2147483648).neg(),
        a.modFloor(0),
      ];
      results.forEach((result, k) => out.set(i.mul(results.length).add(k), result));
    });
  },
);

/** Every operation on u32. */
const unsigned = kernel(
  "unsigned",
  {
    params: { x: buffer(u32), y: buffer(u32), out: buffer(u32, "write"), n: u32 },
    workgroup: [64],
  },
  ({ x, y, out, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => {
      const [a, b] = [x.get(i), y.get(i)];
      const results = [
        ...integers(a, b, b),
        a.toF32().toU32(),
        a.toI32().toU32(),
        a.toBool().toU32(),
        a.lt(b).and(a.le(b)).or(a.gt(b)).xor(a.ge(b)).toU32(),
        a.bitcast(i32).bitcast(f32).bitcast(u32),
      ];
      results.forEach((result, k) => out.set(i.mul(results.length).add(k), result));
    });
  },
);

/** Every subgroup operation, on all types. */
export const subgroups = kernel(
  "subgroups",
  {
    params: { x: buffer(f32), out: buffer(f32, "write"), bits: buffer(u32, "write") },
    workgroup: ({ subgroup }) => [2 * subgroup],
  },
  ({ x, out, bits }, gpu) => {
    const { subgroup: s, globalId } = gpu;
    const i = globalId.x;
    const a = x.get(i);
    const [n, m] = [a.toI32(), a.bitcast(u32).shr(8)];
    const results: F32[] = [
      s.sum(a),
      s.min(a),
      s.max(a),
      s.inclusiveSum(a),
      s.exclusiveSum(a),
      s.broadcast(a, 3),
      s.broadcast(a, gpu.subgroupId),
      s.broadcastFirst(a),
      s.shuffle(a, gpu.lane.xor(1)),
      s.shuffleXor(a, 2),
      s.shuffleXor(a, gpu.subgroupId.add(1)),
      s.shuffleUp(a, 0),
      s.shuffleDown(a, 0),
      s.any(a.gt(0.5)).toF32(),
      s.all(a.gt(-5)).toF32(),
      s.sum(n).toF32(),
      s.min(n).toF32(),
      s.max(n).toF32(),
      s.inclusiveSum(n).toF32(),
      s.exclusiveSum(n).toF32(),
    ];
    results.forEach((result, k) => out.set(i.mul(results.length).add(k), result));
    const words = [
      ...s.ballot(a.gt(0)),
      s.sum(m),
      s.min(m),
      s.max(m),
      s.inclusiveSum(m),
      s.exclusiveSum(m),
      s.shuffle(m, 0),
    ];
    words.forEach((word, k) => bits.set(i.mul(words.length).add(k), word));
  },
);

/** Every atomic operation, in global and shared memory. */
export const atomics = kernel(
  "atomics",
  {
    params: {
      counts: buffer(atomic(u32)),
      extremes: buffer(atomic(i32)),
      sums: buffer(atomic(f32)),
      n: u32,
    },
    workgroup: [64],
  },
  ({ counts, extremes, sums, n }, gpu) => {
    const i = gpu.globalId.x;
    const local = gpu.shared(atomic(u32), 4, "local");
    const localSum = gpu.shared(atomic(f32), 1, "localSum");
    gpu.if(gpu.localIndex.eq(0), () => {
      gpu.unroll(4, (k) => local.set(k, 0));
      localSum.set(0, 0);
    });
    gpu.barrier();
    gpu.if(i.lt(n), () => {
      local.add(0, 1);
      local.max(1, i);
      localSum.add(0, 0.5);
      const slot = counts.add(0, 1, { order: "acq_rel" });
      counts.or(1, slot.and(7));
      counts.xor(2, i);
      counts.and(3, i.or(1));
      counts.min(4, i);
      counts.compareExchange(5, 0, i.add(1));
      counts.exchange(6, n, { order: "acquire" });
      extremes.min(0, i.toI32().neg());
      extremes.max(1, i.toI32());
      extremes.add(2, extremes.get(3, { order: "acquire" }).add(1));
      extremes.compareExchange(4, 0, 1, { order: "acq_rel" });
      sums.add(0, 0.25);
      sums.exchange(1, sums.get(2));
    });
    gpu.barrier();
    gpu.if(gpu.localIndex.eq(0), () => {
      counts.add(7, local.get(0));
      counts.max(8, local.get(1));
      local.compareExchange(2, 0, 5);
      counts.set(9, local.get(2), { order: "release" });
      sums.add(3, localSum.get(0));
    });
  },
);

/** Loops, roles, wide accesses, shared memory, barriers and indices in three dimensions. */
export const control = kernel(
  "control",
  {
    params: {
      from: buffer(f32),
      wide: buffer(f32),
      to: buffer(f32, "write"),
      wideTo: buffer(f32, "write"),
      pairs: buffer(u32, "read_write"),
      rounds: i32,
      size: u32,
    },
    workgroup: ({ subgroup }) => [subgroup, 2, 2],
  },
  ({ from, wide, to, wideTo, pairs, rounds, size }, gpu) => {
    const width = gpu.subgroupSize;
    const tile = gpu.shared(f32, 4 * width, "tile");
    const best = gpu.shared(u32, 4, "best");
    const local = gpu.localIndex;
    const sum = gpu.var(f32, 0, "sum");
    const found = gpu.var(bool, false, "found");
    gpu.for({ from: local, to: size, step: 4 * width }, (i) => {
      gpu.if(from.get(i).lt(0), () => gpu.continue());
      sum.add(from.get(i));
      gpu.if(sum.get().gt(100), () => {
        found.set(true);
        gpu.break();
      });
    });
    gpu.for({ from: rounds, to: 0, step: -2, unroll: 2 }, (i) => sum.add(i.toF32()));
    gpu.for({ from: 0, to: 3, unroll: true }, () => sum.set(sum.get().mul(0.5)));
    const v = wide.getVec(4, local.mul(4));
    wideTo.setVec(local.mul(4), v);
    const pair = pairs.getVec(2, local.mul(2));
    pairs.set(local.mul(2), pair.y);
    pairs.setVec(gpu.localIndex.mul(2), pair);
    tile.set(local, sum.get().add(v.x.mul(v.w)));
    gpu.if(local.lt(4), () => best.set(local, local.mul(3)));
    gpu.barrier();
    const chosen = gpu.uniformLoad(best, 2);
    const other = gpu.if(
      found.get(),
      () => tile.get(local.xor(1)),
      () => tile.get(local),
    );
    gpu.roles([
      { name: "first", subgroups: 1, body: () => to.set(local, other) },
      { name: "rest", subgroups: 2, body: () => to.set(local, other.add(chosen.toF32())) },
    ]);
    const steps = gpu.var(u32, 0, "steps");
    gpu.while(
      () => {
        const now = steps.get();
        steps.add(1);
        return now.lt(5).and(now.ne(chosen));
      },
      () => {
        gpu.if(
          found.get().not(),
          () => {},
          () => gpu.continue(),
        );
        sum.add(1);
      },
    );
    const view = to.view({ strides: [size, gpu.numWorkgroups.x, 1], offset: 4 * width });
    const { x, y, z } = gpu.localId;
    gpu.if(gpu.workgroupId.x.add(gpu.workgroupId.y).add(gpu.workgroupId.z).eq(0), () => {
      view.set(z, y, x, sum.get().add(gpu.globalId.y.add(gpu.workgroupIndex).toF32()));
    });
  },
);

/** Shared memory beyond CUDA's static limit. */
export const large = kernel(
  "large",
  {
    params: { x: buffer(f32), out: buffer(f32, "write") },
    workgroup: [64],
  },
  ({ x, out }, gpu) => {
    const first = gpu.shared(f32, 8_000, "first");
    const second = gpu.shared(f32, 5_001, "second");
    first.set(gpu.localIndex, x.get(gpu.globalId.x));
    second.set(gpu.localIndex.add(4_900), 1);
    gpu.barrier();
    const back = gpu.localIndex.xor(63);
    out.set(gpu.globalId.x, first.get(back).add(second.get(back.add(4_900))));
  },
);

/** Names that mean something in one target or another. */
export const names = kernel(
  "template",
  {
    params: { float: buffer(f32), double: buffer(f32, "write"), fn: u32, let: f32 },
    workgroup: [64],
  },
  ({ float, double, fn, let: value }, gpu) => {
    const lane = gpu.var(f32, value, "lane");
    const i = gpu.var(u32, fn, "i");
    gpu.for({ from: 0, to: 2 }, (k) => {
      const x = float.get(k.add(i.get()));
      lane.add(x.mul(x));
      gpu.for({ from: 0, to: 2 }, (j) => i.add(j));
    });
    double.set(gpu.localIndex, lane.get());
  },
);

/** Short, with something of everything, for snapshots. */
export const readme = kernel(
  "scores",
  {
    params: { rows: buffer(f32), best: buffer(f32, "write"), hits: buffer(atomic(u32)), length: u32 },
    workgroup: ({ subgroup }) => [2 * subgroup],
  },
  ({ rows, best, hits, length }, gpu) => {
    const tile = gpu.shared(f32, 2 * gpu.subgroupSize, "tile");
    const sum = gpu.var(f32, 0, "sum");
    const row = rows.view({ strides: [length, 1] }).at(gpu.workgroupIndex);
    gpu.comment("Each invocation sums every n-th element.");
    gpu.for({ from: gpu.localIndex, to: length, step: 2 * gpu.subgroupSize }, (i) => {
      sum.add(exp2(row.get(i)).mul(0.5));
    });
    tile.set(gpu.localIndex, sum.get());
    gpu.barrier();
    const total = gpu.subgroup.sum(tile.get(gpu.localIndex.xor(1)));
    gpu.roles([
      {
        name: "writer",
        subgroups: 1,
        body: () => gpu.if(gpu.lane.eq(0), () => best.set(gpu.workgroupIndex, total)),
      },
      {
        name: "counter",
        subgroups: 1,
        body: () => {
          const votes = gpu.subgroup.ballot(total.gt(1));
          gpu.if(gpu.lane.eq(0), () => hits.add(0, (votes[0] as U32).popcount()));
        },
      },
    ]);
  },
);

type Half = typeof f16;

/** Every operation, access and exchange of a two-byte type. */
function halves(name: string, given: TypeDescriptor<HalfType>, narrow: (x: F32 | U32 | I32) => F16 | BF16) {
  // Both types have the same methods.
  const type = given as Half;
  return kernel(
    name,
    {
      params: {
        x: buffer(type),
        wide: buffer(type),
        y: buffer(type, "read_write"),
        packed: buffer(type, "write"),
        numbers: buffer(f32, "write"),
      },
      workgroup: ({ subgroup }) => [subgroup],
    },
    ({ x, wide, y, packed, numbers }, gpu) => {
      const i = gpu.globalId.x;
      const lane = gpu.lane;
      const tile = gpu.shared(type, gpu.subgroupSize, "tile");
      const pairs = gpu.shared(type, 8 * gpu.subgroupSize, "pairs");
      const a = x.get(i);
      const b = y.get(i);
      const total = gpu.var(type, 0.1, "total");
      const results: F16[] = [
        a.add(b),
        a.sub(b),
        a.mul(b).add(1.5),
        a.div(b),
        fma(a, b, 2 ** -14),
        max(min(a, b, 100), -0),
        abs(a).neg(),
        sqrt(a),
        floor(a).add(ceil(a)).add(round(a)).add(trunc(a)),
        select(a.lt(b).or(a.ge(1)), a, NaN),
        select(a.le(b).and(a.gt(1)).or(a.eq(b)).xor(a.ne(2)), a, Infinity),
        select(a.toBool(), -Infinity, b),
        narrow(numbersOf(a)) as F16,
        narrow(i) as F16,
        narrow(i.toI32()) as F16,
        narrow(a.toF16().toF32().add(a.toBF16().toF32())) as F16,
        gpu.subgroup.sum(a),
        gpu.subgroup.min(a).add(gpu.subgroup.max(b)),
        gpu.subgroup.inclusiveSum(a).add(gpu.subgroup.exclusiveSum(a)),
        gpu.subgroup.broadcast(a, 1).add(gpu.subgroup.broadcastFirst(b)),
        gpu.subgroup.shuffle(a, lane.xor(1)).add(gpu.subgroup.shuffleXor(a, 2)),
        gpu.subgroup.shuffleUp(a, lane.min(1)).add(gpu.subgroup.shuffleDown(a, 0)),
      ];
      for (const result of results) total.add(result);
      tile.set(lane, total.get());
      gpu.barrier();
      total.add(gpu.uniformLoad(tile, 1));
      y.set(i, tile.get(lane.xor(1)).add(total.get()));
      const eight = wide.getVec(8, i.mul(8));
      pairs.setVec(lane.mul(8), eight.mul(eight));
      gpu.barrier();
      packed.setVec(i.mul(8), pairs.getVec(8, lane.xor(1).mul(8)).add(eight));
      y.setVec(i.mul(4), x.getVec(4, i.mul(4)));
      y.setVec(i.mul(2), x.getVec(2, i.mul(2)));
      numbers.set(i, total.get().toF32().add(a.toI32().toF32()).add(b.toU32().toF32()));
    },
  );
}

const numbersOf = (a: F16): F32 => a.toF32().mul(3);

const halfs = halves("halfs", f16, (x) => x.toF16());
const brains = halves("brains", bf16, (x) => x.toBF16());

/** Reads up to the ends of a buffer, a view and shared memory. */
const guarded = kernel(
  "guarded",
  { params: { x: buffer(f32), h: buffer(f16), y: buffer(f32, "write"), rows: i32 }, workgroup: [64] },
  ({ x, h, y, rows }, gpu) => {
    const i = gpu.globalId.x;
    const tile = gpu.shared(f32, 64);
    tile.set(gpu.localIndex, x.getOr(i.toI32().sub(1), -1));
    gpu.barrier();
    const view = x.view({ strides: [8, 1], extents: [rows, 8] });
    const four = x.getVecOr(4, i.mul(4), tile.getOr(gpu.localIndex.add(1), 0));
    y.setVec(i.mul(4), four.add(view.getOr(rows, i, 0)).add(h.getVecOr(2, i.mul(2), 1).y.toF32()));
  },
);

export const zoo = {
  guarded,
  saxpy,
  floats,
  signed,
  unsigned,
  subgroups,
  atomics,
  control,
  large,
  names,
  readme,
  halfs,
  brains,
  copies,
  pipelined,
};
