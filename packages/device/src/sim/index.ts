/**
 * The simulator. Where things are:
 *
 * - device.ts, options.ts, state.ts: the device and what its launches share.
 * - program.ts: a compiled kernel; compiles, and binds memories to a launch. launch.ts: runs its workgroups, one after
 *   another, in an order of its own.
 * - analysis/: what is known of a kernel before code is written.
 * - codegen/: writes the JavaScript that executes one subgroup.
 * - runtime/: what that code calls: the scheduler of a workgroup's subgroups, copies in flight, phase barriers, vector
 *   clocks (happens-before.ts), what memories remember of accesses (storage.ts), and what is said where something is wrong.
 */

export { SimDevice, openSim } from "./device.ts";
export type { ResolvedSimOptions, SimOptions } from "./options.ts";
export type { SimProgram } from "./program.ts";
export { SimulationError, formatFinding } from "./error.ts";
