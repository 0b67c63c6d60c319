/** The simulator's counters of a launch. All numbers are totals over the workgroups that ran. */

/** Bytes of a sector, the least that global memory brings. */
export const SECTOR_BYTES = 32;
/** Banks of shared memory, each of which serves a word of 4 bytes in a pass. */
export const SHARED_BANKS = 32;

/** What a launch did to one buffer or shared array. */
export interface MemoryCounters {
  /** Bytes that active lanes requested. */
  readBytes: number;
  writeBytes: number;
  /** Of atomic operations, which are in none of the others: one element per active lane, whether it is read, written or both. */
  atomicBytes: number;
  /** Load, store or atomic instructions, one per subgroup that has an active lane. */
  readRequests: number;
  writeRequests: number;
  atomicRequests: number;
  /** Global memory: distinct 32-byte sectors touched, summed over requests. Shared memory: 0. */
  readSectors: number;
  writeSectors: number;
  atomicSectors: number;
  /**
   * Shared memory: passes over the 32 banks of 4 bytes, summed over requests. Accesses of one word are served for 32 lanes
   * at once. Accesses of w words are served for 64/w consecutive lanes where each lane l and l xor 1, or each l and l xor 2,
   * access the same address, else for 32/w. A group of lanes takes as many passes as the most loaded bank has distinct
   * words. This agrees with NVIDIA's counters (evidence/h200/ncu.json). Atomic operations are served as accesses of a word
   * each; how long lanes take that change one word is not counted.
   */
  passes: number;
  /** Shared memory: passes beyond the first of each group of lanes. */
  conflicts: number;
}

/** What a launch did, in all its workgroups together. */
export interface Counters {
  workgroups: number;
  invocations: number;
  /** Sums over the buffers, and over the shared arrays, of the entries in `memory`. */
  globalReadBytes: number;
  globalWriteBytes: number;
  globalSectors: number;
  sharedReadBytes: number;
  sharedWriteBytes: number;
  sharedPasses: number;
  sharedConflicts: number;
  /** Barriers passed, one for each time a whole workgroup passes one. */
  barriers: number;
  /** Barriers of a subgroup, one each time a subgroup passes one. */
  subgroupBarriers: number;
  /**
   * Asynchronous copies started, one per subgroup each time. Bytes and sectors read count in the buffer's entry when a copy
   * starts; bytes written and passes in the shared array's, as those of a store of its width, when it lands.
   */
  asyncCopies: number;
  /** Conditional branches and loop tests, one per subgroup each time it decides. */
  branches: number;
  /** Those on which the active lanes of a subgroup disagreed. */
  divergentBranches: number;
  /** Atomic operations, one per active lane. */
  globalAtomics: number;
  sharedAtomics: number;
  /**
   * Floating-point operations of active lanes: an fma is two; a sum, product, quotient, minimum, maximum, rounding or special
   * function one; a sign (neg, abs), comparison, choice or conversion none. A sum, minimum or maximum of a subgroup of
   * width W is log2 W per lane, a scan as many as the lane adds, and an atomic addition of f32 one.
   */
  flops: number;
  /** Special-function operations (division, sqrt, exp, …) of active lanes; they are in `flops` too. */
  specials: number;
  /**
   * Instructions issued by subgroups, by kind; loop control and variables are free. Memory: loads, stores, atomic operations,
   * starts of copies, arrivals at phase barriers and waits for copies and phases (one per wait, however long it takes).
   */
  issuedArithmetic: number;
  /** Of issuedArithmetic, those with no floating-point operand or result: compilers fold most of them into addresses. */
  issuedInteger: number;
  issuedSpecial: number;
  issuedMemory: number;
  issuedSubgroup: number;
  /** By the name of the buffer or shared array. */
  memory: Record<string, MemoryCounters>;
}

/** Zeros. */
export function emptyMemoryCounters(): MemoryCounters {
  return {
    readBytes: 0,
    writeBytes: 0,
    atomicBytes: 0,
    readRequests: 0,
    writeRequests: 0,
    atomicRequests: 0,
    readSectors: 0,
    writeSectors: 0,
    atomicSectors: 0,
    passes: 0,
    conflicts: 0,
  };
}
