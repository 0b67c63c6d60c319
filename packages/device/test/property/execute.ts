/** Runs a random program on a device, and compares what two devices made of it. */

import type { UniformityMode } from "@evolver/kernel";
import { fromBF16Bits, fromF16Bits, toBF16Bits, toF16Bits, type Device } from "@evolver/device";
import { VARIABLES, type Program } from "./generate.ts";
import { ATOMIC_LENGTH, INPUT_LENGTH, OWN, recordProgram } from "./record.ts";

const WORKGROUPS = 2;
const OUTPUTS = ["outF", "outI", "outU", "outH", "outB", "own", "counters"] as const;
const FLOATS: ReadonlySet<string> = new Set(["outF", "outH", "outB", "own"]);

/** The bits of all that the program wrote, by buffer. All NaNs are one. */
export async function execute(
  device: Device,
  program: Program,
  uniformity?: UniformityMode,
): Promise<Uint32Array[]> {
  const kernel = recordProgram(program, uniformity);
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
  const halves = Array.from({ length: INPUT_LENGTH }, (_, i) => Math.sin(i * 3.1) * 2 ** ((i % 13) - 6));
  const halfInputs = {
    xh: device.createBuffer("f16", toF16Bits(halves)),
    xb: device.createBuffer("bf16", toBF16Bits(halves)),
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
  const compiled = await device.compile(kernel);
  await compiled.run({
    workgroups: WORKGROUPS,
    args: { ...inputs, ...halfInputs, ...outputs, limit: 2, factor: 0.75 },
  });
  const read: Uint32Array[] = [];
  for (const name of OUTPUTS) {
    const held = await outputs[name].read();
    const decode = name === "outH" ? fromF16Bits : fromBF16Bits;
    const contents = held instanceof Uint16Array ? decode(held) : held;
    if (contents instanceof Float32Array)
      contents.forEach((value, i) => (contents[i] = Number.isNaN(value) ? NaN : value));
    read.push(new Uint32Array(contents.buffer as ArrayBuffer));
  }
  for (const buffer of [inputs, halfInputs, outputs].flatMap((list) => Object.values(list))) buffer.destroy();
  return read;
}

/**
 * Throws the first difference.
 * @param signedZeros whether +0 and −0 are different
 */
export function compare(
  program: Program,
  wanted: readonly Uint32Array[],
  got: readonly Uint32Array[],
  device: string,
  signedZeros = true,
): void {
  for (const [buffer, name] of OUTPUTS.entries()) {
    const isFloat = FLOATS.has(name);
    const bits = (list: readonly Uint32Array[], i: number): number => {
      const value = (list[buffer] as Uint32Array)[i] as number;
      return isFloat && !signedZeros && value === 0x80000000 ? 0 : value;
    };
    const i = (wanted[buffer] as Uint32Array).findIndex((_, at) => bits(wanted, at) !== bits(got, at));
    if (i < 0) continue;
    const hex = (list: readonly Uint32Array[]): string => bits(list, i).toString(16).padStart(8, "0");
    throw new Error(
      `${name}[${i}] is ${hex(wanted)} on sim and ${hex(got)} on ${device} for ${JSON.stringify(program)}`,
    );
  }
}
