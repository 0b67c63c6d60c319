/**
 * The lab: studies, samplers, the judge, cycles and the workspace that keeps their records. It knows no kernel and
 * no command line.
 */

export { compareSamplers, type ComparisonReport, type CompareOptions } from "./compare.ts";
export { evolve, type EvolveEvent, type EvolveOptions } from "./evolve.ts";
export { mostPromising } from "./foresight.ts";
export { openJudgeProcess } from "./judge/client.ts";
export type { Admission, Judge, JudgeRequest, OpenJudge } from "./judge/judge.ts";
export { measureWallClock } from "./judge/wall-clock.ts";
export type { Json } from "./json.ts";
export * from "./plan.ts";
export { Random, deriveSeed } from "./random.ts";
export type { CandidateSummary, EvolveResult } from "./result.ts";
export { objectiveKey, objectiveSlug, type Champion, type CycleRecord, type Objective } from "./record.ts";
export { renderKnowledge } from "./render/knowledge.ts";
export { renderLog } from "./render/log.ts";
export { renderProgress } from "./render/progress.ts";
export { renderTasks } from "./render/tasks.ts";
export { samplerNamed } from "./sampler/index.ts";
export type { Memory, Proposal, Sampler, SamplerContext } from "./sampler/sampler.ts";
export { pointAt, pointKey, spaceSize, whyNotInSpace } from "./space.ts";
export * from "./study.ts";
export * from "./verdict.ts";
export { DEFAULT_POLICY, type Policy } from "./workspace/policy.ts";
export { Workspace, readRecords } from "./workspace/workspace.ts";
