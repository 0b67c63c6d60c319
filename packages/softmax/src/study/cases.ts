/** What a candidate is verified on: the objective, and small matrices that probe the edges. */

import { deriveSeed, Random } from "@evolver/base";
import type { Case, Truth } from "@evolver/lab";
import { rowTruth, type RowOperation, type RowProblem } from "@evolver/softmax";

/** The shape of a case is the problem itself. A type alias, so that it is JSON. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type RowShape = { readonly operation: RowOperation; readonly rows: number; readonly columns: number };

interface Probe {
  readonly kind: Case["kind"];
  readonly rows: number;
  /** At most; no more than the objective has, which is what a candidate is made for. */
  readonly columns: number;
  readonly checks: Case["checks"];
  /** An element. */
  draw(random: Random, row: number): number;
}

const normal = (random: Random): number => random.normal();

const PROBES: Readonly<Record<string, Probe>> = {
  ragged: { kind: "random", rows: 19, columns: 37, checks: "full", draw: normal },
  "one row": { kind: "hostile", rows: 1, columns: 67, checks: "full", draw: normal },
  "one column": { kind: "hostile", rows: 5, columns: 1, checks: "full", draw: normal },
  "equal values": { kind: "hostile", rows: 7, columns: 70, checks: "fast", draw: () => 3 },
  outliers: {
    kind: "random",
    rows: 65,
    columns: 129,
    checks: "fast",
    draw: (random) => random.normal() * (random.below(16) === 0 ? 20 : 1),
  },
};

const OWN_PROBES: Readonly<Record<RowOperation, Readonly<Record<string, Probe>>>> = {
  softmax: {
    "large magnitudes": {
      kind: "hostile",
      rows: 9,
      columns: 33,
      checks: "fast",
      draw: (random) => random.normal() * 1e30,
    },
    // Every third row has nothing else.
    "minus infinity": {
      kind: "hostile",
      rows: 12,
      columns: 45,
      checks: "full",
      draw: (random, row) => (row % 3 === 0 || random.below(2) === 0 ? -Infinity : random.normal()),
    },
  },
  layerNorm: {
    "large magnitudes": {
      kind: "hostile",
      rows: 9,
      columns: 33,
      checks: "fast",
      draw: (random) => random.normal() * 1e15,
    },
    "far from zero": {
      kind: "hostile",
      rows: 12,
      columns: 45,
      checks: "full",
      draw: (random) => 1000 + random.normal(),
    },
  },
};

export function rowCases(problem: RowProblem, seed: number): readonly Case<RowShape>[] {
  const { operation } = problem;
  return Object.entries({ ...PROBES, ...OWN_PROBES[operation] }).map(([id, probe]) => {
    const columns = Math.min(problem.columns, probe.columns);
    const shape = { operation, rows: probe.rows, columns };
    const { kind, checks } = probe;
    return rowCase({ id, shape, seed, kind, checks }, probe.draw);
  });
}

/** The case that is timed. */
export function objectiveCase({ operation, rows, columns }: RowProblem, seed: number): Case<RowShape> {
  const shape = { operation, rows, columns };
  return rowCase({ id: "objective", shape, seed, kind: "random", checks: "fast" }, normal);
}

type Described = Pick<Case<RowShape>, "id" | "shape" | "seed" | "kind" | "checks">;

function rowCase(described: Described, draw: Probe["draw"]): Case<RowShape> {
  const { id, shape, seed } = described;
  const random = new Random(deriveSeed(seed, id));
  const length = shape.rows * shape.columns;
  const x = Float32Array.from({ length }, (_, i) => draw(random, Math.floor(i / shape.columns)));
  return { ...described, inputs: { x }, outputs: { y: { element: "f32", length } } };
}

export function expectedOf({ shape, inputs }: Case<RowShape>): Readonly<Record<string, Truth>> {
  return { y: rowTruth(shape, inputs["x"] as Float32Array) };
}
