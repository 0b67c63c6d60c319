/** Random programs give the same bits on the cpu device as on the simulator, at every subgroup width. */

import fc from "fast-check";
import { describe, test } from "vitest";
import type { Device } from "../../src/index.ts";
import { openCpu, openSim } from "../../src/index.ts";
import { programs, VARIABLES, type Program } from "./generate.ts";
import { ATOMIC_LENGTH, INPUT_LENGTH, OWN, recordProgram } from "./record.ts";

const WORKGROUPS = 2;
const RUNS = Number(process.env.PROPERTY_RUNS ?? 40);

async function run(device: Device, program: Program): Promise<Uint32Array[]> {
  const kernel = recordProgram(program);
  const [x, y, z] = program.shape;
  const invocations = x * y * z * WORKGROUPS;
  const inputs = {
    xf: device.createBuffer(
      "f32",
      Float32Array.from({ length: INPUT_LENGTH }, (_, i) => Math.sin(i * 7.3) * 20),
    ),
    xi: device.createBuffer(
      "i32",
      Int32Array.from({ length: INPUT_LENGTH }, (_, i) => ((i * 2654435761) | 0) >> (i % 29)),
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
    own: device.createBuffer("f32", invocations * OWN),
    counters: device.createBuffer("u32", ATOMIC_LENGTH),
  };
  const compiled = await device.compile(kernel);
  await compiled.run({ workgroups: WORKGROUPS, args: { ...inputs, ...outputs, limit: 2, factor: 0.75 } });
  const read: Uint32Array[] = [];
  for (const buffer of Object.values(outputs)) {
    const contents = await buffer.read();
    // All NaNs are one.
    if (contents instanceof Float32Array)
      contents.forEach((value, i) => (contents[i] = Number.isNaN(value) ? NaN : value));
    read.push(new Uint32Array(contents.buffer as ArrayBuffer));
  }
  for (const buffer of [...Object.values(inputs), ...Object.values(outputs)]) buffer.destroy();
  return read;
}

function compare(program: Program, wanted: Uint32Array[], got: Uint32Array[]): void {
  wanted.forEach((expected, buffer) => {
    const actual = got[buffer] as Uint32Array;
    const i = expected.findIndex((bits, at) => bits !== actual[at]);
    if (i < 0) return;
    const name = ["outF", "outI", "outU", "own", "counters"][buffer];
    const hex = (bits: number | undefined): string => (bits as number).toString(16).padStart(8, "0");
    throw new Error(
      `${name}[${i}] is ${hex(expected[i])} on sim and ${hex(actual[i])} on cpu for ${JSON.stringify(program)}`,
    );
  });
}

describe.each([4, 8, 32, 64])("subgroups of %d", (subgroup) => {
  test("random programs agree", { timeout: 600_000 }, async () => {
    const sim = openSim({ subgroup, checks: false, counters: false });
    const cpu = openCpu({ subgroup, workers: 1 });
    try {
      await fc.assert(
        fc.asyncProperty(programs, async (program) => {
          compare(program, await run(sim, program), await run(cpu, program));
        }),
        { numRuns: RUNS },
      );
    } finally {
      await sim.close();
      await cpu.close();
    }
  });
});
