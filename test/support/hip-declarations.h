// Declarations of the host's half of HIP, as far as self-tests use it: enough for clang to compile both halves of a file
// on a machine without ROCm. Nothing here can be linked or run.

#include <cstddef>

enum hipError_t { hipSuccess = 0 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3 };
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
struct hipDeviceProp_t {
  char name[256];
  int warpSize;
  int multiProcessorCount;
};
struct dim3 {
  unsigned x, y, z;
  __attribute__((host)) __attribute__((device)) dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

extern "C" {
const char* hipGetErrorString(hipError_t code);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipMalloc(void** pointer, std::size_t bytes);
hipError_t hipFree(void* pointer);
hipError_t hipMemset(void* pointer, int value, std::size_t bytes);
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);
hipError_t hipGetLastError();
hipError_t hipDeviceSynchronize();
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared = 0, hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, hipStream_t* stream);
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, hipStream_t stream);
}

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
