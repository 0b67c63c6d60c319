/** The printed IR, the hash over its normal form, and the serialised IR. */

import { EvolverError } from "@evolver/base";
import {
  atomic,
  buffer,
  deserialise,
  f16,
  f32,
  fma,
  hash,
  i32,
  kernel,
  print,
  serialise,
  u32,
  verify,
} from "@evolver/kernel";
import type { Gpu, KernelIR, Symbols } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { Draft, draft } from "./support/draft.ts";

const saxpyParams = { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 };

function saxpy(name = "saxpy"): KernelIR {
  return kernel(name, { params: saxpyParams, workgroup: [256] }, ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, fma(a, x.get(i), y.get(i))));
  }).build({ subgroup: 32 });
}

/** Every kind of node. */
function everything(): KernelIR {
  const params = {
    n: u32,
    s: i32,
    x: buffer(f32),
    w: buffer(f32, "write"),
    counters: buffer(atomic(u32)),
  };
  return kernel("everything", { params, workgroup: [64] }, ({ n, s, x, w, counters }, gpu) => {
    const tile = gpu.shared(f32, 64, "tile");
    const sum = gpu.var(f32, -0, "sum");
    const other = gpu.var(f32, Infinity, "sum");
    const four = x.getVec(4, gpu.lane.mul(4));
    gpu.comment("a loop");
    gpu.for({ from: 0, to: n, unroll: 2 }, (i) => {
      gpu.if(
        i.eq(3),
        () => gpu.continue(),
        () => other.set(NaN),
      );
      sum.add(four.x);
    });
    gpu.for({ from: s, to: 0, step: -1 }, () => gpu.break());
    gpu.while(
      () => counters.get(0, { order: "acquire" }).lt(n),
      () => counters.set(0, 1),
    );
    gpu.roles([
      { name: "producer", subgroups: 1, body: () => tile.set(gpu.lane, 1) },
      { name: "consumer", subgroups: 1, body: () => {} },
    ]);
    gpu.barrier();
    const total = gpu.subgroup.sum(gpu.uniformLoad(tile, 0).add(other.get()));
    w.set(0, gpu.subgroup.shuffleXor(total.add(sum.get()), 1));
  }).build({ subgroup: 32 });
}

describe("print", () => {
  test("saxpy", () => {
    expect(print(saxpy())).toMatchInlineSnapshot(`
      "kernel saxpy(a: f32, x: read f32[], y: read_write f32[], n: u32) workgroup [256, 1, 1] subgroup 32 {
        %0: f32 = param a
        %1: u32 = param n
        %2: u32 = globalId.x
        %3: bool = lt %2, %1
        if %3 {
          %4: f32 = load x[%2]
          %5: f32 = load y[%2]
          %6: f32 = fma %0, %4, %5
          store y[%2] = %6
        }
      }"
    `);
  });

  test("every kind of node", () => {
    expect(print(everything())).toMatchInlineSnapshot(`
      "kernel everything(n: u32, s: i32, x: read f32[], w: write f32[], counters: read_write atomic u32[]) workgroup [64, 1, 1] subgroup 32 {
        shared tile: f32[64]
        %0: u32 = param n
        %1: i32 = param s
        %2: f32 = const -0
        %3: f32 = const Infinity
        %4: u32 = lane
        %5: u32 = const 4
        %6: u32 = const 0
        %7: u32 = const 1
        %8: u32 = const 3
        %9: f32 = const NaN
        %10: i32 = const 0
        %11: i32 = const -1
        %12: f32 = const 1
        var $sum: f32 = %2
        var $sum.1: f32 = %3
        %13: u32 = mul %4, %5
        %14, %15, %16, %17: f32 = load x[%13]
        // a loop
        for %18: u32 = %6 to %0 step %7 unroll 2 {
          %19: bool = eq %18, %8
          if %19 {
            continue
          } else {
            set $sum.1 = %9
          }
          %20: f32 = get $sum
          %21: f32 = add %20, %14
          set $sum = %21
        }
        for %22: i32 = %1 downto %10 step %11 {
          break
        }
        while {
          %23: u32 = atomic load counters[%6] acquire
          %24: bool = lt %23, %0
          test %24
        } do {
          atomic store counters[%6] %7
        }
        roles {
          role producer subgroups 0 to 0 {
            store tile[%4] = %12
          }
          role consumer subgroups 1 to 1 {
          }
        }
        barrier
        %25: f32 = uniformLoad tile[%6]
        %26: f32 = get $sum.1
        %27: f32 = add %25, %26
        %28: f32 = subgroup.sum %27
        %29: f32 = get $sum
        %30: f32 = add %28, %29
        %31: f32 = subgroup.shuffleXor %30, %7
        store w[%6] = %31
      }"
    `);
  });

  test("with sites, each line ends with the file and line that recorded it", () => {
    const lines = print(saxpy(), { sites: true }).split("\n");
    const load = lines.find((line) => line.includes("load x"));
    expect(load).toMatch(/^ {4}%\d+: f32 = load x\[%\d+\] {2}\/\/ print\.test\.ts:\d+$/);
  });

  test("numbers values by definition, whatever their ids", () => {
    const write = (d: Draft): void => {
      const one = d.const("u32", 1);
      d.op("not", [one], "u32");
    };
    const shifted = draft((d) => {
      const unused = d.value("u32");
      write(d);
      d.emit({ kind: "op", op: "not", operands: [{ id: 1, type: "u32" }], result: unused });
    });
    const body = (text: string): string[] => text.split("\n").slice(1, -1);
    expect(body(print(shifted)).slice(0, 2)).toEqual(body(print(draft(write))));
  });

  test("prints invalid IR too", () => {
    const ir = draft((d) => void d.op("add", [{ id: 9, type: "u32" }], "u32"));
    expect(print(ir)).toContain("%0: u32 = add %undefined(9)");
  });
});

