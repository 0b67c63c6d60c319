/** Indices that leave a row, or another dimension, and stay inside the memory. */

import { buffer, f32, hash, kernel, padded, rowMajor, swizzled, u32 } from "@evolver/kernel";
import type { Gpu, Kernel, Layout, Symbols } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import type { Finding } from "@evolver/device";
import { describe, expect, test } from "vitest";

const params = { x: buffer(f32), out: buffer(f32, "write"), w: u32 };
type Body = (symbols: Symbols<typeof params>, gpu: Gpu) => void;

const compile = (body: Body): Kernel<typeof params> => kernel("k", { params, workgroup: [16, 4] }, body);

/** Findings of one workgroup of 16 × 4, with 256 elements in each buffer and w = 16. */
async function findingsOf(body: Body, w = 16): Promise<readonly Finding[]> {
  const device = openSim({ onFinding: "collect" });
  const program = await device.compile(compile(body));
  const x = device.createBuffer("f32", new Float32Array(256));
  const out = device.createBuffer("f32", 256);
  return (await program.run({ workgroups: 1, args: { x, out, w } })).findings;
}

describe.each([
  ["row-major", rowMajor([4, 16])],
  ["padded", padded([4, 16], 1)],
  ["swizzled", swizzled([4, 16])],
] as const)("a %s tile", (_, layout: Layout) => {
  const reading =
    (column: (c: Gpu["localIndex"]) => Gpu["localIndex"]): Body =>
    ({ out }, gpu) => {
      const tile = gpu.shared(f32, layout);
      const { x: c, y: row } = gpu.localId;
      tile.set(row, c, 1);
      gpu.barrier();
      gpu.if(row.eq(0), () => out.set(c, tile.get(row, column(c))));
    };

  test("has a finding where a lane reads the column after the last", async () => {
    const findings = await findingsOf(reading((c) => c.add(1)));
    const outside = findings.find(({ kind }) => kind === "out-of-bounds");
    expect(outside?.message).toBe('index 16 of dimension 1 of shared "tile" is outside its extent of 16');
    expect(outside?.accesses).toMatchObject([{ action: "read", lanes: [15] }]);
  });

  test("has none inside its rows", async () => {
    expect(await findingsOf(reading((c) => c.add(1).and(15)))).toEqual([]);
  });
});

describe("a tile", () => {
  test("of vectors holds the whole vector in the row", async () => {
    const body: Body = ({ out, w }, gpu) => {
      const tile = gpu.shared(f32, padded([4, 14], 2));
      const { x: c, y: row } = gpu.localId;
      gpu.if(c.lt(14), () => tile.set(row, c, 1));
      gpu.barrier();
      gpu.if(row.eq(0).and(c.eq(0)), () => out.setVec(0, tile.getVec(4, row, w)));
    };
    expect(await findingsOf(body, 8)).toEqual([]);
    const messages = (await findingsOf(body, 12)).map(({ message }) => message);
    expect(messages).toContain('index 12 of dimension 1 of shared "tile" is outside its extent of 14');
  });

  test("that is filled by copies has a finding for a copy beyond the row", async () => {
    const body: Body = ({ x, out, w }, gpu) => {
      const tile = gpu.shared(f32, rowMajor([5, 16]));
      const { x: c, y: row } = gpu.localId;
      gpu.copies.start({ to: tile, at: [row, c.add(w)], from: x, index: [c], width: 1 });
      gpu.copies.await();
      gpu.barrier();
      out.set(gpu.localIndex, 1);
    };
    expect(await findingsOf(body, 0)).toEqual([]);
    expect(await findingsOf(body, 1)).toMatchObject([
      { kind: "out-of-bounds", accesses: [{ action: "copy" }] },
    ]);
  });
});

