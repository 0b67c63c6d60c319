/**
 * What waiting for copies orders: only those that were waited for, by whoever knows of it, in whatever order the
 * subgroups run. And until when a copy reads what it copies.
 */

import { f32 } from "@evolver/kernel";
import type { Gpu, SharedArray, U32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { negative, simulate } from "./support.ts";
import type { Body, Setup } from "./support.ts";

const SEEDS = [undefined, 1, 2, 3, 4];
const WIDTH = 32;

/** Copies a[index] to s[at], one element per lane. */
function start(gpu: Gpu, from: Parameters<Body>[0]["a"], to: SharedArray<"f32">, at: U32, index = at): void {
  gpu.copies.start({ to, at: [at], from, index: [index], width: 1 });
}

/** Each body is run by a subgroup of its own. */
const roles = (gpu: Gpu, ...bodies: readonly (() => void)[]): void =>
  gpu.roles(bodies.map((body, i) => ({ name: `role${i}`, subgroups: 1, body })));

/** Takes time. */
const spin = (gpu: Gpu, b: Parameters<Body>[0]["b"]): void =>
  gpu.for({ from: 0, to: 40 }, (t) => b.set(gpu.localIndex.add(128), t.toF32()));

/** A mistake that is found with every seed, and its correct twin. */
function everywhere(name: string, setup: Setup, body: (isRight: boolean) => Body): void {
  test.each(SEEDS)(`${name}, seed %s`, async (seed) => {
    const options = { ...setup, subgroup: WIDTH, ...(seed === undefined ? {} : { seed }) };
    const wrong = await simulate(body(false), options);
    const kinds = wrong.findings.map(({ kind }) => kind);
    expect(kinds.some((kind) => kind === "data-race" || kind === "copy-in-flight")).toBe(true);
    const right = await simulate(body(true), options);
    expect(right.findings.map(({ message }) => message)).toEqual([]);
  });
}

describe("a wait orders only the copies that it is for", () => {
  everywhere(
    "another consumer has waited for the other barrier",
    { size: 3 * WIDTH },
    (isRight) =>
      ({ a, b }, gpu) => {
        const [k, v] = [gpu.shared(f32, WIDTH), gpu.shared(f32, WIDTH)];
        const kFull = gpu.phaseBarriers({ count: 1, arrivals: WIDTH });
        const vFull = gpu.phaseBarriers({ count: 1, arrivals: WIDTH });
        const l = gpu.lane;
        roles(
          gpu,
          () => {
            start(gpu, a, k, l);
            kFull.arriveAfterCopies(0);
            start(gpu, a, v, l);
            vFull.arriveAfterCopies(0);
          },
          () => {
            vFull.wait(0, 0);
            b.set(l, v.get(l));
          },
          () => {
            spin(gpu, b);
            kFull.wait(0, 0);
            if (isRight) vFull.wait(0, 0);
            b.set(l.add(WIDTH), k.get(l).add(v.get(l)));
          },
        );
      },
  );

  everywhere(
    "another consumer has waited for the other index",
    { size: 3 * WIDTH },
    (isRight) =>
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 2 * WIDTH);
        const full = gpu.phaseBarriers({ count: 2, arrivals: WIDTH });
        const l = gpu.lane;
        roles(
          gpu,
          () => {
            for (const j of [0, 1]) {
              start(gpu, a, s, l.add(j * WIDTH));
              full.arriveAfterCopies(j);
            }
          },
          () => {
            full.wait(1, 0);
            b.set(l, s.get(l.add(WIDTH)));
          },
          () => {
            spin(gpu, b);
            full.wait(0, 0);
            if (isRight) full.wait(1, 0);
            b.set(l.add(WIDTH), s.get(l.add(WIDTH)));
          },
        );
      },
  );

  for (const stages of [2, 4])
    everywhere(
      `one of two consumers of two pipelines of ${stages} stages forgets one`,
      { size: 3 * WIDTH, n: 4 },
      (isRight) =>
        ({ a, b, n }, gpu) => {
          const options = { stages, producers: WIDTH, consumers: 2 * WIDTH, bytes: 4 * WIDTH };
          const [k, v] = ["k", "v"].map((name) => ({
            pipe: gpu.pipeline({ ...options, name: `${name}Pipe` }),
            tile: gpu.shared(f32, stages * WIDTH, name),
          })) as [Stream, Stream];
          const l = gpu.lane;
          const place = ({ pipe }: Stream, t: U32): U32 => pipe.slot(t).mul(WIDTH).add(l);
          const use = (forgets: boolean): void => {
            const sum = gpu.var(f32, 0);
            gpu.for({ from: 0, to: n }, (t) => {
              if (!forgets) v.pipe.wait(t);
              k.pipe.wait(t);
              for (const stream of [k, v]) sum.add(stream.tile.get(place(stream, t)));
              k.pipe.release(t);
              v.pipe.release(t);
            });
            b.set(gpu.localIndex, sum.get());
          };
          roles(
            gpu,
            () =>
              gpu.for({ from: 0, to: n }, (t) => {
                for (const stream of [k, v]) {
                  stream.pipe.acquire(t);
                  start(gpu, a, stream.tile, place(stream, t), t.mul(WIDTH).add(l));
                  stream.pipe.commit(t);
                }
              }),
            () => use(false),
            () => use(!isRight),
          );
        },
    );

  everywhere(
    "a younger group was seen to land by another",
    { size: 2 * WIDTH },
    (isRight) =>
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 2 * WIDTH);
        const full = gpu.phaseBarriers({ count: 2, arrivals: WIDTH });
        const l = gpu.lane;
        roles(
          gpu,
          () => {
            twoGroups(gpu, a, s, full);
            spin(gpu, b);
            gpu.copies.await(isRight ? 0 : 1);
            b.set(l, s.get(l.add(WIDTH)));
            gpu.copies.await();
          },
          () => {
            full.wait(0, 0);
            full.wait(1, 0);
          },
        );
      },
  );

  everywhere(
    "who waited for an older group tells no more",
    { size: 3 * WIDTH },
    (isRight) =>
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 2 * WIDTH);
        const full = gpu.phaseBarriers({ count: 2, arrivals: WIDTH });
        const told = gpu.phaseBarriers({ count: 1, arrivals: WIDTH });
        const l = gpu.lane;
        roles(
          gpu,
          () => {
            twoGroups(gpu, a, s, full);
            spin(gpu, b);
            gpu.copies.await(1);
            told.arrive(0);
          },
          () => {
            full.wait(0, 0);
            full.wait(1, 0);
          },
          () => {
            spin(gpu, b);
            told.wait(0, 0);
            b.set(l, s.get(isRight ? l : l.add(WIDTH)));
          },
        );
      },
  );

  test("who waits for all copies, of a phase too, tells it at a barrier", async () => {
    const { b, findings } = await simulate(({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const full = gpu.phaseBarriers({ count: 1, arrivals: 64 });
      const i = gpu.localIndex;
      start(gpu, a, s, i);
      full.arriveAfterCopies(0);
      gpu.copies.await();
      gpu.barrier();
      b.set(i, s.get(i.xor(40)));
    });
    expect(findings.map(({ message }) => message)).toEqual([]);
    expect(b.slice(0, 64)).toEqual(Float32Array.from({ length: 64 }, (_, i) => i ^ 40));
  });

  test.each([
    [4, []],
    [8, ["group 0 of the workgroup's copies has 128 bytes, and 256 are expected"]],
  ] as const)("copies of a phase are not in the next group: %s bytes per lane", async (bytes, expected) => {
    const { findings } = await simulate(({ a, b }, gpu) => {
      const [s, mine] = [gpu.shared(f32, WIDTH), gpu.shared(f32, WIDTH)];
      const pipe = gpu.pipeline({ stages: 1, producers: WIDTH, consumers: WIDTH, bytes: 4 * WIDTH });
      const l = gpu.lane;
      roles(
        gpu,
        () => {
          pipe.acquire(0);
          start(gpu, a, s, l);
          pipe.commit(0);
          start(gpu, a, mine, l);
          gpu.copies.commit({ bytes: bytes * WIDTH });
          gpu.copies.await();
          b.set(l, mine.get(l));
        },
        () => {
          pipe.wait(0);
          b.set(l.add(WIDTH), s.get(l));
          pipe.release(0);
        },
      );
    });
    expect(findings.map(({ message }) => message)).toEqual(expected);
  });
});

