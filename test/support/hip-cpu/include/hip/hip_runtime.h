// A small HIP for processors: enough of HIP's names to build and run emitted kernels, and their self-tests, with a plain
// C++ compiler and no GPU. It is written for tests and is not ROCm; docs/hip.md says what running a kernel on it proves.
//
//     g++ -x c++ -O1 -std=c++17 -DHIP_CPU_WAVEFRONT=64 -I test/support/hip-cpu/include k03.hip && ./a.out
//
// Each lane is a fiber. The lanes of a wavefront meet at cross-lane operations, those of a workgroup at __syncthreads;
// one that is missing there ends the program with what is wrong. Between such places lanes run alone, one after the
// other, in an order that HIP_CPU_ORDER chooses: "ascending", "descending", or a seed for another order each time.

#ifndef HIP_CPU_RUNTIME_H
#define HIP_CPU_RUNTIME_H

#ifndef HIP_CPU_WAVEFRONT
#define HIP_CPU_WAVEFRONT 64
#endif

#include "../hip_cpu/device.h"
#ifndef HIP_CPU_DEVICE_ONLY
#include "../hip_cpu/waves.h"
#include "../hip_cpu/host.h"
#endif

#endif
