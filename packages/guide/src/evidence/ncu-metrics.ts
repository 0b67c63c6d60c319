/** The metrics that are requested from Nsight Compute, and the simulator's counters that they are compared with. */

import type { Counters } from "@evolver/device";

/** A launch as the simulator counts it. */
export interface Counted {
  readonly counters: Counters;
  /** By the kernel's parameters; what else is in `counters.memory` is shared memory. */
  readonly globals: ReadonlySet<string>;
  readonly subgroupsPerWorkgroup: number;
}

export interface Comparison {
  readonly title: string;
  /** Metrics and what each counts for in the sum. Those that the GPU does not have, and are optional, count as 0. */
  readonly terms: Readonly<Record<string, number>>;
  readonly optional?: readonly string[];
  /** The same by the simulator. */
  sim(counted: Counted): number;
  /** A difference is small, too, where it is little of this: of what a few conflicts do not change, say. */
  readonly beside?: (counted: Counted) => number;
  /** Why the two differ where they do. */
  readonly note?: string;
}

const sumOf = (
  { counters, globals }: Counted,
  isGlobal: boolean,
  field: "readRequests" | "writeRequests" | "readSectors" | "writeSectors" | "readBytes" | "writeBytes",
): number =>
  Object.entries(counters.memory).reduce(
    (sum, [name, memory]) => sum + (globals.has(name) === isGlobal ? memory[field] : 0),
    0,
  );

/** Of asynchronous copies to shared memory, which are no ordinary loads and stores. */
const ASYNC = {
  bytes: "smsp__sass_data_bytes_mem_global_op_ldgsts.sum",
  instructions: "smsp__inst_executed_op_ldgsts.sum",
  wavefronts: "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
  conflicts: "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
};

/** Instructions by opcode; `NAME:BAR` is the value of one of them. */
export const OPCODES = "sass__inst_executed_per_opcode";

/** Counters that mean the same on both sides, or nearly. */
export const comparisons: readonly Comparison[] = [
  {
    title: "global load requests",
    // Asynchronous copies are among them.
    terms: { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1 },
    sim: (counted) => sumOf(counted, true, "readRequests"),
  },
  {
    title: "global load sectors",
    terms: { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 1 },
    sim: (counted) => sumOf(counted, true, "readSectors"),
  },
  {
    title: "global load bytes",
    terms: { "smsp__sass_data_bytes_mem_global_op_ld.sum": 1, [ASYNC.bytes]: 1 },
    optional: [ASYNC.bytes],
    sim: (counted) => sumOf(counted, true, "readBytes"),
  },
  {
    title: "global store requests",
    terms: { "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 1 },
    sim: (counted) => sumOf(counted, true, "writeRequests"),
  },
  {
    title: "global store sectors",
    terms: { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 1 },
    sim: (counted) => sumOf(counted, true, "writeSectors"),
  },
  {
    title: "global store bytes",
    terms: { "smsp__sass_data_bytes_mem_global_op_st.sum": 1 },
    sim: (counted) => sumOf(counted, true, "writeBytes"),
  },
  {
    title: "shared load instructions",
    terms: { "smsp__inst_executed_op_shared_ld.sum": 1 },
    sim: (counted) => sumOf(counted, false, "readRequests"),
  },
  {
    title: "shared store instructions",
    terms: { "smsp__inst_executed_op_shared_st_pred_on_any.sum": 1, [ASYNC.instructions]: 1 },
    optional: [ASYNC.instructions],
    sim: (counted) => sumOf(counted, false, "writeRequests"),
  },
  {
    title: "shared wavefronts",
    terms: {
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 1,
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 1,
      [ASYNC.wavefronts]: 1,
    },
    optional: [ASYNC.wavefronts],
    sim: ({ counters }) => counters.sharedPasses,
  },
  {
    title: "shared bank conflicts",
    terms: {
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 1,
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 1,
      [ASYNC.conflicts]: 1,
    },
    optional: [ASYNC.conflicts],
    sim: ({ counters }) => counters.sharedConflicts,
    beside: ({ counters }) => counters.sharedPasses,
    note: "the hardware counts some where other traffic, not a bank, is in the way: a thousandth of the wavefronts",
  },
  {
    title: "operations of fma, add and mul",
    terms: {
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 2,
      "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 1,
      "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 1,
    },
    sim: ({ counters }) => counters.flops - counters.specials,
    note: "the simulator counts the maxima of the softmax, too",
  },
  {
    title: "special-function instructions",
    terms: { "smsp__inst_executed_pipe_xu.sum": 1 },
    sim: ({ counters }) => counters.issuedSpecial,
    note: "the unit also converts between integers and floats, which divisions of indices do once per workgroup",
  },
  {
    title: "barriers, one per subgroup",
    terms: { [`${OPCODES}:BAR`]: 1 },
    sim: ({ counters, subgroupsPerWorkgroup }) => counters.barriers * subgroupsPerWorkgroup,
  },
  {
    title: "instructions",
    terms: { "smsp__inst_executed.sum": 1 },
    sim: ({ counters }) =>
      counters.issuedArithmetic + counters.issuedSpecial + counters.issuedMemory + counters.issuedSubgroup,
    note: "loop control, addresses and moves are free in the simulator",
  },
];

/** Read as they are; the simulator has nothing beside them. */
export const extras: readonly string[] = [
  "gpu__time_duration.sum",
  "smsp__cycles_elapsed.avg.per_second",
  "dram__bytes_read.sum",
  "dram__bytes_write.sum",
  "lts__t_sectors_op_read.sum",
  "lts__t_sectors_op_write.sum",
  "l1tex__t_sector_hit_rate.pct",
  "lts__t_sector_hit_rate.pct",
  "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
  "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
  "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
  "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
  "l1tex__data_pipe_lsu_wavefronts.sum",
  "smsp__inst_executed_op_branch.sum",
  "smsp__inst_executed_op_shared_st.sum",
  "smsp__inst_executed_op_global_st.sum",
  "smsp__inst_executed_op_global_st_pred_on_any.sum",
  "smsp__inst_executed_pipe_fma.sum",
  "smsp__inst_executed_pipe_alu.sum",
  "smsp__inst_executed_pipe_lsu.sum",
  "smsp__inst_executed_pipe_adu.sum",
  "smsp__inst_executed_pipe_cbu.sum",
  "smsp__thread_inst_executed_per_inst_executed.ratio",
  "smsp__issue_active.avg.pct_of_peak_sustained_active",
  "sm__warps_active.avg.pct_of_peak_sustained_active",
  "sm__maximum_warps_per_active_cycle_pct",
  "launch__registers_per_thread",
  "launch__shared_mem_per_block_static",
  "launch__shared_mem_per_block_dynamic",
  "launch__occupancy_limit_registers",
  "launch__occupancy_limit_shared_mem",
  "launch__occupancy_limit_warps",
  "launch__waves_per_multiprocessor",
];

/** Everything to ask for, but OPCODES. */
export const wantedMetrics: readonly string[] = [
  ...new Set([...comparisons.flatMap(({ terms }) => Object.keys(terms)), ...extras]),
].filter((name) => !name.startsWith(OPCODES));
