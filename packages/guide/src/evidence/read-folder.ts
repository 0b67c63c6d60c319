/**
 * A folder of evidence, such as evidence/h200: what was measured on one machine. Every file may be absent; one that is there
 * has to be whole.
 */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type * as v from "valibot";
import { EvolverError } from "@evolver/base";
import { prose } from "../markdown.ts";
import { readChecks, type Checks } from "./checks.ts";
import {
  costModelSchema,
  orderingSchema,
  type CostModelEvidence,
  type OrderingEvidence,
} from "./cost-model.ts";
import { readDocument, reportOf, type EvidenceDocument, type Kept, type Source } from "./document.ts";
import { evolutionSchema, type Evolution } from "./evolution.ts";
import { ladderSchema, type LadderPair } from "./ladder.ts";
import { microbenchSchema, type MicrobenchEvidence } from "./microbench.ts";
import { ncuSchema, type NcuEvidence } from "./ncu.ts";
import { peersSchema, type Peers } from "./peers.ts";
import type { MeasuredStudy } from "./study.ts";

/** What a guide to a ladder shows. */
export interface Evidence {
  /** The first is what the guide's chart and table show. */
  readonly ladders: readonly LadderPair[];
  readonly peers: Peers | null;
  readonly peersWebgpu: Peers | null;
  readonly ncu: NcuEvidence | null;
  readonly microbench: MicrobenchEvidence | null;
  /** What the measurements of a rung say, in prose, by its id: notes/attention/k05.md. */
  readonly notes: ReadonlyMap<string, string>;
}

/** What the tables of documents are made of. */
export interface MachineEvidence extends Evidence {
  readonly study: MeasuredStudy;
  readonly sources: readonly Source[];
  readonly evolutions: readonly Evolution[];
  readonly checks: Checks;
  readonly costModel: CostModelEvidence | null;
  readonly ordering: OrderingEvidence | null;
  /** Whether the folder has such a file: a plot, a log. */
  has(file: string): boolean;
}

export const NO_EVIDENCE: Evidence = Object.freeze({
  ladders: [],
  peers: null,
  peersWebgpu: null,
  ncu: null,
  microbench: null,
  notes: new Map(),
});

/**
 * @throws EvolverError EVIDENCE_NOT_FOUND where there is no such folder; EVIDENCE_INVALID, with the file and the field, for
 *   a file that is not what it should be
 */
export function readEvidence(folder: string, study: MeasuredStudy): Evidence {
  return evidenceIn(new Folder(folder), study);
}

/** @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID */
export function readMachineEvidence(path: string, study: MeasuredStudy): MachineEvidence {
  const folder = new Folder(path);
  const evolutions = folder.names().filter((name) => name.startsWith("evolve-"));
  return {
    ...evidenceIn(folder, study),
    study,
    sources: folder.names().flatMap((name) => folder.document(name)?.source ?? []),
    evolutions: evolutions.flatMap(
      (name) => folder.load(name, evolutionSchema(study, name.slice("evolve-".length))) ?? [],
    ),
    checks: readChecks((name, schema) => folder.load(name, schema)),
    costModel: folder.load("cost-model", costModelSchema),
    ordering: folder.load("cost-model-ordering", orderingSchema),
    has: (file) => existsSync(join(path, file)),
  };
}

function evidenceIn(folder: Folder, study: MeasuredStudy): Evidence {
  const own = (name: string): string => `${study.prefix}${name}`;
  const pair = (suffix: string): LadderPair => ({
    cuda: folder.load(own(`ladder-cuda${suffix}`), ladderSchema(study)),
    webgpu: folder.load(own(`ladder-webgpu${suffix}`), ladderSchema(study)),
  });
  return {
    ladders: study.ladders
      .map((suffix) => pair(suffix))
      .filter(({ cuda, webgpu }) => cuda !== null || webgpu !== null),
    peers: folder.load(own("peers"), peersSchema(study)),
    peersWebgpu: folder.load(own("peers-webgpu"), peersSchema(study)),
    ncu: folder.load(own("ncu"), ncuSchema(study)),
    microbench: folder.load("microbench", microbenchSchema),
    notes: new Map(
      study.rungs.flatMap(({ id }) => {
        const note = folder.text(join("notes", study.id, `${id}.md`));
        return note === null ? [] : [[id, note]];
      }),
    ),
  };
}

/** Reads each file once. */
class Folder {
  readonly #path: string;
  readonly #documents = new Map<string, EvidenceDocument>();

  constructor(path: string) {
    if (!existsSync(path) || !statSync(path).isDirectory())
      throw new EvolverError("EVIDENCE_NOT_FOUND", `there is no folder ${path}`, {
        hint: "name a folder such as evidence/h200, or leave --evidence out; files may be missing in it",
      });
    this.#path = path;
  }

  names(): string[] {
    return readdirSync(this.#path)
      .filter((file) => file.endsWith(".json"))
      .map((file) => file.slice(0, -".json".length))
      .toSorted();
  }

  document(name: string): EvidenceDocument | null {
    const path = join(this.#path, `${name}.json`);
    if (!existsSync(path)) return null;
    const read = this.#documents.get(name) ?? readDocument(path);
    this.#documents.set(name, read);
    return read;
  }

  /** Of a text file, without the line breaks that only wrap it. */
  text(file: string): string | null {
    const path = join(this.#path, file);
    return existsSync(path) ? prose(readFileSync(path, "utf8")) : null;
  }

  load<Report>(name: string, schema: v.GenericSchema<unknown, Report>): Kept<Report> | null {
    const document = this.document(name);
    return document === null ? null : reportOf(document, schema);
  }
}
