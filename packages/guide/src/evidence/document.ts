/** A file of evidence: a report, and, around it, its origin. An error about one names the file and the field. */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import * as v from "valibot";
import { EvolverError, parseJson, parseWith, type DataSource } from "@evolver/base";
import { number, text } from "./schema-parts.ts";

/** Where a file came from; null is what it does not say. */
export interface Origin {
  readonly command: string | null;
  readonly date: string | null;
  readonly commit: string | null;
  readonly gpu: string | null;
}

/** A report, the file that it is from, and where that came from. */
export type Kept<Report> = Report & Origin & { readonly file: string };

/** One row of the table of sources. */
export interface Source extends Origin {
  readonly file: string;
  readonly exitCode: number | null;
  readonly seconds: number | null;
}

export interface EvidenceDocument {
  readonly path: string;
  readonly source: Source;
  readonly content: unknown;
  /** Whether the report is the field "result" of the document, and not all of it. */
  readonly isWrapped: boolean;
}

const maybe = <Schema extends v.GenericSchema>(schema: Schema) => v.nullish(schema, null);

/** What `evolver evidence collect` writes around a report; a bare report has little of it, or nothing. */
const envelope = v.looseObject({
  command: maybe(text),
  date: maybe(text),
  exitCode: maybe(number),
  seconds: maybe(number),
  gpu: maybe(text),
  versions: maybe(v.object({ commit: maybe(text) })),
  machine: maybe(v.object({ gpu: maybe(text) })),
});

const fileOf = (path: string): DataSource => ({
  what: "the evidence in",
  file: path,
  code: "EVIDENCE_INVALID",
  hint: "measure it again, or remove the file: the documents then say that it was not measured",
});

/** @throws EvolverError EVIDENCE_INVALID for a file that cannot be read, or is no JSON document */
export function readDocument(path: string): EvidenceDocument {
  const content = parseJson(textOf(path), fileOf(path));
  const { versions, machine, gpu, ...known } = parseWith(envelope, content, fileOf(path));
  return {
    path,
    content,
    isWrapped: "result" in known,
    source: {
      file: basename(path),
      command: known.command,
      date: known.date,
      commit: versions?.commit ?? null,
      gpu: machine?.gpu ?? gpu,
      exitCode: known.exitCode,
      seconds: known.seconds,
    },
  };
}

/** @throws EvolverError EVIDENCE_INVALID with the file and the first field that is not as it should be */
export function reportOf<Report>(
  { path, source, content, isWrapped }: EvidenceDocument,
  schema: v.GenericSchema<unknown, Report>,
): Kept<Report> {
  const { file, command, date, commit, gpu } = source;
  const report = isWrapped
    ? parseWith(v.object({ result: schema }), content, fileOf(path)).result
    : parseWith(schema, content, fileOf(path));
  return { ...report, file, command, date, commit, gpu };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("EVIDENCE_INVALID", `${path} cannot be read: ${what}`, {
      hint: "it is a file with a JSON document; remove what is there: the documents then say that it was not measured",
      cause: error,
    });
  }
}
