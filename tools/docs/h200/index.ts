/** The generated blocks that are made from evidence/h200/, by name. */

import { join } from "node:path";
import { checksBlock } from "./checks.ts";
import { evolutionBlock } from "./evolution.ts";
import { microbenchBlock } from "./microbench.ts";
import { ncuBlock } from "./ncu.ts";
import { peersBlock, webgpuBlock } from "./peers.ts";
import { readH200, type H200 } from "./read.ts";
import { ladderBlock, readmeBlock, sourcesBlock } from "./summary.ts";

const BLOCKS: Readonly<Record<string, (evidence: H200) => string>> = {
  "readme-h200": readmeBlock,
  "h200-peers": peersBlock,
  "h200-webgpu": webgpuBlock,
  "h200-ladder": ladderBlock,
  "h200-ncu": ncuBlock,
  "h200-microbench": microbenchBlock,
  "h200-evolution": evolutionBlock,
  "h200-checks": checksBlock,
  "h200-sources": sourcesBlock,
};

export const H200_BLOCKS: readonly string[] = Object.keys(BLOCKS);

const EVIDENCE = join(import.meta.dirname, "..", "..", "..", "evidence", "h200");

/**
 * All blocks as Markdown, by name. The same evidence gives the same text.
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export function h200Blocks(folder: string = EVIDENCE): ReadonlyMap<string, string> {
  const evidence = readH200(folder);
  return new Map(Object.entries(BLOCKS).map(([name, block]) => [name, block(evidence)]));
}
