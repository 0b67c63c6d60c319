/** Serialised kernels with anything anywhere: a kernel comes back that holds every rule, or one clear error. */

import { EvolverError } from "@evolver/base";
import {
  analyseUniformity,
  buffer,
  deserialise,
  f32,
  kernel,
  print,
  serialise,
  u32,
  verify,
} from "@evolver/kernel";
import * as fc from "fast-check";
import { expect, test } from "vitest";

const source = serialise(
  kernel(
    "source",
    { params: { n: u32, x: buffer(f32), y: buffer(f32, "read_write") }, workgroup: [64] },
    ({ n, x, y }, gpu) => {
      const tile = gpu.shared(f32, 64);
      const sum = gpu.var(f32, 0);
      gpu.for({ from: 0, to: n }, (i) => {
        gpu.if(x.get(i).lt(0), () => gpu.break());
        sum.add(x.getVec(4, i.mul(4)).x);
      });
      gpu.while(
        () => sum.get().lt(1),
        () => sum.add(1),
      );
      const phases = gpu.phaseBarriers({ count: 2, arrivals: 32, bytes: 128 });
      const copy = (): void => {
        gpu.copies.start({ to: tile, at: [gpu.lane], from: x, index: [gpu.lane], width: 1, active: n.lt(9) });
        gpu.copies.commit({ bytes: 128 });
        gpu.copies.await(1);
        gpu.subgroup.barrier();
        phases.arriveAfterCopies(n.and(1));
        phases.wait(0, 1);
        tile.set(gpu.lane, sum.get());
      };
      gpu.roles([{ name: "copy", subgroups: 1, body: copy }]);
      y.set(0, gpu.uniformLoad(tile, 0));
    },
  ).build({ subgroup: 32 }),
);

/** Every place in a document, as the keys that lead there. */
function places(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  return [[...path], ...Object.entries(value).flatMap(([key, inner]) => places(inner, [...path, key]))];
}

function valueAt(path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], JSON.parse(source));
}

function replaced(path: readonly string[], value: unknown): string {
  if (path.length === 0) return JSON.stringify(value);
  const document: unknown = JSON.parse(source);
  let at = document as Record<string, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  at[path.at(-1) as string] = value;
  return JSON.stringify(document);
}

test("a changed document is refused with INVALID_IR, or is valid", () => {
  const everywhere = places(JSON.parse(source));
  const plausible = fc.oneof(
    fc.integer({ min: -2, max: 60 }),
    fc.constantFrom("f32", "u32", "bool", "x", "y", "shared0", "op", "store", "break", "add", "NaN", "up"),
    fc.constantFrom(...everywhere).map(valueAt),
    fc.jsonValue(),
  );
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.constantFrom(...everywhere), plausible, (path, value) => {
      try {
        const ir = deserialise(replaced(path, value));
        accepted++;
        verify(ir);
        print(ir);
        if (ir.uniformity === "dynamic") analyseUniformity(ir);
      } catch (error) {
        if (!(error instanceof EvolverError)) throw error;
        expect(error.code).toBe("INVALID_IR");
        refused++;
      }
    }),
    { numRuns: 3000 },
  );
  expect(accepted).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(500);
});
