/** Every task has a line in the registry and every line a file. */

import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { tasks } from "@evolver/tasks";
import { expect, it } from "vitest";

const folder = join(import.meta.dirname, "..", "src");

it("has each file of a task once", () => {
  const files = globSync("*.ts", { cwd: folder }).map((path) => basename(path, ".ts"));
  const ids = files.filter((name) => name !== "index" && name !== "tasks");
  expect(tasks.map(({ id }) => id).sort()).toEqual(ids.sort());
});
