import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { h200Datasheet, parseProfile, type ProfileSource } from "@evolver/machine";

const text = (change: object = {}): string => JSON.stringify({ ...h200Datasheet, ...change });

/** Every number, and the profile itself, of one source. */
const all = (source: ProfileSource): object =>
  Object.fromEntries(
    Object.entries(h200Datasheet).map(([field, value]) => [
      field,
      field === "source" ? source : typeof value === "object" ? { ...value, source } : value,
    ]),
  );

it("a profile is read back as it was written", () => {
  expect(parseProfile(text())).toEqual(h200Datasheet);
});

it("a measured profile may have what the driver says, and an assumed one anything", () => {
  const clockGHz = { value: 2, source: "driver" };
  expect(parseProfile(text({ ...all("measured"), clockGHz })).source).toBe("measured");
  expect(parseProfile(text({ ...all("measured"), source: "assumed" })).source).toBe("assumed");
  expect(parseProfile(text({ ...all("datasheet"), source: "assumed" })).source).toBe("assumed");
});

it("the H200's own is one", () => {
  const path = join(import.meta.dirname, "..", "..", "..", "..", "evidence", "h200", "profile.json");
  expect(parseProfile(readFileSync(path, "utf8")).source).toBe("measured");
});

describe("what is no profile is refused, by the field that is wrong", () => {
  it.each([
    ["no JSON", "{", /the machine profile is not JSON/],
    ["a list", "[]", /is an empty list; it must be an object/],
    ["nothing", "null", /is null; it must be an object/],
    ["a field that is missing", text({ barrierClocks: undefined }), /"barrierClocks" is missing/],
    ["a field that nobody knows", text({ teraflops: 3 }), /"teraflops" is unknown/],
    ["a bare number", text({ clockGHz: 2 }), /"clockGHz" is 2; it must be an object/],
    [
      "zero",
      text({ clockGHz: { value: 0, source: "measured" } }),
      /"clockGHz.value" is 0; it must be a positive/,
    ],
    [
      "no number",
      text({ clockGHz: { value: "fast", source: "measured" } }),
      /"clockGHz.value" is "fast"; it must be/,
    ],
    ["a number of no source", text({ clockGHz: { value: 2 } }), /"clockGHz.source" is missing/],
    [
      "a source that does not exist",
      text({ clockGHz: { value: 2, source: "heard" } }),
      /"heard"; it must be one of "measured", "driver"/,
    ],
    [
      "a profile of no source",
      text({ source: "rumour" }),
      /"source" is "rumour"; it must be one of "measured"/,
    ],
    ["a name that is none", text({ name: 3 }), /"name" is 3; it must be a text/],
    ["no name", text({ name: " " }), /"name" is " "; it must be a text that is not empty/],
    [
      "half a multiprocessor",
      text({ multiprocessors: { value: 0.5, source: "driver" } }),
      /"multiprocessors\.value" is 0\.5; it must be a whole number/,
    ],
    [
      "a part of a byte",
      text({ sharedBytesPerMultiprocessor: { value: 100.5, source: "driver" } }),
      /"sharedBytesPerMultiprocessor\.value" is 100\.5; it must be a whole number/,
    ],
    [
      "a rate with a field that nobody knows",
      text({ clockGHz: { value: 2, source: "driver", unit: "MHz" } }),
      /"clockGHz\.unit" is unknown/,
    ],
    [
      "a measured profile with an assumed number",
      text({ ...all("measured"), barrierClocks: { value: 30, source: "assumed" } }),
      /"barrierClocks\.source" is "assumed"; .* as the profile calls itself "measured"/,
    ],
    [
      "a driver's profile with a datasheet's number",
      text({ ...all("driver"), clockGHz: { value: 2, source: "datasheet" } }),
      /"clockGHz\.source" is "datasheet"; .* as the profile calls itself "driver"/,
    ],
    [
      "a width that no subgroup has",
      text({ subgroupSize: 33 }),
      /"subgroupSize" is 33; it must be a width of subgroups/,
    ],
  ])("%s", (_, given, message) => {
    expect(() => parseProfile(given)).toThrow(message);
    expect(() => parseProfile(given)).toThrow(expect.objectContaining({ code: "PROFILE_INVALID" }));
  });
});
