/** What people get to read, for a small kernel on every target. */

import { describe, expect, it } from "vitest";
import { emit } from "@evolver/kernel";
import type { EmitTarget } from "@evolver/kernel";
import { readme, saxpy } from "./zoo.ts";

/** The kernel function alone: what stands around it is the compile tests' business. */
function kernelOf(target: EmitTarget, subgroup = 32): string {
  const { source } = emit(readme.build({ subgroup }), target);
  const start = { js: "export function", wgsl: "@compute", cuda: 'extern "C"', hip: 'extern "C"' }[target];
  return source.slice(source.indexOf(start));
}

describe("a whole file", () => {
  it("in CUDA C++", () => {
    const { source } = emit(saxpy.build({ subgroup: 32 }), "cuda");
    expect(source.replace(/from .*\//, "from ")).toMatchInlineSnapshot(`
      "// kernel saxpy, emitted by Evolver
      // from zoo.ts:36
      // workgroup [256, 1, 1], subgroup 32, shared memory 0 bytes
      // parameters:
      //   a: f32
      //   x: buffer of f32, read
      //   y: buffer of f32, read_write
      //   n: u32
      // subgroups are warps; buffers must not overlap; build with nvcc or NVRTC, no header needed
      // launch, with buffers as pointers to memory of the device:
      //   saxpy<<<workgroups, dim3(256, 1, 1)>>>(a, x, y, n)

      extern "C" __global__ void __launch_bounds__(256) saxpy(
          float a,
          const float* __restrict__ x,
          float* __restrict__ y,
          unsigned n) {
        const unsigned globalIdX = blockIdx.x * 256u + threadIdx.x;
        const unsigned i = globalIdX;
        if (i < n) {
          y[i] = fmaf(a, x[i], y[i]);
        }
      }
      "
    `);
  });

  it("in WGSL", () => {
    const { source } = emit(saxpy.build({ subgroup: 32 }), "wgsl");
    expect(source.replace(/from .*\//, "from ")).toMatchInlineSnapshot(`
      "// kernel saxpy, emitted by Evolver
      // from zoo.ts:36
      // workgroup [256, 1, 1], subgroup 32, shared memory 0 bytes
      // parameters:
      //   a: f32
      //   x: buffer of f32, read
      //   y: buffer of f32, read_write
      //   n: u32
      // launch of the entry point saxpy, with everything in bind group 0:
      //   binding 0: storage, read-only: x, elements of f32, its size a multiple of 4 bytes
      //   binding 1: storage: y, elements of f32, its size a multiple of 4 bytes
      //   binding 2: uniform of 32 bytes, little-endian:
      //     0: f32 a
      //     4: u32 n
      //     8: u32 numWorkgroups.x
      //     12: u32 numWorkgroups.y
      //     16: u32 numWorkgroups.z
      //   numWorkgroups.x, y and z are the workgroups that the kernel shall have. Dispatch at least x * y * z of them, in any shape,
      //   such as [min(n, 65535), ceil(n / 65535)] for n of them: those that are too many return at once.

      @group(0) @binding(0) var<storage, read> x: array<f32>;
      @group(0) @binding(1) var<storage, read_write> y: array<f32>;
      struct Params {
        a: f32,
        n: u32,
        numWorkgroupsX: u32,
        numWorkgroupsY: u32,
        numWorkgroupsZ: u32,
      }
      @group(0) @binding(2) var<uniform> params: Params;

      @compute @workgroup_size(256, 1, 1)
      fn saxpy(
        @builtin(workgroup_id) groupId: vec3<u32>,
        @builtin(num_workgroups) gridSize: vec3<u32>,
        @builtin(local_invocation_id) localId: vec3<u32>,
      ) {
        let workgroupIndex = groupId.x + gridSize.x * (groupId.y + gridSize.y * groupId.z);
        if (workgroupIndex >= params.numWorkgroupsX * params.numWorkgroupsY * params.numWorkgroupsZ) {
          return;
        }
        let workgroupIdX = workgroupIndex % params.numWorkgroupsX;
        let globalIdX = workgroupIdX * 256u + localId.x;
        let i = globalIdX;
        if (i < params.n) {
          y[i] = fma(params.a, x[i], y[i]);
        }
      }
      "
    `);
  });

  it("in HIP C++", () => {
    const { source } = emit(saxpy.build({ subgroup: 64 }), "hip");
    expect(source.replace(/from .*\//, "from ")).toMatchInlineSnapshot(`
      "// kernel saxpy, emitted by Evolver
      // from zoo.ts:36
      // workgroup [256, 1, 1], subgroup 64, shared memory 0 bytes
      // parameters:
      //   a: f32
      //   x: buffer of f32, read
      //   y: buffer of f32, read_write
      //   n: u32
      // subgroups are wavefronts; buffers must not overlap
      // launch, with buffers as pointers to memory of the device:
      //   saxpy<<<workgroups, dim3(256, 1, 1)>>>(a, x, y, n)

      #if defined(__HIPCC_RTC__)
      // hiprtc brings HIP's names with it.
      #elif __has_include(<hip/hip_runtime.h>)
      #include <hip/hip_runtime.h>
      #else
      // What this file needs of HIP's header, for a clang without ROCm.
      #define __global__ __attribute__((global))
      #define __launch_bounds__(size) __attribute__((amdgpu_flat_work_group_size(1, size)))
      struct Dim3 { unsigned x, y, z; };
      __attribute__((device)) inline Dim3 threadIdxNow() { return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()}; }
      #define threadIdx threadIdxNow()
      __attribute__((device)) inline Dim3 blockIdxNow() { return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()}; }
      #define blockIdx blockIdxNow()
      #define fmaf __builtin_fmaf
      #endif

      #pragma clang fp contract(off)

      #if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ != 64
      #error "this kernel is built for wavefronts of 64"
      #endif

      extern "C" __global__ void __launch_bounds__(256) saxpy(
          float a,
          const float* __restrict__ x,
          float* __restrict__ y,
          unsigned n) {
        const unsigned globalIdX = blockIdx.x * 256u + threadIdx.x;
        const unsigned i = globalIdX;
        if (i < n) {
          y[i] = fmaf(a, x[i], y[i]);
        }
      }
      "
    `);
  });
});

describe("loops, roles, shared memory and subgroups", () => {
  it("in CUDA C++", () => {
    expect(kernelOf("cuda")).toMatchInlineSnapshot(`
      "extern "C" __global__ void __launch_bounds__(64) scores(
          const float* __restrict__ rows,
          float* __restrict__ best,
          unsigned* __restrict__ hits,
          unsigned length) {
        __shared__ __align__(16) float tile[64];
        const unsigned workgroupIndex = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        const unsigned subgroupId = threadIdx.x / 32u;
        const unsigned lane = threadIdx.x % 32u;
        float sum = 0.0f;
        const i64 offset = i64(workgroupIndex) * i64(length);
        // Each invocation sums every n-th element.
        for (unsigned i = threadIdx.x; i < length; i = advance(i, 64u, length)) {
          sum = sum + __fmul_rn(exp2f(rows[offset + i64(i)]), 0.5f);
        }
        tile[threadIdx.x] = sum;
        __syncthreads();
        const float total = subgroupSum(tile[threadIdx.x ^ 1u]);
        if (subgroupId == 0u) {
          // role writer
          if (lane == 0u) {
            best[workgroupIndex] = total;
          }
        } else if (subgroupId == 1u) {
          // role counter
          const unsigned votes = __ballot_sync(0xffffffffu, total > 1.0f);
          if (lane == 0u) {
            atomicAdd(&hits[0u], unsigned(__popc(votes)));
          }
        }
      }
      "
    `);
  });

  it("in HIP C++ for wavefronts of 64", () => {
    expect(kernelOf("hip", 64)).toMatchInlineSnapshot(`
      "extern "C" __global__ void __launch_bounds__(128) scores(
          const float* __restrict__ rows,
          float* __restrict__ best,
          unsigned* __restrict__ hits,
          unsigned length) {
        __shared__ __align__(16) float tile[128];
        const unsigned workgroupIndex = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        const unsigned subgroupId = threadIdx.x / 64u;
        const unsigned lane = threadIdx.x % 64u;
        float sum = 0.0f;
        const i64 offset = i64(workgroupIndex) * i64(length);
        // Each invocation sums every n-th element.
        for (unsigned i = threadIdx.x; i < length; i = advance(i, 128u, length)) {
          sum = sum + exp2f(rows[offset + i64(i)]) * 0.5f;
        }
        tile[threadIdx.x] = sum;
        __syncthreads();
        const float total = subgroupSum(tile[threadIdx.x ^ 1u]);
        if (subgroupId == 0u) {
          // role writer
          if (lane == 0u) {
            best[workgroupIndex] = total;
          }
        } else if (subgroupId == 1u) {
          // role counter
          const unsigned long long votes = __ballot(total > 1.0f);
          const unsigned votes0 = unsigned(votes);
          if (lane == 0u) {
            __hip_atomic_fetch_add(&hits[0u], unsigned(__popc(votes0)), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
          }
        }
      }
      "
    `);
  });

  it("in WGSL", () => {
    expect(kernelOf("wgsl")).toMatchInlineSnapshot(`
      "@compute @workgroup_size(64, 1, 1)
      fn scores(
        @builtin(workgroup_id) groupId: vec3<u32>,
        @builtin(num_workgroups) gridSize: vec3<u32>,
        @builtin(local_invocation_index) localIndex: u32,
        @builtin(subgroup_size) subgroupSize: u32,
        @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_id) subgroupId: u32,
      ) {
        if (subgroupSize != 32u) {
          return;
        }
        let workgroupIndex = groupId.x + gridSize.x * (groupId.y + gridSize.y * groupId.z);
        if (workgroupIndex >= params.numWorkgroupsX * params.numWorkgroupsY * params.numWorkgroupsZ) {
          return;
        }
        var sum: f32 = 0.0f;
        let offset = workgroupIndex * params.length;
        // Each invocation sums every n-th element.
        for (var i = localIndex; i < params.length; i = advanceU32(i, 64u, params.length)) {
          sum = sum + exp2F32(rows[offset + i]) * 0.5f;
        }
        tile[localIndex] = sum;
        storageBarrier();
        workgroupBarrier();
        let total = subgroupSumF32(tile[localIndex ^ 1u]);
        if (subgroupId == 0u) {
          // role writer
          if (lane == 0u) {
            best[workgroupIndex] = total;
          }
        } else if (subgroupId == 1u) {
          // role counter
          let votes = subgroupBallot(total > 1.0f);
          if (lane == 0u) {
            atomicAdd(&hits[0u], countOneBits(votes.x));
          }
        }
      }
      "
    `);
  });

  it("in JavaScript", () => {
    expect(kernelOf("js")).toMatchInlineSnapshot(`
      "export function run({ workgroups, args }) {
        const rows = args.rows;
        const best = args.best;
        const hits = args.hits;
        const length = args.length >>> 0;
        const [numWorkgroupsX, numWorkgroupsY = 1, numWorkgroupsZ = 1] = [workgroups].flat();
        let workgroupIndex = -1;
        for (let workgroupIdZ = 0; workgroupIdZ < numWorkgroupsZ; workgroupIdZ++) {
          for (let workgroupIdY = 0; workgroupIdY < numWorkgroupsY; workgroupIdY++) {
            for (let workgroupIdX = 0; workgroupIdX < numWorkgroupsX; workgroupIdX++) {
              workgroupIndex++;
              const tile = new Float32Array(64);
              function* invocation(localIndex) {
                const lane = localIndex % 32;
                const subgroupId = Math.floor(localIndex / 32);
                let sum = 0;
                const offset = workgroupIndex * length;
                // Each invocation sums every n-th element.
                for (let i = localIndex; i < length; i = Math.min(i + 64, length)) {
                  sum = fround(sum + fround(exp2(rows[offset + i]) * 0.5));
                }
                tile[localIndex] = sum;
                yield BARRIER;
                const total = yield [2, subgroupSumF32, tile[(localIndex ^ 1) >>> 0]];
                if (subgroupId === 0) {
                  // role writer
                  if (lane === 0) {
                    best[workgroupIndex] = total;
                  }
                } else if (subgroupId === 1) {
                  // role counter
                  const votes = yield [5, ballot, total > 1];
                  if (lane === 0) {
                    atomicAdd(hits, 0, popcount(votes[0]));
                  }
                }
              }
              const invocations = Array.from({ length: 64 }, (_, localIndex) => invocation(localIndex));
              runWorkgroup(invocations, 32);
            }
          }
        }
      }
      "
    `);
  });
});