/** Loads, arithmetic and shared memory of a two-byte type. */
const halves = (type: typeof f16): KernelIR =>
  kernel("halves", { params: { h: buffer(type, "read_write") }, workgroup: [32] }, ({ h }, gpu) => {
    const tile = gpu.shared(type, 64, "tile");
    tile.set(gpu.lane, h.get(gpu.lane).mul(0.1));
    gpu.barrier();
    h.setVec(gpu.lane.mul(8), h.getVec(8, 0));
    h.set(gpu.lane, tile.get(gpu.lane).toF32().toF16().toBF16().toF16() as never);
  }).build({ subgroup: 32 });

describe("f16 and bf16", () => {
  test("in print, with literals as the type holds them", () => {
    const text = print(halves(f16));
    expect(text).toContain("kernel halves(h: read_write f16[])");
    expect(text).toContain("shared tile: f16[64]");
    expect(text).toContain(": f16 = const 0.0999755859375");
    expect(text).toMatch(/%\d+: bf16 = toBF16 %\d+/);
    expect(text).toMatch(/(%\d+, ){7}%\d+: f16 = load h/);
  });

  test("serialise and back give the same kernel; another type is another kernel", () => {
    const ir = halves(f16);
    const back = deserialise(serialise(ir));
    expect(print(back)).toBe(print(ir));
    expect(hash(back)).toBe(hash(ir));
    const texts = serialise(ir).replaceAll("0.0999755859375", "0.125");
    expect(hash(deserialise(texts))).not.toBe(hash(ir));
  });

  test("read back, a literal that the type does not hold is refused", () => {
    const text = serialise(halves(f16)).replaceAll("0.0999755859375", "0.1");
    expect(() => deserialise(text)).toThrow(/is not an exact f16 value/);
  });
});

