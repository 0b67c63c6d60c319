// A stand-in for libamdhip64 and libhiprtc on machines without an AMD GPU: the `hip` device's calls end here, kernels are
// compiled by a C++ compiler and run on the processor, lane by lane (include/hip_cpu/waves.h). For tests only.
//
// What it pretends is chosen by the environment, at each call:
//   HIP_CPU_WIDTH       wavefront width, 32 or 64 (the default)
//   HIP_CPU_MEMORY      bytes of memory that the GPU has (2^32 by default)
//   HIP_CPU_INIT        error that hipInit gives
//   HIP_CPU_LAUNCH      error that the next launches end with, seen when the stream is asked
//   HIP_CPU_CALLS       a file to which each call is appended, one per line
//   HIP_CPU_CXX         the compiler, g++ by default
//   HIP_CPU_BATCH       libraries of kernels compiled before (batch.ts), with colons between them
// and by macros, when it is built: HIP_CPU_OLD for the structures of before ROCm 6 and no graphs, HIP_CPU_INCLUDE for the headers.

#define HIP_CPU_DEVICE_ONLY
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <unistd.h>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "include/hip/hip_runtime.h"
#include "include/hip_cpu/waves.h"

namespace {

typedef uint64_t Address;

const char* variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && value[0] != 0 ? value : nullptr;
}
long number(const char* name, long otherwise) {
  const char* value = variable(name);
  return value == nullptr ? otherwise : atol(value);
}

void record(const char* format, ...) {
  const char* path = variable("HIP_CPU_CALLS");
  if (path == nullptr) return;
  FILE* file = fopen(path, "a");
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fputc('\n', file);
  fclose(file);
}

std::map<Address, size_t> allocations;
size_t allocated = 0;
// Of the stream: like a GPU's, an error stays.
int failure = 0;
// Launches of a graph, and those that the stream captures meanwhile; null where it captures none.
struct Function;
struct CapturedLaunch {
  Function* function;
  unsigned grid[3], block[3];
  void** arguments;
};
typedef std::vector<CapturedLaunch> Graph;
Graph* capturing = nullptr;

std::string contents(const std::string& path) {
  std::string text;
  FILE* file = fopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char block[65536];
  for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) text.append(block, n);
  fclose(file);
  return text;
}
void store(const std::string& path, const char* data, size_t size) {
  FILE* file = fopen(path.c_str(), "wb");
  fwrite(data, 1, size, file);
  fclose(file);
}
std::string temporary() {
  static int count = 0;
  const char* folder = variable("TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/hip-cpu-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

struct Function {
  void (*entry)(void**);
  char *lds, *ldsEnd;
  std::string name;
};
struct Call {
  const Function* function;
  void** arguments;
};
void callFunction(void* context) {
  const Call& call = *static_cast<Call*>(context);
  call.function->entry(call.arguments);
}

struct Program {
  std::string source, log, code;
};

// A loaded code object: a library of its own, or one kernel of a batch, by the hash of its source.
struct Module {
  void* library;
  std::string hash;
};

// FNV-1a, as batch.ts has it.
std::string hashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3ull;
  char digits[17];
  snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}
// Kernels call back into this library, which Node may have loaded for itself alone.
void* load(const std::string& path) {
  Dl_info self;
  dladdr(reinterpret_cast<void*>(&hashOf), &self);
  dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fprintf(stderr, "%s\n", dlerror());
  return library;
}
void* findInBatch(const std::string& hash) {
  const char* paths = variable("HIP_CPU_BATCH");
  for (std::string rest = paths == nullptr ? "" : paths; !rest.empty();) {
    const size_t end = rest.find(':');
    void* library = load(rest.substr(0, end));
    if (library != nullptr && dlsym(library, ("hipCpuEntry_" + hash).c_str()) != nullptr) return library;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return nullptr;
}

// Each kernel gets an entry that takes its arguments as the driver does, and one that tells where its shared memory is.
std::string withEntries(const std::string& source) {
  const std::string mark = "__global__ void __launch_bounds__(";
  std::string text = source + R"(
#include <utility>
template <typename... P, size_t... I> inline void hipCpuApply(void (*kernel)(P...), void** given, std::index_sequence<I...>) {
  kernel(*static_cast<P*>(given[I])...);
}
template <typename... P> inline void hipCpuApply(void (*kernel)(P...), void** given) {
  hipCpuApply(kernel, given, std::index_sequence_for<P...>());
}
extern "C" void hipCpuShared(char** from, char** to) { *from = __start_hip_lds; *to = __stop_hip_lds; }
)";
  for (size_t at = source.find(mark); at != std::string::npos; at = source.find(mark, at + 1)) {
    const size_t start = source.find(") ", at) + 2;
    const std::string name = source.substr(start, source.find('(', start) - start);
    text += "extern \"C\" void hipCpuEntry_" + name + "(void** given) { hipCpuApply(" + name + ", given); }\n";
  }
  return text;
}

struct Event {
  std::chrono::steady_clock::time_point time;
};

int describe(char* bytes, int device, size_t total, size_t shared, size_t warp, size_t threads, size_t arch) {
  record("hipGetDeviceProperties %d", device);
  const int width = int(number("HIP_CPU_WIDTH", 64)), most = 1024;
  const size_t memory = size_t(number("HIP_CPU_MEMORY", 1l << 32)), lds = 65536;
  const char* name = width == 64 ? "gfx942:sramecc+:xnack-" : "gfx1100";
  if (variable("HIP_CPU_UNKNOWN") != nullptr) name = "unknown";
  snprintf(bytes, 256, "the processor");
  memcpy(bytes + total, &memory, 8);
  memcpy(bytes + shared, &lds, 8);
  memcpy(bytes + warp, &width, 4);
  memcpy(bytes + threads, &most, 4);
  strcpy(bytes + arch, name);
  return 0;
}

}  // namespace

