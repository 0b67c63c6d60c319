import { describe, expect, test } from "vitest";
import {
  buffer,
  deserialise,
  emit,
  EvolverError,
  f32,
  hash,
  i32,
  kernel,
  padded,
  serialise,
  vec,
} from "@evolver/kernel";

const ends = kernel(
  "ends",
  { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [64] },
  ({ x, y }, gpu) => {
    const i = gpu.globalId.x;
    const left = x.getOr(i.toI32().sub(1), 0);
    gpu.if(i.lt(y.length), () => y.set(i, left));
  },
);

const bodyOf = (source: string, from: string): string => source.slice(source.indexOf(from));

describe("a guarded read", () => {
  test("is one branch with the load inside, and the buffer's length a parameter of the emitted function", () => {
    expect(bodyOf(emit(ends.build({ subgroup: 32 }), "cuda").source, 'extern "C"')).toMatchInlineSnapshot(`
      "extern "C" __global__ void __launch_bounds__(64) ends(
          const float* __restrict__ x,
          float* __restrict__ y,
          unsigned xLength,
          unsigned yLength) {
        const unsigned globalIdX = blockIdx.x * 64u + threadIdx.x;
        const unsigned i = globalIdX;
        const int difference = int(i - 1u);
        float left = 0.0f;
        if (unsigned(difference) < xLength) {
          left = x[difference];
        }
        const float leftValue = left;
        if (i < yLength) {
          y[i] = leftValue;
        }
      }
      "
    `);
  });

  test("says in the file's header what the length is, takes it from the array in JavaScript, and stands in the JSON form", () => {
    const ir = ends.build({ subgroup: 32 });
    expect(emit(ir, "wgsl").source).toContain("// xLength: u32, the number of elements of x".slice(3));
    expect(emit(ir, "js").source).toContain("args.x.length");
    const copy = deserialise(serialise(ir));
    expect(copy.params.map(({ name }) => name)).toEqual(["x", "y", "xLength", "yLength"]);
    expect(hash(copy)).toBe(hash(ir));
  });

  test("needs no branch where the index and the end are known when the kernel is built", () => {
    const known = kernel("known", { params: { y: buffer(f32, "write") }, workgroup: [64] }, ({ y }, gpu) => {
      const tile = gpu.shared(f32, padded([2, 32], 1));
      tile.set(0, gpu.localIndex.remTrunc(32), 1);
      gpu.barrier();
      for (const row of [-1, 1, 2]) y.set(gpu.localIndex, tile.getOr(row, 0, 5));
    }).build({ subgroup: 32 });
    const { source } = emit(known, "cuda");
    expect(source).not.toContain("if (");
    expect(source.match(/tile\[/g)).toHaveLength(3);
  });

  test("of a vector in an array whose end is a multiple of the width has no reads of single elements", () => {
    const { source } = emit(
      kernel("vectors", { params: { y: buffer(f32, "write") }, workgroup: [64] }, ({ y }, gpu) => {
        const tile = gpu.shared(f32, 64);
        tile.set(gpu.localIndex, 1);
        gpu.barrier();
        y.setVec(gpu.localIndex.mul(4), tile.getVecOr(4, gpu.localIndex.mul(4), 0));
      }).build({ subgroup: 32 }),
      "cuda",
    );
    expect(source.match(/if \(/g)).toHaveLength(1);
    expect(source).not.toContain("else");
  });
});

describe("refused", () => {
  const params = { x: buffer(f32), y: buffer(f32, "write"), n: i32 };
  type Body = Parameters<typeof kernel<typeof params>>[2];
  test.each<[string, string, RegExp, Body]>([
    [
      "a view without extents",
      "NO_EXTENTS",
      /"x" does not say where it ends/,
      ({ x, y, n }) => y.set(0, x.view({ strides: [n, 1] }).getOr(0, n, 0)),
    ],
    [
      "one extent for two strides",
      "INVALID_VIEW",
      /2 strides and 1 extents/,
      ({ x, y, n }) => y.set(0, x.view({ strides: [n, 1], extents: [4] }).getOr(0, n, 0)),
    ],
    [
      "an index too few",
      "INVALID_INDEX",
      /takes 2 indices, not 1/,
      ({ x, y, n }) => y.set(0, x.view({ strides: [n, 1], extents: [4, n] }).getOr(n, 0)),
    ],
    [
      "a vector of another width",
      "INVALID_VECTOR",
      /a vector of 2 cannot stand for one of 4/,
      ({ x, y }, gpu) => {
        const zero = gpu.constant(f32, 0);
        y.setVec(0, x.getVecOr(4, gpu.localIndex, vec(zero, zero) as never));
      },
    ],
    [
      "vectors of three",
      "INVALID_VECTOR",
      /there are no vectors of 3\n[^]*a vector of 4 with one component unused/,
      ({ x, y }, gpu) => y.setVec(0, x.getVec(3 as 4, gpu.localIndex)),
    ],
    [
      "vectors of three that are made",
      "INVALID_VECTOR",
      /there are no vectors of 3/,
      ({ y }, gpu) => {
        const one = gpu.constant(f32, 1);
        y.setVec(0, (vec as (...parts: unknown[]) => never)(one, one, one));
      },
    ],
  ])("%s", (_, code, message, body) => {
    let thrown: unknown;
    try {
      kernel("wrong", { params, workgroup: [64] }, body).build({ subgroup: 32 });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(EvolverError);
    expect((thrown as EvolverError).code).toBe(code);
    expect(String((thrown as EvolverError).message)).toMatch(message);
  });
});
