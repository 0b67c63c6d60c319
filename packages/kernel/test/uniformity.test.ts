import { EvolverError } from "@evolver/base";
import { analyseUniformity, atomic, buffer, f32, kernel, u32, visitNodes } from "@evolver/kernel";
import type { Gpu, KernelIR, Node, Scalar, Symbols, U32, UniformityResult } from "@evolver/kernel";
import { describe, expect, test } from "vitest";

const params = {
  n: u32,
  x: buffer(f32),
  y: buffer(f32, "read_write"),
  counters: buffer(atomic(u32)),
};
type Body = (symbols: Symbols<typeof params>, gpu: Gpu) => void;

function build(
  body: Body,
  uniformity: "static" | "dynamic",
  workgroup: [number, number?, number?] = [64],
): KernelIR {
  return kernel("k", { params, workgroup, uniformity }, body).build({ subgroup: 32 });
}

/** The levels of the values that a body returns. */
function levels<N extends string>(
  body: (symbols: Symbols<typeof params>, gpu: Gpu) => Record<N, Scalar>,
  choose: (analysis: ReturnType<typeof analyseUniformity>) => UniformityResult = (analysis) => analysis,
  workgroup?: [number, number?, number?],
): Record<N, string> {
  let values = {} as Record<N, Scalar>;
  const ir = build(
    (symbols, gpu) => {
      values = body(symbols, gpu);
    },
    "dynamic",
    workgroup,
  );
  const result = choose(analyseUniformity(ir));
  const entries = Object.entries<Scalar>(values).map(([name, { value }]) => [
    name,
    result.uniformityOf(value),
  ]);
  return Object.fromEntries(entries) as Record<N, string>;
}

/** The flow at each gpu.comment of a body, by its text. */
function flows(body: Body): Record<string, string> {
  const ir = build(body, "dynamic");
  const analysis = analyseUniformity(ir);
  const found: Record<string, string> = {};
  visitNodes(ir.body, (node: Node) => {
    if (node.kind === "comment") found[node.text] = analysis.flowOf(node);
  });
  return found;
}

function errorOf(body: Body): EvolverError {
  try {
    build(body, "static");
  } catch (error) {
    if (error instanceof EvolverError) return error;
    throw error;
  }
  throw new Error("the kernel was accepted");
}

const accepts = (body: Body): void => void build(body, "static");

