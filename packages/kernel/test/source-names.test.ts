import { expect, test } from "vitest";
import {
  buffer,
  deserialise,
  emit,
  f32,
  hash,
  kernel,
  print,
  serialise,
  u32,
  type F32,
} from "@evolver/kernel";

/** What is declared in the emitted body, in order. */
const declared = (source: string): string[] =>
  [...source.matchAll(/^ *(?:__shared__ .*?|const )?(?:float|unsigned) (\w+)/gm)].map(
    ([, name]) => name as string,
  );

const params = { x: buffer(f32), y: buffer(f32, "write"), n: u32 };

const built = kernel("named", { params, workgroup: [64] }, ({ x, y, n }, gpu) => {
  const row = gpu.workgroupId.x.mul(8).add(gpu.localId.x);
  const total = gpu.var(f32, 0);
  const parts = gpu.registers(f32, 2, 0);
  const rows = gpu.shared(f32, 64);
  const pairs: { left: ReturnType<typeof gpu.var<"f32">> } = { left: gpu.var(f32, 0) };
  const lists = [0, 1].map(() => gpu.var(f32, 0));
  const records = [0, 1].map(() => ({ kept: gpu.registers(f32, 2, 0), widest: gpu.var(f32, 0) }));
  const explicit = gpu.var(f32, 0, "chosen");
  gpu.for({ from: 0, to: n }, (column) => {
    const weight: F32 = x
      .get(row.mul(n).add(column)) // a comment, with `ticks` and a "quote
      .mul(2);
    total.add(weight);
    parts.add(0, weight);
    parts.add(1, weight.mul(weight));
  });
  const [low, high] = gpu.if(
    row.lt(n),
    () => [x.get(row), x.get(0)] as F32[],
    () => [x.get(1), x.get(2)] as F32[],
  ) as [F32, F32];
  rows.set(gpu.localIndex, total.get());
  gpu.barrier();
  for (const { kept, widest } of records) {
    kept.add(1, x.get(2));
    total.add(kept.get(0).add(kept.get(1)).add(widest.get()));
  }
  for (const one of [...lists, explicit, pairs.left]) total.add(one.get());
  y.set(row, low.mul(high).add(total.get()).add(parts.get(0)).add(parts.get(1)).add(rows.get(0)));
}).build({ subgroup: 32 });

test("emitted code has the names that the source gives to values, variables, loops and shared memory", () => {
  const { source } = emit(built, "cuda");
  const body = source.slice(source.indexOf("__global__"));
  expect(body).toContain("float rows[64];");
  expect(body).toContain("for (unsigned column = 0u; column < n; ++column)");
  expect(declared(body)).toEqual(
    expect.arrayContaining([
      "row",
      "total",
      "parts0",
      "parts1",
      "left",
      "lists",
      "lists2",
      "kept0",
      "kept1",
      "kept0_2",
      "kept1_2",
      "widest",
      "widest2",
      "chosen",
      "weight",
      "low",
      "high",
    ]),
  );
  for (const target of ["wgsl", "js"] as const)
    expect(emit(built, target).source).toMatch(/\brow\b.*\n[^]*\bweight\b/);
});

test("names are no part of a kernel's identity, and outlive its JSON form", () => {
  const same = kernel("other", { params, workgroup: [64] }, ({ x, y, n }, gpu) => {
    const first = gpu.workgroupId.x.mul(8);
    gpu.if(first.lt(n), () => y.set(first, x.get(first)));
  });
  const renamed = kernel("other", { params, workgroup: [64] }, ({ x, y, n }, gpu) => {
    const second = gpu.workgroupId.x.mul(8);
    gpu.if(second.lt(n), () => y.set(second, x.get(second)));
  });
  const [a, b] = [same.build({ subgroup: 32 }), renamed.build({ subgroup: 32 })];
  expect(hash(a)).toBe(hash(b));
  expect(emit(a, "cuda").source).toContain("first");
  expect(emit(b, "cuda").source).toContain("second");
  const copy = deserialise(serialise(built));
  expect(print(copy)).toBe(print(built));
  expect(emit(copy, "wgsl").source).toBe(emit(built, "wgsl").source);
});

test("messages call values and variables by their names", () => {
  const build = (body: Parameters<typeof kernel<typeof params>>[2]): unknown =>
    kernel("wrong", { params, workgroup: [64] }, body).build({ subgroup: 32 });
  expect(() =>
    build(({ x, y, n }, gpu) => {
      const kept: F32[] = [];
      gpu.for({ from: 0, to: n }, (i) => {
        const last = x.get(i);
        kept.push(last);
      });
      y.set(0, kept[0] as F32);
    }),
  ).toThrow(/the value "last" is used outside the body of gpu.for/);
});

test("two arrays of one name get names of their own, and a name that C++ or WGSL lacks is left out", () => {
  const twice = kernel("twice", { params, workgroup: [64] }, ({ y }, gpu) => {
    for (let k = 0; k < 2; k++) {
      const tile = gpu.shared(f32, 64);
      const größe = gpu.var(f32, 0);
      tile.set(gpu.localIndex, größe.get());
      y.set(gpu.localIndex, tile.get(gpu.localIndex));
    }
  }).build({ subgroup: 32 });
  expect(twice.shared.map(({ name }) => name)).toEqual(["tile", "tile2"]);
  expect(print(twice)).toContain("$v0");
});

test("items of a list have the names that are taken from it", () => {
  const listed = kernel("listed", { params, workgroup: [64] }, ({ y }, gpu) => {
    const [keys, values] = [gpu.shared(f32, 64), gpu.shared(f32, 64)];
    y.set(0, gpu.uniformLoad(keys, 0).add(gpu.uniformLoad(values, 0)));
  }).build({ subgroup: 32 });
  expect(listed.shared.map(({ name }) => name)).toEqual(["keys", "values"]);
});
