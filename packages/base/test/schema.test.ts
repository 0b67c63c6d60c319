import {
  countSchema,
  EvolverError,
  nonEmptyTextSchema,
  objectSchema,
  parseJsonWith,
  parseWith,
  positiveSchema,
} from "@evolver/base";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";

const schema = v.strictObject({
  name: nonEmptyTextSchema,
  kind: v.picklist(["measured", "assumed"]),
  trials: v.array(v.object({ number: countSchema, time: v.nullable(positiveSchema) })),
  note: v.optional(v.string(), "none"),
});
const source = { what: "the thing", file: "thing.json", code: "THING_INVALID", hint: "write it anew" };
const good = { name: "a", kind: "measured", trials: [{ number: 0, time: 1.5 }] } as const;

/** The first line of what a value is refused with. */
function refusal(value: unknown): string {
  try {
    parseWith(schema, value, source);
  } catch (error) {
    if (!(error instanceof EvolverError)) throw error;
    expect(error.code).toBe("THING_INVALID");
    expect(error.hint).toBe("write it anew");
    return error.message.split("\n")[0] as string;
  }
  throw new Error("it was not refused");
}

test("data that fit come back typed, with defaults in place", () => {
  const thing = parseWith(schema, good, source);
  expect(thing).toEqual({ ...good, note: "none" });
  expectTypeOf(thing.kind).toEqualTypeOf<"measured" | "assumed">();
  expectTypeOf(thing.note).toEqualTypeOf<string>();
  expect(parseJsonWith(schema, JSON.stringify(good), source)).toEqual(thing);
});

test("an error names the file, the field, what is there and what belongs there", () => {
  const trial = (fields: object): object => ({ ...good, trials: [good.trials[0], fields] });
  expect(refusal({ ...good, name: 3 })).toBe('the thing thing.json: "name" is 3; it must be a text');
  expect(refusal({ ...good, name: " " })).toBe(
    'the thing thing.json: "name" is " "; it must be a text that is not empty',
  );
  expect(refusal({ ...good, kind: "guessed" })).toBe(
    'the thing thing.json: "kind" is "guessed"; it must be one of "measured", "assumed"',
  );
  expect(refusal(trial({ number: -1, time: null }))).toBe(
    'the thing thing.json: "trials[1].number" is -1; it must be a whole number from 0',
  );
  expect(refusal(trial({ number: 1.5, time: null }))).toMatch(
    /"trials\[1\]\.number" is 1\.5; it must be a whole number from 0$/,
  );
  expect(refusal(trial({ number: 1, time: 0 }))).toMatch(
    /"trials\[1\]\.time" is 0; it must be a positive number$/,
  );
  expect(refusal(trial({ number: 1, time: [] }))).toMatch(/is an empty list; it must be a positive number$/);
});

test("missing and unknown fields are told as such", () => {
  expect(refusal({ ...good, name: undefined })).toBe('the thing thing.json: "name" is missing');
  const { kind: _, ...rest } = good;
  expect(refusal(rest)).toBe('the thing thing.json: "kind" is missing');
  expect(refusal({ ...good, speed: 3 })).toBe('the thing thing.json: "speed" is unknown');
  expect(refusal({ ...good, trials: [{ time: 1 }] })).toBe(
    'the thing thing.json: "trials[0].number" is missing',
  );
});

test("what is no object at all is told so", () => {
  expect(refusal([])).toBe("the thing thing.json is an empty list; it must be an object");
  expect(refusal(null)).toBe("the thing thing.json is null; it must be an object");
  expect(refusal("text")).toBe('the thing thing.json is "text"; it must be an object');
});

test("all wrong fields are named, a few of many", () => {
  expect(refusal({ ...good, name: 1, kind: 2 })).toMatch(/"name" is 1; .* \(also wrong: "kind"\)$/);
  const trials = Array.from({ length: 9 }, () => ({ number: -1, time: null }));
  expect(refusal({ ...good, trials })).toMatch(
    /\(also wrong: "trials\[1\]\.number", .*"trials\[4\]\.number" and 4 more\)$/,
  );
});

test("long values are cut", () => {
  expect(refusal({ ...good, kind: "x".repeat(500) }).length).toBeLessThan(180);
});

test("an object is kept whole, and a list is none", () => {
  const schema = v.object({ details: objectSchema<Readonly<Record<string, unknown>>>() });
  expect(parseWith(schema, { details: { a: [1] } }, source)).toEqual({ details: { a: [1] } });
  expect(() => parseWith(schema, { details: [1] }, source)).toThrow(
    '"details" is a list; it must be an object',
  );
});
