// The host's half of HIP, for programs that are built with a plain C++ compiler: memory, launches, events.

#ifndef HIP_CPU_HOST_H
#define HIP_CPU_HOST_H

#include <chrono>

#include "waves.h"

enum hipError_t { hipSuccess = 0, hipErrorOutOfMemory = 2, hipErrorLaunchFailure = 719 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3 };
typedef std::chrono::steady_clock::time_point* hipEvent_t;
struct hipDeviceProp_t {
  char name[256];
  int warpSize;
  int multiProcessorCount;
};

inline hipError_t hip_cpu_last = hipSuccess;

inline const char* hipGetErrorString(hipError_t code) {
  if (code == hipErrorLaunchFailure) return hip_cpu::scheduler().failure;
  return code == hipSuccess ? "no error" : "out of memory";
}
inline hipError_t hipGetDeviceCount(int* count) { return *count = 1, hipSuccess; }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  snprintf(properties->name, sizeof properties->name, "the processor, wavefronts of %d", HIP_CPU_WAVEFRONT);
  properties->warpSize = HIP_CPU_WAVEFRONT;
  properties->multiProcessorCount = 1;
  return hipSuccess;
}
inline hipError_t hipMalloc(void** pointer, size_t bytes) {
  *pointer = aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (*pointer == nullptr) return hipErrorOutOfMemory;
  memset(*pointer, 0xff, bytes);
  return hipSuccess;
}
inline hipError_t hipFree(void* pointer) { return free(pointer), hipSuccess; }
inline hipError_t hipMemset(void* pointer, int value, size_t bytes) {
  return memset(pointer, value, bytes), hipSuccess;
}
inline hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind) {
  return memcpy(to, from, bytes), hipSuccess;
}
inline hipError_t hipGetLastError() { return hip_cpu_last; }
inline hipError_t hipDeviceSynchronize() { return hip_cpu_last; }
inline hipError_t hipEventCreate(hipEvent_t* event) {
  return *event = new std::chrono::steady_clock::time_point(), hipSuccess;
}
inline hipError_t hipEventRecord(hipEvent_t event, int) {
  return *event = std::chrono::steady_clock::now(), hipSuccess;
}
inline hipError_t hipEventSynchronize(hipEvent_t) { return hip_cpu_last; }
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(*end - *start).count();
  return hipSuccess;
}

namespace hip_cpu {
template <typename F> void call(void* function) { (*static_cast<F*>(function))(); }
}

template <typename... Parameters, typename... Arguments>
void hipLaunchKernelGGL(void (*kernel)(Parameters...), dim3 grid, dim3 block, unsigned, int, Arguments... arguments) {
  auto body = [&] { kernel(Parameters(arguments)...); };
  const char* failure = hip_cpu::launch(hip_cpu::call<decltype(body)>, &body, grid, block, HIP_CPU_WAVEFRONT,
                                        __start_hip_lds, __stop_hip_lds);
  hip_cpu_last = failure == nullptr ? hipSuccess : hipErrorLaunchFailure;
}

#endif
