import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { h200Datasheet, parseProfile, type ProfileSource } from "../../src/profile/profile.ts";

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
    ["no JSON", "{", /is no JSON/],
    ["a list", "[]", /is no JSON object/],
    ["nothing", "null", /is no JSON object/],
    ["a field that is missing", text({ barrierClocks: undefined }), /lacks "barrierClocks"/],
    ["a field that nobody knows", text({ teraflops: 3 }), /unknown field "teraflops"/],
    ["a bare number", text({ clockGHz: 2 }), /no positive number in "clockGHz.value"/],
    ["zero", text({ clockGHz: { value: 0, source: "measured" } }), /"clockGHz.value"/],
    ["no number", text({ clockGHz: { value: "fast", source: "measured" } }), /"clockGHz.value"/],
    ["a number of no source", text({ clockGHz: { value: 2 } }), /where "clockGHz" is from/],
    ["a source that does not exist", text({ clockGHz: { value: 2, source: "heard" } }), /one of measured/],
    ["a profile of no source", text({ source: "rumour" }), /where the profile is from/],
    ["a name that is none", text({ name: 3 }), /no string for "name"/],
    ["no name", text({ name: " " }), /no text for "name"/],
    [
      "half a multiprocessor",
      text({ multiprocessors: { value: 0.5, source: "driver" } }),
      /0\.5 in "multiprocessors\.value", which is no whole number/,
    ],
    [
      "a part of a byte",
      text({ sharedBytesPerMultiprocessor: { value: 100.5, source: "driver" } }),
      /"sharedBytesPerMultiprocessor\.value", which is no whole number/,
    ],
    [
      "a rate with a field that nobody knows",
      text({ clockGHz: { value: 2, source: "driver", unit: "MHz" } }),
      /unknown field "clockGHz\.unit"/,
    ],
    [
      "a measured profile with an assumed number",
      text({ ...all("measured"), barrierClocks: { value: 30, source: "assumed" } }),
      /"measured" for its "source", and "assumed" for that of "barrierClocks"/,
    ],
    [
      "a driver's profile with a datasheet's number",
      text({ ...all("driver"), clockGHz: { value: 2, source: "datasheet" } }),
      /"driver" for its "source", and "datasheet" for that of "clockGHz"/,
    ],
    ["a width that no subgroup has", text({ subgroupSize: 33 }), /33 for "subgroupSize"/],
  ])("%s", (_, given, message) => {
    expect(() => parseProfile(given)).toThrow(message);
    expect(() => parseProfile(given)).toThrow(expect.objectContaining({ code: "PROFILE_INVALID" }));
  });
});
