/** The meaning of kernels at every subgroup width: indices, divergent control flow, subgroup operations, edges. */

import { buffer, f32, fma, i32, kernel, math, u32 } from "@evolver/kernel";
import type { Gpu, KernelIR, U32 } from "@evolver/kernel";
import { openSim, toBF16Bits, toF16Bits } from "@evolver/device";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ATOMIC_LENGTH, INPUT_LENGTH, OWN, recordProgram } from "../property/record.ts";
import { VARIABLES, programs } from "../property/generate.ts";
import { simulate } from "./support.ts";

const HALVES = Array.from({ length: INPUT_LENGTH }, (_, i) => Math.sin(i * 3.1) * 2 ** ((i % 13) - 6));

const WIDTHS = [4, 8, 16, 32, 64, 128];

describe.each(WIDTHS)("subgroups of %i", (subgroup) => {
  const size = 128;

  async function integers(body: (i: U32, gpu: Gpu) => U32, checks = true): Promise<Uint32Array> {
    const device = openSim({ subgroup, checks });
    const program = await device.compile(
      kernel(
        "k",
        { params: { out: buffer(u32, "write") }, workgroup: [size], uniformity: "dynamic" },
        ({ out }, gpu) => out.set(gpu.globalId.x, body(gpu.globalId.x, gpu)),
      ),
    );
    const out = device.createBuffer("u32", 2 * size);
    await program.run({ workgroups: 2, args: { out } });
    return out.read();
  }
  const expected = (value: (i: number) => number): Uint32Array =>
    Uint32Array.from({ length: 2 * size }, (_, i) => value(i));

  test("indices", async () => {
    const ids = await integers((_, gpu) => gpu.subgroupId.mul(1000).add(gpu.lane));
    expect(ids).toEqual(expected((i) => Math.floor((i % size) / subgroup) * 1000 + (i % subgroup)));
  });

  test("a loop with continue and break that each lane leaves when it likes", async () => {
    const result = await integers((i, gpu) => {
      const sum = gpu.var(u32, 0);
      gpu.for({ from: 0, to: i.remTrunc(40) }, (k) => {
        gpu.if(k.remTrunc(3).eq(i.remTrunc(3)), () => gpu.continue());
        gpu.if(k.gt(30), () => {
          sum.set(sum.get().add(1000));
          gpu.break();
        });
        sum.set(sum.get().add(k));
      });
      return sum.get();
    });
    const reference = (i: number): number => {
      let sum = 0;
      for (let k = 0; k < i % 40; k++) {
        if (k % 3 === i % 3) continue;
        if (k > 30) {
          sum += 1000;
          break;
        }
        sum += k;
      }
      return sum;
    };
    expect(result).toEqual(expected(reference));
  });

  test("a while loop: steps of the Collatz sequence", async () => {
    const result = await integers((i, gpu) => {
      const x = gpu.var(u32, i.add(1));
      const steps = gpu.var(u32, 0);
      gpu.while(
        () => x.get().ne(1),
        () => {
          steps.set(steps.get().add(1));
          gpu.if(
            x.get().and(1).eq(0),
            () => x.set(x.get().shr(1)),
            () => x.set(x.get().mul(3).add(1)),
          );
        },
      );
      return steps.get();
    });
    const collatz = (i: number): number => {
      let steps = 0;
      for (let x = i + 1; x !== 1; steps++) x = x % 2 === 0 ? x / 2 : 3 * x + 1;
      return steps;
    };
    expect(result).toEqual(expected(collatz));
  });

  test("a uniform break under a divergent continue leaves the loop for all that are in it", async () => {
    const result = await integers((i, gpu) => {
      const last = gpu.var(u32, 0);
      gpu.for({ from: 0, to: 10 }, (k) => {
        gpu.if(i.and(1).eq(k.and(1)), () => gpu.continue());
        last.set(k.add(1));
        gpu.if(k.ge(4), () => gpu.break());
      });
      return last.get();
    });
    // Odd lanes act on k = 0, 2, 4 and leave then; even ones on 1, 3, 5.
    expect(result).toEqual(expected((i) => (i % 2 === 1 ? 5 : 6)));
  });

  test("loops with bounds and steps of their own, up and down", async () => {
    const result = await integers((i, gpu) => {
      const sum = gpu.var(i32, 0);
      const from = i.toI32();
      gpu.for({ from, to: from.sub(10), step: -3 }, (k) => sum.add(k));
      gpu.for({ from, to: 300, step: from.add(1) }, (k) => sum.add(k));
      return sum.get().toU32();
    });
    const reference = (i: number): number => {
      let sum = 0;
      for (let k = i; k > i - 10; k -= 3) sum += k;
      for (let k = i; k < 300; k += i + 1) sum += k;
      return sum;
    };
    expect(result).toEqual(expected(reference));
  });

  test("subgroup operations", async () => {
    const of = (i: number): number[] => {
      const first = i - (i % subgroup);
      return Array.from({ length: subgroup }, (_, lane) => first + lane);
    };
    const sum = await integers((i, { subgroup: ops }) => ops.sum(i));
    expect(sum).toEqual(expected((i) => of(i).reduce((a, b) => a + b)));
    const odd = await integers((i, gpu) => {
      const result = gpu.var(u32, 0);
      gpu.if(i.and(1).eq(1), () => result.set(gpu.subgroup.min(i).add(gpu.subgroup.max(i))));
      return result.get();
    }, false);
    expect(odd).toEqual(expected((i) => (i % 2 === 0 ? 0 : (of(i)[1] as number) + (of(i).at(-1) as number))));
    const scan = await integers((i, { subgroup: ops }) =>
      ops
        .inclusiveSum(i)
        .mul(1000)
        .add(ops.exclusiveSum(i.and(1))),
    );
    expect(scan).toEqual(
      expected((i) => {
        const before = of(i).slice(0, (i % subgroup) + 1);
        const odds = before.slice(0, -1).filter((lane) => lane % 2 === 1).length;
        return before.reduce((a, b) => a + b) * 1000 + odds;
      }),
    );
    const shuffled = await integers((i, { subgroup: ops }) =>
      ops.shuffleXor(i, 1).mul(1_000_000).add(ops.broadcast(i, 3).mul(1000)).add(ops.broadcastFirst(i)),
    );
    expect(shuffled).toEqual(
      expected((i) => (i ^ 1) * 1_000_000 + (of(i)[3] as number) * 1000 + (of(i)[0] as number)),
    );
    const ballot = await integers((i, gpu) => {
      const words = gpu.subgroup.ballot(i.remTrunc(3).eq(0));
      return words[words.length - 1] as U32;
    });
    const word = (i: number): number =>
      of(i)
        .slice(subgroup > 32 ? -32 : 0)
        .reduce((bits, lane, bit) => (lane % 3 === 0 ? bits | (1 << bit) : bits), 0) >>> 0;
    expect(ballot).toEqual(expected(word));
    const votes = await integers((i, gpu) => {
      const some = gpu.subgroup.any(i.eq(5));
      const every = gpu.subgroup.all(i.lt(128));
      return some.toU32().mul(2).add(every.toU32());
    });
    expect(votes).toEqual(expected((i) => (of(i).includes(5) ? 2 : 0) + (i < 128 ? 1 : 0)));
  });

  test("an f32 sum is the butterfly's, bit for bit", async () => {
    const values = Float32Array.from({ length: 256 }, (_, i) => Math.sin(i) * 10 ** (i % 7));
    const device = openSim({ subgroup });
    const program = await device.compile(
      kernel(
        "k",
        { params: { x: buffer(f32), out: buffer(f32, "write") }, workgroup: [size] },
        ({ x, out }, gpu) => out.set(gpu.globalId.x, gpu.subgroup.sum(x.get(gpu.globalId.x))),
      ),
    );
    const x = device.createBuffer("f32", values);
    const out = device.createBuffer("f32", 256);
    await program.run({ workgroups: 2, args: { x, out } });
    const result = await out.read();
    for (let first = 0; first < 256; first += subgroup) {
      let lanes = [...values.subarray(first, first + subgroup)];
      for (let o = subgroup / 2; o >= 1; o /= 2)
        lanes = lanes.map((v, l) => Math.fround(v + (lanes[l ^ o] as number)));
      for (let l = 0; l < subgroup; l++) expect(result[first + l]).toBe(lanes[l]);
    }
  });

  test("a sum over the workgroup through shared memory", async () => {
    const { b, findings } = await simulate(
      ({ a, b }, gpu) => {
        const partial = gpu.shared(f32, gpu.numSubgroups);
        const sum = gpu.subgroup.sum(a.get(gpu.localIndex));
        gpu.if(gpu.lane.eq(0), () => partial.set(gpu.subgroupId, sum));
        gpu.barrier();
        const total = gpu.var(f32, 0);
        gpu.for({ from: 0, to: gpu.numSubgroups }, (s) => total.add(partial.get(s)));
        b.set(gpu.localIndex, total.get());
      },
      { subgroup, size: 128 },
    );
    expect(findings).toEqual([]);
    expect(b[77]).toBe((127 * 128) / 2);
  });
});

