/** Kernels and parameters may have any name: where a language keeps it for itself, emitted code has another. */

import { afterAll, describe, expect, it } from "vitest";
import { buffer, emit, f32, kernel, u32, type EmitTarget, type KernelIR } from "@evolver/kernel";
import { requireOptional } from "../../../../test/support/optional.ts";
import {
  clang,
  compileCuda,
  compileHip,
  nvcc,
  openWgsl,
  type Compiled,
  type NamedSource,
} from "../../../../test/support/compilers.ts";

/** Words, functions and macros of WGSL, C++, CUDA, HIP and JavaScript, names that emitted code uses itself, and odd ones. */
const WORDS = `
  NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class
  co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval
  constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export
  extends extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl
  implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut
  mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of
  operator package packoffset partial pass patch pixelfragment precise precision premerge priv protected pub public
  readonly ref regardless register reinterpret_cast require resource restrict self set shared sizeof smooth snorm static
  static_assert static_cast std subroutine super target template this thread_local throw trait try type typedef typeid
  typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield
  alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
  loop override requires return struct switch true var while array atomic bool f16 f32 i32 mat2x2 mat2x2f mat4x4 ptr
  sampler sampler_comparison texture_2d texture_storage_2d u32 vec2 vec2f vec2h vec2i vec2u vec3 vec4 vec4u read write
  read_write function private workgroup uniform storage rgba8unorm position vertex_index bitcast all any select
  arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh countLeadingZeros countOneBits
  countTrailingZeros cross degrees determinant distance dot dot4U8Packed exp exp2 extractBits faceForward
  firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix modf
  normalize pow quantizeToF16 radians reflect refract reverseBits round saturate sign sin sinh smoothstep sqrt step tan
  tanh transpose trunc dpdx textureLoad atomicLoad atomicStore atomicAdd atomicMax pack4x8snorm unpack2x16float
  storageBarrier workgroupBarrier textureBarrier workgroupUniformLoad subgroupAdd subgroupAll subgroupShuffle
  quadBroadcast i64 advance divide upperHalf sineFrom sinF32 logOfDigits Logarithm twoOverPi timesZero plusZero and
  and_eq bitand bitor char8_t char16_t char32_t compl double float int long not not_eq or or_eq short signed unsigned
  void wchar_t xor xor_eq threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 int4 float4 half half2 bf16 printf
  malloc assert clock clock64 NAN INFINITY INT_MAX linux unix i386 size_t uint uchar ushort ulong uint32_t int32_t fminf
  expf sqrtf rsqrtf smaller larger absolute __global__ __shared__ __device__ __host__ __launch_bounds__ __restrict__
  __syncthreads __ldg __x __proto__ __a__b _ _A __1 a__b gid params Params groupId gridSize localId lane localIndex
  globalIdX workgroupIndex numWorkgroupsX literal subgroupId hipThreadIdx_x hipBlockDim_x clockRate main signal M_PI
  L_tmpnam cudaHostAllocDefault FP_NAN SEEK_SET TILE_SIZE arguments eval undefined NaN Infinity Math Number Float32Array
  Uint32Array args workgroups run fround globalThis window process console constructor prototype hasOwnProperty toString
  valueOf
`
  .trim()
  .split(/\s+/);

/** Kernels with these names, each with a scalar and a buffer of that name. */
const kernels: readonly (readonly [string, KernelIR])[] = WORDS.flatMap((word, k) => {
  const ofBuffer = kernel(
    word,
    { params: { [word]: buffer(f32, "read_write") }, workgroup: [32] },
    (params, gpu) => {
      const i = gpu.globalId.x;
      const shared = gpu.shared(f32, 32);
      const it = params[word] as NonNullable<(typeof params)[string]>;
      shared.set(i, it.get(i));
      gpu.barrier();
      it.set(i, it.get(i).add(shared.get(i.xor(1))));
    },
  );
  const y = word === "y" ? "z" : "y";
  const ofScalar = kernel(
    `scalar${k}`,
    { params: { [y]: buffer(u32, "write"), [word]: u32 }, workgroup: [32] },
    (params, gpu) => {
      const { [y]: out, [word]: it } = params as never as { [name: string]: never };
      (out as Writable).set(gpu.globalId.x, it);
    },
  );
  return [
    [`buffer${k}`, ofBuffer.build({ subgroup: 32 })],
    [`scalar${k}`, ofScalar.build({ subgroup: 32 })],
  ] as const;
});

interface Writable {
  set(index: unknown, value: unknown): void;
}

const sources = (target: EmitTarget): NamedSource[] =>
  kernels.map(([name, ir]) => ({ name, source: emit(ir, target).source }));

const compiles = ({ ok, log }: Compiled): void => expect(ok ? "" : log).toBe("");

requireOptional(
  "nvcc",
  nvcc !== null,
  "install the CUDA toolkit",
)("CUDA", () => {
  it("takes every name", () => compiles(compileCuda(sources("cuda"), ["sm_90a"])));
});

requireOptional(
  "clang",
  clang !== null,
  "install clang-19",
)("HIP", () => {
  it("takes every name", () => compiles(compileHip(sources("hip"), "gfx1100")));
});

const dawn = await openWgsl();
requireOptional(
  "Dawn",
  dawn !== null,
  "npm ci with dev dependencies",
)("WGSL", () => {
  afterAll(() => dawn?.close());
  it("takes every name", async () => {
    for (const { source } of sources("wgsl")) expect(await dawn?.check(source)).toBe("");
  });
});

describe("JavaScript", () => {
  it("takes every name", async () => {
    for (const { source } of sources("js"))
      await import(`data:text/javascript,${encodeURIComponent(source)}`);
  });
});
