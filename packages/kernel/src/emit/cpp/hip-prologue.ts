/**
 * The few names of HIP's run-time header that emitted code uses, made of clang's own built-ins, for compilers that have
 * no ROCm headers (a Debian clang, say). Only those that a file uses are written into it.
 */

const BITS = "__builtin_bit_cast";

/** Each line, and the word whose presence in the file asks for it; in an order in which they can use each other. */
const LINES: readonly (readonly [word: string, text: string])[] = [
  ["__global__", "#define __global__ __attribute__((global))"],
  ["__device__", "#define __device__ __attribute__((device))"],
  ["__shared__", "#define __shared__ __attribute__((shared))"],
  ["__align__", "#define __align__(bytes) __attribute__((aligned(bytes)))"],
  [
    "__launch_bounds__",
    "#define __launch_bounds__(size) __attribute__((amdgpu_flat_work_group_size(1, size)))",
  ],
  [
    "__syncthreads",
    `__attribute__((device)) inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}`,
  ],
  ["Dim3", "struct Dim3 { unsigned x, y, z; };"],
  ...(
    [
      ["threadIdx", "workitem_id"],
      ["blockIdx", "workgroup_id"],
    ] as const
  ).map(([word, builtin]) => {
    const parts = ["x", "y", "z"].map((axis) => `__builtin_amdgcn_${builtin}_${axis}()`);
    return [
      word,
      `__attribute__((device)) inline Dim3 ${word}Now() { return {${parts.join(", ")}}; }\n#define ${word} ${word}Now()`,
    ] as const;
  }),
  [
    "gridDim",
    `__attribute__((device)) inline Dim3 gridDimNow() {
  return {${["x", "y", "z"].map((axis) => `__builtin_amdgcn_grid_size_${axis}() / __builtin_amdgcn_workgroup_size_${axis}()`).join(",\n          ")}};
}
#define gridDim gridDimNow()`,
  ],
  ...["float", "int", "uint"].flatMap((type) =>
    [2, 4].map((width) => {
      const element = type === "uint" ? "unsigned" : type;
      const names = "abcd".slice(0, width).split("").join(", ");
      return [
        `${type}${width}`,
        `typedef ${element} ${type}${width} __attribute__((ext_vector_type(${width})));\n#define make_${type}${width}(${names}) (${type}${width}){${names}}`,
      ] as const;
    }),
  ),
  ["__int_as_float", `#define __int_as_float(bits) ${BITS}(float, int(bits))`],
  ["__uint_as_float", `#define __uint_as_float(bits) ${BITS}(float, unsigned(bits))`],
  ["__float_as_int", `#define __float_as_int(value) ${BITS}(int, float(value))`],
  ["__popc", "#define __popc(bits) __builtin_popcount(bits)"],
  ["__clz", "#define __clz(bits) ((bits) == 0 ? 32 : __builtin_clz(bits))"],
  ...["fminf", "fmaxf", "fmaf", "fabsf", "sqrtf"].map(
    (name) => [name, `#define ${name} __builtin_${name}`] as const,
  ),
  ["rsqrtf", "#define rsqrtf(x) (1.0f / __builtin_sqrtf(x))"],
  ...["exp", "exp2", "log", "log2", "sin", "cos", "floor", "ceil", "trunc"].map(
    (name) => [`${name}f`, `#define ${name}f __builtin_elementwise_${name}`] as const,
  ),
  ["rintf", "#define rintf __builtin_elementwise_roundeven"],
  [
    "tanhf",
    `__attribute__((device)) inline float tanhf(float x) {
  const float power = __builtin_elementwise_exp(-2.0f * __builtin_fabsf(x));
  return __builtin_copysignf((1.0f - power) / (1.0f + power), x);
}`,
  ],
  [
    "laneNow",
    `__attribute__((device)) inline int laneNow() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}`,
  ],
  [
    "__shfl",
    `template <typename T> __attribute__((device)) inline T __shfl(T value, int lane) {
  return ${BITS}(T, __builtin_amdgcn_ds_bpermute(4 * lane, ${BITS}(int, value)));
}`,
  ],
  [
    "__shfl_xor",
    `template <typename T> __attribute__((device)) inline T __shfl_xor(T value, int mask) {
  return __shfl(value, laneNow() ^ mask);
}`,
  ],
  [
    "__shfl_up",
    `template <typename T> __attribute__((device)) inline T __shfl_up(T value, unsigned delta) {
  const int lane = laneNow();
  return __shfl(value, lane < int(delta) ? lane : lane - int(delta));
}`,
  ],
  [
    "__shfl_down",
    `template <typename T> __attribute__((device)) inline T __shfl_down(T value, unsigned delta) {
  const int lane = laneNow();
  return __shfl(value, lane + int(delta) >= __AMDGCN_WAVEFRONT_SIZE__ ? lane : lane + int(delta));
}`,
  ],
  [
    "__ballot",
    `__attribute__((device)) inline unsigned long long __ballot(int vote) {
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
  return __builtin_amdgcn_ballot_w64(vote != 0);
#else
  return __builtin_amdgcn_ballot_w32(vote != 0);
#endif
}`,
  ],
  ["__any", "#define __any(vote) (__ballot(vote) != 0)"],
  ["__all", "#define __all(vote) (__ballot(!(vote)) == 0)"],
];

const NEEDS: Readonly<Record<string, readonly string[]>> = {
  threadIdx: ["Dim3"],
  blockIdx: ["Dim3"],
  gridDim: ["Dim3"],
  __shfl_xor: ["__shfl", "laneNow"],
  __shfl_up: ["__shfl", "laneNow"],
  __shfl_down: ["__shfl", "laneNow"],
  __any: ["__ballot"],
  __all: ["__ballot"],
};

/** The top of a HIP file with this text below. */
export function hipPrologue(text: string): string {
  const words = new Set(text.replaceAll("make_", "").match(/[A-Za-z_]\w*/g));
  for (const word of [...words])
    for (const need of Object.hasOwn(NEEDS, word) ? (NEEDS[word] ?? []) : []) words.add(need);
  const lines = LINES.filter(([word]) => words.has(word)).map(([, line]) => line);
  return `#if defined(__HIPCC_RTC__)
// hiprtc brings HIP's names with it.
#elif __has_include(<hip/hip_runtime.h>)
#include <hip/hip_runtime.h>
#else
// What this file needs of HIP's header, for a clang without ROCm.
${lines.join("\n")}
#endif

#pragma clang fp contract(off)`;
}
