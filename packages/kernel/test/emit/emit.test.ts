/** What emitted code means, says about itself, and refuses. */

import { describe, expect, it } from "vitest";
import {
  add,
  assertNoFallback,
  bf16,
  buffer,
  emit,
  exp,
  exp2,
  exp2Flushed,
  f16,
  f32,
  fma,
  i32,
  kernel,
  math,
  round,
  u32,
} from "@evolver/kernel";
import type { EmitTarget, F32, Gpu, Kernel } from "@evolver/kernel";
import { atomics, control, large, names, readme, saxpy, subgroups } from "./zoo.ts";

type Array32 = Float32Array | Int32Array | Uint32Array;
type Run = (launch: { workgroups: number; args: Record<string, number | Array32> }) => void;

async function run(kernel: Kernel<never> | Kernel, args: Record<string, number | Array32>): Promise<void> {
  const { source } = emit((kernel as Kernel).build({ subgroup: 4 }), "js");
  const module = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`)) as {
    run: Run;
  };
  module.run({ workgroups: 1, args });
}

const TARGETS: readonly EmitTarget[] = ["js", "wgsl", "cuda", "hip"];

describe("what waits for its use", () => {
  type Body = (x: { get(i: number): F32; set(i: number, value: F32): void }, gpu: Gpu) => void;
  const one = (body: Body): Kernel =>
    kernel("one", { params: { x: buffer(f32, "read_write") }, workgroup: [4] }, ({ x }, gpu) =>
      gpu.if(gpu.localIndex.eq(0), () => body(x, gpu)),
    ) as unknown as Kernel;
  const after = async (body: Body): Promise<number[]> => {
    const x = Float32Array.of(1, 2, 3, 4);
    await run(one(body), { x });
    return [...x];
  };

  it("is not moved past a store to the memory that it reads", async () => {
    const swapped = await after((x) => {
      const [a, b] = [x.get(0), x.get(1)];
      x.set(0, b);
      x.set(1, a);
    });
    expect(swapped).toEqual([2, 1, 3, 4]);
  });

  it("is not moved past an assignment to the variable that it reads", async () => {
    const values = await after((x, gpu) => {
      const v = gpu.var(f32, 5);
      const before = v.get().add(1);
      v.set(7);
      x.set(0, v.get());
      x.set(1, before);
    });
    expect(values).toEqual([7, 6, 3, 4]);
  });

  it("is not moved into or past a loop or a branch that changes what it reads", async () => {
    const values = await after((x, gpu) => {
      const v = gpu.var(f32, 1);
      const [a, b, c] = [v.get(), x.get(1).mul(10), v.get()];
      gpu.for({ from: 0, to: 3 }, () => v.set(v.get().add(a)));
      gpu.if(v.get().gt(2), () => x.set(1, c));
      x.set(0, v.get());
      x.set(2, b);
    });
    expect(values).toEqual([4, 1, 20, 4]);
  });

  it("is evaluated once where it bounds a loop", async () => {
    const values = await after((x, gpu) => {
      const end = gpu.var(i32, 3);
      gpu.for({ from: gpu.constant(i32, 0), to: end.get() }, () => {
        end.add(1);
        x.set(0, x.get(0).add(1));
      });
      x.set(1, end.get().toF32());
    });
    expect(values).toEqual([4, 6, 3, 4]);
  });

  it("keeps the order of additions", async () => {
    const values = await after((x) => {
      x.set(
        0,
        add(
          x.get(0),
          x
            .get(1)
            .add(x.get(2))
            .sub(x.get(3).sub(x.get(1))),
        ),
      );
      x.set(1, x.get(3).div(x.get(1).mul(x.get(2))));
    });
    expect(values).toEqual([1 + (2 + 3 - (4 - 2)), Math.fround(4 / 6), 3, 4]);
  });
});

describe("the mathematics written into JavaScript", () => {
  const inputs = [
    0,
    -0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -3.5,
    1e-30,
    88,
    -104,
    200,
    3e9,
    -3e9,
    8388609,
    NaN,
    Infinity,
    -Infinity,
  ];
  const cases: readonly (readonly [string, (a: F32) => F32, (a: number) => number])[] = [
    ["exp", exp, math.exp],
    ["exp2", exp2, math.exp2],
    ["exp2Flushed", exp2Flushed, math.exp2Flushed],
    ["round", round, math.round],
    ["min", (a) => a.min(1), (a) => math.min(a, 1)],
    ["max", (a) => a.max(1), (a) => math.max(a, 1)],
    ["fma", (a) => fma(a, a, 1e-9), (a) => math.fma(a, a, Math.fround(1e-9))],
    ["toI32", (a) => a.toI32().toF32(), (a) => Math.fround(math.f32ToI32(a))],
    ["toU32", (a) => a.toU32().toF32(), (a) => Math.fround(math.f32ToU32(a))],
    ["bits", (a) => a.bitcast(u32).xor(1).bitcast(f32), (a) => math.bitsToF32(math.f32ToBits(a) ^ 1)],
    ["popcount", (a) => a.bitcast(u32).popcount().toF32(), (a) => math.popcount(math.f32ToBits(a))],
  ];
  it.each(cases)("%s is that of mathematics.ts", async (_, record, meaning) => {
    const apply = kernel(
      "apply",
      { params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 }, workgroup: [32] },
      ({ x, y, n }, gpu) => {
        const i = gpu.localIndex;
        gpu.if(i.lt(n), () => y.set(i, record(x.get(i))));
      },
    );
    const x = Float32Array.from(inputs);
    const y = new Float32Array(inputs.length);
    await run(apply as unknown as Kernel, { x, y, n: inputs.length });
    expect([...y]).toEqual([...x].map(meaning));
  });
});

describe("the lowering report", () => {
  const entriesOf = (target: EmitTarget, ir = control.build({ subgroup: 32 })): string[] =>
    emit(ir, target).lowering.entries.map(({ request, became }) => `${request}: ${became}`);

  it("reports how wide accesses were translated", () => {
    expect(entriesOf("cuda")).toContain("load of 4 consecutive f32 of wide: float4");
    expect(entriesOf("hip")).toContain("store of 4 consecutive f32 of wideTo: float4");
    expect(entriesOf("wgsl")).toContain("load of 4 consecutive f32 of wide: vec4");
    expect(entriesOf("wgsl")).toContain(
      "load of 2 consecutive u32 of pairs: 2 loads of a scalar: pairs is also accessed singly",
    );
    expect(entriesOf("js")).toContain("load of 4 consecutive f32 of wide: 4 scalar loads");
  });

  it("says how f16 and bf16 are held and computed", () => {
    const half = kernel(
      "half",
      {
        params: {
          h: buffer(f16),
          b: buffer(bf16),
          single: buffer(bf16, "write"),
          pair: buffer(bf16, "write"),
        },
        workgroup: [64],
      },
      ({ h, b, single, pair }, gpu) => {
        const i = gpu.globalId.x;
        single.set(i, b.get(i).mul(2));
        pair.setVec(i.mul(2), b.getVec(2, i.mul(2)));
        single.set(i, fma(h.get(i), h.get(i), h.get(i).div(3)).toBF16());
      },
    ).build({ subgroup: 32 });
    expect(entriesOf("cuda", half)).toEqual([
      "mul of bf16: f32, rounded to bf16",
      "load of 2 consecutive bf16 of b: unsigned",
      "store of 2 consecutive bf16 of pair: unsigned",
      "div of f16: f32, rounded to f16",
    ]);
    expect(entriesOf("wgsl", half)).toEqual(
      expect.arrayContaining([
        "memory of bf16: b: packed in u32",
        "memory of bf16: pair: packed in u32",
        "memory of bf16: single: packed in u32, single stores by two atomic operations",
        "fma: fma(), which WGSL lets an implementation round twice",
      ]),
    );
    const emulated = emit(half, "wgsl", { shaderF16: false });
    const entries = emulated.lowering.entries.map(({ request, became }) => `${request}: ${became}`);
    expect(entries).toContain("memory of f16: h: packed in u32");
    expect(entries).toContain("fma of f16: integer arithmetic");
    expect(emulated.source).not.toMatch(/enable f16|: f16|<f16>/);
    expect(emulated.source).toContain("var<storage, read_write> single: array<atomic<u32>>;");
    expect(emulated.source).toContain("var<storage, read_write> pair: array<u32>;");
    expect(() => assertNoFallback(emulated.lowering)).toThrow(/f16/);
    const halfLoads = kernel(
      "loads",
      { params: { h: buffer(f16), y: buffer(f32, "write") }, workgroup: [64] },
      ({ h, y }, gpu) => y.set(gpu.globalId.x, h.get(gpu.globalId.x).mul(2).toF32()),
    ).build({ subgroup: 32 });
    for (const target of ["cuda", "hip", "wgsl"] as const)
      expect(() => assertNoFallback(emit(halfLoads, target).lowering)).not.toThrow();
  });

  it("lets tests forbid a fallback", () => {
    const wide = control.build({ subgroup: 32 });
    expect(() => assertNoFallback(emit(wide, "cuda").lowering)).not.toThrow();
    expect(() => assertNoFallback(emit(wide, "wgsl").lowering)).toThrow(
      expect.objectContaining({ code: "SILENT_FALLBACK", message: expect.stringContaining("pairs") }),
    );
  });

  it("says what WGSL lacks", () => {
    const entries = entriesOf("wgsl", atomics.build({ subgroup: 32 }));
    expect(entries).toContain("atomic add of f32 to sums: a loop of compare-exchange");
    expect(entries.filter((entry) => entry.includes("a relaxed one"))).not.toEqual([]);
    expect(entriesOf("cuda", atomics.build({ subgroup: 32 }))).toEqual([]);
  });

  it("names subgroup operations that only the simulator can vouch for", () => {
    const dynamic = kernel(
      "dynamic",
      { params: { x: buffer(f32, "read_write") }, workgroup: [64], uniformity: "dynamic" },
      ({ x }, gpu) => {
        const i = gpu.localIndex;
        gpu.if(x.get(i).gt(0), () => x.set(i, gpu.subgroup.sum(x.get(i))));
      },
    );
    for (const target of ["cuda", "hip"] as const) {
      const { lowering } = emit(dynamic.build({ subgroup: 32 }), target);
      expect(() => assertNoFallback(lowering)).toThrow(/not proved uniform/);
    }
    expect(() => emit(dynamic.build({ subgroup: 32 }), "wgsl")).toThrow(
      expect.objectContaining({ code: "DYNAMIC_UNIFORMITY" }),
    );
  });
});

describe("the line map", () => {
  it.each(TARGETS)("leads from %s back to TypeScript", (target) => {
    const { source, lineMap } = emit(saxpy.build({ subgroup: 32 }), target);
    const lines = source.split("\n");
    expect(lineMap.length).toBe(lines.length);
    const k = lines.findIndex((line) => /y\[i\] = fmaf?\(/.test(line));
    const location = lineMap[k + 1];
    expect(location?.file).toMatch(/zoo\.ts$/);
    // The line of `y.set(…)`, five below that of `kernel(…)`.
    expect((location?.line ?? 0) - saxpy.build({ subgroup: 32 }).site.location.line).toBe(8);
    expect(lineMap[1]).toBeNull();
  });

  it("is #line where asked for", () => {
    const ir = saxpy.build({ subgroup: 32 });
    const { source, lineMap } = emit(ir, "cuda", { lineDirectives: true });
    const lines = source.split("\n");
    const k = lines.findIndex((line) => line.includes("fmaf("));
    expect(lines[k - 1]).toMatch(/^#line \d+ ".*zoo\.ts"$/);
    expect(lineMap.length).toBe(lines.length);
    expect(lines[k - 1]).toContain(`#line ${lineMap[k + 1]?.line} `);
  });
});

