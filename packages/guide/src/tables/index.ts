/** The tables of documents that are made of evidence, as Markdown by the name of their block. */

import { readMachineEvidence, type MachineEvidence } from "../evidence/read-folder.ts";
import type { MeasuredStudy } from "../evidence/study.ts";
import { checksBlock } from "./checks.ts";
import { costModelBlock } from "./cost-model.ts";
import { evolutionBlock } from "./evolution.ts";
import { microbenchBlock } from "./microbench.ts";
import { ncuBlock } from "./ncu.ts";
import { peersBlock, webgpuBlock } from "./peers.ts";
import { ladderBlock, readmeBlock, sourcesBlock } from "./summary.ts";

export { COLUMNS } from "./ncu.ts";
export * from "./times.ts";

const BLOCKS: Readonly<Record<string, (evidence: MachineEvidence) => string>> = {
  "readme-h200": readmeBlock,
  "h200-peers": peersBlock,
  "h200-webgpu": webgpuBlock,
  "h200-ladder": ladderBlock,
  "h200-ncu": ncuBlock,
  "h200-microbench": microbenchBlock,
  "h200-evolution": evolutionBlock,
  "h200-checks": checksBlock,
  "h200-sources": sourcesBlock,
  "cost-model": costModelBlock,
};

export const EVIDENCE_BLOCKS: readonly string[] = Object.keys(BLOCKS);

/**
 * All blocks by name. The same evidence gives the same text.
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export function evidenceBlocks(folder: string, study: MeasuredStudy): ReadonlyMap<string, string> {
  const evidence = readMachineEvidence(folder, study);
  return new Map(Object.entries(BLOCKS).map(([name, block]) => [name, block(evidence)]));
}