extern "C" {

int hipInit(unsigned) { return int(number("HIP_CPU_INIT", 0)); }
int hipGetDeviceCount(int* count) { return *count = 1, 0; }
int hipSetDevice(int device) { return device == 0 ? 0 : 101; }
int hipRuntimeGetVersion(int* version) {
#ifdef HIP_CPU_OLD
  return *version = 50230000, 0;
#else
  return *version = 60240000, 0;
#endif
}
#ifdef HIP_CPU_OLD
int hipGetDeviceProperties(char* bytes, int device) { return describe(bytes, device, 256, 264, 276, 280, 396); }
#else
int hipGetDevicePropertiesR0600(char* bytes, int device) { return describe(bytes, device, 288, 296, 308, 320, 1160); }
#endif
const char* hipGetErrorName(int code) {
  return code == 2 ? "hipErrorOutOfMemory" : code == 700 ? "hipErrorIllegalAddress" : code == 719 ? "hipErrorLaunchFailure"
       : code == 3 ? "hipErrorNotInitialized" : code == 101 ? "hipErrorInvalidDevice" : code == 1 ? "hipErrorInvalidValue" : "hipErrorOther";
}
const char* hipGetErrorString(int code) {
  const char* text = hip_cpu::scheduler().failure;
  return code == 719 && text[0] != 0 ? text : "an error of the stand-in";
}

int hipMemGetInfo(size_t* free, size_t* total) {
  *total = size_t(number("HIP_CPU_MEMORY", 1l << 32));
  *free = *total - allocated;
  return 0;
}
int hipMalloc(Address* pointer, size_t bytes) {
  record("hipMalloc %zu", bytes);
  if (failure != 0) return failure;
  if (allocated + bytes > size_t(number("HIP_CPU_MEMORY", 1l << 32))) return 2;
  void* memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) return 2;
  memset(memory, 0xff, bytes);
  *pointer = Address(memory);
  allocations[*pointer] = bytes;
  allocated += bytes;
  return 0;
}
int hipFree(Address pointer) {
  record("hipFree");
  if (allocations.count(pointer) == 0) return 1;
  allocated -= allocations[pointer];
  allocations.erase(pointer);
  free(reinterpret_cast<void*>(pointer));
  return 0;
}
int hipMemcpyHtoD(Address to, const void* from, size_t bytes) { return memcpy(reinterpret_cast<void*>(to), from, bytes), failure; }
int hipMemcpyDtoH(void* to, Address from, size_t bytes) { return memcpy(to, reinterpret_cast<void*>(from), bytes), failure; }
int hipMemsetD32(Address to, int value, size_t count) {
  for (size_t i = 0; i < count; i++) reinterpret_cast<int*>(to)[i] = value;
  return failure;
}

int hipModuleLoadData(Module** module, const char* image) {
  if (memcmp(image, "__CL", 4) == 0) {
    const std::string hash(image + 4, 16);
    *module = new Module{findInBatch(hash), hash};
  } else {
    const Elf64_Ehdr& header = *reinterpret_cast<const Elf64_Ehdr*>(image);
    const std::string path = temporary() + ".so";
    store(path, image, header.e_shoff + size_t(header.e_shnum) * header.e_shentsize);
    *module = new Module{load(path), ""};
    unlink(path.c_str());
  }
  return (*module)->library == nullptr ? 200 : 0;
}
int hipModuleGetFunction(Function** function, Module* module, const char* name) {
  const std::string entryName = "hipCpuEntry_" + (module->hash.empty() ? name : module->hash);
  void* entry = dlsym(module->library, entryName.c_str());
  if (entry == nullptr) return 500;
  *function = new Function{reinterpret_cast<void (*)(void**)>(entry), nullptr, nullptr, name};
  reinterpret_cast<void (*)(char**, char**)>(dlsym(module->library, "hipCpuShared"))(&(*function)->lds, &(*function)->ldsEnd);
  return 0;
}
int hipModuleLaunchKernel(Function* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                          unsigned blockZ, unsigned shared, void*, void** arguments, void*) {
  if (capturing != nullptr) return capturing->push_back({function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, arguments}), 0;
  record("hipModuleLaunchKernel %s %u %u %u %u %u %u %u", function->name.c_str(), gridX, gridY, gridZ, blockX, blockY, blockZ, shared);
  if (failure != 0) return failure;
  failure = int(number("HIP_CPU_LAUNCH", 0));
  if (failure != 0) return 0;
  if (uint64_t(gridX) * blockX > 0xffffffffull || gridY > 65536 || gridZ > 65536 || shared != 0) return 1;
  Call call{function, arguments};
  const dim3 grid(gridX, gridY, gridZ), block(blockX, blockY, blockZ);
  const unsigned width = unsigned(number("HIP_CPU_WIDTH", 64));
  if (hip_cpu::launch(callFunction, &call, grid, block, width, function->lds, function->ldsEnd) != nullptr) failure = 719;
  return 0;
}

