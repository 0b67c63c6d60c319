/** Where a search begins. */

import { expect, it } from "vitest";
import type { OpenStudy } from "@evolver/lab";
import { startOf } from "@evolver/lab/internal";

const study = { baseline: { width: 1 }, named: { wide: { width: 8 } } } as unknown as OpenStudy;

it("begins with the baseline, or with a named point", () => {
  expect(startOf(study, undefined)).toEqual({ width: 1 });
  expect(startOf(study, "wide")).toEqual({ width: 8 });
});

it("names the nearest to a name that is a little wrong", () => {
  expect(() => startOf(study, "wider")).toThrowError(
    expect.objectContaining({ hint: expect.stringMatching(/^did you mean "wide"\? /) }),
  );
});

it.each(["narrow", "toString", ""])("refuses %j and says what there is", (name) => {
  expect(() => startOf(study, name)).toThrowError(
    expect.objectContaining({ code: "UNKNOWN_RUNG", hint: expect.stringContaining("wide") }),
  );
});
