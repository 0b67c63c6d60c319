/** Asynchronous copies, phase barriers and subgroup barriers: as they are recorded, printed, kept, checked and emitted. */

import {
  atomic,
  buffer,
  deserialise,
  emit,
  f16,
  f32,
  hash,
  i32,
  kernel,
  print,
  serialise,
  u32,
  verify,
} from "@evolver/kernel";
import type { EmitTarget, Gpu, KernelIR, KernelOptions, Node, PhaseBarrier, Symbols } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { copies, pipelined } from "./emit/zoo-async.ts";
import { blamed, errorFrom } from "./support/blame.ts";
import { draft, type Draft } from "./support/draft.ts";
import { refuses, type Write } from "./support/refuses.ts";

const params = {
  n: u32,
  k: i32,
  x: buffer(f32),
  y: buffer(f32, "read_write"),
  w: buffer(f32, "write"),
  h: buffer(f16),
};
type Body = (symbols: Symbols<typeof params>, gpu: Gpu) => void;

const build = (
  body: Body,
  options: Partial<KernelOptions<typeof params>> = {},
  forwardProgress?: boolean,
): KernelIR =>
  kernel("k", { params, workgroup: [64], ...options }, body).build({
    subgroup: 32,
    ...(forwardProgress === undefined ? {} : { forwardProgress }),
  });

const everything = (): KernelIR =>
  build(({ n, x, y }, gpu) => {
    const tile = gpu.shared(f32, 256, "tile");
    const pipeline = gpu.pipeline({ stages: 2, producers: 32, consumers: 32, bytes: 512, name: "ring" });
    const done = gpu.phaseBarriers({ count: 1, arrivals: 64 });
    const at = gpu.lane.mul(4);
    gpu.copies.start({ to: tile, at: [at], from: x, index: [at], width: 4, active: at.lt(n) });
    gpu.copies.commit({ bytes: 512 });
    gpu.copies.start({ to: tile, at: [at.add(128)], from: x, index: [at], width: 4 });
    gpu.copies.commit();
    gpu.copies.await(1);
    gpu.subgroup.barrier();
    gpu.barrier();
    pipeline.acquire(n);
    pipeline.commit(n);
    pipeline.wait(n);
    y.set(gpu.lane, tile.get(gpu.lane.xor(1)));
    pipeline.release(3);
    gpu.copies.await();
    done.arrive(0);
    done.wait(0, 0);
  });