describe("what a launch needs to know", () => {
  it("is the order of arguments on CUDA and HIP", () => {
    const ir = saxpy.build({ subgroup: 32 });
    expect(emit(ir, "cuda")).toMatchObject({
      entryPoint: "saxpy",
      grid: "native",
      kernelArguments: ["a", "x", "y", "n"],
      compileOptions: ["--fmad=false"],
    });
    const linear = emit(ir, "hip", { grid: "linear" });
    expect(linear.kernelArguments.slice(4)).toEqual([
      "numWorkgroups.x",
      "numWorkgroups.y",
      "numWorkgroups.z",
    ]);
    expect(linear.source).toContain(
      "if (workgroupIndex >= numWorkgroupsX * numWorkgroupsY * numWorkgroupsZ) return;",
    );
  });

  it("is bindings and a uniform struct on WebGPU", () => {
    const { bindings, uniform, grid } = emit(control.build({ subgroup: 32 }), "wgsl");
    expect(grid).toBe("linear");
    expect(
      bindings.map(({ name, binding, readOnly, minBytes }) => [name, binding, readOnly, minBytes]),
    ).toEqual([
      ["from", 0, true, 4],
      ["wide", 1, true, 16],
      ["to", 2, false, 4],
      ["wideTo", 3, false, 16],
      ["pairs", 4, false, 4],
    ]);
    expect(uniform?.binding).toBe(5);
    expect(uniform?.bytes).toBe(32);
    expect(uniform?.fields.map(({ name, type, offset }) => `${name}:${type}@${offset}`)).toEqual([
      "rounds:i32@0",
      "size:u32@4",
      "numWorkgroups.x:u32@8",
      "numWorkgroups.y:u32@12",
      "numWorkgroups.z:u32@16",
    ]);
    expect(emit(subgroups.build({ subgroup: 32 }), "wgsl", { grid: "native" }).uniform).toBeNull();
  });

  it("is shared memory beyond CUDA's static limit", () => {
    const ir = large.build({ subgroup: 32 });
    const { sharedBytes, dynamicSharedBytes, source } = emit(ir, "cuda");
    expect(sharedBytes).toBe(52_004);
    expect(dynamicSharedBytes).toBe(52_016);
    expect(source).toContain("extern __shared__");
    expect(emit(ir, "hip").dynamicSharedBytes).toBe(0);
    expect(emit(readme.build({ subgroup: 32 }), "cuda").dynamicSharedBytes).toBe(0);
  });
});

