/** JSON as it is stored, compared and read. */

import { EvolverError } from "./errors.ts";

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** One line, keys sorted, so that equal data are equal text: for comparing and hashing. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}

/** As a file has it: indented by two spaces, with a newline at the end. */
export function printJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Where data are from, and how an error about them is told. */
export interface DataSource {
  /** What it is, with its article: "the machine profile". */
  readonly what: string;
  /** Path or name of the file; absent where the data are from no file. */
  readonly file?: string | undefined;
  /** Of the error. */
  readonly code: string;
  /** What the reader should do about it. */
  readonly hint?: string | undefined;
}

/** "the record records/1.json". */
export const nameOf = ({ what, file }: DataSource): string => (file === undefined ? what : `${what} ${file}`);

/** @throws EvolverError with the source's code where the text is no JSON */
export function parseJson(text: string, source: DataSource): unknown {
  try {
    // Some editors put a byte order mark before the text.
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EvolverError(source.code, `${nameOf(source)} is not JSON: ${why}`, {
      hint: source.hint,
      cause,
    });
  }
}
