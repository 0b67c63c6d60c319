/**
 * Small pipelines for the simulator's tests, correct as they stand. Each knob plants one mistake: the one that its name
 * tells. Comments such as `// ring: use` are how the tests find lines.
 */

import type { F32, U32 } from "@evolver/kernel";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";

const params = { a: buffer(f32), b: buffer(f32, "write"), tiles: u32 };

/** Elements of the pipelines' tiles. */
export const TILE = 64;

export interface RingKnobs {
  readonly stages?: number;
  readonly noWait?: boolean;
  readonly oneGroupShort?: boolean;
  readonly noBarrierAfterWait?: boolean;
  readonly noBarrierBeforeOverwrite?: boolean;
  readonly noCommit?: boolean;
  readonly copyAfterCommit?: boolean;
  readonly tooFarAhead?: boolean;
  readonly copyIntoStageInUse?: boolean;
  readonly moreCopiesThanWaits?: boolean;
  readonly shortRow?: boolean;
  readonly onlySubgroupBarrier?: boolean;
}

/**
 * Everybody copies an element of each tile into a ring and adds up those of its mirror image: b[i] = Σ a[t·64 + 63 − i].
 */
export function ring(knobs: RingKnobs = {}) {
  const { stages = 3 } = knobs;
  return kernel("ring", { params, workgroup: [TILE], uniformity: "dynamic" }, ({ a, b, tiles }, gpu) => {
    const tile = gpu.shared(f32, stages * TILE, "tile");
    const i = gpu.localIndex;
    const ahead = knobs.tooFarAhead ? stages : stages - 1;
    const copy = (t: U32 | number): void => {
      const of = typeof t === "number" ? gpu.var(u32, t).get() : t;
      const slot = knobs.copyIntoStageInUse ? of.add(1).remTrunc(stages) : of.remTrunc(stages);
      const short = knobs.shortRow ? i.ge(2) : null;
      const start = (): void => {
        const active = of.lt(tiles);
        const [at, from] = [slot.mul(TILE).add(i), of.mul(TILE).add(i)];
        gpu.copies.start({ to: tile, at: [at], from: a, index: [from], width: 1, active }); // ring: copy
      };
      if (knobs.copyAfterCommit) gpu.copies.commit({ bytes: TILE * 4 });
      if (short) gpu.if(short, start);
      else start();
      if (!knobs.noCommit && !knobs.copyAfterCommit) gpu.copies.commit({ bytes: TILE * 4 }); // ring: commit
    };
    for (let t = 0; t < ahead; t++) copy(t);
    const sum = gpu.var(f32, 0);
    gpu.for({ from: 0, to: tiles }, (t) => {
      copy(t.add(ahead));
      if (!knobs.noWait) gpu.copies.await(knobs.oneGroupShort ? stages : stages - 1);
      if (knobs.onlySubgroupBarrier) gpu.subgroup.barrier();
      else if (!knobs.noBarrierAfterWait) gpu.barrier();
      const mirror = i.xor(TILE - 1);
      sum.add(tile.get(t.remTrunc(stages).mul(TILE).add(mirror))); // ring: use
      if (!knobs.noBarrierBeforeOverwrite) gpu.barrier();
    });
    if (!knobs.moreCopiesThanWaits) gpu.copies.await();
    b.set(i, sum.get());
  });
}

export interface RolesKnobs {
  readonly stages?: number;
  readonly producers?: number;
  readonly consumers?: number;
  readonly noAcquire?: boolean;
  readonly noWait?: boolean;
  readonly wrongParityAtWait?: boolean;
  readonly wrongParityAtAcquire?: boolean;
  readonly parityResetBetweenLoops?: boolean;
  readonly tooFewArrivals?: boolean;
  readonly tooManyArrivals?: boolean;
  readonly oneLaneArrives?: boolean;
  readonly noRelease?: boolean;
  readonly releaseBeforeLastUse?: boolean;
  readonly waitForAnotherSlot?: boolean;
  readonly shortRow?: boolean;
  readonly wrongWidth?: boolean;
  readonly arriveBeforeCopies?: boolean;
  readonly noSubgroupBarrier?: boolean;
}

