/**
 * The attention kernel that the benchmarks run: eight query rows per workgroup, one per subgroup, which share K and V
 * tiles of 32 keys; no mask, one head. Lanes walk the keys for the scores and the head dimension for P·V.
 */

import { add, buffer, dot, exp2, f32, kernel, max, padded, u32 } from "@evolver/kernel";
import type { Device } from "@evolver/device";

const HEAD_DIM = 64;
const ROWS = 8;

/** @param vector floats read from K at once */
export function sharedTileAttention(vector: 1 | 4) {
  return kernel(
    "attention",
    {
      params: {
        q: buffer(f32),
        k: buffer(f32),
        v: buffer(f32),
        o: buffer(f32, "write"),
        length: u32,
        scale: f32,
      },
      workgroup: ({ subgroup }) => [ROWS * subgroup],
    },
    ({ q, k, v, o, length, scale }, gpu) => {
      const width = gpu.subgroupSize;
      const perLane = HEAD_DIM / width;
      const keys = gpu.shared(f32, padded([width, HEAD_DIM], vector === 4 ? 4 : 1));
      const values = gpu.shared(f32, padded([width, HEAD_DIM], 0));
      const row = add(gpu.workgroupId.x.mul(ROWS), gpu.subgroupId);
      const outputs = gpu.registers(f32, perLane, 0);
      const best = gpu.var(f32, -1e30);
      const total = gpu.var(f32, 0);
      gpu.for({ from: 0, to: length, step: width }, (first) => {
        gpu.for({ from: gpu.localIndex, to: width * HEAD_DIM, step: ROWS * width }, (i) => {
          const key = i.divTrunc(HEAD_DIM);
          const d = i.remTrunc(HEAD_DIM);
          const at = add(first.mul(HEAD_DIM), i);
          keys.set(key, d, k.get(at));
          values.set(key, d, v.get(at));
        });
        gpu.barrier();
        const sum = gpu.var(f32, 0);
        gpu.for({ from: 0, to: HEAD_DIM, step: 4 }, (d) => {
          const query = q.getVec(4, add(row.mul(HEAD_DIM), d));
          if (vector === 4) {
            sum.add(dot(query, keys.getVec(4, gpu.lane, d)));
          } else {
            for (let c = 0; c < 4; c++) sum.add(query.at(c).mul(keys.get(gpu.lane, d.add(c))));
          }
        });
        const score = sum.get().mul(scale);
        const before = best.get();
        const now = max(before, gpu.subgroup.max(score));
        const weight = exp2(score.sub(now));
        const shrink = exp2(before.sub(now));
        best.set(now);
        total.set(add(total.get().mul(shrink), gpu.subgroup.sum(weight)));
        for (let c = 0; c < perLane; c++) outputs.set(c, outputs.get(c).mul(shrink));
        gpu.for({ from: 0, to: width }, (j) => {
          const p = gpu.subgroup.shuffle(weight, j);
          for (let c = 0; c < perLane; c++) outputs.add(c, p.mul(values.get(j, gpu.lane.add(c * width))));
        });
        gpu.barrier();
      });
      for (let c = 0; c < perLane; c++)
        o.set(add(row.mul(HEAD_DIM), gpu.lane, c * width), outputs.get(c).div(total.get()));
    },
  );
}

/** A launch on `length` keys and as many queries, or `queries` of them, and its useful work: 4 · queries · keys · D. */
export function attentionLaunch(device: Device, length: number, queries = length) {
  const input = (rows: number): Float32Array =>
    Float32Array.from({ length: rows * HEAD_DIM }, (_, i) => Math.sin(i * 12.9898) * 2);
  const q = device.createBuffer("f32", input(queries));
  const k = device.createBuffer("f32", input(length));
  const v = device.createBuffer("f32", input(length));
  const o = device.createBuffer("f32", queries * HEAD_DIM);
  return {
    launch: {
      workgroups: queries / ROWS,
      args: { q, k, v, o, length, scale: Math.LOG2E / Math.sqrt(HEAD_DIM) },
    },
    flops: 4 * queries * length * HEAD_DIM,
  };
}
