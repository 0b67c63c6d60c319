/**
 * The simulator. Where things are:
 *
 * - device.ts, options.ts, state.ts: the device and what its launches share.
 * - program.ts: a compiled kernel; compiles, and binds memories to a launch. launch.ts: runs its workgroups, one after
 *   another, or with a seed several at once that take turns.
 * - explore.ts: checks a kernel under several schedules, and compares what they leave behind (outcomes.ts).
 * - analysis/: what is known of a kernel before code is written.
 * - codegen/: writes the JavaScript that executes one subgroup.
 * - runtime/: what that code calls: the scheduler of a workgroup's subgroups, copies in flight, phase barriers, vector
 *   clocks (happens-before.ts), loads that see older values (weak-memory.ts), what memories remember of accesses
 *   (storage.ts), and what is said where something is wrong.
 */

export { SimDevice, openSim } from "./device.ts";
export { explore } from "./explore.ts";
export type { Exploration, ExploreOptions, ExploreProgress } from "./explore.ts";
export type { ResolvedSimOptions, SimOptions } from "./options.ts";
export type { LaunchProgress } from "./pace.ts";
export type { Observed, ObservedAtomic, SimProgram } from "./program.ts";
export { SimulationAborted, SimulationError, formatFinding } from "./error.ts";
