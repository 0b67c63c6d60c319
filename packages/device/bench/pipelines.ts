/**
 * What the checks of pipelines cost on the simulator: scores of 48 queries against tiles of 64 keys, six subgroups of a
 * workgroup computing, with barriers of the workgroup, with copies in groups, and with two subgroups that only copy. Only
 * the last needs vector clocks. Processor time.
 * Run: node packages/device/bench/pipelines.ts
 */

import { add, buffer, dot, f32, kernel, u32 } from "@evolver/kernel";
import type { U32 } from "@evolver/kernel";
import { openSim } from "@evolver/device";

const HEAD_DIM = 64;
const KEYS = 64;
const TILE = KEYS * HEAD_DIM;
const STAGES = 2;
const TILES = 40;
const COMPUTING = 6;
const COPYING = 2;
const ROWS = 8;

type Way = "barriers" | "groups" | "roles";

function scores(way: Way) {
  const params = { q: buffer(f32), k: buffer(f32), o: buffer(f32, "write"), tiles: u32 };
  const workgroup: readonly [number] = [(COMPUTING + COPYING) * 32];
  return kernel(way, { params, workgroup, uniformity: "dynamic" }, ({ q, k, o, tiles }, gpu) => {
    const queries = gpu.shared(f32, COMPUTING * ROWS * HEAD_DIM);
    const keys = gpu.shared(f32, STAGES * TILE);
    const all = workgroup[0] * 4;
    const own = gpu.localIndex.mul(4);
    gpu.for({ from: own, to: COMPUTING * ROWS * HEAD_DIM, step: all }, (i) =>
      queries.setVec(i, q.getVec(4, i)),
    );
    gpu.barrier();
    const sum = gpu.var(f32, 0);
    /** Groups of four elements stand at their place xor the row, so that no two rows' meet in a bank. */
    const place = (stage: U32, row: U32, d: U32): U32 =>
      add(stage.mul(TILE), row.mul(HEAD_DIM), d.xor(row.and(15).mul(4)));
    const use = (stage: U32): void => {
      const first = gpu.subgroupId.sub(COPYING).mul(ROWS);
      const products = gpu.registers(f32, ROWS * 2, 0);
      gpu.for({ from: 0, to: HEAD_DIM, step: 4 }, (d) => {
        for (const [c, offset] of [0, 32].entries()) {
          const key = keys.getVec(4, place(stage, gpu.lane.add(offset), d));
          for (let r = 0; r < ROWS; r++) {
            const query = queries.getVec(4, first.add(r).mul(HEAD_DIM).add(d));
            products.add(r * 2 + c, dot(query, key));
          }
        }
      });
      for (let i = 0; i < ROWS * 2; i++) sum.add(products.get(i));
    };
    const stageOf = (t: U32): U32 => t.remTrunc(STAGES);
    const target = (t: U32, i: U32): U32 => place(stageOf(t), i.divTrunc(HEAD_DIM), i.remTrunc(HEAD_DIM));
    const compute = (t: U32): void => gpu.if(gpu.subgroupId.ge(COPYING), () => use(stageOf(t)));
    const copy = (t: U32, step: number): void =>
      gpu.for({ from: own, to: TILE, step }, (i) => {
        const index = t.mul(TILE).add(i);
        gpu.copies.start({
          to: keys,
          at: [target(t, i)],
          from: k,
          index: [index],
          width: 4,
          active: t.lt(tiles),
        });
      });
    if (way === "barriers") {
      gpu.for({ from: 0, to: tiles }, (t) => {
        gpu.for({ from: own, to: TILE, step: all }, (i) =>
          keys.setVec(target(t, i), k.getVec(4, t.mul(TILE).add(i))),
        );
        gpu.barrier();
        compute(t);
        gpu.barrier();
      });
    } else if (way === "groups") {
      const group = (t: U32): void => {
        copy(t, all);
        gpu.copies.commit({ bytes: TILE * 4 });
      };
      group(gpu.var(u32, 0).get());
      gpu.for({ from: 0, to: tiles }, (t) => {
        group(t.add(1));
        gpu.copies.await(1);
        gpu.barrier();
        compute(t);
        gpu.barrier();
      });
      gpu.copies.await();
    } else {
      const [producers, consumers] = [COPYING * 32, COMPUTING * 32];
      const pipe = gpu.pipeline({ stages: STAGES, producers, consumers, bytes: TILE * 4 });
      const produce = (t: U32): void => {
        pipe.acquire(t);
        copy(t, producers * 4);
        pipe.commit(t);
      };
      const consume = (t: U32): void => {
        pipe.wait(t);
        use(stageOf(t));
        pipe.release(t);
      };
      gpu.roles([
        { name: "copy", subgroups: COPYING, body: () => gpu.for({ from: 0, to: tiles }, produce) },
        { name: "compute", subgroups: COMPUTING, body: () => gpu.for({ from: 0, to: tiles }, consume) },
      ]);
    }
    o.set(gpu.localIndex, sum.get());
  });
}

async function milliseconds(way: Way, checks: boolean): Promise<number> {
  const device = openSim({ checks });
  const program = await device.compile(scores(way));
  const q = device.createBuffer("f32", COMPUTING * ROWS * HEAD_DIM);
  const k = device.createBuffer("f32", TILES * TILE);
  const o = device.createBuffer("f32", 256);
  const run = (tiles: number) => program.run({ workgroups: 1, args: { q, k, o, tiles } });
  await run(TILES);
  const begin = process.cpuUsage();
  for (let i = 0; i < 5; i++) await run(TILES);
  return process.cpuUsage(begin).user / 5000;
}

for (const way of ["barriers", "groups", "roles"] as const) {
  const [checked, unchecked] = [await milliseconds(way, true), await milliseconds(way, false)];
  console.log(
    `${way.padEnd(10)} ${checked.toFixed(0).padStart(5)} ms with every check ${unchecked.toFixed(0).padStart(5)} ms without`,
  );
}
