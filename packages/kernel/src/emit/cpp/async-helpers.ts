/** The text of the device functions behind asynchronous copies, phase barriers and subgroup barriers, for CUDA and HIP. */

import type { HelperTable } from "../core/helpers.ts";

const DEVICE = "__device__ inline";

const plainCopy = `Vector value = {};
  if (active) value = *static_cast<const Vector*>(from);
  *static_cast<Vector*>(to) = value;`;

export const cudaAsyncHelpers: HelperTable = {
  startCopy: {
    text: `// Copies from global to shared memory past the registers, zeros where it is not active; before sm_80 at once.
template <typename Vector> ${DEVICE} void startCopy(void* to, const void* from, bool active) {
#if __CUDA_ARCH__ >= 800
  const unsigned address = unsigned(__cvta_generic_to_shared(to));
  const int bytes = active ? int(sizeof(Vector)) : 0;
  if (sizeof(Vector) == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 : : "r"(address), "l"(from), "n"(int(sizeof(Vector))), "r"(bytes) : "memory");
#else
  ${plainCopy}
#endif
}`,
  },
  commitCopies: {
    text: `${DEVICE} void commitCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}`,
  },
  awaitCopies: {
    text: `// Waits for all copies but those of the youngest groups; for those of no group yet only where it waits for all.
template <int newer> ${DEVICE} void awaitCopies() {
#if __CUDA_ARCH__ >= 800
  if (newer == 0) asm volatile("cp.async.wait_all;" : : : "memory");
  else asm volatile("cp.async.wait_group %0;" : : "n"(newer) : "memory");
#endif
}`,
  },
  startPhases: {
    text: `// Barriers whose phases complete one after another: mbarriers; before sm_80, how many arrived and how many phases.
${DEVICE} void startPhases(unsigned long long* barriers, unsigned count, unsigned arrivals) {
  for (unsigned k = 0; k < count; k++) {
#if __CUDA_ARCH__ >= 800
    const unsigned address = unsigned(__cvta_generic_to_shared(&barriers[k]));
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(address), "r"(arrivals) : "memory");
#else
    barriers[k] = 0;
#endif
  }
}`,
  },
  arrive: {
    text: `${DEVICE} void arrive(unsigned long long* barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 800
  const unsigned address = unsigned(__cvta_generic_to_shared(barrier));
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" : : "r"(address) : "memory");
#else
  unsigned* words = reinterpret_cast<unsigned*>(barrier);
  __threadfence_block();
  if ((atomicAdd(&words[0], 1u) + 1u) % arrivals != 0u) return;
  __threadfence_block();
  atomicSub(&words[0], arrivals);
  atomicAdd(&words[1], 1u);
#endif
}`,
  },
  arriveAfterCopies: {
    text: `// Arrives when this invocation's copies have landed.
${DEVICE} void arriveAfterCopies(unsigned long long* barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 800
  const unsigned address = unsigned(__cvta_generic_to_shared(barrier));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(address) : "memory");
#else
  arrive(barrier, arrivals);
#endif
}`,
    needs: ["arrive"],
  },
  awaitPhase: {
    text: `${DEVICE} void awaitPhase(unsigned long long* barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 800
  const unsigned address = unsigned(__cvta_generic_to_shared(barrier));
  unsigned done = 0;
  while (done == 0) {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared.b64 done, [%1], %2; selp.u32 %0, 1, 0, done; }"
                 : "=r"(done) : "r"(address), "r"(parity) : "memory");
#else
    asm volatile("{ .reg .pred done; mbarrier.test_wait.parity.shared.b64 done, [%1], %2; selp.u32 %0, 1, 0, done; }"
                 : "=r"(done) : "r"(address), "r"(parity) : "memory");
#endif
  }
#else
  while ((atomicAdd(reinterpret_cast<unsigned*>(barrier) + 1, 0u) & 1u) == parity) {
  }
  __threadfence_block();
#endif
}`,
  },
};

const SCOPE = "__HIP_MEMORY_SCOPE_WORKGROUP";

export const hipAsyncHelpers: HelperTable = {
  startCopy: {
    text: `// A copy that lands at once, zeros where it is not active.
template <typename Vector> ${DEVICE} void startCopy(void* to, const void* from, bool active) {
  ${plainCopy}
}`,
  },
  PhaseBarrier: {
    text: `// A barrier whose phases complete one after another: how many have arrived at the current one, how many are complete.
struct PhaseBarrier {
  unsigned arrived, phases;
};`,
  },
  startPhases: {
    text: `${DEVICE} void startPhases(PhaseBarrier* barriers, unsigned count, unsigned) {
  for (unsigned k = 0; k < count; k++) barriers[k].arrived = barriers[k].phases = 0u;
}`,
    needs: ["PhaseBarrier"],
  },
  arrive: {
    text: `${DEVICE} void arrive(PhaseBarrier* barrier, unsigned arrivals) {
  const unsigned before = __hip_atomic_fetch_add(&barrier->arrived, 1u, __ATOMIC_ACQ_REL, ${SCOPE});
  if ((before + 1u) % arrivals != 0u) return;
  __hip_atomic_fetch_add(&barrier->arrived, 0u - arrivals, __ATOMIC_RELAXED, ${SCOPE});
  __hip_atomic_fetch_add(&barrier->phases, 1u, __ATOMIC_RELEASE, ${SCOPE});
}`,
    needs: ["PhaseBarrier"],
  },
  awaitPhase: {
    text: `${DEVICE} void awaitPhase(PhaseBarrier* barrier, unsigned parity) {
  while ((__hip_atomic_load(&barrier->phases, __ATOMIC_ACQUIRE, ${SCOPE}) & 1u) == parity) __builtin_amdgcn_s_sleep(1);
}`,
    needs: ["PhaseBarrier"],
  },
  subgroupBarrier: {
    text: `// The lanes of a wavefront meet, and see what the others wrote.
${DEVICE} void subgroupBarrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}`,
  },
};