/**
 * Producers copy tiles, each consumer adds up two elements of each: those of its index and of the mirror image. The tiles
 * are gone through twice, so b[i] = 2 · Σ (a[t·64 + i] + a[t·64 + 63 − i]) for i = index among the consumers mod 64. One
 * lane of each consumer subgroup releases.
 */
export function roles(knobs: RolesKnobs = {}) {
  const { stages = 3, producers = 2, consumers = 2 } = knobs;
  const workgroup = ({ subgroup }: { subgroup: number }): readonly [number] => [
    (producers + consumers) * subgroup,
  ];
  return kernel("roles", { params, workgroup, uniformity: "dynamic" }, ({ a, b, tiles }, gpu) => {
    const lanes = producers * gpu.subgroupSize;
    const tile = gpu.shared(f32, stages * TILE, "tile");
    const declared = (count: number): number =>
      knobs.tooFewArrivals ? count + 1 : knobs.tooManyArrivals ? count / 2 : count;
    const full = gpu.phaseBarriers({
      ...{ count: stages, name: "full", bytes: TILE * 4 },
      arrivals: declared(lanes),
    });
    const empty = gpu.phaseBarriers({ count: stages, name: "empty", arrivals: consumers });
    const slot = (n: U32): U32 => n.remTrunc(stages);
    const parity = (n: U32): U32 => n.divTrunc(stages).and(1);
    const twice = (body: (t: U32, n: U32) => void): void => {
      for (const round of [0, 1])
        gpu.for({ from: 0, to: tiles }, (t) => {
          body(t, knobs.parityResetBetweenLoops || round === 0 ? t : t.add(tiles));
        });
    };
    const produce = (t: U32, n: U32): void => {
      const one = parity(n);
      if (!knobs.noAcquire) empty.wait(slot(n), knobs.wrongParityAtAcquire ? one : one.xor(1)); // roles: acquire
      const arrive = (): void => {
        if (knobs.oneLaneArrives) gpu.if(gpu.lane.eq(0), () => full.arriveAfterCopies(slot(n))); // roles: elected commit
        else full.arriveAfterCopies(slot(n)); // roles: commit
      };
      if (knobs.arriveBeforeCopies) arrive();
      const width = TILE / lanes === 4 ? 4 : 1;
      const each = knobs.wrongWidth ? 1 : width;
      const first = gpu.localIndex.mul(width);
      const start = (): void => {
        const [at, from] = [slot(n).mul(TILE).add(first), t.mul(TILE).add(first)];
        gpu.copies.start({ to: tile, at: [at], from: a, index: [from], width: each }); // roles: copy
      };
      if (knobs.shortRow) gpu.if(first.ge(4), start);
      else start();
      if (!knobs.arriveBeforeCopies) arrive();
    };
    const sum = gpu.var(f32, 0);
    const mine = gpu.localIndex.sub(lanes).remTrunc(TILE);
    const use = (n: U32, at: U32): F32 => tile.get(slot(n).mul(TILE).add(at)); // roles: use
    const consume = (_: U32, n: U32): void => {
      const waited = knobs.waitForAnotherSlot ? n.add(stages - 1) : n;
      const one = parity(waited);
      if (!knobs.noWait) full.wait(slot(waited), knobs.wrongParityAtWait ? one.xor(1) : one); // roles: wait
      const release = (): void => {
        if (!knobs.noSubgroupBarrier) gpu.subgroup.barrier();
        if (!knobs.noRelease) gpu.if(gpu.lane.eq(0), () => empty.arrive(slot(n))); // roles: release
      };
      sum.add(use(n, mine));
      if (knobs.releaseBeforeLastUse) release();
      const last = slot(n)
        .mul(TILE)
        .add(mine.xor(TILE - 1));
      sum.add(tile.get(last)); // roles: last use
      if (!knobs.releaseBeforeLastUse) release();
    };
    gpu.roles([
      { name: "producers", subgroups: producers, body: () => twice(produce) },
      { name: "consumers", subgroups: consumers, body: () => twice(consume) },
    ]);
    gpu.if(gpu.localIndex.ge(lanes), () => b.set(gpu.localIndex.sub(lanes), sum.get()));
  });
}

