/**
 * The lab: studies, samplers, the judge, cycles and the workspace that keeps their records. It knows no kernel and
 * no command line.
 */

export { compareSamplers, type ComparisonReport, type CompareOptions } from "./cycle/compare.ts";
export { evolve, type EvolveEvent, type EvolveOptions } from "./cycle/evolve.ts";
export { mostPromising } from "./cycle/time-predictor.ts";
export { openJudgeProcess } from "./judge/client.ts";
export { openJudgeInProcess } from "./judge/in-process.ts";
export type { Admission, Judge, JudgeRequest, OpenJudge } from "./judge/judge.ts";
export { measureWallClock } from "./study/wall-clock.ts";
export type { CandidateSummary, EvolveResult } from "./cycle/result.ts";
export { objectiveSlug, type Champion, type CycleRecord, type Objective } from "./workspace/record.ts";
export { renderLog } from "./workspace/render/log.ts";
export { renderProgress } from "./workspace/render/progress.ts";
export { renderTasks } from "./workspace/render/tasks.ts";
export { samplerNamed } from "./sampler/index.ts";
export type { Memory, Proposal, Sampler, SamplerContext } from "./sampler/sampler.ts";
export { pointAt, pointKey, spaceSize, whyNotInSpace } from "./study/space.ts";
export * from "./study/case.ts";
export * from "./study/evidence.ts";
export type * from "./study/measurement.ts";
export type * from "./study/open-study.ts";
export { defaultMachine, openMachine, parseMachine, profileOption } from "./study/machine.ts";
export { fileOf, loadedFile, loadKernels, type NamedKernel } from "./load-kernel.ts";
export { pointsOf, verify, type Verification, type VerifyOptions } from "./tunable/verify.ts";
export { fileStudy } from "./tunable/file-study.ts";
export { openTunable, studyOf, type TunableSource } from "./tunable/study.ts";
export { roofOf, shareOfRoof, type Roof } from "./study/roof.ts";
export { resolveOwnPackages } from "./own-packages.ts";
export { readInput, type ReadErrors } from "./study/read-input.ts";
export { countersOf, mixCounters } from "./study/counters.ts";
export { explainModelled, type ExplainOptions, type Remedies } from "./study/explain.ts";
export { runLadder, verifyOutputs, type OpenLadder, type Verified } from "./study/ladder.ts";
export {
  measureCandidate,
  orNull,
  predictFromSample,
  type Inputs,
  type MeasureOptions,
  type PredictOptions,
} from "./study/measure.ts";
export { countPlan, modelLaunch, type CountedLaunch, type CountedPlan } from "./study/modelled.ts";
export { countModuleCandidate, drawnWorkgroups, type ProblemWork } from "./study/module-candidate.ts";
export { evenSample } from "./study/sample.ts";
export { candidateSources, kernelFile, type CandidateParts } from "./study/sources.ts";
export { targetOf, timesFrom, type Target } from "./study/target.ts";
export { integerOption, type StudyInput, type StudyOption } from "./study/option.ts";
export type * from "./study/point.ts";
export type * from "./study/report.ts";
export type * from "./study/study.ts";
export type { Candidate, CaseOutcome, Trial, Verdict, VerdictStatus } from "./judge/verdict.ts";
export { DEFAULT_POLICY, type Policy } from "./workspace/policy.ts";
export { readRecords } from "./workspace/records.ts";
export { Workspace, commitSettled } from "./workspace/workspace.ts";