describe("recorded and printed", () => {
  test("every kind", () => {
    const lines = print(everything()).split("\n");
    expect(lines.filter((line) => !/const|param|lane$/.test(line)).join("\n")).toMatchInlineSnapshot(`
      "kernel k(n: u32, k: i32, x: read f32[], y: read_write f32[], w: write f32[], h: read f16[]) workgroup [64, 1, 1] subgroup 32 {
        shared tile: f32[256]
        phases ringFull: [2] of 32 arrivals, 512 bytes
        phases ringEmpty: [2] of 32 arrivals
        phases done: [1] of 64 arrivals
        %7: u32 = mul %1, %2
        %8: bool = lt %7, %0
        copy tile[%7] = x[%7] width 4 active %8
        commit 512 bytes
        %9: u32 = add %7, %3
        copy tile[%9] = x[%7] width 4
        commit
        await newer 1
        barrier subgroup
        barrier
        %10: u32 = divTrunc %0, %4
        %11: u32 = and %10, %5
        %12: u32 = remTrunc %0, %4
        %13: u32 = xor %11, %5
        wait ringEmpty[%12] parity %13
        %14: u32 = remTrunc %0, %4
        arrive ringFull[%14] after copies
        %15: u32 = remTrunc %0, %4
        %16: u32 = divTrunc %0, %4
        %17: u32 = and %16, %5
        wait ringFull[%15] parity %17
        %18: u32 = xor %1, %5
        %19: f32 = load tile[%18]
        store y[%1] = %19
        arrive ringEmpty[%5]
        await newer 0
        arrive done[%6]
        wait done[%6] parity %6
      }"
    `);
  });

  test("the numbers of a pipeline's fills are worked out at build time where they are known", () => {
    const waitLines = (body: Body): string[] =>
      print(build(body))
        .split("\n")
        .filter((line) => /wait|const/.test(line));
    const lines = waitLines((_, gpu) => {
      const pipeline = gpu.pipeline({ stages: 3, producers: 1, consumers: 1 });
      for (const fill of [0, 2, 3, 7]) {
        pipeline.acquire(fill);
        pipeline.wait(fill);
      }
    });
    const constants = new Map(
      lines.flatMap((line) => [...line.matchAll(/(%\d+): u32 = const (\d+)/g)].map(([, id, n]) => [id, n])),
    );
    const found = lines.flatMap((line) =>
      [...line.matchAll(/wait \w+(Full|Empty)\[(%\d+)\] parity (%\d+)/g)].map(
        ([, which, slot, parity]) => `${which} ${constants.get(slot)} ${constants.get(parity)}`,
      ),
    );
    expect(found).toEqual([
      ...["Empty 0 1", "Full 0 0"],
      ...["Empty 2 1", "Full 2 0"],
      ...["Empty 0 0", "Full 0 1"],
      ...["Empty 1 1", "Full 1 0"],
    ]);
  });

  test("sites are the user's lines, of a pipeline too", () => {
    const sites = (node: { readonly kind: string; readonly site: Node["site"] }): string =>
      `${node.kind} ${node.site.location.file.split("/").at(-1)}`;
    expect(
      new Set(
        everything()
          .body.nodes.map(sites)
          .map((text) => text.split(" ")[1]),
      ),
    ).toEqual(new Set(["synchronisation.test.ts"]));
  });

  test("names do not change the hash; everything else does", () => {
    const base = { count: 2, arrivals: 32, bytes: 128, name: "a" };
    const hashOf = (
      change: object,
      body: (gpu: Gpu, phases: ReturnType<Gpu["phaseBarriers"]>) => void,
    ): string => hash(build((_, gpu) => body(gpu, gpu.phaseBarriers({ ...base, ...change }))));
    const nothing = (): void => {};
    expect(hashOf({ name: "b" }, nothing)).toBe(hashOf({}, nothing));
    const tileCopy =
      (change: object, commit: { bytes?: number } = {}, newer = 0): Body =>
      ({ x, n }, gpu) => {
        const tile = gpu.shared(f32, 256);
        const active = "active" in change ? {} : { active: n.lt(1) };
        const start = { to: tile, at: [0], from: x, index: [0], width: 4, ...active, ...change };
        gpu.copies.start(start as Parameters<Gpu["copies"]["start"]>[0]);
        gpu.copies.commit(commit);
        gpu.copies.await(newer);
      };
    const hashes = [
      hashOf({}, nothing),
      hashOf({ count: 3 }, nothing),
      hashOf({ arrivals: 31 }, nothing),
      hashOf({ bytes: 64 }, nothing),
      hashOf({}, (gpu) => gpu.barrier()),
      hashOf({}, (gpu) => gpu.subgroup.barrier()),
      hashOf({}, (_, phases) => phases.arrive(0)),
      hashOf({}, (_, phases) => phases.arrive(1)),
      hashOf({}, (_, phases) => phases.arriveAfterCopies(0)),
      hashOf({}, (_, phases) => phases.wait(0, 0)),
      hashOf({}, (_, phases) => phases.wait(0, 1)),
      ...[tileCopy({}), tileCopy({ width: 2 }), tileCopy({ at: [4] }), tileCopy({ index: [4] })].map((body) =>
        hash(build(body)),
      ),
      ...[tileCopy({ active: undefined }), tileCopy({}, { bytes: 4 }), tileCopy({}, {}, 1)].map((body) =>
        hash(build(body)),
      ),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

/** The serialised kernel with one field changed: of the header, or of the first node of a kind. */
function changed(kind: string | null, field: string, value: unknown): string {
  const document = JSON.parse(serialise(everything())) as Record<string, unknown> & {
    body: { kind: string }[];
  };
  const barriers = document["phaseBarriers"] as object[];
  const at = kind === null ? barriers[0] : document.body.find((node) => node.kind === kind);
  Object.assign(at as object, { [field]: value });
  return JSON.stringify(document);
}

describe("serialised", () => {
  test("a round trip keeps everything, frozen", () => {
    const ir = everything();
    const back = deserialise(serialise(ir));
    expect(print(back, { sites: true })).toBe(print(ir, { sites: true }));
    expect(hash(back)).toBe(hash(ir));
    expect(back.phaseBarriers).toEqual(ir.phaseBarriers);
    for (const part of [back.phaseBarriers, ...back.phaseBarriers, ...back.body.nodes])
      expect(Object.isFrozen(part)).toBe(true);
  });

  test.each<[string, string, RegExp]>([
    ["a count that is none", changed(null, "count", "2"), /phaseBarriers\[0\]\.count is "2"/],
    ["no barriers", changed(null, "count", 0), /phase barrier ringFull has count 0/],
    ["no arrivals", changed(null, "arrivals", 0), /waits for 0 arrivals/],
    ["bytes that are none", changed(null, "bytes", -1), /bytes is -1/],
    ["missing bytes", changed(null, "bytes", undefined), /bytes is missing/],
    ["a name that what uses them does not know", changed(null, "name", "other"), /barrier is "ringFull"/],
    ["a scope that is none", changed("barrier", "scope", "grid"), /scope is "grid"/],
    ["memory that is not there", changed("asyncCopy", "to", "nowhere"), /to is "nowhere"/],
    ["a copy from shared memory", changed("asyncCopy", "from", "tile"), /does not copy from a buffer/],
    ["a copy to a buffer", changed("asyncCopy", "to", "x"), /does not copy to shared memory/],
    ["a width that is none", changed("asyncCopy", "width", "4"), /width is "4"/],
    ["a width of 3", changed("asyncCopy", "width", 3), /copies 3 f32/],
    ["a condition that nothing defines", changed("asyncCopy", "active", 9999), /active is 9999/],
    ["bytes of a group that are none", changed("commitCopies", "bytes", true), /bytes is true/],
    ["groups that are none", changed("awaitCopies", "newer", -1), /newer is -1/],
    ["barriers that are not there", changed("arrive", "barrier", "tile"), /barrier is "tile"/],
    ["an arrival after what is not known", changed("arrive", "after", "lunch"), /after is "lunch"/],
    ["a parity that nothing defines", changed("awaitPhase", "parity", 9999), /parity is 9999/],
  ])("%s is refused", (_, text, message) => {
    const error = errorFrom(() => deserialise(text));
    expect(error.code).toBe("INVALID_IR");
    expect(error.message).toMatch(message);
  });
});

type Copy = Node & { readonly kind: "asyncCopy" };

/** A right copy of 4 f32, with something changed. */
const copy =
  (change: (d: Draft) => Partial<Copy>): Write =>
  (d) => {
    const zero = d.const("u32", 0);
    const base = { kind: "asyncCopy", fromIndex: zero, toIndex: zero, width: 4, active: null } as const;
    const changes = change(d);
    const from = changes.from ?? d.buffer("x", "read");
    const to = changes.to ?? d.sharedMemory("tile");
    d.emit({ ...base, ...changes, from, to });
  };

const phase =
  (write: (d: Draft, barrier: PhaseBarrier, zero: ReturnType<Draft["const"]>) => void): Write =>
  (d) =>
    write(d, d.phases("full"), d.const("u32", 0));

describe("the verifier", () => {
  test("accepts all of it", () => {
    const ir = draft((d) => {
      copy(() => ({}))(d);
      d.emit({ kind: "commitCopies", bytes: 16 });
      d.emit({ kind: "awaitCopies", newer: 0 });
      d.emit({ kind: "barrier", scope: "subgroup" });
      const barrier = d.phases("full", { bytes: 4 });
      const one = d.const("u32", 1);
      d.emit({ kind: "arrive", barrier, index: one, after: "copies" });
      d.emit({ kind: "awaitPhase", barrier, index: one, parity: one });
    });
    expect(() => verify(ir)).not.toThrow();
  });

  refuses([
    [
      "an unknown scope",
      (d) => d.emit({ kind: "barrier", scope: "grid" as "workgroup" }),
      /has scope "grid"/,
    ],
    [
      "a subgroup barrier where the last subgroup has fewer lanes",
      (d) => d.emit({ kind: "barrier", scope: "subgroup" }),
      /subgroup barrier wants full subgroups of 32, which a workgroup of 40 does not have/,
      { workgroupSize: [40, 1, 1] },
    ],
    ["a copy of 3", copy(() => ({ width: 3 as 4 })), /copies 3 f32/],
    ["a copy of 8", copy(() => ({ width: 8 as 4 })), /copies 8 f32/],
    [
      "a copy of one f16",
      copy((d) => {
        const half = { ...d.buffer("h", "read"), element: "f16" } as const;
        d.params[0] = { kind: "buffer", name: "h", memory: half };
        return { from: half, to: d.sharedMemory("tile", "f16"), width: 1 };
      }),
      /copies 1 f16: 1, 2 or 4 elements of together 4, 8 or 16 bytes/,
    ],
    [
      "a copy between types",
      copy((d) => ({ to: d.sharedMemory("tile", "u32") })),
      /asyncCopy from x to tile copies f32 to memory of u32/,
    ],
    [
      "a copy from shared memory",
      copy((d) => ({ from: d.sharedMemory("s") as never })),
      /does not copy from a buffer/,
    ],
    ["a copy to a buffer", copy((d) => ({ to: d.buffer("y") as never })), /does not copy to shared memory/],
    ["a copy from what is only written", copy((d) => ({ from: d.buffer("w", "write") })), /access, write/],
    [
      "a copy from atomic memory",
      copy((d) => ({ from: d.buffer("c", "read_write", true) })),
      /is not atomic/,
    ],
    ["a copy to atomic memory", copy((d) => ({ to: d.sharedMemory("c", "f32", true) })), /is not atomic/],
    [
      "a copy to memory that is not declared",
      copy((d) => ({ to: { ...d.sharedMemory("tile") } })),
      /touches memory tile, which the kernel does not declare/,
    ],
    [
      "a copy from memory that is not declared",
      copy((d) => ({ from: { ...d.buffer("x") } })),
      /touches memory x, which the kernel does not declare/,
    ],
    ["a float for an index", copy((d) => ({ toIndex: d.const("f32", 0) })), /has an index of type f32/],
    ["a bool for an index", copy((d) => ({ fromIndex: d.const("bool", true) })), /has an index of type bool/],
    [
      "an integer for a condition",
      copy((d) => ({ active: d.const("u32", 1) })),
      /has a condition of type u32/,
    ],
    ["an index that nothing defines", copy((d) => ({ toIndex: d.value("u32") })), /that nothing defines/],
    ["a group of no bytes", (d) => d.emit({ kind: "commitCopies", bytes: 0 }), /expects 0 bytes/],
    ["a group of half a byte", (d) => d.emit({ kind: "commitCopies", bytes: 0.5 }), /expects 0.5 bytes/],
    ["fewer than no groups", (d) => d.emit({ kind: "awaitCopies", newer: -1 }), /leaves out -1 groups/],
    [
      "an i32 for a barrier's index",
      phase((d, barrier) => d.emit({ kind: "arrive", barrier, index: d.const("i32", 0), after: "now" })),
      /arrive at full has an index of type i32/,
    ],
    [
      "an arrival after something else",
      phase((d, barrier, zero) => d.emit({ kind: "arrive", barrier, index: zero, after: "all" as "now" })),
      /arrives after "all"/,
    ],
    [
      "a bool for a parity",
      phase((d, barrier, index) =>
        d.emit({ kind: "awaitPhase", barrier, index, parity: d.const("bool", true) }),
      ),
      /awaitPhase of full has a parity of type bool/,
    ],
    [
      "barriers that are not declared",
      phase((d, barrier, zero) =>
        d.emit({ kind: "awaitPhase", barrier: { ...barrier }, index: zero, parity: zero }),
      ),
      /touches phase barriers full, which the kernel does not declare/,
    ],
    ["an array of none", (d) => void d.phases("full", { count: 0 }), /phase barrier full has count 0/],
    ["no arrivals", (d) => void d.phases("full", { arrivals: 0 }), /waits for 0 arrivals; from 1/],
    ["too many arrivals", (d) => void d.phases("full", { arrivals: 2 ** 20 }), /waits for 1048576 arrivals/],
    ["half a byte", (d) => void d.phases("full", { bytes: 0.5 }), /expects 0.5 bytes/],
    ["a name that is none", (d) => void d.phases("a b"), /phase barrier name "a b" is not an identifier/],
    [
      "a name that shared memory has",
      (d) => {
        d.sharedMemory("full");
        d.phases("full");
      },
      /"full" stands for two/,
    ],
  ]);
});

describe("the front end refuses", () => {
  const start = (change: (s: Symbols<typeof params>, gpu: Gpu) => object): Body => {
    return (symbols, gpu) => {
      const base = { to: gpu.shared(f32, 64), at: [0], from: symbols.x, index: [0], width: 4 };
      gpu.copies.start({ ...base, ...change(symbols, gpu) } as Parameters<Gpu["copies"]["start"]>[0]);
    };
  };
  test.each<[string, string, Body, RegExp]>([
    [
      "a copy to a buffer",
      "TYPE_MISMATCH",
      start(({ y }) => ({ to: y })),
      /goes to an array in shared memory/,
    ],
    [
      "a copy from shared memory",
      "TYPE_MISMATCH",
      start((_, gpu) => ({ from: gpu.shared(f32, 64) })),
      /comes from a buffer/,
    ],
    [
      "a copy to atomic memory",
      "TYPE_MISMATCH",
      start((_, gpu) => ({ to: gpu.shared(atomic(u32), 64) })),
      /goes to an array in shared memory/,
    ],
    [
      "a copy that reads what is only written",
      "ACCESS_DENIED",
      start(({ w }) => ({ from: w })),
      /"w" is declared "write"/,
    ],
    ["a copy that converts", "TYPE_MISMATCH", start(({ h }) => ({ from: h })), /"h" holds f16 and "to" f32/],
    [
      "a copy of one f16",
      "INVALID_VECTOR",
      start(({ h }, gpu) => ({ from: h, to: gpu.shared(f16, 8), width: 1 })),
      /cannot move 1 f16/,
    ],
    ["a copy of 3", "INVALID_VECTOR", start(() => ({ width: 3 })), /cannot move 3 f32/],
    [
      "an integer for active",
      "TYPE_MISMATCH",
      start(({ n }) => ({ active: n })),
      /active is a bool, not u32/,
    ],
    ["too many indices", "INVALID_INDEX", start(() => ({ at: [0, 0] })), /takes 1 index, not 2/],
    ["a group of no bytes", "INVALID_LITERAL", (_, gpu) => gpu.copies.commit({ bytes: 0 }), /bytes is 0/],
    ["-1 newer groups", "INVALID_LITERAL", (_, gpu) => gpu.copies.await(-1), /newer is -1/],
    [
      "no arrivals",
      "INVALID_LITERAL",
      (_, gpu) => gpu.phaseBarriers({ count: 1, arrivals: 0 }),
      /arrivals is 0/,
    ],
    [
      "a barrier beyond the array",
      "INVALID_INDEX",
      (_, gpu) => gpu.phaseBarriers({ count: 2, arrivals: 1, name: "b" }).arrive(2),
      /"b" has 2 barriers, and none of index 2/,
    ],
    [
      "an i32 for an index",
      "TYPE_MISMATCH",
      ({ k }, gpu) => gpu.phaseBarriers({ count: 2, arrivals: 1 }).arrive(k as never),
      /takes u32, not i32/,
    ],
    [
      "a pipeline without stages",
      "INVALID_LITERAL",
      (_, gpu) => gpu.pipeline({ stages: 0, producers: 1, consumers: 1 }),
      /stages is 0/,
    ],
    [
      "a fill before the first",
      "INVALID_LITERAL",
      (_, gpu) => gpu.pipeline({ stages: 2, producers: 1, consumers: 1 }).wait(-1),
      /n is -1/,
    ],
    [
      "an i32 for a fill",
      "TYPE_MISMATCH",
      ({ k }, gpu) => gpu.pipeline({ stages: 2, producers: 1, consumers: 1 }).wait(k as never),
      /the number of a fill is a u32/,
    ],
  ])("%s", (_, code, body, message) => {
    const error = errorFrom(() => build(body));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.where[0]?.file).toMatch(/synchronisation\.test\.ts$/);
  });

  test("a subgroup barrier where the last subgroup has fewer lanes", () => {
    const error = errorFrom(() => build((_, gpu) => gpu.subgroup.barrier(), { workgroup: [40] }));
    expect(error.code).toBe("INVALID_WORKGROUP");
    expect(error.message).toContain("subgroup.barrier wants full subgroups of 32");
  });

  test("phase barriers and pipelines where subgroups cannot wait, and gpu.forwardProgress says so", () => {
    const seen: boolean[] = [];
    const asks: Body = (_, gpu) => void seen.push(gpu.forwardProgress);
    build(asks);
    build(asks, {}, false);
    expect(seen).toEqual([true, false]);
    const bodies: Body[] = [
      (_, gpu) => gpu.phaseBarriers({ count: 1, arrivals: 1 }),
      (_, gpu) => gpu.pipeline({ stages: 1, producers: 1, consumers: 1 }),
    ];
    for (const body of bodies) {
      const error = errorFrom(() => build(body, {}, false));
      expect(error.code).toBe("FORWARD_PROGRESS_UNAVAILABLE");
      expect(error.message).toContain("where gpu.forwardProgress is false");
      expect(blamed(error)[0]).toMatch(/gpu\.(phaseBarriers|pipeline)\(/);
    }
  });

  test("nothing twice: builds are kept by all their options", () => {
    let runs = 0;
    const sized = kernel(
      "sized",
      { params: {}, workgroup: ({ forwardProgress }) => [forwardProgress ? 64 : 32] },
      () => void runs++,
    );
    const [waiting, not] = [
      sized.build({ subgroup: 32 }),
      sized.build({ subgroup: 32, forwardProgress: false }),
    ];
    expect(sized.build({ subgroup: 32, forwardProgress: true })).toBe(waiting);
    expect(sized.build({ subgroup: 32, forwardProgress: false })).toBe(not);
    expect([runs, waiting.workgroupSize[0], not.workgroupSize[0]]).toEqual([2, 64, 32]);
  });
});

describe("uniformity", () => {
  test("a subgroup barrier may stand where its subgroup goes together, and nowhere else", () => {
    const inside = (
      condition: (s: Symbols<typeof params>, gpu: Gpu) => ReturnType<Gpu["lane"]["eq"]>,
    ): Body => {
      return (symbols, gpu) => gpu.if(condition(symbols, gpu), () => gpu.subgroup.barrier());
    };
    expect(() => build(inside((_, gpu) => gpu.subgroupId.eq(0)))).not.toThrow();
    expect(() =>
      build((_, gpu) => gpu.roles([{ name: "one", subgroups: 1, body: () => gpu.subgroup.barrier() }])),
    ).not.toThrow();
    const error = errorFrom(() => build(inside((_, gpu) => gpu.lane.eq(0))));
    expect(error.code).toBe("DIVERGENT_SUBGROUP_OPERATION");
    expect(error.message).toContain("subgroup.barrier may be reached by some lanes of a subgroup only");
    expect(() =>
      build(
        inside((_, gpu) => gpu.lane.eq(0)),
        { uniformity: "dynamic" },
      ),
    ).not.toThrow();
  });

  test("a barrier of the workgroup is still refused in a role; copies and phases may stand anywhere", () => {
    const inRole = (body: (gpu: Gpu, x: Symbols<typeof params>["x"]) => void): (() => unknown) => {
      return () =>
        build(({ x }, gpu) => gpu.roles([{ name: "one", subgroups: 1, body: () => body(gpu, x) }]));
    };
    expect(errorFrom(inRole((gpu) => gpu.barrier())).code).toBe("DIVERGENT_BARRIER");
    expect(
      inRole((gpu, x) => {
        const phases = gpu.phaseBarriers({ count: 1, arrivals: 1 });
        const to = gpu.shared(f32, 4);
        gpu.if(gpu.lane.eq(0), () => {
          gpu.copies.start({ to, at: [0], from: x, index: [0], width: 4 });
          gpu.copies.commit();
          gpu.copies.await();
          phases.arriveAfterCopies(0);
          phases.arrive(0);
          phases.wait(0, 0);
        });
      }),
    ).not.toThrow();
  });
});

describe("emitted", () => {
  const entriesOf = (ir: KernelIR, target: EmitTarget): string[] =>
    emit(ir, target).lowering.entries.map(
      ({ request, became, fallback }) => `${request}: ${became}${fallback ? " (fallback)" : ""}`,
    );
  const request = "asynchronous copy of 4 consecutive f32 of x to tile";

  test("the lowering report says how copies and barriers were translated", () => {
    const ir = copies.build({ subgroup: 32 });
    expect(entriesOf(ir, "cuda")).toContain(`${request}: cp.async`);
    for (const target of ["hip", "wgsl", "js"] as const)
      expect(entriesOf(ir, target)).toContain(`${request}: plain copy (fallback)`);
    expect(entriesOf(ir, "wgsl")).toContain("subgroup barrier: workgroupBarrier() (fallback)");
    expect(entriesOf(pipelined.build({ subgroup: 32 }), "cuda")).toContain("phase barriers done: mbarrier");
    expect(entriesOf(pipelined.build({ subgroup: 64 }), "hip")).toContain(
      "phase barriers done: two words of LDS (fallback)",
    );
  });

  test("a pipeline in CUDA C++", () => {
    const { source, sharedBytes } = emit(pipelined.build({ subgroup: 32 }), "cuda");
    expect(sharedBytes).toBe(3 * 32 * 4 + 7 * 8);
    expect(source.slice(source.indexOf("  __shared__"))).toMatchInlineSnapshot(`
      "  __shared__ __align__(8) unsigned long long pipelineFull[3];
        __shared__ __align__(8) unsigned long long pipelineEmpty[3];
        __shared__ __align__(8) unsigned long long done[1];
        __shared__ __align__(16) float tiles[96];
        const unsigned subgroupId = threadIdx.x / 32u;
        const unsigned lane = threadIdx.x % 32u;
        const unsigned globalIdX = blockIdx.x * 64u + threadIdx.x;
        if (threadIdx.x == 0) {
          startPhases(pipelineFull, 3u, 32u);
          startPhases(pipelineEmpty, 3u, 32u);
          startPhases(done, 1u, 32u);
        }
        __syncthreads();
        float sum = 0.0f;
        if (subgroupId == 0u) {
          // role producer
          for (unsigned fill = 0u; fill < n; ++fill) {
            awaitPhase(&pipelineEmpty[fill % 3u], ((fill / 3u) & 1u) ^ 1u);
            __syncwarp();
            startCopy<float>(&tiles[lane + fill % 3u * 32u], &x[lane + fill * 32u], true);
            arriveAfterCopies(&pipelineFull[fill % 3u], 32u);
          }
        } else if (subgroupId == 1u) {
          // role consumer
          for (unsigned fill = 0u; fill < n; ++fill) {
            awaitPhase(&pipelineFull[fill % 3u], (fill / 3u) & 1u);
            __syncwarp();
            sum = sum + tiles[fill % 3u * 32u + (lane ^ 1u)];
            arrive(&pipelineEmpty[fill % 3u], 32u);
          }
          arrive(&done[0u], 32u);
        }
        awaitPhase(&done[0u], 0u);
        __syncwarp();
        y[globalIdX] = sum;
      }
      "
    `);
  });

  test("a pipeline in HIP C++", () => {
    const { source } = emit(pipelined.build({ subgroup: 64 }), "hip");
    expect(source.slice(source.indexOf("    // role producer"))).toMatchInlineSnapshot(`
      "    // role producer
          for (unsigned fill = 0u; fill < n; ++fill) {
            awaitPhase(&pipelineEmpty[fill % 3u], ((fill / 3u) & 1u) ^ 1u);
            startCopy<float>(&tiles[lane + fill % 3u * 64u], &x[lane + fill * 64u], true);
            arrive(&pipelineFull[fill % 3u], 64u);
          }
        } else if (subgroupId == 1u) {
          // role consumer
          for (unsigned fill = 0u; fill < n; ++fill) {
            awaitPhase(&pipelineFull[fill % 3u], (fill / 3u) & 1u);
            sum = sum + tiles[fill % 3u * 64u + (lane ^ 1u)];
            arrive(&pipelineEmpty[fill % 3u], 64u);
          }
          arrive(&done[0u], 64u);
        }
        awaitPhase(&done[0u], 0u);
        y[globalIdX] = sum;
      }
      "
    `);
  });

  test("barriers stay in static shared memory where the arrays do not", () => {
    const large = build((_, gpu) => {
      const tile = gpu.shared(f32, 12 * 1024, "tile");
      gpu.phaseBarriers({ count: 2, arrivals: 1, name: "full" }).arrive(0);
      tile.set(gpu.localIndex, 0);
    });
    const { source, dynamicSharedBytes, sharedBytes } = emit(large, "cuda");
    expect(source).toContain("__shared__ __align__(8) unsigned long long full[2];");
    expect([dynamicSharedBytes, sharedBytes]).toEqual([48 * 1024, 48 * 1024 + 16]);
  });

  test("an arrival after copies publishes stores that come before it, and pays for it only then", () => {
    const arrival = (before: (gpu: Gpu, y: Symbols<typeof params>["y"]) => void): string =>
      emit(
        build(({ y }, gpu) => {
          const phases = gpu.phaseBarriers({ count: 1, arrivals: 32 });
          const tile = gpu.shared(f32, 64, "tile");
          gpu.roles([
            {
              name: "producer",
              subgroups: 1,
              body: () => {
                before(gpu, y);
                phases.arriveAfterCopies(0);
              },
            },
            { name: "consumer", subgroups: 1, body: () => tile.set(gpu.lane, 1) },
          ]);
        }),
        "cuda",
      ).source;
    expect(arrival(() => {})).not.toMatch(/__threadfence_block\(\);\n *arriveAfterCopies\(&/);
    expect(arrival((_, y) => y.set(0, 1))).toMatch(/__threadfence_block\(\);\n *arriveAfterCopies\(&/);
    const later = (between: (gpu: Gpu) => void): string =>
      emit(
        build(({ y }, gpu) => {
          y.set(gpu.localIndex, 1);
          between(gpu);
          gpu.phaseBarriers({ count: 1, arrivals: 64 }).arriveAfterCopies(0);
        }),
        "cuda",
      ).source;
    expect(later(() => {})).toMatch(/__threadfence_block\(\);\n *arriveAfterCopies\(&/);
    expect(later((gpu) => gpu.barrier())).not.toMatch(/__threadfence_block\(\);\n *arriveAfterCopies\(&/);
  });

  test("a read that waits for its use is not moved past an arrival or a wait", () => {
    const { source } = emit(
      build(({ y }, gpu) => {
        const phases = gpu.phaseBarriers({ count: 1, arrivals: 64 });
        const tile = gpu.shared(f32, 64, "tile");
        const value = tile.get(0);
        phases.arrive(0);
        y.set(0, value);
      }),
      "cuda",
    );
    expect(source.indexOf("tile[0u];")).toBeLessThan(source.indexOf("arrive(&phases[0"));
  });

  test.each(["wgsl", "js"] as const)("%s refuses phase barriers, and names the line", (target) => {
    const error = errorFrom(() => emit(pipelined.build({ subgroup: 32 }), target));
    expect(error.code).toBe("FORWARD_PROGRESS_UNAVAILABLE");
    expect(error.message).toContain("{ forwardProgress: false }");
    expect(blamed(error)[0]).toContain("pipeline.acquire(fill)");
    expect(() => emit(pipelined.build({ subgroup: 32, forwardProgress: false }), target)).not.toThrow();
  });

  test("WGSL refuses a subgroup barrier that not all of the workgroup reach", () => {
    const ir = build((_, gpu) => gpu.if(gpu.subgroupId.eq(0), () => gpu.subgroup.barrier()));
    const error = errorFrom(() => emit(ir, "wgsl"));
    expect(error.code).toBe("UNSUPPORTED_SUBGROUP_BARRIER");
    expect(blamed(error)[0]).toContain("gpu.subgroup.barrier()");
    for (const target of ["cuda", "hip", "js"] as const) expect(() => emit(ir, target)).not.toThrow();
  });

  test("JavaScript: copies land, and lanes meet at a subgroup barrier", async () => {
    const turned = kernel(
      "turned",
      { params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 }, workgroup: [8] },
      ({ x, y, n }, gpu) => {
        const tile = gpu.shared(f32, 16, "tile");
        const at = gpu.localIndex.mul(2);
        gpu.copies.start({ to: tile, at: [at], from: x, index: [at], width: 2, active: at.lt(n) });
        gpu.copies.await();
        gpu.subgroup.barrier();
        y.set(gpu.localIndex, tile.get(gpu.localIndex.xor(3).mul(2).add(1)));
      },
    );
    const { source } = emit(turned.build({ subgroup: 4 }), "js");
    const module = (await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`
    )) as {
      run(launch: object): void;
    };
    const [x, y] = [Float32Array.from({ length: 16 }, (_, i) => i + 1), new Float32Array(8)];
    module.run({ workgroups: 1, args: { x, y, n: 12 } });
    expect([...y]).toEqual([8, 6, 4, 2, 0, 0, 12, 10]);
  });
});
