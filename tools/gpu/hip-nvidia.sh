#!/bin/sh
# Runs emitted HIP self-tests on an NVIDIA GPU through HIP's own NVIDIA path: HIP's headers map every hip… call and name
# to CUDA's, and nvcc compiles the rest. Proves that the files are valid HIP with AMD's real headers, and that wavefronts
# of 32 compute the right results on a GPU; says nothing about AMD's compiler, hardware or wavefronts of 64.
#
#     tools/gpu/hip-nvidia.sh HEADERS [folder for sources, programs and hip-nvidia.json]
#
# HEADERS is a folder with hip/hip_runtime.h and hip/nvidia_detail/, of Debian's libamdhip64-dev, say; on a machine with
# a network:
#     apt-get download libamdhip64-dev && dpkg -x libamdhip64-dev_*.deb hip-headers   (HEADERS: hip-headers/usr/include)
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "${1:-}/hip/nvidia_detail/nvidia_hip_runtime.h" ] || { sed -n '2,12p' "$0" >&2; exit 2; }
headers=$(cd "$1" && pwd)
out=${2:-$root/hip-nvidia}
mkdir -p "$out" && out=$(cd "$out" && pwd)
cd "$root" || exit 2
if [ -x "$root/evolver" ]; then evolver="$root/evolver"; else evolver="node $root/packages/cli/bin/evolver.js"; fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
arch=${ARCH:-native}
failed=0
rows=""

# HIP 5.2's headers name fields and functions that CUDA 13 has no more. Nothing here uses them.
rm -rf "$out/headers" && cp -r "$headers" "$out/headers"
api="$out/headers/hip/nvidia_detail/nvidia_hip_runtime_api.h"
sed -i -E \
  -e '/(cdprop|prop)(\.|->).*(clockRate|memoryClockRate|computeMode|cooperativeMultiDeviceLaunch|kernelExecTimeoutEnabled|deviceOverlap|singleToDoublePrecisionPerfRatio)/d' \
  -e 's/cudaMemPrefetchAsync\([^)]*\)/cudaErrorNotSupported/' \
  -e 's/cuCtxCreate\([^)]*\)/CUDA_ERROR_NOT_SUPPORTED/' \
  -e '/= cudaDevAttrCooperativeMultiDeviceLaunch;/d' \
  -e '/return hipCUDAErrorTohipError\(cuda(MemAdvise|StreamGetCaptureInfo_v2|StreamUpdateCaptureDependencies)\(/,/;/c return hipErrorNotSupported;' \
  -e 's/cudaGraph(AddDependencies|RemoveDependencies|GetEdges|NodeGetDependencies|NodeGetDependentNodes)\([^)]*\)/cudaErrorNotSupported/' \
  -e 's/cuda(BindTexture|BindTexture2D|GetTextureAlignmentOffset|LaunchCooperativeKernelMultiDevice)\([^;]*\)\);/cudaErrorNotSupported);/' \
  -e '/^template ?<(class|typename) T, int dim, enum (cuda|hip)TextureReadMode/,/^}/d' "$api"

