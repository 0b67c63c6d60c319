/** Checks of a kernel by its example launch, for the command line and for tests. Not needed to run kernels. */

export { checkKernel, type CheckOptions, type KernelCheck } from "./check-kernel.ts";
export { exampleLaunch, type CheckLaunch, type LaunchOptions } from "./example-launch.ts";
export {
  describeFinding,
  describeLaunch,
  nativeUse,
  shortList,
  type ToldAccess,
  type ToldFinding,
} from "./told.ts";
