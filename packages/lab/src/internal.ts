/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { byProcessorTime, processorTimeOf } from "./judge/deadline.ts";
export { startOf } from "./cycle/start.ts";
export { checkCandidatePlan } from "./judge/candidate-plan.ts";
export { compareOutputs, compareUnknown, trivialAnswer } from "./study/compare-outputs.ts";
export { parseAnswer, parseQuestion } from "./judge/protocol.ts";
export { failedVerdict } from "./judge/verdict.ts";
export { PlanRunner } from "./judge/runner.ts";
export { explainFailure } from "./workspace/files.ts";
export { parsePolicy } from "./workspace/policy.ts";
export { parseRecord, printRecord } from "./workspace/record.ts";
export { gitIn } from "./workspace/git.ts";
