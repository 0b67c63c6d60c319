import { buffer, emit, f32, kernel, u32 } from "@evolver/kernel";
import { expect, test } from "vitest";

test("64-bit offsets that need no variable of their own bring their type along", () => {
  const ir = kernel("k", { params: { x: buffer(f32, "write"), n: u32 }, workgroup: [32] }, ({ x, n }, gpu) =>
    x.view({ strides: [n, 1] }).set(gpu.workgroupId.x, gpu.lane, 1),
  ).build({ subgroup: 32 });
  for (const target of ["cuda", "hip"] as const) expect(emit(ir, target).source).toMatch(/typedef .* i64;/);
});
