/** Records of an evolution's cycles, as evidence keeps them: of each only what a plot shows. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { readDocument, reportOf } from "./document.ts";
import { number, positive, text } from "./schema-parts.ts";

const recordSchema = v.object({
  objective: v.object({ inputTitle: text, device: text }),
  trials: v.array(v.object({ number, verdict: v.object({ timeMs: v.nullable(positive) }) })),
  outcome: v.object({ champion: v.object({ timeMs: positive }) }),
});

export type KeptRecord = v.InferOutput<typeof recordSchema>;

/**
 * In the order of the cycles, which is that of their names.
 *
 * @param folder with a folder `records`; without it there are none
 * @throws EvolverError EVIDENCE_INVALID
 */
export function readKeptRecords(folder: string): KeptRecord[] {
  const records = join(folder, "records");
  if (!existsSync(records)) return [];
  return readdirSync(records)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => reportOf(readDocument(join(records, file)), recordSchema));
}