describe("values", () => {
  test("built-ins", () => {
    expect(
      levels(({ n }, gpu) => ({
        param: n,
        constant: gpu.constant(f32, 1),
        workgroupId: gpu.workgroupId.z,
        workgroupIndex: gpu.workgroupIndex,
        numWorkgroups: gpu.numWorkgroups.x,
        subgroupId: gpu.subgroupId,
        lane: gpu.lane,
        localIndex: gpu.localIndex,
        localX: gpu.localId.x,
        globalX: gpu.globalId.x,
        localY: gpu.localId.y,
        globalY: gpu.globalId.y,
      })),
    ).toEqual({
      param: "workgroup",
      constant: "workgroup",
      workgroupId: "workgroup",
      workgroupIndex: "workgroup",
      numWorkgroups: "workgroup",
      subgroupId: "subgroup",
      lane: "lane",
      localIndex: "lane",
      localX: "lane",
      globalX: "lane",
      localY: "workgroup",
      globalY: "workgroup",
    });
    expect(levels((_, gpu) => ({ y: gpu.localId.y, z: gpu.localId.z }), undefined, [32, 2])).toEqual({
      y: "lane",
      z: "workgroup",
    });
  });

  test("operations join their operands", () => {
    expect(
      levels(({ n }, gpu) => ({
        uniform: n.add(gpu.workgroupId.x),
        subgroup: n.add(gpu.subgroupId),
        lane: gpu.subgroupId.add(gpu.lane),
      })),
    ).toEqual({ uniform: "workgroup", subgroup: "subgroup", lane: "lane" });
  });

  const loads = ({ x, y, n, counters }: Symbols<typeof params>, gpu: Gpu) => {
    const tile = gpu.shared(f32, 64);
    tile.set(gpu.localIndex, 0);
    return {
      readOnly: x.get(n),
      readOnlySubgroup: x.get(gpu.subgroupId),
      readOnlyLane: x.get(gpu.lane),
      writable: y.get(n),
      writableLane: y.get(gpu.lane),
      shared: tile.get(n),
      atomic: counters.add(n, 1),
      uniform: gpu.uniformLoad(tile, 0),
    };
  };

  test("loads: only read-only memory keeps the uniformity of the index", () => {
    expect(levels(loads)).toEqual({
      readOnly: "workgroup",
      readOnlySubgroup: "subgroup",
      readOnlyLane: "lane",
      writable: "lane",
      writableLane: "lane",
      shared: "lane",
      atomic: "lane",
      uniform: "workgroup",
    });
  });

  test("in lockstep, loads of what may change are the same for a subgroup", () => {
    expect(levels(loads, (analysis) => analysis.lockstep)).toEqual({
      readOnly: "workgroup",
      readOnlySubgroup: "subgroup",
      readOnlyLane: "lane",
      writable: "subgroup",
      writableLane: "lane",
      shared: "subgroup",
      atomic: "lane",
      uniform: "workgroup",
    });
  });

  test("subgroup operations", () => {
    expect(
      levels(({ x }, gpu) => {
        const mine = x.get(gpu.lane);
        return {
          sum: gpu.subgroup.sum(mine),
          any: gpu.subgroup.any(mine.lt(0)).toU32(),
          first: gpu.subgroup.broadcastFirst(mine),
          broadcast: gpu.subgroup.broadcast(mine, 3),
          shuffle: gpu.subgroup.shuffleXor(mine, 1),
          scan: gpu.subgroup.inclusiveSum(mine),
        };
      }),
    ).toEqual({
      sum: "subgroup",
      any: "subgroup",
      first: "subgroup",
      broadcast: "subgroup",
      shuffle: "lane",
      scan: "lane",
    });
  });

  test("a broadcast from lanes that differ is no broadcast", () => {
    expect(
      levels(({ x }, gpu) => ({ mixed: gpu.subgroup.broadcast(x.get(gpu.lane), gpu.lane.xor(1)) })),
    ).toEqual({ mixed: "lane" });
  });

  test("a loop's index depends on all of its bounds", () => {
    expect(
      levels(({ n }, gpu) => {
        const found: Record<string, Scalar> = {};
        const loop = (name: string, from: U32 | number, to: U32, step: U32 | number): void =>
          gpu.for({ from, to, step }, (i) => {
            found[name] = i;
          });
        loop("uniform", 0, n, 1);
        loop("from", gpu.subgroupId, n, 1);
        loop("to", 0, gpu.lane, 1);
        loop("step", 0, n, gpu.subgroupId);
        return found;
      }),
    ).toEqual({ uniform: "workgroup", from: "subgroup", to: "lane", step: "subgroup" });
  });

  test("a subgroup operation in divergent flow gives no uniform value", () => {
    expect(
      levels(({ x }, gpu) => {
        const result = gpu.var(f32, 0);
        let inside: Scalar = gpu.lane;
        gpu.if(gpu.lane.lt(3), () => {
          inside = gpu.subgroup.sum(x.get(0));
        });
        return { inside, outside: result.get() };
      }),
    ).toEqual({ inside: "lane", outside: "workgroup" });
  });
});

describe("variables", () => {
  test("join what they are set to", () => {
    expect(
      levels((_, gpu) => {
        const a = gpu.var(u32, 0);
        const b = gpu.var(u32, 0);
        const started = gpu.var(u32, gpu.lane);
        const early = a.get();
        a.set(gpu.subgroupId);
        b.set(a.get().add(1));
        return { early, b: b.get(), started: started.get() };
      }),
    ).toEqual({ early: "subgroup", b: "subgroup", started: "lane" });
  });

  test("set in divergent flow differ between lanes, unless they live in it", () => {
    expect(
      levels((_, gpu) => {
        const outside = gpu.var(u32, 0);
        let local: Scalar = gpu.lane;
        gpu.if(gpu.lane.lt(3), () => {
          outside.set(1);
          const inside = gpu.var(u32, 0);
          inside.set(1);
          local = inside.get();
        });
        return { outside: outside.get(), local };
      }),
    ).toEqual({ outside: "lane", local: "workgroup" });
  });

  test("depend on the number of iterations", () => {
    expect(
      levels(({ n }, gpu) => {
        const byLane = gpu.var(u32, 0);
        const bySubgroup = gpu.var(u32, 0);
        const uniform = gpu.var(u32, 0);
        gpu.for({ from: 0, to: gpu.lane }, () => byLane.add(1));
        gpu.for({ from: 0, to: gpu.subgroupId }, () => bySubgroup.add(1));
        gpu.for({ from: 0, to: n }, () => uniform.add(1));
        return { byLane: byLane.get(), bySubgroup: bySubgroup.get(), uniform: uniform.get() };
      }),
    ).toEqual({ byLane: "lane", bySubgroup: "subgroup", uniform: "workgroup" });
  });

  test("a divergent break makes values that the loop accumulates divergent, and not values that each iteration computes again", () => {
    expect(
      levels(({ n }, gpu) => {
        const count = gpu.var(u32, 0);
        let fresh: Scalar = gpu.lane;
        gpu.for({ from: 0, to: n }, () => {
          const each = gpu.var(u32, 0);
          gpu.if(gpu.lane.lt(3), () => gpu.break());
          count.add(1);
          each.set(1);
          fresh = each.get();
        });
        return { count: count.get(), fresh };
      }),
    ).toEqual({ count: "lane", fresh: "workgroup" });
  });

  test("reach a fixpoint through a chain against the program's order", () => {
    expect(
      levels(({ n }, gpu) => {
        const chain = Array.from({ length: 20 }, () => gpu.var(u32, 0));
        gpu.for({ from: 0, to: n }, () => {
          for (let k = 0; k + 1 < chain.length; k++) chain[k]!.set(chain[k + 1]!.get());
          chain.at(-1)!.set(gpu.lane);
        });
        return { first: chain[0]!.get() };
      }),
    ).toEqual({ first: "lane" });
  });

  test("chosen by a value-returning if", () => {
    expect(
      levels(({ n }, gpu) => ({
        uniform: gpu.if(
          n.lt(3),
          () => gpu.constant(f32, 1),
          () => gpu.constant(f32, 2),
        ),
        divergent: gpu.if(
          gpu.lane.lt(3),
          () => gpu.constant(f32, 1),
          () => gpu.constant(f32, 2),
        ),
      })),
    ).toEqual({ uniform: "workgroup", divergent: "lane" });
  });
});

