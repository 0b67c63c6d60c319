/** What a machine can do: microbenchmarks, the machine profile that they give, and the cost model that stands on it. */

export * from "./cost-model/cost-model.ts";
export { estimateRegisters } from "./cost-model/registers.ts";
export * from "./microbench/index.ts";
export * from "./profile/profile.ts";
