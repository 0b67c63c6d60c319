import { describe, expect, expectTypeOf, test } from "vitest";
import {
  buffer,
  emit,
  f16,
  f32,
  i32,
  kernel,
  struct,
  u32,
  type BufferArgument,
  type F32,
  type Args,
  type U32,
} from "@evolver/kernel";

const Particle = struct({ x: f32, charge: i32, id: u32 });
const Point = struct({ x: f32, y: f32 });

describe("a struct on the host", () => {
  test("states its layout", () => {
    expect(Particle).toMatchObject({ element: "u32", stride: 3, offsets: { x: 0, charge: 4, id: 8 } });
    expect(Point).toMatchObject({ element: "f32", stride: 2, offsets: { x: 0, y: 4 } });
    expectTypeOf(Particle.element).toEqualTypeOf<"u32">();
    expectTypeOf(Point.element).toEqualTypeOf<"f32">();
  });

  test("packs and unpacks records", () => {
    const records = [
      { x: 1.5, charge: -2, id: 4_000_000_000 },
      { x: -0.25, charge: 3, id: 0 },
    ];
    const packed = Particle.pack(records);
    expect(packed).toEqual(Uint32Array.of(0x3fc00000, 0xfffffffe, 4_000_000_000, 0xbe800000, 3, 0));
    expect(Particle.unpack(packed)).toEqual(records);
    expect(Particle.unpack(packed.subarray(3))).toEqual(records.slice(1));
    expect(Point.pack([{ x: 1, y: 2 }])).toEqual(Float32Array.of(1, 2));
  });

  test.each([
    [
      "a field of two bytes",
      () => struct({ h: f16 as never }),
      /the field "h" is f16\n[^]*fields are f32, i32, u32/,
    ],
    ["no field", () => struct({}), /at least one field/],
    [
      "a number that a field cannot hold",
      () => Particle.pack([{ x: 1, charge: 0.5, id: 1 }]),
      /"charge" of struct 0 is 0.5, not i32/,
    ],
    [
      "a field that is missing",
      () => Particle.pack([{ x: 1, charge: 1 } as never]),
      /"id" of struct 0 is undefined, not u32/,
    ],
    [
      "a part of a struct",
      () => Particle.unpack(new Uint32Array(4)),
      /4 elements are no whole number of structs of 3/,
    ],
  ])("refuses %s", (_, act, message) => expect(act).toThrow(message));
});

describe("a struct in a kernel", () => {
  const params = {
    from: buffer(Particle),
    points: buffer(Point, "read_write"),
    to: buffer(Particle, "write"),
  };

  test("has typed fields, and only what the access allows", () => {
    kernel("typed", { params, workgroup: [64] }, ({ from, points, to }, gpu) => {
      const i = gpu.globalId.x;
      const { x, id } = from.get(i);
      expectTypeOf(x).toEqualTypeOf<F32>();
      expectTypeOf(id).toEqualTypeOf<U32>();
      const reject = (): void => {
        // @ts-expect-error a read-only buffer is not written
        from.set(i, { x, charge: 1, id });
        // @ts-expect-error nor by field
        from.field("x").set(i, 1);
        // @ts-expect-error a write-only one is not read
        to.get(i);
        // @ts-expect-error there is no such field
        from.field("y");
        // @ts-expect-error all fields are given
        to.set(i, { x, id });
        // @ts-expect-error each of its type
        to.set(i, { x: id, charge: 1, id });
      };
      void reject;
      to.set(i, { x, charge: 1, id });
      points.set(i, points.get(i));
    }).build({ subgroup: 32 });
    expectTypeOf<Args<typeof params>["points"]>().toEqualTypeOf<BufferArgument<"f32">>();
  });

  test("is read and written with offsets of four bytes, at once where it has two fields", () => {
    const built = kernel("moves", { params, workgroup: [64] }, ({ from, points, to }, gpu) => {
      const i = gpu.globalId.x;
      const { x, y } = points.get(i);
      to.set(i, { x: x.add(y), charge: -1, id: from.field("id").get(i) });
    }).build({ subgroup: 32 });
    const { source } = emit(built, "cuda");
    expect(source.slice(source.indexOf('extern "C"'))).toMatchInlineSnapshot(`
      "extern "C" __global__ void __launch_bounds__(64) moves(
          const unsigned* __restrict__ from_,
          float* __restrict__ points,
          unsigned* __restrict__ to) {
        const unsigned globalIdX = blockIdx.x * 64u + threadIdx.x;
        const unsigned i = globalIdX;
        const float2 pointsVector = *reinterpret_cast<const float2*>(&points[i64(i) * 2LL]);
        to[i64(i) * 3LL] = unsigned(floatBits(pointsVector.x + pointsVector.y));
        to[i64(i) * 3LL + 1LL] = 4294967295u;
        to[i64(i) * 3LL + 2LL] = from_[i64(i) * 3LL + 2LL];
      }
      "
    `);
  });
});
