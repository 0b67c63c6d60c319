/** Records: what is damaged is told by its field; what a later version adds is kept. */

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { parseRecord, printRecord } from "@evolver/lab/internal";

const EVIDENCE = join(import.meta.dirname, "..", "..", "..", "evidence");
const [file] = globSync("**/records/*.json", { cwd: EVIDENCE }).toSorted() as [string];
const text = readFileSync(join(EVIDENCE, file), "utf8");
const path = `records/${basename(file)}`;
const parse = (changed: string, at = path): unknown => parseRecord(changed, at, "git restore it");

it("a record is read as it was written, with fields that this version does not know", () => {
  const record = JSON.parse(text) as Parameters<typeof printRecord>[0];
  expect(parse(text)).toEqual(record);
  const later = { ...record, energy: { joules: 3 }, reflection: { ...record.reflection, doubt: "some" } };
  expect(parse(printRecord(later))).toEqual(later);
});

it.each([
  ["no JSON", () => "{", /is not JSON: /],
  ["nothing", () => "null", /is null; it must be an object/],
  ["a list", () => "[]", /is an empty list; it must be an object/],
  ["another format", change('"format":1', '"format":7'), /"format" is 7; this program reads format 1/],
  ["a text for a number", change(/"seed":\d+/, '"seed":"one"'), /"seed" is "one"; it must be a whole number/],
  ["a trial of no number", change(/"number":\d+/, '"number":-1'), /"trials\[0\]\.number" is -1/],
  [
    "a status of its own",
    change(/"status":"[^"]+"/, '"status":"fine"'),
    /\.status" is "fine"; it must be one of/,
  ],
  ["a candidate of no kind", change('"kind":"point"', '"kind":"line"'), /candidate\.kind" is "line"/],
  ["a negative time", change(/"timeMs":[\d.]+/, '"timeMs":-1'), /timeMs" is -1; it must be more than 0/],
  ["no time at all", change(/"timeMs":[\d.]+/, '"timeMs":0'), /timeMs" is 0; it must be more than 0/],
  ["a negative seed", change(/"seed":\d+/, '"seed":-3'), /"seed" is -3/],
  ["a negative duration", change(/"durationMs":\d+/, '"durationMs":-3'), /"durationMs" is -3/],
  ["no date", change('"date":', '"day":'), /"date" is missing/],
])("with %s it is refused, by the field, and with what to do", (_, damage, told) => {
  expect(() => parse(damage(text))).toThrow(told);
  expect(() => parse(damage(text))).toThrow(`the damaged record ${path}`);
  expect(() => parse(damage(text))).toThrow(/help: git restore it$/);
  expect(() => parse(damage(text))).toThrow(expect.objectContaining({ code: "RECORD_CORRUPT" }));
});

it("under another's name it is refused", () => {
  expect(() => parse(text, "records/01AAAAAAAAAAAAAAAAAAAAAAAA.json")).toThrow(
    /"id" is ".*"; it must be the name of the file/,
  );
});

function change(what: string | RegExp, by: string): (record: string) => string {
  return (record) => {
    const changed = record.replace(what, by);
    if (changed === record) throw new Error(`the record has no ${what}`);
    return changed;
  };
}
