// The scheduler: runs the workgroups of a launch one after another, each lane of a workgroup as a fiber of its own.

#ifndef HIP_CPU_WAVES_H
#define HIP_CPU_WAVES_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#include "device.h"

HipCpuPlace* hipCpuNow = nullptr;
dim3 hipCpuGrid, hipCpuBlock;

namespace hip_cpu {

constexpr size_t STACK_BYTES = 128 * 1024;

enum State { READY, AT_EXCHANGE, AT_BARRIER, FINISHED };

struct Lane {
  HipCpuPlace place;
  State state = FINISHED;
  bool started = false;
  jmp_buf context;
  ucontext_t first;
  // Of the cross-lane operation that the lane waits at.
  int operation;
  unsigned bits;
  int source;
  const void* site;
  unsigned long long result;
};

typedef void (*Body)(void* context);

struct Scheduler {
  std::vector<Lane*> lanes;
  size_t used = 0;
  Lane* now = nullptr;
  jmp_buf home;
  ucontext_t start;
  Body body = nullptr;
  void* context = nullptr;
  // Why the launch ended early, or empty; a fiber that fails is left where it stands.
  char failure[256] = "";
  uint64_t random = 0;
  enum { ASCENDING, DESCENDING, SEEDED } order = ASCENDING;
  unsigned width = HIP_CPU_WAVEFRONT;
};

inline Scheduler& scheduler() {
  static Scheduler* instance = new Scheduler();
  return *instance;
}

// Not inlined: a function that calls setjmp must not keep variables over it.
__attribute__((noinline)) inline void swapTo(jmp_buf& from, jmp_buf& to) {
  if (_setjmp(from) == 0) _longjmp(to, 1);
}

inline void runLane() {
  for (;;) {
    Scheduler& s = scheduler();
    s.body(s.context);
    s.now->state = FINISHED;
    swapTo(s.now->context, s.home);
  }
}

__attribute__((noinline)) inline void startFiber(Scheduler& s, Lane* lane) {
  if (_setjmp(s.home) != 0) return;
  setcontext(&lane->first);
}

// The lane runs until it waits for something.
inline void resume(Scheduler& s, Lane* lane) {
  s.now = lane;
  hipCpuNow = &lane->place;
  if (lane->started) return swapTo(s.home, lane->context);
  lane->started = true;
  startFiber(s, lane);
}

inline Lane* newLane() {
  Lane* lane = new Lane();
  void* stack = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) abort();
  getcontext(&lane->first);
  lane->first.uc_stack.ss_sp = stack;
  lane->first.uc_stack.ss_size = STACK_BYTES;
  lane->first.uc_link = nullptr;
  makecontext(&lane->first, runLane, 0);
  return lane;
}

// Where the lanes of a wavefront all wait at one cross-lane operation, does it. True if it did.
inline bool exchange(Scheduler& s, size_t first) {
  Lane* const leader = s.lanes[first];
  for (size_t i = first; i < first + s.width; i++)
    if (s.lanes[i]->state != AT_EXCHANGE) return false;
  unsigned long long votes = 0;
  for (size_t i = 0; i < s.width; i++) {
    const Lane& lane = *s.lanes[first + i];
    if (lane.operation != leader->operation || lane.site != leader->site) {
      snprintf(s.failure, sizeof s.failure, "lanes 0 and %zu of a wavefront wait at different cross-lane operations", i);
      return true;
    }
    if (lane.bits != 0) votes |= 1ull << i;
  }
  for (size_t i = 0; i < s.width; i++) {
    Lane& lane = *s.lanes[first + i];
    lane.result = lane.operation == HIP_CPU_BALLOT ? votes : s.lanes[first + lane.source]->bits;
  }
  for (size_t i = 0; i < s.width; i++) s.lanes[first + i]->state = READY;
  return true;
}

inline uint64_t nextRandom(Scheduler& s) {
  s.random ^= s.random << 13;
  s.random ^= s.random >> 7;
  return s.random ^= s.random << 17;
}