#ifndef HIP_CPU_OLD
int hipStreamBeginCapture(Address, int) { return capturing = new Graph(), record("hipStreamBeginCapture"), failure; }
int hipStreamEndCapture(Address, Graph** graph) { return *graph = capturing, capturing = nullptr, record("hipStreamEndCapture"), failure; }
int hipGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) { return *executable = new Graph(*graph), failure; }
int hipGraphLaunch(Graph* executable, Address) {
  record("hipGraphLaunch");
  for (const CapturedLaunch& each : *executable) {
    const int error = hipModuleLaunchKernel(each.function, each.grid[0], each.grid[1], each.grid[2], each.block[0], each.block[1],
                                            each.block[2], 0, nullptr, each.arguments, nullptr);
    if (error != 0) return error;
  }
  return failure;
}
int hipGraphDestroy(Graph* graph) { return delete graph, record("hipGraphDestroy"), 0; }
int hipGraphExecDestroy(Graph* executable) { return delete executable, record("hipGraphExecDestroy"), 0; }
#endif

int hipStreamCreateWithFlags(Address* stream, unsigned) { return *stream = 1, 0; }
int hipStreamQuery(Address) { return failure; }
int hipStreamDestroy(Address) { return record("hipStreamDestroy"), 0; }
int hipEventCreateWithFlags(Event** event, unsigned) { return *event = new Event(), 0; }
int hipEventRecord(Event* event, Address) { return event->time = std::chrono::steady_clock::now(), failure; }
int hipEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return 0;
}
int hipEventDestroy(Event* event) { return delete event, record("hipEventDestroy"), 0; }

int hiprtcVersion(int* major, int* minor) { return *major = 6, *minor = 2, 0; }
int hiprtcCreateProgram(Program** program, const char* source, const char*, int, void*, void*) {
  return *program = new Program{source, "", ""}, 0;
}
int hiprtcCompileProgram(Program* program, int count, const char** options) {
  std::string listed;
  for (int i = 0; i < count; i++) listed += std::string(" ") + options[i];
  record("hiprtcCompileProgram%s", listed.c_str());
  const std::string hash = hashOf(program->source);
  if (findInBatch(hash) != nullptr) return program->code = "__CL" + hash, 0;
  const std::string base = temporary(), source = base + ".cpp", code = base + ".so", log = base + ".log";
  const std::string text = withEntries(program->source);
  store(source, text.data(), text.size());
  const char* compiler = variable("HIP_CPU_CXX");
  const std::string command = std::string(compiler == nullptr ? "g++" : compiler) +
      " -std=c++17 -O1 -shared -fPIC -Wl,-Bsymbolic -w -D__HIPCC_RTC__ -DHIP_CPU_DEVICE_ONLY -DHIP_CPU_WAVEFRONT=" +
      std::to_string(number("HIP_CPU_WIDTH", 64)) + " -include " HIP_CPU_INCLUDE "/hip/hip_runtime.h -o " + code + " " + source + " > " + log + " 2>&1";
  const int status = system(command.c_str());
  program->log = contents(log);
  program->code = contents(code);
  for (const std::string& path : {source, code, log}) unlink(path.c_str());
  return status == 0 ? 0 : 6;
}
int hiprtcGetProgramLogSize(Program* program, size_t* bytes) { return *bytes = program->log.size() + 1, 0; }
int hiprtcGetProgramLog(Program* program, char* log) { return memcpy(log, program->log.c_str(), program->log.size() + 1), 0; }
int hiprtcGetCodeSize(Program* program, size_t* bytes) { return *bytes = program->code.size(), 0; }
int hiprtcGetCode(Program* program, char* code) { return memcpy(code, program->code.data(), program->code.size()), 0; }
int hiprtcDestroyProgram(Program** program) { return delete *program, 0; }
}
