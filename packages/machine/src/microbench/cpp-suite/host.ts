/** The host part of the C++ suite that is the same for all tests: memory, launches, measuring. API## is `cuda` or `hip`. */

import { checkMacro, cppHosts, type CppTarget } from "@evolver/kernel";

export const hostText = (target: CppTarget, subgroup: number, most: number): string =>
  String.raw`
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace suite {

${checkMacro(target)}

constexpr int REPETITIONS = 9;
constexpr double TARGET_MS = 0.5;
// Times that vary more are not subtracted from each other.
constexpr double STEADY = 0.15;

unsigned multiprocessors = 0;
unsigned* verdict = nullptr;
API##Event_t begun, ended;
unsigned wrong = 0, measured = 0;

bool open() {
  int count = 0;
  if (API##GetDeviceCount(&count) != API##Success || count == 0) {
    std::printf("cannot run: there is no GPU, or its driver does not start\n");
    return false;
  }
  PROPERTIES properties;
  CHECK(API##GetDeviceProperties(&properties, 0));
  if (properties.warpSize != SUBGROUP) {
    std::printf("cannot run: this GPU has subgroups of %d lanes, the kernels are built for SUBGROUP; emit them with --subgroup %d\n",
                properties.warpSize, properties.warpSize);
    return false;
  }
  multiprocessors = std::min(unsigned(properties.multiProcessorCount), MOSTu);
  std::printf("%s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
  CHECK(API##Malloc(reinterpret_cast<void**>(&verdict), 2 * sizeof(unsigned)));
  CHECK(API##EventCreate(&begun));
  CHECK(API##EventCreate(&ended));
  return true;
}

int close() {
  std::printf("\n%u measured, %u with wrong results\n%s microbench\n", measured, wrong, wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}

// Buffers of one test, given back at its end.
struct Memory {
  std::vector<void*> taken;
  template <typename T> T* take(unsigned long long length) {
    void* pointer = nullptr;
    CHECK(API##Malloc(&pointer, length * sizeof(T)));
    CHECK(API##Memset(pointer, 0, length * sizeof(T)));
    taken.push_back(pointer);
    return static_cast<T*>(pointer);
  }
  ~Memory() {
    for (void* pointer : taken) (void)API##Free(pointer);
  }
};

template <typename F, typename... Values> void start(F* kernel, unsigned workgroups, unsigned block, Values... values) {
  LAUNCH;
  CHECK(API##GetLastError());
}

using Step = std::function<void(unsigned iterations, unsigned launches)>;

struct Case {
  const char* name;
  const char* unit;
  // Of a launch or of an iteration.
  double work;
  // most is 0 where there is no loop.
  unsigned least, most, batch;
  bool wall, alone;
  Step launch, before, check;
  unsigned count = 1, few = 1;
  std::vector<double> times, shorter;
};

double timed(const Case& item, unsigned iterations, unsigned batch) {
  CHECK(API##DeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  CHECK(API##EventRecord(begun, 0));
  for (unsigned k = 0; k < batch; k++) item.launch(iterations, 1);
  CHECK(API##EventRecord(ended, 0));
  CHECK(API##EventSynchronize(ended));
  if (item.wall) return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  float elapsed = 0;
  CHECK(API##EventElapsedTime(&elapsed, begun, ended));
  return elapsed;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * double(values.size() - 1);
  const std::size_t low = std::size_t(at), high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - double(low));
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }
double spread(const std::vector<double>& values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

// How many iterations take as long as is wanted.
void calibrate(Case& item) {
  item.before(1, 1);
  if (item.most == 0) {
    (void)timed(item, 1, item.batch);
    return;
  }
  unsigned count = std::min(4 * item.least, item.most);
  for (;;) {
    const double time = std::min(timed(item, count, 1), timed(item, count, 1));
    if (time >= TARGET_MS / 2 || count >= item.most) break;
    const double factor = std::min(16.0, std::max(2.0, TARGET_MS / std::max(time, 1e-3)));
    count = unsigned(std::min(double(item.most), std::ceil(count * factor)));
  }
  item.count = count;
  item.few = std::max(item.least, count / 4);
}

void repeat(Case& item) {
  if (item.most != 0) item.shorter.push_back(timed(item, item.few, item.batch));
  item.times.push_back(timed(item, item.count, item.batch));
}

// The last repetition: on fresh buffers, and with a look at what came out.
void finish(Case& item) {
  item.before(1, 1);
  item.times.push_back(timed(item, item.count, item.batch));
  const unsigned fresh[2] = {0, 0xffffffffu};
  CHECK(API##Memcpy(verdict, fresh, sizeof fresh, API##MemcpyHostToDevice));
  item.check(item.count, item.batch);
  unsigned found[2] = {0, 0};
  CHECK(API##Memcpy(found, verdict, sizeof found, API##MemcpyDeviceToHost));
  const double time = median(item.times);
  const bool steady = item.count > item.few && !item.shorter.empty() &&
                      std::max(spread(item.times), spread(item.shorter)) < STEADY;
  const double slope = steady ? (time - median(item.shorter)) / double(item.count - item.few) : 0;
  const double each = slope > 0 ? slope : time / item.count / item.batch;
  const double rate = item.work / (each / 1e3);
  const std::string unit = item.unit;
  const double value = unit == "ns"       ? 1e9 / rate
                       : unit == "µs"     ? 1e6 / rate
                       : unit == "per µs" ? rate / 1e6
                                          : rate / 1e9;
  measured++;
  if (found[0] != 0) wrong++;
  std::printf("%-62s %12.5g %-8s ±%5.1f %%  %s", item.name, value, item.unit, 50 * spread(item.times),
              found[0] == 0 ? "PASS\n" : "FAIL");
  if (found[0] != 0) std::printf(": %u wrong results, the first at %u\n", found[0], found[1]);
  std::fflush(stdout);
}

void together(std::vector<Case*> cases) {
  for (Case* item : cases) calibrate(*item);
  for (int k = 0; k < REPETITIONS - 1; k++)
    for (Case* item : cases) repeat(*item);
  for (Case* item : cases) finish(*item);
}

void run(std::vector<Case>& cases) {
  std::vector<Case*> group;
  for (Case& item : cases) {
    if (item.alone) {
      together(group);
      group.clear();
      together({&item});
    } else group.push_back(&item);
  }
  together(group);
}
`
    .replaceAll("PROPERTIES", cppHosts[target].properties)
    .replaceAll(
      "LAUNCH;",
      `${cppHosts[target].launch({
        entryPoint: "kernel",
        grid: "dim3(workgroups)",
        block: "dim3(block)",
        sharedBytes: 0,
        args: "values...",
      })};`,
    )
    .replaceAll("SUBGROUP", String(subgroup))
    .replaceAll("MOST", String(most))
    .trim();
