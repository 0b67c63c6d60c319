/**
 * f16 and bf16 in HIP C++, executed on this machine's processor, against the simulator: what emitted code computes with
 * the target's own type, and with bits.
 */

import { describe, expect, it } from "vitest";
import {
  abs,
  bf16,
  buffer,
  emitSelftest,
  f16,
  floor,
  fma,
  kernel,
  math,
  max,
  min,
  select,
  sqrt,
  type HalfType,
  type SelftestBuffer,
  type TypeDescriptor,
} from "@evolver/kernel";
import { openSim } from "@evolver/device";
import { cpp, nvcc, compileCuda, runHip } from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { noise } from "../../conformance/case.ts";

const N = 1024;
const OPERATIONS = 11;

type Half = typeof f16;

function operations(name: string, given: TypeDescriptor<HalfType>) {
  const type = given as Half;
  return kernel(
    name,
    {
      params: { a: buffer(type), b: buffer(type), c: buffer(type), y: buffer(type, "write") },
      workgroup: [64],
    },
    ({ a: as, b: bs, c: cs, y }, gpu) => {
      const i = gpu.globalId.x;
      const [a, b, c] = [as.get(i), bs.get(i), cs.get(i)];
      const other = type.type === "f16" ? a.toBF16().toF16() : (a.toF16().toBF16() as never as typeof a);
      const results = [
        a.add(b),
        a.sub(b),
        a.mul(b),
        a.div(b),
        fma(a, b, c),
        max(min(a, b), c),
        sqrt(abs(a)),
        floor(a).neg(),
        select(a.lt(b), a, c),
        a.mul(b).add(c),
        other,
      ];
      results.forEach((result, k) => y.set(i.mul(OPERATIONS).add(k), result));
    },
  );
}

const halves = operations("halves", f16);
const brains = operations("brains", bf16);

/** All bits, and many whose product lies halfway between two numbers. */
function operands(type: HalfType, k: number): Uint16Array {
  const toBits = type === "f16" ? math.f16ToBits : math.bf16ToBits;
  const [high, low, tiny] = type === "f16" ? [5, 6, 2 ** -24] : [3, 5, 2 ** -100];
  const tie = [1 + 2 ** -high, 1 + 2 ** -low, tiny][k] as number;
  const infinity = type === "f16" ? 0x7c00 : 0x7f80;
  return Uint16Array.from({ length: N }, (_, i) => {
    if (i % 8 === 0) return toBits(noise(i, k) % 2 === 0 ? tie : -tie);
    const bits = noise(i, k + 1) & 0xffff;
    // min and max of NaN, and of zeros of both signs, are the C library's.
    return (bits & 0x7fff) > infinity || (bits & 0x7fff) === 0 ? 0x3c00 : bits;
  });
}

async function selftestOf(program: typeof halves, type: HalfType, target: "hip" | "cuda"): Promise<string> {
  const device = openSim();
  const inputs = { a: operands(type, 0), b: operands(type, 1), c: operands(type, 2) };
  const buffers = Object.fromEntries(
    Object.entries(inputs).map(([name, bits]) => [name, device.createBuffer(type, bits)]),
  );
  const y = device.createBuffer(type, N * OPERATIONS);
  const compiled = await device.compile(program);
  await compiled.run({ workgroups: N / 64, args: { ...buffers, y } as never });
  const values = await y.read();
  await device.close();
  const args: Record<string, SelftestBuffer> = {
    y: { length: values.length, contents: { kind: "unset" }, expected: { values, tolerance: null } },
  };
  for (const [name, bits] of Object.entries(inputs))
    args[name] = { length: N, contents: { kind: "values", values: bits } };
  const ir = program.build({ subgroup: 32 });
  return emitSelftest(ir, target, { title: type, workgroups: [N / 64, 1, 1], args }).source;
}

const withCpp = requireOptional("a C++ compiler", cpp !== null, "apt-get install g++");
withCpp("in HIP, on the processor", () => {
  it.each([
    ["f16", halves],
    ["bf16", brains],
  ] as const)("%s has the simulator's results", async (type, program) => {
    const [run] = runHip(await selftestOf(program, type, "hip"), 32);
    expect(run?.output).toContain("PASS");
    expect(run?.status).toBe(0);
  });
});

const withNvcc = requireOptional("nvcc", nvcc !== null, "install the CUDA toolkit");
withNvcc("in CUDA, by nvcc", () => {
  it("compiles with a host program around it", async () => {
    const source = await selftestOf(brains, "bf16", "cuda");
    expect(source).toContain("nvcc -O3 -arch=sm_80");
    expect(compileCuda([{ name: "all", source: source.replace(/^int main.*$/m, "") }], ["sm_80"]).log).toBe(
      "",
    );
  });
});

describe("the numbers", () => {
  it("have products halfway between two f16", () => {
    expect(math.fmaF16(1 + 2 ** -5, 1 + 2 ** -6, 2 ** -24)).not.toBe(
      math.roundF16((1 + 2 ** -5) * (1 + 2 ** -6)),
    );
  });
});
