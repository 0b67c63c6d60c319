/** The attention study: what the lab needs to improve attention. Products that use attention never load it. */

export { attentionGuide } from "./guide/index.ts";
export { attentionLadder } from "./ladder.ts";
export { attentionPointKernel, attentionRungKernel, type RungBuild, type RungKernel } from "./rung.ts";
export { attentionDefinition } from "./study.ts";
