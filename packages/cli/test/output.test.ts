/** Tables as people read them. */

import { expect, it } from "vitest";
import { table } from "evolver/internal";

it("a wrapped column continues on the next line, and no word is lost", () => {
  const text = "shared 16×64, padded, ring of 4";
  const shown = table(
    [
      { id: "1", text },
      { id: "2", text: "k" },
    ],
    [
      { title: "id", value: ({ id }) => id },
      { title: "what", value: (row) => row.text, wrap: 14 },
    ],
  );
  expect(shown.split("\n")).toEqual([
    "id  what",
    "──  ─────────────",
    "1   shared 16×64,",
    "    padded, ring",
    "    of 4",
    "2   k",
  ]);
});
