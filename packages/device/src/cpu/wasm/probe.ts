/** What WebAssembly on this machine can do, found by trying. */

import { FunctionBuilder, ModuleBuilder } from "./encoder.ts";
import { OP } from "./opcodes.ts";

let fused: boolean | undefined;

/** Whether there is relaxed SIMD and its multiply-add rounds once, as an fma must. */
export function hasFusedMultiplyAdd(): boolean {
  fused ??= probe();
  return fused;
}

function probe(): boolean {
  const module = new ModuleBuilder();
  const f = new FunctionBuilder({ params: ["f32", "f32", "f32"], results: ["f32"] });
  for (const param of [0, 1, 2]) f.get(param).op(OP.f32x4Splat);
  f.op(OP.f32x4RelaxedMadd).lane(OP.f32x4ExtractLane, 0);
  module.add(f, "madd");
  const bytes = module.encode(1);
  if (!WebAssembly.validate(bytes)) return false;
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const madd = exports.madd as (a: number, b: number, c: number) => number;
  // (1 + 2^-12)² − (1 + 2^-11) is 2^-24 exactly, and 0 if the product is rounded first.
  const a = 1 + 2 ** -12;
  return madd(a, a, -(1 + 2 ** -11)) === 2 ** -24;
}
