/** A small study in half precision, y = a · b element by element, whose points may be flawed on purpose. */

import { deriveSeed, Random, type Json } from "@evolver/base";
import {
  buildPlan,
  fromBF16Bits,
  fromF16Bits,
  toBF16Bits,
  toF16Bits,
  type Plan,
  type PlanBuild,
} from "@evolver/device";
import { bf16, buffer, f16, kernel, u32, type HalfType, type TypeDescriptor } from "@evolver/kernel";
import type { Case, Expected, Study } from "@evolver/lab";

/** What a candidate does wrong. */
const FAULTS = ["nothing", "one missing", "twice as much", "beyond the end", "changes a"] as const;
export type Fault = (typeof FAULTS)[number];

// oxlint-disable-next-line typescript/consistent-type-definitions
export type HalfPoint = { readonly fault: string };

const descriptors: Readonly<Record<HalfType, TypeDescriptor<HalfType>>> = { f16, bf16 };
const toBits = { f16: toF16Bits, bf16: toBF16Bits } as const;
const fromBits = { f16: fromF16Bits, bf16: fromBF16Bits } as const;
/** Relative error of one rounding. */
const ROUNDING = { f16: 2 ** -11, bf16: 2 ** -8 } as const;

export function halfPlan(type: HalfType, fault: string, length: number, build: PlanBuild): Plan {
  // The body is the same for both; the compiler wants one.
  const element = descriptors[type] as TypeDescriptor<"f16">;
  const params = {
    a: buffer(element, "read_write"),
    b: buffer(element),
    y: buffer(element, "write"),
    left: buffer(element, "read_write"),
    n: u32,
  };
  const product = kernel("product", { params, workgroup: [32] }, ({ a, b, y, left, n }, gpu) => {
    const i = gpu.globalId.x;
    const last = fault === "one missing" ? n.sub(1) : n;
    gpu.if(i.lt(last), () => {
      const value = a.get(i).mul(b.get(i));
      y.set(i, fault === "twice as much" ? value.add(value) : value);
      if (fault === "changes a") gpu.if(i.eq(n.sub(1)), () => a.set(i, 1));
    });
    gpu.if(i.eq(0), () => {
      left.set(0, a.get(0).sub(a.get(0)));
      if (fault === "beyond the end") y.set(n.add(2), 1);
    });
  });
  return buildPlan(build)
    .input("a", element, length)
    .input("b", element, length)
    .output("y", element, length)
    .scratch("left", element, 1, "once")
    .launch(product, {
      workgroups: Math.ceil(length / 32),
      args: { a: "a", b: "b", y: "y", left: "left", n: length },
    })
    .done();
}

export function halfCase(type: HalfType, seed: number, length: number, checks: Case["checks"]): Case {
  const random = new Random(deriveSeed(seed, "half", length));
  const data = () => toBits[type](Array.from({ length }, () => random.normal()));
  return {
    id: `${length} of ${type}`,
    kind: "random",
    seed,
    shape: { length },
    inputs: { a: data(), b: data() },
    halves: { a: type, b: type },
    outputs: { y: { element: type, length } },
    checks,
  };
}

/** Float64 products of what the bits are. */
export function halfTruth(type: HalfType, { inputs }: Case): Record<string, Expected> {
  const [a, b] = [inputs["a"], inputs["b"]].map((bits) => fromBits[type](bits as Uint16Array));
  const values = Float64Array.from(a as Float32Array, (x, i) => x * ((b as Float32Array)[i] as number));
  return { y: { values, bound: values.map((value) => ROUNDING[type] * Math.abs(value) + 1e-7) } };
}

export const halfStudy = (type: HalfType): Study<HalfPoint> => ({
  id: `half-${type}`,
  title: `Products of ${type}`,
  module: import.meta.url,
  export: "none",
  options: [],
  parseInput: (input) => Promise.resolve(input),
  open: () =>
    Promise.resolve({
      space: { axes: [{ name: "fault", values: FAULTS }], whyInvalid: () => null },
      baseline: { fault: "nothing" },
      named: {},
      inputTitle: "300",
      profile: "made-up machine",
      cases: (seed) => [halfCase(type, seed, 37, "full"), halfCase(type, seed, 101, "fast")],
      objectiveCase: (seed) => halfCase(type, seed, 300, "fast"),
      plan: ({ fault }, shape: Json, build) =>
        halfPlan(type, fault, (shape as { readonly length: number }).length, build),
      expected: (input) => halfTruth(type, input),
      async measure({ candidate }) {
        const [result] = await candidate.run();
        const counters = result?.counters ?? null;
        const timeMs = 1e-3 + 1e-6 * (counters?.globalSectors ?? 0);
        return { timeMs, timeKind: "modelled", noise: 0, championTimeMs: null, counters };
      },
      explain: () => ({ bottleneck: "global memory", observations: [], axes: [] }),
      describe: ({ fault }) => fault,
      emit: () => [],
    }),
});
