/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { attentionCases, chosenRows, expectedOf, objectiveCase } from "./cases.ts";
export { countAttention, sampleOf, sectionSampleOf } from "./counters.ts";
export { Extrapolator, canExtrapolate } from "./extrapolate.ts";
export type { CountedSubject } from "./guide/counted.ts";
export { countLadder, ladderGuideOf } from "./guide/index.ts";
export { lessonOf } from "./guide/lessons/index.ts";
export { DEFAULT_SHAPE, type OpenedInput, openAttentionInput, parseAttentionInput } from "./input.ts";
export { countTiles } from "./persistent.ts";
export { describePoint, rungPoints } from "./points.ts";
export { type Prediction, TimePredictor } from "./predict.ts";
export { parseShape, printShape, problemOf } from "./shape.ts";
export { workOf } from "./work.ts";
