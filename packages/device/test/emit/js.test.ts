/** The JavaScript that a kernel is emitted as does what the simulator does, bit for bit. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atomic, buffer, emit, f32, i32, kernel, u32 } from "@evolver/kernel";
import type { ElementType, KernelIR } from "@evolver/kernel";
import { openSim, toBF16Bits, toF16Bits } from "@evolver/device";
import type { AnyTypedArray, Launch } from "@evolver/device";
import { programs, VARIABLES, type Program } from "../property/generate.ts";
import { ATOMIC_LENGTH, INPUT_LENGTH, OWN, recordProgram } from "../property/record.ts";
import { importEmitted } from "./module.ts";

const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 20);

type Args = Readonly<Record<string, number | AnyTypedArray>>;

function elementOf({ params }: KernelIR, name: string): ElementType {
  const param = params.find((candidate) => candidate.name === name);
  if (param?.kind !== "buffer") throw new Error(`parameter ${name} is no buffer`);
  return param.memory.element;
}

/** Runs a kernel both ways on the same arguments and gives the buffers after: the simulator's and the module's. */
async function both(
  ir: KernelIR,
  workgroups: number | readonly [number, number, number],
  args: Args,
): Promise<[Record<string, AnyTypedArray>, Record<string, AnyTypedArray>]> {
  const sim = openSim({ subgroup: ir.subgroupSize, checks: false, counters: false });
  const ours: Record<string, number | AnyTypedArray> = {};
  const theirs: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    ours[name] = typeof value === "number" ? value : value.slice();
    theirs[name] = typeof value === "number" ? value : sim.createBuffer(elementOf(ir, name), value as never);
  }
  const program = await sim.compile(ir);
  await program.run({ workgroups, args: theirs } as unknown as Launch);
  (await importEmitted(ir))({ workgroups, args: ours });
  const expected: Record<string, AnyTypedArray> = {};
  const actual: Record<string, AnyTypedArray> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (typeof value === "number") continue;
    actual[name] = value;
    expected[name] = await (theirs[name] as { read(): Promise<AnyTypedArray> }).read();
  }
  await sim.close();
  return [expected, actual];
}

function argsOf({ shape: [x, y, z] }: Program, workgroups: number): Args {
  const invocations = x * y * z * workgroups;
  const halves = Array.from({ length: INPUT_LENGTH }, (_, i) => Math.sin(i * 3.1) * 2 ** ((i % 13) - 6));
  return {
    xh: toF16Bits(halves),
    xb: toBF16Bits(halves),
    outH: new Uint16Array(invocations * VARIABLES),
    outB: new Uint16Array(invocations * VARIABLES),
    xf: Float32Array.from({ length: INPUT_LENGTH }, (_, i) => Math.sin(i * 7.3) * 20),
    xi: Int32Array.from({ length: INPUT_LENGTH }, (_, i) => ((i * 2654435761) | 0) >> (i % 29)),
    xu: Uint32Array.from({ length: INPUT_LENGTH }, (_, i) => (i * 40503) % 257),
    outF: new Float32Array(invocations * VARIABLES),
    outI: new Int32Array(invocations * VARIABLES),
    outU: new Uint32Array(invocations * VARIABLES),
    own: new Float32Array(invocations * OWN),
    counters: new Uint32Array(ATOMIC_LENGTH),
    limit: 2,
    factor: 0.75,
  };
}

describe.each([4, 8, 32])("random programs at subgroups of %d", (subgroup) => {
  it("agree", async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const ir = recordProgram(program).build({ subgroup });
        const [expected, actual] = await both(ir, 2, argsOf(program, 2));
        for (const [name, values] of Object.entries(expected)) {
          const given = actual[name] as AnyTypedArray;
          const i = values.findIndex((value, at) => !Object.is(value, given[at]));
          if (i >= 0)
            expect.fail(`${name}[${i}] is ${given[i]}, not ${values[i]}, in\n${emit(ir, "js").source}`);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("subgroups that wait for each other", () => {
  it("both get on, whichever comes first", async () => {
    const relay = kernel(
      "relay",
      { params: { out: buffer(u32, "write"), rounds: u32 }, workgroup: ({ subgroup }) => [2 * subgroup] },
      ({ out, rounds }, gpu) => {
        const flag = gpu.shared(atomic(u32), 1, "flag");
        const data = gpu.shared(u32, 1, "data");
        gpu.if(gpu.localIndex.eq(0), () => flag.set(0, 0));
        gpu.barrier();
        const waitFor = (turn: typeof rounds): void =>
          gpu.while(
            () => flag.get(0, { order: "acquire" }).ne(turn),
            () => {},
          );
        gpu.roles([
          {
            name: "producer",
            subgroups: 1,
            body: () =>
              gpu.for({ from: 0, to: rounds }, (i) => {
                waitFor(i.mul(2));
                gpu.if(gpu.lane.eq(0), () => {
                  data.set(0, i.mul(i));
                  flag.set(0, i.mul(2).add(1), { order: "release" });
                });
              }),
          },
          {
            name: "consumer",
            subgroups: 1,
            body: () =>
              gpu.for({ from: 0, to: rounds }, (i) => {
                gpu.if(gpu.lane.eq(0), () => {
                  waitFor(i.mul(2).add(1));
                  out.set(i, data.get(0).add(1));
                  flag.set(0, i.mul(2).add(2), { order: "release" });
                });
              }),
          },
        ]);
      },
    );
    const ir = relay.build({ subgroup: 4 });
    const [expected, actual] = await both(ir, 1, { out: new Uint32Array(8), rounds: 8 });
    expect(actual).toEqual(expected);
    expect([...(actual["out"] as Uint32Array)]).toEqual([1, 2, 5, 10, 17, 26, 37, 50]);
  });
});

describe("a grid in three dimensions", () => {
  it("gives each workgroup its index", async () => {
    const grid = kernel(
      "grid",
      { params: { out: buffer(u32, "write"), total: buffer(atomic(i32)) }, workgroup: [8] },
      ({ out, total }, gpu) => {
        const { x, y, z } = gpu.workgroupId;
        const code = x.add(y.mul(10)).add(z.mul(100)).add(gpu.numWorkgroups.y.mul(1000));
        gpu.if(gpu.localIndex.eq(0), () => out.set(gpu.workgroupIndex, code));
        total.add(0, gpu.lane.toI32());
      },
    );
    const args = { out: new Uint32Array(12), total: new Int32Array(1) };
    const [expected, actual] = await both(grid.build({ subgroup: 4 }), [2, 3, 2], args);
    expect(actual).toEqual(expected);
    expect((actual["out"] as Uint32Array)[11]).toBe(3121);
  });
});

describe("a barrier that some invocations never reach", () => {
  it("is an error, not a wrong result", async () => {
    const divergent = kernel(
      "divergent",
      { params: { x: buffer(f32, "read_write") }, workgroup: [8], uniformity: "dynamic" },
      ({ x }, gpu) => {
        gpu.if(x.get(gpu.localIndex).gt(0), () => gpu.barrier());
      },
    );
    const run = await importEmitted(divergent.build({ subgroup: 4 }));
    expect(() => run({ workgroups: 1, args: { x: Float32Array.of(0, 1, 0, 1, 0, 0, 0, 0) } })).toThrow(
      /barrier/,
    );
    run({ workgroups: 1, args: { x: new Float32Array(8).fill(1) } });
  });
});