describe("control flow", () => {
  test("is as uniform as the conditions around, and afterwards as before", () => {
    expect(
      flows(({ n }, gpu) => {
        gpu.if(n.lt(3), () => gpu.comment("uniform if"));
        gpu.if(gpu.subgroupId.lt(1), () => {
          gpu.comment("subgroup if");
          gpu.if(
            gpu.lane.lt(1),
            () => {},
            () => {
              gpu.comment("lane else in subgroup if");
              gpu.if(n.lt(3), () => gpu.comment("uniform if in lane else"));
            },
          );
          gpu.comment("after lane if");
        });
        gpu.for({ from: gpu.lane, to: n }, () => gpu.comment("lane for"));
        gpu.comment("end");
      }),
    ).toEqual({
      "uniform if": "workgroup",
      "subgroup if": "subgroup",
      "lane else in subgroup if": "lane",
      "uniform if in lane else": "lane",
      "after lane if": "subgroup",
      "lane for": "lane",
      end: "workgroup",
    });
  });

  test("a divergent break or continue makes its whole loop divergent, and no loop around", () => {
    for (const jump of ["break", "continue"] as const) {
      expect(
        flows(({ n }, gpu) => {
          gpu.for({ from: 0, to: n }, () => {
            gpu.comment("outer");
            gpu.for({ from: 0, to: n }, () => {
              gpu.comment("before");
              gpu.if(gpu.lane.lt(1), () => gpu[jump]());
              gpu.comment("after");
            });
            gpu.comment("outer after");
          });
        }),
      ).toEqual({ outer: "workgroup", before: "lane", after: "lane", "outer after": "workgroup" });
    }
  });

  test("a uniform break leaves its loop uniform", () => {
    expect(
      flows(({ n }, gpu) => {
        gpu.for({ from: 0, to: n }, (i) => {
          gpu.if(i.eq(3), () => gpu.break());
          gpu.comment("loop");
        });
      }),
    ).toEqual({ loop: "workgroup" });
  });

  test("a while's condition runs as often as its body", () => {
    expect(
      flows((_, gpu) => {
        const i = gpu.var(u32, 0);
        gpu.while(
          () => {
            gpu.comment("condition");
            return i.get().lt(gpu.subgroupId);
          },
          () => {
            gpu.comment("body");
            i.add(1);
          },
        );
      }),
    ).toEqual({ condition: "subgroup", body: "subgroup" });
  });

  test("roles", () => {
    expect(
      flows((_, gpu) => {
        gpu.roles([
          { name: "producer", subgroups: 1, body: () => gpu.comment("producer") },
          { name: "consumer", subgroups: 1, body: () => gpu.comment("consumer") },
        ]);
      }),
    ).toEqual({ producer: "subgroup", consumer: "subgroup" });
  });
});