// Random workgroups are no larger than 64.
describe.each(WIDTHS.filter((width) => width <= 64))("random programs, subgroups of %i", (subgroup) => {
  test("checks and counters change no result, and find no race in programs without", async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const plain = await runRandom(recordProgram(program).build({ subgroup }), {
          checks: false,
          counters: false,
        });
        const checked = await runRandom(recordProgram(program).build({ subgroup }), {});
        expect(checked.outputs).toEqual(plain.outputs);
        // Integer division, shuffles of random operands and operations in branches may well be in error; nothing else is.
        const kinds = new Set(checked.findings);
        kinds.delete("division-by-zero");
        kinds.delete("inactive-lane-read");
        kinds.delete("divergent-subgroup-operation");
        expect([...kinds]).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  async function runRandom(
    ir: KernelIR,
    options: object,
  ): Promise<{ outputs: unknown[]; findings: string[] }> {
    const device = openSim({ subgroup, onFinding: "collect", ...options });
    const [x, y, z] = ir.workgroupSize;
    const invocations = x * y * z * 2;
    const inputs = {
      xh: device.createBuffer("f16", toF16Bits(HALVES)),
      xb: device.createBuffer("bf16", toBF16Bits(HALVES)),
      xf: device.createBuffer(
        "f32",
        Float32Array.from({ length: INPUT_LENGTH }, (_, i) => Math.sin(i * 7.3) * 20),
      ),
      xi: device.createBuffer(
        "i32",
        Int32Array.from({ length: INPUT_LENGTH }, (_, i) => (i * 48271) % 1000),
      ),
      xu: device.createBuffer(
        "u32",
        Uint32Array.from({ length: INPUT_LENGTH }, (_, i) => (i * 40503) % 257),
      ),
    };
    const outputs = {
      outF: device.createBuffer("f32", invocations * VARIABLES),
      outI: device.createBuffer("i32", invocations * VARIABLES),
      outU: device.createBuffer("u32", invocations * VARIABLES),
      outH: device.createBuffer("f16", invocations * VARIABLES),
      outB: device.createBuffer("bf16", invocations * VARIABLES),
      own: device.createBuffer("f32", invocations * OWN),
      counters: device.createBuffer("u32", ATOMIC_LENGTH),
    };
    const program = await device.compile(ir);
    const args = { ...inputs, ...outputs, limit: 2, factor: 0.75 };
    const { findings } = await program.run({ workgroups: 2, args: args as never });
    const read: unknown[] = [];
    for (const output of Object.values(outputs)) read.push(await output.read());
    return { outputs: read, findings: findings.map(({ kind }) => kind) };
  }
});

describe("edges", () => {
  test("a last subgroup with fewer lanes: 40 invocations in subgroups of 32", async () => {
    const device = openSim({ onFinding: "collect" });
    const whole = kernel(
      "partial",
      { params: { x: buffer(f32), out: buffer(f32, "write") }, workgroup: [64] },
      ({ x, out }, gpu) => {
        const s = gpu.shared(f32, 40);
        const i = gpu.localIndex;
        s.set(i, x.get(i));
        gpu.barrier();
        out.set(i, gpu.subgroup.sum(s.get(i)));
      },
    ).build({ subgroup: 32 });
    const program = await device.compile({ ...whole, workgroupSize: [40, 1, 1] } as KernelIR);
    const x = device.createBuffer("f32", new Float32Array(40).fill(1));
    const out = device.createBuffer("f32", 40);
    const { findings, counters } = await program.run({ workgroups: 1, args: { x, out } as never });
    expect(findings).toEqual([]);
    expect(counters).toMatchObject({ invocations: 40, globalReadBytes: 160, barriers: 1 });
    const sums = await out.read();
    expect([sums[0], sums[31], sums[32], sums[39]]).toEqual([32, 32, 8, 8]);
  });

  test("three-dimensional workgroups and launches", async () => {
    const device = openSim({ subgroup: 8 });
    const program = await device.compile(
      kernel("k", { params: { out: buffer(u32, "write") }, workgroup: [2, 4, 2] }, ({ out }, gpu) => {
        const index = gpu.workgroupIndex.mul(16).add(gpu.localIndex);
        const { x, y, z } = gpu.globalId;
        out.set(index, x.add(y.mul(100)).add(z.mul(10_000)));
      }),
    );
    const out = device.createBuffer("u32", 16 * 2 * 3 * 2);
    await program.run({ workgroups: [2, 3, 2], args: { out } });
    const values = await out.read();
    for (let group = 0; group < 12; group++) {
      const [gx, gy, gz] = [group % 2, Math.floor(group / 2) % 3, Math.floor(group / 6)];
      for (let local = 0; local < 16; local++) {
        const [lx, ly, lz] = [local % 2, Math.floor(local / 2) % 4, Math.floor(local / 8)];
        const id = gx * 2 + lx + (gy * 4 + ly) * 100 + (gz * 2 + lz) * 10_000;
        expect(values[group * 16 + local]).toBe(id);
      }
    }
  });

  test("element offsets beyond 32 bits do not wrap", async () => {
    const device = openSim({ onFinding: "collect" });
    const program = await device.compile(
      kernel(
        "k",
        { params: { x: buffer(f32), out: buffer(f32, "write"), stride: u32 }, workgroup: [32] },
        ({ x, out, stride }, gpu) => {
          const view = x.view({ strides: [stride, 1] });
          out.set(gpu.lane, view.get(gpu.lane, 0));
        },
      ),
    );
    const args = { x: device.createBuffer("f32", 8), out: device.createBuffer("f32", 32), stride: 2 ** 31 };
    const { findings } = await program.run({ workgroups: 1, args });
    // In 32 bits every second lane would wrap to element 0.
    expect(findings[0]?.accesses[0]?.lanes).toHaveLength(31);
  });

  test("fma rounds once, also where the sum in double precision is halfway between two f32", async () => {
    const tiny = 2 ** -80;
    const near = 1 + 2 ** -12;
    // near² = 1 + 2^-11 + 2^-24, halfway between 1 + 2^-11 and its neighbour; only c decides.
    const decided: [number, number, number, number][] = [
      [near, near, tiny, 1 + 2 ** -11 + 2 ** -23],
      [near, near, -tiny, 1 + 2 ** -11],
      [near, near, 0, 1 + 2 ** -11],
      [-near, near, -tiny, -1 - 2 ** -11 - 2 ** -23],
      [2 ** -75, 2 ** -75, 2 ** -149, 2 ** -148],
      [2 ** -75, 2 ** -75, 3 * 2 ** -149, 4 * 2 ** -149],
      [3e38, 3e38, -Infinity, -Infinity],
      [3e38, 2, 0, Infinity],
      [Infinity, 0, 1, Number.NaN],
      [-0, 1, -0, -0],
    ];
    const floats = fc.sample(fc.float(), { numRuns: 3 * 2048, seed: 3 });
    const triples = [
      ...decided,
      ...Array.from({ length: 2048 }, (_, i) => floats.slice(3 * i, 3 * i + 3) as [number, number, number]),
    ];
    const device = openSim();
    const program = await device.compile(
      kernel(
        "k",
        {
          params: { a: buffer(f32), b: buffer(f32), c: buffer(f32), out: buffer(f32, "write"), n: u32 },
          workgroup: [64],
        },
        ({ a, b, c, out, n }, gpu) => {
          const i = gpu.globalId.x;
          gpu.if(i.lt(n), () => out.set(i, fma(a.get(i), b.get(i), c.get(i))));
        },
      ),
    );
    const column = (k: 0 | 1 | 2): Float32Array => Float32Array.from(triples, (triple) => triple[k]);
    const [a, b, c] = [column(0), column(1), column(2)];
    const args = {
      a: device.createBuffer("f32", a),
      b: device.createBuffer("f32", b),
      c: device.createBuffer("f32", c),
      out: device.createBuffer("f32", triples.length),
      n: triples.length,
    };
    await program.run({ workgroups: Math.ceil(triples.length / 64), args });
    const result = await args.out.read();
    decided.forEach(([, , , wanted], i) => expect(result[i]).toBe(wanted));
    triples.forEach((_, i) =>
      expect(result[i]).toBe(math.fma(a[i] as number, b[i] as number, c[i] as number)),
    );
  });
});