describe("names", () => {
  it("avoid the words of the target", () => {
    const ir = names.build({ subgroup: 32 });
    const { source, entryPoint, kernelArguments } = emit(ir, "cuda");
    expect(entryPoint).toBe("template_");
    expect(kernelArguments).toEqual(["float", "double", "fn", "let"]);
    expect(source).toContain("const float* __restrict__ float_");
    expect(emit(ir, "wgsl").uniform?.fields[0]?.name).toBe("fn");
    expect(emit(ir, "wgsl").source).toContain("fn_: u32");
  });
});

describe("a kernel named like a function of C", () => {
  it("gets another name", () => {
    const index = kernel(
      "index",
      { params: { fmaf: buffer(f32, "read_write") }, workgroup: [64] },
      ({ fmaf }, gpu) => fmaf.set(gpu.localIndex, fma(fmaf.get(gpu.localIndex), 2, 1)),
    );
    const { entryPoint, source } = emit(index.build({ subgroup: 32 }), "cuda");
    expect(entryPoint).toBe("index_");
    expect(source).toContain("fmaf2[threadIdx.x] = fmaf(fmaf2[threadIdx.x], 2.0f, 1.0f);");
  });
});

describe("a large kernel", () => {
  const big = kernel("big", { params: { x: buffer(f32, "read_write") }, workgroup: [64] }, ({ x }, gpu) => {
    const values = Array.from({ length: 4_000 }, (_, k) => x.get(gpu.localIndex.add(k)));
    gpu.barrier();
    values.forEach((value, k) => x.set(gpu.localIndex.add(k), value.mul(k).add(1)));
  });

  it.each(TARGETS)("is emitted in time that grows with its size alone: %s", (target) => {
    const ir = big.build({ subgroup: 32 });
    const start = performance.now();
    emit(ir, target);
    // About 100 ms on an idle core; 20 s when every name was looked for from 2 on.
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe("subgroup widths that a target never has", () => {
  it.each([
    ["cuda", 4],
    ["cuda", 64],
    ["hip", 16],
    ["hip", 128],
  ] as const)("are refused: %s with %d", (target, subgroup) => {
    expect(() => emit(subgroups.build({ subgroup }), target)).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED_SUBGROUP" }),
    );
  });
});

describe("WGSL without branches, over which SwiftShader's compiler takes exponential time", () => {
  it("combines booleans and copies what may not be there by selection", () => {
    const params = { x: buffer(f32), y: buffer(f32, "write"), n: u32 };
    const branchless = kernel("branchless", { params, workgroup: [32] }, ({ x, y, n }, gpu) => {
      const tile = gpu.shared(f32, 4 * 32, "tile");
      const i = gpu.localIndex;
      const active = i.lt(n).and(i.ge(3)).or(i.eq(n));
      gpu.copies.start({ to: tile, at: [i.mul(4)], from: x, index: [i.mul(4)], width: 4, active });
      gpu.copies.commit();
      gpu.copies.await();
      gpu.barrier();
      y.set(i, tile.get(i));
    });
    const { source } = emit(branchless.build({ subgroup: 32, forwardProgress: false }), "wgsl");
    expect(source).not.toMatch(/&&|\|\|/);
    // Only the guard of the grid.
    expect(source.match(/\bif\b/g)).toHaveLength(1);
    expect(source.match(/select\(/g)).toHaveLength(5);
  });
});
