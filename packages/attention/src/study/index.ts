/** The attention study: what the lab needs to improve attention. Products that use attention never load it. */

export { attentionEvidence } from "./guide/measured.ts";
export { study } from "./study.ts";
