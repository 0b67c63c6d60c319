/** Parts of this library's own source files, as text: what the guide shows of a rung's code is read, never copied by hand. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EvolverError } from "@evolver/base";

/** Where the axes and what all rungs share lie. */
const FOLDER = join(import.meta.dirname, "..", "..", "..", "src", "flash");

/** A file below `flash`, or a part of it. */
export interface SourcePart {
  readonly file: string;
  /** How the part's first line begins, without its indentation; without it, all but imports and comments before them. */
  readonly from?: string;
}

/**
 * A part ends at the first line that is no deeper than its first one and closes it.
 *
 * @throws EvolverError SOURCE_PART_MISSING
 */
export function sourceOf({ file, from }: SourcePart): string {
  const lines = readFileSync(join(FOLDER, file), "utf8").trimEnd().split("\n");
  const wanted = (line: string): boolean =>
    from === undefined ? /^(?:export|function|class) /.test(line) : line.trimStart().startsWith(from);
  const start = lines.findIndex(wanted);
  if (start < 0)
    throw new EvolverError("SOURCE_PART_MISSING", `flash/${file} has no line that begins with "${from}"`, {
      hint: "name another part in packages/attention/src/study/guide/code.ts",
    });
  if (from === undefined) return lines.slice(start).join("\n");
  const depth = indentation(lines[start] as string);
  const last = lines.findIndex((line, i) => i > start && line !== "" && indentation(line) <= depth);
  const part = lines.slice(start, closes(lines[last]) ? last + 1 : last);
  return part.map((line) => line.slice(depth)).join("\n");
}

const indentation = (line: string): number => line.length - line.trimStart().length;

const closes = (line: string | undefined): boolean => /^\s*[)}\]]/.test(line ?? "");
