/** A file of evidence: a report, and, around it, where it came from. What is wrong with one is said by file and field. */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import * as v from "valibot";
import { EvolverError } from "@evolver/base";
import { number, record, text } from "./schema.ts";

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
  readonly report: unknown;
  /** Before the names of the report's fields: "result", or nothing for a bare report. */
  readonly prefix: readonly string[];
}

const maybe = <Schema extends v.GenericSchema>(schema: Schema) => v.nullish(schema, null);

/** What `evolver evidence collect` writes around a report; a bare report has little of it, or nothing. */
const envelope = v.looseObject({
  command: maybe(text),
  date: maybe(text),
  exitCode: maybe(number),
  seconds: maybe(number),
  gpu: maybe(text),
  versions: maybe(record({ commit: maybe(text) })),
  machine: maybe(record({ gpu: maybe(text) })),
});

/** @throws EvolverError EVIDENCE_INVALID for a file that cannot be read, or is no JSON document */
export function readDocument(path: string): EvidenceDocument {
  const document = parseJson(path, textOf(path));
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw refusal(path, "the document", document, "an object");
  const { command, date, exitCode, seconds, gpu, versions, machine } = parse(path, [], envelope, document);
  const isWrapped = Object.hasOwn(document, "result");
  return {
    path,
    source: {
      file: basename(path),
      command,
      date,
      commit: versions?.commit ?? null,
      gpu: machine?.gpu ?? gpu,
      exitCode,
      seconds,
    },
    report: isWrapped ? (document as { readonly result: unknown }).result : document,
    prefix: isWrapped ? ["result"] : [],
  };
}

/** @throws EvolverError EVIDENCE_INVALID with the file and the first field that is not as it should be */
export function reportOf<Report>(
  { path, source, report, prefix }: EvidenceDocument,
  schema: v.GenericSchema<unknown, Report>,
): Kept<Report> {
  const { file, command, date, commit, gpu } = source;
  return { ...parse(path, prefix, schema, report), file, command, date, commit, gpu };
}

function parse<Output>(
  path: string,
  prefix: readonly string[],
  schema: v.GenericSchema<unknown, Output>,
  value: unknown,
): Output {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const keys: readonly unknown[] = [...prefix, ...(issue.path ?? []).map(({ key }) => key)];
  const field = keys.reduce<string>(
    (name, key) =>
      typeof key === "number" ? `${name}[${key}]` : name === "" ? String(key) : `${name}.${String(key)}`,
    "",
  );
  throw refusal(path, field === "" ? "the document" : field, issue.input, issue.message);
}

function refusal(path: string, field: string, found: unknown, wanted: string): EvolverError {
  const shown =
    found === undefined ? "missing" : `${(JSON.stringify(found) ?? "").slice(0, 60)}, and must be ${wanted}`;
  return new EvolverError("EVIDENCE_INVALID", `${path}: ${field} is ${shown}`, { hint: HINT });
}

const HINT = "measure it again, or remove the file: the documents then say that it was not measured";

function parseJson(path: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new EvolverError("EVIDENCE_INVALID", `${path} is no JSON document: ${String(error)}`, {
      hint: HINT,
      cause: error,
    });
  }
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
