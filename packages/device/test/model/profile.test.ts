import { describe, expect, it } from "vitest";
import { h200Datasheet, parseProfile } from "../../src/model/profile.ts";

const text = (change: object = {}): string => JSON.stringify({ ...h200Datasheet, ...change });

it("a profile is read back as it was written", () => {
  expect(parseProfile(text())).toEqual(h200Datasheet);
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
    ["a width that no subgroup has", text({ subgroupSize: 33 }), /33 for "subgroupSize"/],
  ])("%s", (_, given, message) => {
    expect(() => parseProfile(given)).toThrow(message);
    expect(() => parseProfile(given)).toThrow(expect.objectContaining({ code: "PROFILE_INVALID" }));
  });
});
