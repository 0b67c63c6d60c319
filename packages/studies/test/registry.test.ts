/** The registry: every study in it is whole. */

import { expect, it } from "vitest";
import { loadStudy, studyNames } from "@evolver/studies";

it("names the studies there are where there is no such", async () => {
  await expect(loadStudy("matmul")).rejects.toThrow(`studies are ${studyNames.join(", ")}`);
  await expect(loadStudy("toString")).rejects.toMatchObject({ code: "UNKNOWN_STUDY" });
});

it.each(studyNames)("%s is what another process finds by its module and export", async (name) => {
  const study = await loadStudy(name);
  expect(study.id).toBe(name);
  const module = (await import(study.module)) as Record<string, unknown>;
  expect(module[study.export]).toBe(study);
});

it.each(studyNames)(
  "%s has a default for each option, and its input is the same when read again",
  async (name) => {
    const study = await loadStudy(name);
    const input = await study.parseInput({});
    const copy = JSON.parse(JSON.stringify(input)) as typeof input;
    expect(copy).toEqual(input);
    expect(await study.parseInput(copy)).toEqual(input);
    const [first, second] = [await study.open(input, { id: "sim" }), await study.open(copy, { id: "sim" })];
    expect(second.inputTitle).toBe(first.inputTitle);
    const names = study.options.map((option) => option.name);
    expect(new Set(names).size).toBe(names.length);
  },
);
