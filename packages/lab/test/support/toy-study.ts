/** A small real study: y = X·w, with tile parameters. `loose`, `deaf` and `trapped` are flawed on purpose. */

import { writeFileSync } from "node:fs";
import { buffer, f32, kernel } from "@evolver/kernel";
import { Random, type Json } from "@evolver/base";
import type { Plan } from "@evolver/device";
import type { Case, Truth, MeasureContext, Measurement, Point, OpenStudy, Study } from "@evolver/lab";
import type { MatvecShape } from "../cheats/matvec.ts";
import { measureWallClock } from "@evolver/lab";

type ToyPoint = {
  readonly rows: number;
  readonly vector: number;
  readonly weights: string;
  readonly unroll: number;
};

const axes = [
  { name: "rows", values: [1, 2, 4, 8] },
  { name: "vector", values: [1, 2, 4] },
  { name: "weights", values: ["global", "shared"] },
  { name: "unroll", values: [1, 2, 4] },
] as const;

type Data = (random: Random, i: number, length: number) => number;

const normal: Data = (random) => random.normal();
/** What a sample of the elements would never show. */
const heavyTail: Data = (random) => (random.uniform() < 0.02 ? 1000 * random.normal() : random.normal());
const oneHot: Data = (_, i, length) => (i === (length * 7) >> 3 ? 1 : 0);
const bits: Data = (random) => random.below(2);
const zeros: Data = () => 0;

function makeCase(
  id: string,
  kind: Case["kind"],
  seed: number,
  [rows, columns]: readonly [number, number],
  [dataX, dataW]: readonly [Data, Data],
  checks: Case["checks"] = "full",
): Case<MatvecShape> {
  const random = new Random(seed ^ (rows * 8191 + columns));
  const x = Float32Array.from({ length: rows * columns }, (_, i) => dataX(random, i, rows * columns));
  const w = Float32Array.from({ length: columns }, (_, i) => dataW(random, i, columns));
  const outputs = { y: { element: "f32", length: rows } } as const;
  return { id, kind, seed, shape: { rows, columns }, inputs: { x, w }, outputs, checks };
}

function cases(seed: number): Case<MatvecShape>[] {
  return [
    makeCase("random 5×36", "random", seed, [5, 36], [normal, normal]),
    makeCase("one row", "hostile", seed, [1, 128], [heavyTail, normal]),
    makeCase("one hot 7×64", "hostile", seed, [7, 64], [normal, oneHot]),
    makeCase("zeros and ones 5×36", "hostile", seed, [5, 36], [bits, bits]),
    makeCase("all zero 3×8", "hostile", seed, [3, 8], [zeros, normal]),
  ];
}

function objectiveCase(seed: number): Case<MatvecShape> {
  return makeCase("objective 40×256", "random", seed, [40, 256], [heavyTail, normal], "fast");
}

/** Float64 sums; the bound is that of a few f32 roundings of the row's magnitude. */
function expected({ shape: { rows, columns }, inputs }: Case<MatvecShape>): Record<string, Truth> {
  const { x, w } = inputs as Record<"x" | "w", Float32Array>;
  const values = new Float64Array(rows);
  const bound = new Float64Array(rows);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const product = x[r * columns + c]! * w[c]!;
      values[r]! += product;
      bound[r]! += 6 * 2 ** -24 * Math.abs(product);
    }
  return { y: { values, bound } };
}

/** Sectors and instructions on a machine made up for the test. */
async function model({ candidate }: MeasureContext): Promise<Measurement> {
  const [result] = await candidate.run();
  const counters = result!.counters!;
  const { globalSectors, issuedArithmetic, issuedMemory, issuedSubgroup } = counters;
  const instructions = issuedArithmetic + issuedMemory + 4 * issuedSubgroup;
  const timeMs = 1e-3 + 4e-6 * globalSectors + 1e-6 * instructions + 1e-5 * counters.workgroups;
  return { timeMs, timeKind: "modelled", noise: 0, championTimeMs: null, counters };
}