describe("hash", () => {
  test("does not depend on names, lines, comments and numbering", () => {
    const one = kernel("one", { params: saxpyParams, workgroup: [64] }, ({ a, x, y }, gpu) => {
      const tile = gpu.shared(f32, 64, "tile");
      const sum = gpu.var(f32, 0, "sum");
      sum.set(a.mul(2).add(1));
      tile.set(gpu.localIndex, sum.get());
      gpu.roles([{ name: "copy", subgroups: 1, body: () => y.set(gpu.lane, x.get(gpu.lane)) }]);
    });
    const two = kernel("two", { params: saxpyParams, workgroup: [64] }, ({ a, x, y }, gpu) => {
      gpu.comment("constants and built-ins first seen in another order");
      gpu.constant(f32, 1);
      const { lane } = gpu;
      const values = gpu.shared(f32, 64, "values");
      const v = gpu.var(f32, 0, "v");
      v.set(a.mul(2).add(1));
      values.set(gpu.localIndex, v.get());
      gpu.roles([{ name: "move", subgroups: 1, body: () => y.set(lane, x.get(lane)) }]);
    });
    expect(hash(one.build({ subgroup: 32 }))).toBe(hash(two.build({ subgroup: 32 })));
    expect(hash(one.build({ subgroup: 32 }))).toMatch(/^[0-9a-f]{64}$/);
    expect(hash(one.build({ subgroup: 32 }))).not.toBe(hash(one.build({ subgroup: 64 })));
  });

  type Body = (symbols: Symbols<typeof saxpyParams>, gpu: Gpu) => void;
  const hashOf = (body: Body, params = saxpyParams, workgroup = [64] as [number]): string =>
    hash(kernel("k", { params, workgroup, uniformity: "dynamic" }, body).build({ subgroup: 32 }));

  test("depends on everything that the kernel does", () => {
    const { a, x, y, n } = saxpyParams;
    const base: Body = (p, gpu) => p.y.set(gpu.lane, p.x.get(gpu.lane));
    const hashes = [
      hashOf(base),
      hashOf(base, { x, a, y, n } as never),
      hashOf(base, { ...saxpyParams, x: buffer(f32, "read_write") } as never),
      hashOf(base, { ...saxpyParams, extra: f32 } as never),
      hashOf(base, saxpyParams, [128]),
      hashOf((p, gpu) => p.y.set(gpu.lane, p.x.get(gpu.localIndex))),
      hashOf((p, gpu) => p.y.set(gpu.lane, p.y.get(gpu.lane))),
      hashOf((p, gpu) => p.y.set(gpu.lane, p.a)),
      hashOf((p, gpu) => p.y.set(gpu.lane, 0)),
      hashOf((p, gpu) => p.y.set(gpu.lane, -0)),
      hashOf((p, gpu) => p.y.set(gpu.lane, NaN)),
      hashOf((p, gpu) => {
        gpu.barrier();
        base(p, gpu);
      }),
      hashOf((p, gpu) => gpu.if(p.n.lt(1), () => base(p, gpu))),
      hashOf((p, gpu) =>
        gpu.if(
          p.n.lt(1),
          () => {},
          () => base(p, gpu),
        ),
      ),
      hashOf((p, gpu) => gpu.for({ from: 0, to: 4 }, () => base(p, gpu))),
      hashOf((p, gpu) => gpu.for({ from: 0, to: 4, unroll: true }, () => base(p, gpu))),
      hashOf((p, gpu) => {
        gpu.shared(f32, 64, "x0");
        base(p, gpu);
      }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("a parameter cannot pass for shared memory or a built-in", () => {
    const load = (memory: "param" | "shared"): string =>
      hash(
        draft((d) => {
          const param = d.buffer("shared0");
          const shared = d.sharedMemory("s");
          const results = [d.value("f32")];
          const index = d.const("u32", 0);
          d.emit({ kind: "load", memory: memory === "param" ? param : shared, index, results });
        }),
      );
    expect(load("param")).not.toBe(load("shared"));
  });
});

describe("serialise", () => {
  test("a round trip keeps the kernel, its hash and its lines", () => {
    for (const ir of [saxpy(), everything()]) {
      const text = serialise(ir);
      const back = deserialise(text);
      expect(print(back, { sites: true })).toBe(print(ir, { sites: true }));
      expect(hash(back)).toBe(hash(ir));
      expect(serialise(back)).toBe(text);
      expect(() => verify(back)).not.toThrow();
    }
  });

  test("what comes back is frozen to the leaves", () => {
    const seen: unknown[] = [];
    const look = (value: unknown): void => {
      if (typeof value !== "object" || value === null || seen.includes(value)) return;
      seen.push(value);
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(look);
    };
    look(deserialise(serialise(everything())));
    expect(seen.length).toBeGreaterThan(50);
  });
});

/** A serialised kernel with one field changed; "@load.memory" is that field of the first load in the body. */
function changed(path: string, value: unknown): string {
  const document = JSON.parse(serialise(everything())) as { body: { kind: string }[] };
  const keys = path.split(".");
  const last = keys.pop() as string;
  let at: unknown = document;
  for (const key of keys)
    at = key.startsWith("@")
      ? document.body.find(({ kind }) => kind === key.slice(1))
      : (at as Record<string, unknown>)[key];
  (at as Record<string, unknown>)[last] = value;
  return JSON.stringify(document);
}

describe("deserialise refuses", () => {
  test.each<[string, string, RegExp]>([
    ["no JSON", "kernel", /the text is no JSON/],
    ["a list", "[]", /kernel is \[\], not an object/],
    ["another format", changed("format", "onnx"), /kernel\.format is "onnx"/],
    ["another version", changed("version", 1), /kernel\.version is 1, not version 3/],
    ["a missing field", changed("name", undefined), /kernel\.name is missing, not a string/],
    ["a name that is no string", changed("name", 3), /kernel\.name is 3, not a string/],
    ["a name that is not an identifier", changed("name", "a b"), /the name "a b" is not an identifier/],
    ["an unknown kind of parameter", changed("params.0.kind", "x"), /params\[0\]\.kind is "x"/],
    ["a scalar parameter of two bytes", changed("params.0.type", "f16"), /params\[0\]\.type is "f16"/],
    ["an unknown element type", changed("params.2.element", "f64"), /params\[2\]\.element is "f64"/],
    ["an access that is none", changed("params.2.access", "rw"), /params\[2\]\.access is "rw"/],
    ["a flag that is none", changed("shared.0.atomic", 0), /shared\[0\]\.atomic is 0/],
    ["a negative length", changed("shared.0.length", -1), /shared\[0\]\.length is -1/],
    ["two dimensions", changed("workgroupSize", [64, 1]), /workgroupSize is \[64,1\]/],
    ["a bad subgroup", changed("subgroupSize", 24), /24 is not a power of two/],
    ["an unknown mode", changed("uniformity", "loose"), /uniformity is "loose"/],
    ["a body that is no list", changed("body", {}), /kernel\.body is \{\}, not a list/],
    ["a node that is no object", changed("body.0", 1), /body\[0\] is 1, not an object/],
    ["an unknown kind", changed("body.0.kind", "goto"), /body\[0\]\.kind is "goto"/],
    ["a kind that objects have", changed("body.0.kind", "toString"), /body\[0\]\.kind is "toString"/],
    ["an unknown operation", changed("@op.op", "toString"), /unknown operation/],
    ["a value that is used only", changed("@op.operands", [9999]), /operands\[0\] is 9999/],
    ["a result that is no definition", changed("@op.result", 3), /result is 3, not \[id, type\]/],
    ["an id that is not a number", changed("@op.result.0", "0"), /not \[id, type\]/],
    ["an id out of range", changed("valueCount", 3), /ids run from 0 to 2/],
    ["an unknown type", changed("@op.result.1", "f64"), /not \[id, type\]/],
    ["an index that nothing defines", changed("@load.index", 9999), /index is 9999, not the id of a value/],
    ["results that are none", changed("@load.results", [3]), /results\[0\] is 3, not \[id, type\]/],
    ["memory that is not there", changed("@load.memory", "z"), /memory is "z"/],
    ["a variable not declared", changed("@varGet.variable", 99), /variable is 99/],
    ["a variable declared badly", changed("@var.variable", [0]), /variable is \[0\]/],
    ["a constant that is none", changed("@const.value", "many"), /value is "many"/],
    ["a constant that is inexact", changed("@const.value", 0.1), /const 0.1 is not an exact/],
    ["a site out of range", changed("body.0.site", 9999), /body\[0\]\.site is 9999/],
    ["a site without file", changed("sites.0.0", 99), /sites\[0\] is \[99/],
    ["a loop unrolled by a word", changed("@for.unroll", "yes"), /unroll is "yes"/],
    ["roles that overlap", changed("@roles.roles.1.first", 0), /to both role producer/],
  ])("%s", (_, text, message) => {
    const refused = (): unknown => deserialise(text);
    expect(refused).toThrow(EvolverError);
    expect(refused).toThrow(expect.objectContaining({ code: "INVALID_IR" }));
    expect(refused).toThrow(message);
  });

  test("an if without its two blocks", () => {
    const text = serialise(saxpy()).replace(/"blocks":\[(.*?)\],\[\]\]/, '"blocks":[]');
    expect(() => deserialise(text)).toThrow(/blocks/);
  });

  test("nesting deep enough to overflow a stack", () => {
    const site = '"site":0';
    let body = `{"kind":"barrier",${site}}`;
    for (let i = 0; i < 5000; i++) body = `{"kind":"while",${site},"condition":[${body}],"test":0,"body":[]}`;
    const text = serialise(saxpy()).replace(/"body":\[.*\],"files"/, `"body":[${body}],"files"`);
    expect(() => deserialise(text)).toThrow(/nested deeper than 256 blocks/);
  });
});
