/** Points of the strategy space and problems, at random. */

import { axes, createProblem, extentsOf } from "@evolver/attention";
import type { AttentionProblem, FlashPoint, Mask, Strides } from "@evolver/attention";
import * as fc from "fast-check";

/** Any value on each axis; most such points are invalid. */
export const anyPoint: fc.Arbitrary<FlashPoint> = fc
  .record(
    Object.fromEntries(
      axes.map(({ name, values }) => [name, fc.constantFrom(...(values as readonly unknown[]))]),
    ),
  )
  .map((values) => values as FlashPoint);

/** The same with values that go together; small tiles and short subgroups' worth of rows, for small problems. */
export const anyConsistentPoint: fc.Arbitrary<FlashPoint> = fc
  .tuple(anyPoint, fc.nat(3), fc.constantFrom(1, 2, 3, 4, 6, 8))
  .map(([point, deep, subgroups]) => {
    const { pipeline, stage } = point;
    const rowsPerSubgroup = Math.min(point.rowsPerSubgroup, 16);
    const depth = { synchronous: 1, "double-buffered": 2, ring: 1 + deep, roles: 1 + deep, staggered: 1 };
    const queryRows = rowsPerSubgroup * subgroups;
    const shared = {
      ...point,
      rowsPerSubgroup,
      rowLanes: Math.min(point.rowLanes, rowsPerSubgroup),
      queryRows: queryRows > 96 ? rowsPerSubgroup : queryRows,
      exchange: pipeline === "roles" ? ("shuffle" as const) : point.exchange,
      depth: depth[pipeline],
    };
    return stage === "shared"
      ? shared
      : { ...shared, layout: "row-major", keyRows: 32, pipeline: "synchronous", depth: 1 };
  });

const mask: fc.Arbitrary<Mask> = fc.oneof(
  fc.constant({ kind: "full" } as const),
  fc.constant({ kind: "causal" } as const),
  fc.record({ kind: fc.constant("window" as const), left: fc.nat(20), right: fc.nat(20) }),
);

/** A permutation of the axes with gaps of up to 3 elements: strides for any extents. */
const memoryOrder = fc.record({
  order: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4, maxLength: 4 }),
  gaps: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.nat(3)),
});

function stridesFor(
  extents: readonly number[],
  { order, gaps }: { readonly order: readonly number[]; readonly gaps: readonly number[] },
): Strides {
  const strides = [1, 1, 1, 1];
  let step = 1;
  for (const axis of order) {
    strides[axis] = step + gaps[axis]!;
    step = strides[axis]! * Math.max(extents[axis]!, 1);
  }
  return strides as unknown as Strides;
}

/** A small problem: any mask, lengths that fit no tile, groups of heads, tensors in any order of axes. */
export const anyProblem: fc.Arbitrary<AttentionProblem> = fc
  .record({
    batch: fc.integer({ min: 1, max: 2 }),
    headsKv: fc.integer({ min: 1, max: 2 }),
    group: fc.integer({ min: 1, max: 3 }),
    seqQ: fc.integer({ min: 0, max: 14 }),
    seqK: fc.integer({ min: 0, max: 40 }),
    dim: fc.oneof(fc.integer({ min: 1, max: 24 }), fc.constantFrom(32, 40, 64)),
    mask,
    softcap: fc.constantFrom(0, 0, 4),
    scale: fc.constantFrom(undefined, 1, -0.5),
    q: memoryOrder,
    k: memoryOrder,
    v: memoryOrder,
    o: memoryOrder,
    dense: fc.boolean(),
  })
  .map(({ group, q, k, v, o, dense, ...rest }) => {
    const shape = { ...rest, headsQ: rest.headsKv * group };
    const extents = extentsOf(shape);
    const strides = {
      q: stridesFor(extents.q, q),
      k: stridesFor(extents.k, k),
      v: stridesFor(extents.v, v),
      o: stridesFor(extents.o, o),
    };
    return createProblem(
      {
        batch: shape.batch,
        headsQ: shape.headsQ,
        headsKv: shape.headsKv,
        seqQ: shape.seqQ,
        seqK: shape.seqK,
        dim: shape.dim,
      },
      { mask: rest.mask, softcap: rest.softcap, scale: rest.scale, ...(dense ? {} : { strides }) },
    );
  });