describe("barriers", () => {
  test("are accepted in uniform flow", () => {
    accepts(({ n, x }, gpu) => {
      const tile = gpu.shared(f32, 64);
      gpu.for({ from: 0, to: n }, (i) => {
        gpu.if(x.get(i).lt(1), () => gpu.barrier());
        tile.set(gpu.localIndex, 1);
        gpu.if(gpu.uniformLoad(tile, 0).lt(2), () => gpu.break());
      });
      gpu.barrier();
    });
  });

  test("are refused in divergent flow, with the lines of the condition and of its source", () => {
    const error = errorOf(({ y }, gpu) => {
      const limit = y.get(0).mul(2);
      gpu.if(limit.lt(1), () => {
        gpu.barrier();
      });
    });
    expect(error.code).toBe("DIVERGENT_BARRIER");
    expect(error.message).toContain("depends on a load of y, which the kernel can write");
    const [barrier, condition, source] = error.where;
    expect([condition, source].map((place) => barrier!.line - place!.line)).toEqual([1, 2]);
    expect(error.where.map(({ note }) => note)).toEqual([
      "barrier",
      "this condition differs between lanes",
      "depends on a load of y, which the kernel can write",
    ]);
  });

  test("are refused after a divergent break of their loop, naming the break", () => {
    const error = errorOf(({ n }, gpu) => {
      gpu.for({ from: 0, to: n }, () => {
        gpu.barrier();
        gpu.if(gpu.lane.eq(3), () => {
          gpu.break();
        });
      });
    });
    expect(error.code).toBe("DIVERGENT_BARRIER");
    const lines = error.where.map(({ line, note }) => `${line - error.where[0]!.line} ${note}`);
    expect(lines).toEqual([
      "0 barrier",
      "-1 the number of iterations differs between lanes",
      "2 this break is not taken by all",
      "1 this condition differs between lanes",
      "1 depends on lane",
    ]);
  });

  test("are refused under the subgroup's index and in roles", () => {
    const byIndex = errorOf((_, gpu) => gpu.if(gpu.subgroupId.eq(0), () => gpu.barrier()));
    expect(byIndex.code).toBe("DIVERGENT_BARRIER");
    expect(byIndex.where[1]?.note).toBe("this condition differs between subgroups");
    const inRole = errorOf((_, gpu) => gpu.roles([{ name: "all", subgroups: 2, body: () => gpu.barrier() }]));
    expect(inRole.code).toBe("DIVERGENT_BARRIER");
    expect(inRole.where[1]?.note).toBe("each role is run by its own subgroups");
  });

  test("are refused through a variable, naming its assignment", () => {
    const error = errorOf((_, gpu) => {
      const done = gpu.var(u32, 0);
      gpu.if(gpu.lane.eq(0), () => done.set(1));
      gpu.if(done.get().eq(1), () => gpu.barrier());
    });
    expect(error.where.map(({ note }) => note)).toEqual([
      "barrier",
      "this condition differs between lanes",
      expect.stringMatching(/is set here to what differs between lanes, or not by all/),
      "this condition differs between lanes",
      "depends on lane",
    ]);
  });

  test("a uniform load needs uniform flow and a uniform index", () => {
    const flow = errorOf((_, gpu) => {
      const tile = gpu.shared(f32, 64);
      gpu.if(gpu.lane.eq(0), () => void gpu.uniformLoad(tile, 0));
    });
    expect(flow.code).toBe("DIVERGENT_BARRIER");
    const index = errorOf((_, gpu) => void gpu.uniformLoad(gpu.shared(f32, 64), gpu.subgroupId));
    expect(index.code).toBe("NON_UNIFORM_INDEX");
    expect(index.message).toContain("depends on subgroupId");
  });

  test("with uniformity dynamic nothing is refused", () => {
    expect(() => build((_, gpu) => gpu.if(gpu.lane.eq(0), () => gpu.barrier()), "dynamic")).not.toThrow();
  });
});

describe("subgroup operations", () => {
  test("are accepted in flow that subgroups share", () => {
    accepts(({ x, y }, gpu) => {
      gpu.if(gpu.subgroupId.eq(1), () => y.set(0, gpu.subgroup.sum(x.get(gpu.lane))));
    });
  });

  test("are refused in flow that lanes do not share", () => {
    const error = errorOf(({ x, y }, gpu) => {
      gpu.for({ from: 0, to: gpu.lane }, () => {
        y.set(0, gpu.subgroup.sum(x.get(gpu.lane)));
      });
    });
    expect(error.code).toBe("DIVERGENT_SUBGROUP_OPERATION");
    expect(error.message).toContain("subgroup.sum may be reached by some lanes");
    expect(error.where[1]).toMatchObject({
      line: error.where[0]!.line - 1,
      note: "the number of iterations differs between lanes",
    });
  });
});