describe("a view", () => {
  const neighbours =
    (
      options: (symbols: Symbols<typeof params>) => Parameters<Symbols<typeof params>["x"]["view"]>[0],
      shift: number,
    ): Body =>
    (symbols, gpu) => {
      const view = symbols.x.view(options(symbols));
      const { x: c, y: row } = gpu.localId;
      symbols.out.set(gpu.localIndex, view.get(row, c.add(shift)));
    };

  test("whose rows are as long as their stride has a finding for the next row's first column", async () => {
    const findings = await findingsOf(neighbours(({ w }) => ({ strides: [w, 1] }), 1));
    expect(findings).toMatchObject([{ kind: "out-of-bounds", accesses: [{ lanes: [15, 31, 47, 63] }] }]);
    expect(findings[0]?.message).toContain(
      'index 16 of dimension 1 of buffer "x" leaves the row, since rows are 16 apart',
    );
    expect(await findingsOf(neighbours(({ w }) => ({ strides: [w, 1] }), 0))).toEqual([]);
  });

  test("has extents in the place of that where it says so: rows may overlap, or end before the next", async () => {
    expect(await findingsOf(neighbours(() => ({ strides: [2, 1], extents: [4, 16] }), 0))).toEqual([]);
    const shorter = await findingsOf(neighbours(({ w }) => ({ strides: [w, 1], extents: [4, 15] }), 0));
    expect(shorter[0]?.message).toBe('index 15 of dimension 1 of buffer "x" is outside its extent of 15');
  });

  test("of which every row is the same one, or that is transposed, has no row to leave", async () => {
    expect(await findingsOf(neighbours(() => ({ strides: [0, 1] }), 3))).toEqual([]);
    expect(await findingsOf(neighbours(({ w }) => ({ strides: [1, w] }), 0))).toEqual([]);
  });

  test("remembers the extents of indices that at() has fixed", async () => {
    const body =
      (rows: number): Body =>
      ({ x, out, w }, gpu) => {
        const { x: c, y: row } = gpu.localId;
        const view = x.view({ strides: [w, 1], extents: [rows, w] }).at(row);
        out.set(gpu.localIndex, view.get(c));
      };
    expect(await findingsOf(body(4))).toEqual([]);
    const [finding] = await findingsOf(body(3));
    expect(finding?.message).toBe('index 3 of dimension 0 of buffer "x" is outside its extent of 3');
  });

  test("knows how long its rows are after at() has chosen one", async () => {
    const body =
      (end: number): Body =>
      ({ x, out, w }, gpu) => {
        const { x: c, y: row } = gpu.localId;
        const view = x.view({ strides: [w, 1] }).at(row);
        gpu.if(c.lt(end), () => out.set(gpu.localIndex, view.get(c)));
      };
    expect(await findingsOf(body(12), 12)).toEqual([]);
    const [finding] = await findingsOf(body(13), 12);
    expect(finding?.message).toContain('index 12 of dimension 1 of buffer "x" leaves the row');
  });

  test("has as many extents as strides", () => {
    const made = compile(({ x, out }, gpu) => {
      out.set(gpu.localIndex, x.view({ strides: [16, 1], extents: [16] }).get(0, 0));
    });
    expect(() => made.build({ subgroup: 32 })).toThrow(expect.objectContaining({ code: "INVALID_VIEW" }));
  });
});

test("what cannot leave its row is not checked", async () => {
  const inside: Body = ({ out }, gpu) => {
    const tile = gpu.shared(f32, rowMajor([4, 16]));
    const { x: c, y: row } = gpu.localId;
    tile.set(row, c, 1);
    gpu.for({ from: 0, to: 4 }, (k) => out.set(gpu.localIndex, tile.get(row, c.and(3).mul(4).add(k))));
  };
  const program = await openSim().compile(compile(inside));
  expect(program.source()).not.toContain("findings.beyondExtent");
});

test("extents are no part of what a kernel computes", () => {
  const hashOf = (extents: readonly number[] | null): string =>
    hash(
      compile(({ x, out, w }, gpu) => {
        const view = x.view({ strides: [w, 1], ...(extents === null ? {} : { extents }) });
        out.set(gpu.localIndex, view.get(gpu.localId.y, gpu.localId.x));
      }).build({ subgroup: 32 }),
    );
  expect(hashOf([4, 16])).toBe(hashOf(null));
});