// Runs a workgroup to its end, or until something is wrong.
inline void runBlock(Scheduler& s) {
  const size_t waves = s.used / s.width;
  for (;;) {
    bool ran = false;
    const size_t turn = s.order == Scheduler::SEEDED ? nextRandom(s) % s.used : 0;
    for (size_t k = 0; k < s.used && s.failure[0] == 0; k++) {
      const size_t position = (k + turn) % s.used;
      const bool backward = s.order == Scheduler::DESCENDING || (s.order == Scheduler::SEEDED && (turn & 1) != 0);
      Lane* lane = s.lanes[backward ? s.used - 1 - position : position];
      if (lane->state != READY) continue;
      ran = true;
      resume(s, lane);
    }
    if (s.failure[0] != 0) return;
    for (size_t wave = 0; wave < waves; wave++) ran |= exchange(s, wave * s.width);
    if (s.failure[0] != 0) return;
    size_t atBarrier = 0, finished = 0;
    for (size_t wave = 0; wave < waves; wave++) {
      size_t there = 0, gone = 0;
      for (size_t i = 0; i < s.width; i++) {
        there += s.lanes[wave * s.width + i]->state == AT_BARRIER;
        gone += s.lanes[wave * s.width + i]->state == FINISHED;
      }
      atBarrier += there == s.width;
      finished += gone == s.width;
    }
    if (finished == waves) return;
    if (atBarrier > 0 && atBarrier + finished == waves) {
      for (size_t i = 0; i < s.used; i++)
        if (s.lanes[i]->state == AT_BARRIER) s.lanes[i]->state = READY;
    } else if (!ran) {
      size_t states[4] = {0, 0, 0, 0};
      for (size_t i = 0; i < s.used; i++) states[s.lanes[i]->state]++;
      snprintf(s.failure, sizeof s.failure,
               "a workgroup is stuck: %zu lanes wait at a cross-lane operation, %zu at __syncthreads, %zu have ended",
               states[AT_EXCHANGE], states[AT_BARRIER], states[FINISHED]);
      return;
    }
  }
}

inline void readOrder(Scheduler& s) {
  const char* order = getenv("HIP_CPU_ORDER");
  s.order = Scheduler::ASCENDING;
  if (order == nullptr || strcmp(order, "ascending") == 0) return;
  s.order = strcmp(order, "descending") == 0 ? Scheduler::DESCENDING : Scheduler::SEEDED;
  s.random = strtoull(order, nullptr, 10) * 0x9e3779b97f4a7c15ull + 1;
}

// Runs a launch. Gives null, or what is wrong.
inline const char* launch(Body body, void* context, dim3 grid, dim3 block, unsigned width, char* lds, char* ldsEnd) {
  Scheduler& s = scheduler();
  s.failure[0] = 0;
  s.body = body;
  s.context = context;
  s.width = width;
  s.used = size_t(block.x) * block.y * block.z;
  if (s.used == 0 || s.used > 1024 || s.used % width != 0) return "a workgroup must be 1 to 1024 lanes in whole wavefronts";
  hipCpuGrid = grid;
  hipCpuBlock = block;
  readOrder(s);
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        if (lds != nullptr) memset(lds, 0xff, size_t(ldsEnd - lds));
        while (s.lanes.size() < s.used) s.lanes.push_back(nullptr);
        for (size_t i = 0; i < s.used; i++) {
          if (s.lanes[i] == nullptr) s.lanes[i] = newLane();
          const unsigned n = unsigned(i);
          s.lanes[i]->place = {dim3(n % block.x, n / block.x % block.y, n / block.x / block.y), dim3(x, y, z)};
          s.lanes[i]->state = READY;
        }
        runBlock(s);
        if (s.failure[0] == 0) continue;
        // Lanes that stand in the middle of the kernel cannot be used again.
        s.lanes.clear();
        return s.failure;
      }
  return nullptr;
}

}  // namespace hip_cpu

extern "C" {
__attribute__((noinline)) unsigned long long hipCpuExchange(int operation, unsigned bits, int source) {
  hip_cpu::Scheduler& s = hip_cpu::scheduler();
  hip_cpu::Lane* lane = s.now;
  lane->operation = operation;
  lane->bits = bits;
  lane->source = source;
#ifdef __clang__
  lane->site = __builtin_return_address(0);
#else
  lane->site = nullptr;
#endif
  lane->state = hip_cpu::AT_EXCHANGE;
  hip_cpu::swapTo(lane->context, s.home);
  return lane->result;
}
void hipCpuBarrier() {
  hip_cpu::Scheduler& s = hip_cpu::scheduler();
  s.now->state = hip_cpu::AT_BARRIER;
  hip_cpu::swapTo(s.now->context, s.home);
}
void hipCpuYield() {
  hip_cpu::Scheduler& s = hip_cpu::scheduler();
  hip_cpu::swapTo(s.now->context, s.home);
}
int hipCpuLane() {
  hip_cpu::Scheduler& s = hip_cpu::scheduler();
  const dim3& thread = s.now->place.thread;
  return int((thread.x + hipCpuBlock.x * (thread.y + hipCpuBlock.y * thread.z)) % s.width);
}
}

#endif