/** The same with gpu.pipeline and releases by all lanes. */
export function pipeline(
  knobs: Pick<RolesKnobs, "stages" | "producers" | "consumers" | "releaseBeforeLastUse"> = {},
) {
  const { stages = 3, producers = 2, consumers = 2 } = knobs;
  const workgroup = ({ subgroup }: { subgroup: number }): readonly [number] => [
    (producers + consumers) * subgroup,
  ];
  return kernel("pipeline", { params, workgroup }, ({ a, b, tiles }, gpu) => {
    const lanes = producers * gpu.subgroupSize;
    const tile = gpu.shared(f32, stages * TILE, "tile");
    const pipe = gpu.pipeline({
      ...{ stages, producers: lanes, consumers: consumers * gpu.subgroupSize, bytes: TILE * 4 },
    });
    const width = TILE / lanes === 4 ? 4 : 1;
    const first = gpu.localIndex.mul(width);
    const sum = gpu.var(f32, 0);
    const mine = gpu.localIndex.sub(lanes).remTrunc(TILE);
    const element = (n: U32, at: U32): U32 => pipe.slot(n).mul(TILE).add(at);
    const twice = (body: (t: U32, n: U32) => void): void => {
      gpu.for({ from: 0, to: tiles }, (t) => body(t, t));
      gpu.for({ from: 0, to: tiles }, (t) => body(t, t.add(tiles)));
    };
    const produce = (t: U32, n: U32): void => {
      pipe.acquire(n);
      gpu.copies.start({
        to: tile,
        at: [element(n, first)],
        from: a,
        index: [t.mul(TILE).add(first)],
        width,
      });
      pipe.commit(n);
    };
    const consume = (_: U32, n: U32): void => {
      pipe.wait(n);
      const release = (): void => pipe.release(n);
      sum.add(tile.get(element(n, mine)));
      if (knobs.releaseBeforeLastUse) release();
      sum.add(tile.get(element(n, mine.xor(TILE - 1)))); // pipeline: last use
      if (!knobs.releaseBeforeLastUse) release();
    };
    gpu.roles([
      { name: "producers", subgroups: producers, body: () => twice(produce) },
      { name: "consumers", subgroups: consumers, body: () => twice(consume) },
    ]);
    gpu.if(gpu.localIndex.ge(lanes), () => b.set(gpu.localIndex.sub(lanes), sum.get()));
  });
}

export interface ExchangeKnobs {
  readonly noBarrier?: boolean;
  readonly withAnotherSubgroup?: boolean;
  readonly divergent?: boolean;
  readonly noBarrierBeforeOverwrite?: boolean;
}

/** Lanes of a subgroup pass elements to each other through shared memory: b[i] = Σ a[t·64 + (i xor 1)]. */
export function exchange(knobs: ExchangeKnobs = {}) {
  return kernel("exchange", { params, workgroup: [TILE], uniformity: "dynamic" }, ({ a, b, tiles }, gpu) => {
    const s = gpu.shared(f32, TILE, "s");
    const i = gpu.localIndex;
    const sum = gpu.var(f32, 0);
    const meet = (): void => {
      if (knobs.divergent) gpu.if(gpu.lane.ge(2), () => gpu.subgroup.barrier()); // exchange: barrier
      else if (!knobs.noBarrier) gpu.subgroup.barrier();
    };
    gpu.for({ from: 0, to: tiles }, (t) => {
      s.set(i, a.get(t.mul(TILE).add(i))); // exchange: set
      meet();
      sum.add(s.get(i.xor(knobs.withAnotherSubgroup ? TILE / 2 : 1))); // exchange: get
      if (!knobs.noBarrierBeforeOverwrite) gpu.subgroup.barrier();
    });
    b.set(i, sum.get());
  });
}
