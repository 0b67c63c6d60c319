/** One word for each thing here, and what CUDA and HIP call it. */

export const GLOSSARY: readonly (readonly [string, string, string, string])[] = [
  [
    "invocation, lane",
    "thread, lane",
    "work-item, lane",
    "one run of the kernel's body; a lane is its place in the subgroup",
  ],
  ["subgroup", "warp (32)", "wavefront (64, or 32)", "lanes that execute together and can exchange values"],
  [
    "workgroup",
    "thread block, CTA",
    "workgroup, block",
    "invocations that share memory and can wait for each other",
  ],
  ["dispatch of workgroups", "grid", "grid", "all workgroups of a launch"],
  ["multiprocessor", "SM", "compute unit (CU)", "the unit that runs workgroups and has their shared memory"],
  ["storage buffer, global memory", "global memory", "global memory", "memory that all workgroups access"],
  ["workgroup memory, shared memory", "`__shared__`", "`__shared__`, LDS", "fast memory of one workgroup"],
  ["sector", "sector", "part of a cache line", "32 bytes: the smallest unit that global memory transfers"],
  ["bank", "bank", "LDS bank", "one of the 32 columns, 4 bytes wide, of shared memory"],
  [
    "bank conflict",
    "bank conflict",
    "LDS bank conflict",
    "an additional pass, as lanes want different words of one bank",
  ],
  [
    "`workgroupBarrier`",
    "`__syncthreads`",
    "`__syncthreads`, `s_barrier`",
    "no invocation goes on until all have arrived",
  ],
  [
    "`subgroupBroadcast`, `subgroupShuffle`",
    "`__shfl_sync`",
    "`__shfl`",
    "a value from another lane's register",
  ],
  [
    "none; copied at once",
    "`cp.async`",
    "none here; copied at once",
    "a copy from global to shared memory that runs while the lanes go on",
  ],
  ["none; one barrier per tile", "mbarrier", "two words of LDS", "a phase barrier: some arrive, others wait"],
  ["`atomicAdd`", "`atomicAdd`", "`atomicAdd`", "addition that no other access can interrupt"],
  ["register", "register", "VGPR", "memory of one lane"],
  [
    "occupancy",
    "occupancy",
    "occupancy",
    "how many subgroups a multiprocessor holds at once, to hide waiting",
  ],
];