interface Stream {
  readonly pipe: ReturnType<Gpu["pipeline"]>;
  readonly tile: SharedArray<"f32">;
}

function twoGroups(
  gpu: Gpu,
  a: Parameters<Body>[0]["a"],
  s: SharedArray<"f32">,
  full: ReturnType<Gpu["phaseBarriers"]>,
): void {
  for (const j of [0, 1]) {
    start(gpu, a, s, gpu.lane.add(j * WIDTH));
    gpu.copies.commit();
    full.arriveAfterCopies(j);
  }
}

describe("a copy reads until it lands", () => {
  for (const [who, barrier, at] of [
    ["its own lane", false, 0],
    ["another lane after a barrier", true, 1],
  ] as const)
    negative(
      `${who} may not write its source before`,
      "copy-in-flight",
      ["a.set(i.xor(at), -7); // too early", "gpu.copies.start({"],
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 64);
        const i = gpu.localIndex;
        start(gpu, a, s, i);
        gpu.copies.commit();
        if (barrier) gpu.barrier();
        a.set(i.xor(at), -7); // too early
        gpu.copies.await();
        b.set(i, s.get(i));
      },
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 64);
        const i = gpu.localIndex;
        start(gpu, a, s, i);
        gpu.copies.commit();
        gpu.copies.await();
        if (barrier) gpu.barrier();
        a.set(i.xor(at), -7);
        b.set(i, s.get(i));
      },
      {},
      ({ message }) =>
        expect(message).toMatch(/^lane \d+ writes buffer "a"\[\d+\] while the copy of line \d+ from it/),
    );

  everywhere(
    "another subgroup writes it after a plain arrival",
    { size: 2 * WIDTH },
    (isRight) =>
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, WIDTH);
        const told = gpu.phaseBarriers({ count: 1, arrivals: WIDTH });
        const l = gpu.lane;
        roles(
          gpu,
          () => {
            start(gpu, a, s, l);
            gpu.copies.commit();
            if (isRight) gpu.copies.await();
            told.arrive(0);
            gpu.copies.await();
            b.set(l, s.get(l));
          },
          () => {
            told.wait(0, 0);
            a.set(l, -1);
          },
        );
      },
  );

  everywhere(
    "the consumer writes it before it waits for it",
    { size: 2 * WIDTH },
    (isRight) =>
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, WIDTH);
        const full = gpu.phaseBarriers({ count: 1, arrivals: WIDTH });
        const told = gpu.phaseBarriers({ count: 1, arrivals: WIDTH });
        const l = gpu.lane;
        roles(
          gpu,
          () => {
            start(gpu, a, s, l);
            full.arriveAfterCopies(0);
            told.arrive(0);
          },
          () => {
            told.wait(0, 0);
            if (isRight) full.wait(0, 0);
            a.set(l, -1);
            full.wait(0, 0);
            b.set(l, s.get(l));
          },
        );
      },
  );

  test("what is left under way is not under way in the next workgroup", async () => {
    const { findings } = await simulate(
      ({ a }, gpu) => {
        const s = gpu.shared(f32, 64);
        const i = gpu.localIndex;
        gpu.if(gpu.workgroupIndex.eq(0), () => start(gpu, a, s, i, i.add(64)));
        gpu.if(gpu.workgroupIndex.eq(1), () => a.set(i.add(64), 1));
      },
      { workgroups: 2 },
    );
    const messages = findings.map(({ message }) => message);
    expect(messages).toContain('the copy to shared "s"[0] was not awaited before the workgroup ended');
    // The only other finding: workgroups are not ordered.
    expect(messages.filter((message) => !message.includes("was not awaited"))).toEqual([
      expect.stringMatching(/^data race on buffer "a"\[64\]: write by lane 0, copy by lane 0 of workgroup/),
    ]);
  });
});