function plan(point: ToyPoint, shape: Json, { subgroup }: { readonly subgroup: number }): Plan {
  const { rows, columns } = shape as MatvecShape;
  const { vector, unroll, weights } = point;
  const params = { x: buffer(f32), w: buffer(f32), y: buffer(f32, "write") };
  const ir = kernel("matvec", { params, workgroup: [subgroup] }, ({ x, w, y }, gpu) => {
    const shared = weights === "shared" ? gpu.shared(f32, columns) : null;
    if (shared) {
      gpu.for({ from: gpu.lane, to: columns, step: subgroup }, (c) => shared.set(c, w.get(c)));
      gpu.barrier();
    }
    const stride = subgroup * vector;
    for (let k = 0; k < point.rows; k++) {
      const row = gpu.workgroupIndex.mul(point.rows).add(k);
      gpu.if(row.lt(rows), () => {
        const sum = gpu.var(f32, 0);
        gpu.for({ from: gpu.lane.mul(vector), to: columns, step: stride, unroll }, (column) => {
          const source = shared ?? w;
          for (let i = 0; i < vector; i += 1)
            if (vector === 1) sum.add(x.get(row.mul(columns).add(column)).mul(source.get(column)));
          if (vector === 1) return;
          const a = x.getVec(vector as 2 | 4, row.mul(columns).add(column));
          const b = source.getVec(vector as 2 | 4, column);
          for (let i = 0; i < vector; i++) sum.add(a.at(i).mul(b.at(i)));
        });
        const total = gpu.subgroup.sum(sum.get());
        gpu.if(gpu.lane.eq(0), () => y.set(row, total));
      });
    }
  }).build({ subgroup });
  return {
    kernels: [ir],
    buffers: [
      { name: "x", role: "input", element: "f32", length: rows * columns },
      { name: "w", role: "input", element: "f32", length: columns },
      { name: "y", role: "output", element: "f32", length: rows },
    ],
    launches: [
      {
        kernel: 0,
        workgroups: [Math.ceil(rows / point.rows), 1, 1],
        args: { x: { buffer: "x" }, w: { buffer: "w" }, y: { buffer: "y" } },
      },
    ],
  };
}

function openToy(device: string): OpenStudy<ToyPoint, MatvecShape> {
  const baseline: ToyPoint = { rows: 1, vector: 1, weights: "global", unroll: 1 };
  return {
    space: { axes, whyInvalid: () => null },
    baseline,
    named: { naive: baseline },
    inputTitle: "40×256",
    profile: device === "sim" ? "made-up machine" : "wall clock",
    cases,
    objectiveCase,
    plan,
    expected,
    measure: device === "sim" ? model : measureWallClock,
    explain: (measurement) => ({
      bottleneck: "global memory",
      observations: [
        `${measurement.counters?.globalSectors ?? "an unknown number of"} sectors of global memory.`,
      ],
      axes: ["vector", "weights", "rows"],
    }),
    describe: (point: Point) => axes.map(({ name }) => `${name} ${point[name]}`).join(", "),
    emit: (point) => [{ path: "point.json", text: `${JSON.stringify(point)}\n` }],
  };
}

function define(
  name: string,
  change: (study: OpenStudy<ToyPoint, MatvecShape>) => OpenStudy<ToyPoint, MatvecShape>,
): Study {
  return {
    id: name,
    title: "Matrix times vector",
    module: import.meta.url,
    export: name,
    options: [],
    parseInput: (input) => Promise.resolve(input),
    open: (_, { id }) => Promise.resolve(change(openToy(id))),
  };
}

export const toy = define("toy", (study) => study);

/** An absolute tolerance that zeros meet. */
export const loose = define("loose", (study) => ({
  ...study,
  expected: (input) => ({ y: { ...expected(input)["y"]!, bound: 1e4 } }),
}));

/** An answer that does not depend on w. */
export const deaf = define("deaf", (study) => ({
  ...study,
  expected: (input) =>
    expected({ ...input, inputs: { ...input.inputs, w: new Float32Array(input.shape.columns).fill(1) } }),
}));

/** A truth that is NaN somewhere. */
export const notANumber = define("notANumber", (study) => ({
  ...study,
  expected(input) {
    const { values, bound } = expected(input)["y"]!;
    return { y: { values: values.map((value, i) => (i === 0 ? Number.NaN : value)), bound } };
  },
}));

/** The objective's truth is known for the first 20 rows only. */
export const partly = define("partly", (study) => ({
  ...study,
  expected(input) {
    const { values, bound } = expected(input)["y"]!;
    return { y: { values, bound, known: Uint8Array.from(values, (_, i) => (i < 20 ? 1 : 0)) } };
  },
}));

/** A study whose own code loops forever for some points, and ends the process for others. */
export const trapped = define("trapped", (study) => ({
  ...study,
  plan(point, shape, build) {
    if (point.unroll === 4) process.exit(7);
    if (point.unroll === 2) {
      const mark = process.env["TOY_STUCK"];
      if (mark !== undefined) writeFileSync(mark, "");
      for (;;);
    }
    return plan(point, shape, build);
  },
}));