# What HIP's NVIDIA headers lack of what the kernels use. AMD's compiler has these built in.
cat > "$out/missing.h" <<'CPP'
#pragma once
#include <hip/hip_runtime.h>
#ifndef __HIP_MEMORY_SCOPE_WORKGROUP
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#endif
// Whatever order is asked for, what kernels wait with has all of it.
template <typename T, typename V> __device__ inline T hipNvidiaAdd(T* address, V value) {
  __threadfence();
  const T before = atomicAdd(address, T(value));
  __threadfence();
  return before;
}
#define __hip_atomic_load(address, order, scope) hipNvidiaAdd(const_cast<unsigned*>(address), 0u)
#define __hip_atomic_store(address, value, order, scope) ((void)atomicExch(address, value))
#define __hip_atomic_fetch_add(address, value, order, scope) hipNvidiaAdd(address, value)
#define __hip_atomic_fetch_min(address, value, order, scope) atomicMin(address, value)
#define __hip_atomic_fetch_max(address, value, order, scope) atomicMax(address, value)
#define __hip_atomic_fetch_and(address, value, order, scope) atomicAnd(address, value)
#define __hip_atomic_fetch_or(address, value, order, scope) atomicOr(address, value)
#define __hip_atomic_fetch_xor(address, value, order, scope) atomicXor(address, value)
#define __hip_atomic_exchange(address, value, order, scope) atomicExch(address, value)
template <typename T> __device__ inline T hipNvidiaShuffle(T value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
template <typename T> __device__ inline T hipNvidiaXor(T value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
template <typename T> __device__ inline T hipNvidiaUp(T value, unsigned by) { return __shfl_up_sync(0xffffffffu, value, by); }
template <typename T> __device__ inline T hipNvidiaDown(T value, unsigned by) { return __shfl_down_sync(0xffffffffu, value, by); }
#define __builtin_amdgcn_fence(order, scope) __threadfence()
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __builtin_amdgcn_s_sleep(time) __nanosleep(32 * (time))
#undef __shfl
#undef __shfl_xor
#undef __shfl_up
#undef __shfl_down
#undef __ballot
#undef __any
#undef __all
#define __shfl hipNvidiaShuffle
#define __shfl_xor hipNvidiaXor
#define __shfl_up hipNvidiaUp
#define __shfl_down hipNvidiaDown
#define __ballot(vote) __ballot_sync(0xffffffffu, vote)
#define __any(vote) __any_sync(0xffffffffu, vote)
#define __all(vote) __all_sync(0xffffffffu, vote)
CPP

test_one() {
  name=$1 target=$2
  shift 2
  if $evolver emit "$target" --target hip --subgroup 32 --selftest -o "$out/$name.hip" "$@" 2> "$out/$name.log" &&
    cp "$out/$name.hip" "$out/$name.cu" &&
    "$nvcc" -x cu -O3 -arch="$arch" --fmad=false -D__HIP_PLATFORM_NVIDIA__ -D__HIP_PLATFORM_NVCC__ -w \
      -I "$out/headers" -include "$out/missing.h" -o "$out/$name" "$out/$name.cu" >> "$out/$name.log" 2>&1; then
    "$out/$name" > "$out/$name.txt" 2>&1
    code=$?
  else
    code=3
    cp "$out/$name.log" "$out/$name.txt"
  fi
  [ $code = 0 ] || failed=1
  { printf '\n== %s\n' "$target"; cat "$out/$name.txt"; } >&2
  text=$(head -40 "$out/$name.txt" | sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/ /g' | awk '{ printf "%s\"%s\"", (NR > 1 ? ", " : ""), $0 }')
  pass=$([ $code = 0 ] && echo true || echo false)
  rows="$rows${rows:+,}
    { \"name\": \"$name\", \"emitted\": \"$target\", \"pass\": $pass, \"exit\": $code, \"output\": [$text] }"
}

shape=${SHAPE:-B1,Hq8,Hkv2,S256,D64,causal}
for rung in ${RUNGS:-k01 k02 k03 k04 k05 k06 k07 k08 k09 k10 k11 k12}; do test_one "$rung" "attention/$rung" --shape "$shape"; done
test_one rowSums "examples/kernels.ts#rowSums"
test_one histogram "examples/kernels.ts#histogram"

cat > "$out/hip-nvidia.json" <<JSON
{
  "command": "tools/gpu/hip-nvidia.sh",
  "what": "HIP self-tests through HIP's NVIDIA path (nvcc), wavefronts of 32",
  "date": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "gpu": "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)",
  "nvcc": "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')",
  "hip": "$(sed -n 's/#define HIP_VERSION_\(MAJOR\|MINOR\|PATCH\) *\([0-9]*\).*/\2/p' "$headers/hip/hip_version.h" | paste -sd.)",
  "shape": "$shape",
  "tests": [$rows
  ]
}
JSON
cat "$out/hip-nvidia.json"
exit $failed
