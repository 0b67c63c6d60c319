// What device code of a HIP file uses, for a processor: indices, shared memory, cross-lane operations, atomics, vectors.

#ifndef HIP_CPU_DEVICE_H
#define HIP_CPU_DEVICE_H

#include <math.h>

#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN_WAVEFRONT_SIZE__ HIP_CPU_WAVEFRONT

#define __global__
#define __device__
#define __host__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
// To a C++ compiler a switch to another lane is a call like any other, over which it may keep what no other pointer of
// this function can change. A GPU's barriers and atomics allow no such thing.
#define __restrict__
// In a section of its own, so that it can be filled with NaN before each workgroup.
#define __shared__ static __attribute__((section("hip_lds")))

#ifdef __clang__
#define HIP_CPU_CONVERGENT __attribute__((convergent, noduplicate))
#else
#define HIP_CPU_CONVERGENT
#endif

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// The lane that runs now. The scheduler sets it at each switch.
struct HipCpuPlace {
  dim3 thread, block;
};

enum HipCpuOperation { HIP_CPU_SHUFFLE = 1, HIP_CPU_BALLOT = 2 };

extern "C" {
extern HipCpuPlace* hipCpuNow;
extern dim3 hipCpuGrid, hipCpuBlock;
// Waits for all lanes of the wavefront. A shuffle gives the bits of `source`'s value, a ballot the votes.
unsigned long long hipCpuExchange(int operation, unsigned bits, int source) HIP_CPU_CONVERGENT;
void hipCpuBarrier() HIP_CPU_CONVERGENT;
// Lets other lanes run: at each atomic, so that one that waits for another does not wait for ever.
void hipCpuYield();
int hipCpuLane();
// Shared memory of this file, from the linker.
extern char __start_hip_lds[] __attribute__((weak, visibility("hidden")));
extern char __stop_hip_lds[] __attribute__((weak, visibility("hidden")));
}

#define threadIdx (hipCpuNow->thread)
#define blockIdx (hipCpuNow->block)
#define gridDim hipCpuGrid
#define blockDim hipCpuBlock

inline void __syncthreads() { hipCpuBarrier(); }

// Macros, because they are built into clang for AMD's GPUs. Memory is in order between the places where lanes meet.
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_wave_barrier() ((void)hipCpuExchange(HIP_CPU_BALLOT, 0, 0))
#define __builtin_amdgcn_s_sleep(time) hipCpuYield()

template <typename To, typename From> inline To hipCpuBits(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits of the same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// As in HIP's header, for the whole wavefront: lanes beyond the ends give the lane's own value.
template <typename T> inline T __shfl(T value, int source) {
  return hipCpuBits<T>(unsigned(hipCpuExchange(HIP_CPU_SHUFFLE, hipCpuBits<unsigned>(value), source & (HIP_CPU_WAVEFRONT - 1))));
}
template <typename T> inline T __shfl_xor(T value, int mask) {
  const int source = hipCpuLane() ^ mask;
  return __shfl(value, source >= HIP_CPU_WAVEFRONT ? hipCpuLane() : source);
}
template <typename T> inline T __shfl_up(T value, unsigned delta) {
  const int source = hipCpuLane() - int(delta);
  return __shfl(value, source < 0 ? hipCpuLane() : source);
}
template <typename T> inline T __shfl_down(T value, unsigned delta) {
  const int source = hipCpuLane() + int(delta);
  return __shfl(value, source >= HIP_CPU_WAVEFRONT ? hipCpuLane() : source);
}
inline unsigned long long __ballot(int vote) { return hipCpuExchange(HIP_CPU_BALLOT, vote != 0, 0); }
inline int __any(int vote) { return __ballot(vote) != 0; }
inline int __all(int vote) { return __ballot(!vote) == 0; }

#define HIP_CPU_VECTOR(type, element)                                                   \
  struct __attribute__((aligned(8))) type##2 { element x, y; };                         \
  struct __attribute__((aligned(16))) type##4 { element x, y, z, w; };                  \
  inline type##2 make_##type##2(element x, element y) { return {x, y}; }                \
  inline type##4 make_##type##4(element x, element y, element z, element w) { return {x, y, z, w}; }
HIP_CPU_VECTOR(float, float)
HIP_CPU_VECTOR(int, int)
HIP_CPU_VECTOR(uint, unsigned)
#undef HIP_CPU_VECTOR

inline float __int_as_float(int bits) { return hipCpuBits<float>(bits); }
inline float __uint_as_float(unsigned bits) { return hipCpuBits<float>(bits); }
inline int __float_as_int(float value) { return hipCpuBits<int>(value); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __clz(unsigned bits) { return bits == 0 ? 32 : __builtin_clz(bits); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }

#ifndef __HIP_MEMORY_SCOPE_WORKGROUP
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#endif

inline float hipCpuSum(float a, float b) { return a + b; }
inline unsigned hipCpuSum(unsigned a, unsigned b) { return a + b; }
inline int hipCpuSum(int a, int b) { return int(unsigned(a) + unsigned(b)); }

// Macros, because they are built into clang. One lane runs at a time, so a plain read and write is atomic.
#define __hip_atomic_load hipCpuAtomic_load
#define __hip_atomic_store hipCpuAtomic_store
#define __hip_atomic_fetch_add hipCpuAtomic_fetch_add
#define __hip_atomic_fetch_min hipCpuAtomic_fetch_min
#define __hip_atomic_fetch_max hipCpuAtomic_fetch_max
#define __hip_atomic_fetch_and hipCpuAtomic_fetch_and
#define __hip_atomic_fetch_or hipCpuAtomic_fetch_or
#define __hip_atomic_fetch_xor hipCpuAtomic_fetch_xor
#define __hip_atomic_exchange hipCpuAtomic_exchange
#define __hip_atomic_compare_exchange_strong hipCpuAtomic_compare_exchange_strong

template <typename T> inline T hipCpuAtomic_load(T* address, int, int) {
  hipCpuYield();
  return *address;
}
template <typename T, typename V> inline void hipCpuAtomic_store(T* address, V value, int, int) {
  hipCpuYield();
  *address = T(value);
}
#define HIP_CPU_ATOMIC(name, result)                                            \
  template <typename T, typename V> inline T name(T* address, V given, int, int) { \
    hipCpuYield();                                                              \
    const T old = *address, value = T(given);                                   \
    (void)value;                                                                \
    *address = result;                                                          \
    return old;                                                                 \
  }
HIP_CPU_ATOMIC(hipCpuAtomic_fetch_add, hipCpuSum(old, value))
HIP_CPU_ATOMIC(hipCpuAtomic_fetch_min, value < old ? value : old)
HIP_CPU_ATOMIC(hipCpuAtomic_fetch_max, value > old ? value : old)
HIP_CPU_ATOMIC(hipCpuAtomic_fetch_and, old & value)
HIP_CPU_ATOMIC(hipCpuAtomic_fetch_or, old | value)
HIP_CPU_ATOMIC(hipCpuAtomic_fetch_xor, old ^ value)
HIP_CPU_ATOMIC(hipCpuAtomic_exchange, value)
#undef HIP_CPU_ATOMIC
template <typename T, typename V>
inline bool hipCpuAtomic_compare_exchange_strong(T* address, T* expected, V desired, int, int, int) {
  hipCpuYield();
  const T old = *address;
  const bool same = hipCpuBits<unsigned>(old) == hipCpuBits<unsigned>(*expected);
  if (same) *address = T(desired);
  *expected = old;
  return same;
}

#endif
