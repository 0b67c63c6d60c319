/** docs/language.md states the bounds of functions as the table in the code has them. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeBound, numericBounds, type Bound, type BoundedOp } from "@evolver/kernel";

const root = join(import.meta.dirname, "..", "..", "..");
const page = join(root, "docs", "language.md");
const MARK = "<!-- bounds -->";

interface Evidence {
  readonly [device: string]: {
    readonly device: string;
    readonly bounds: readonly { op: string; ulps: number }[];
  };
}

/** The table; columns of what was measured stand behind those of what is stated. */
function table(): string {
  const evidence = JSON.parse(
    readFileSync(join(root, "evidence", "numeric-bounds.json"), "utf8"),
  ) as Evidence;
  const measured = Object.entries(evidence).filter(([, { device }]) => device !== "sim" && device !== "cpu");
  const heads = measured.map(
    ([name]) =>
      `measured on ${name.replace(/(?: driver|: [\d.]+ ).*$/, "").replace(/google swiftshader |nvidia /, "")}`,
  );
  const rows = (Object.keys(numericBounds) as BoundedOp[]).map((op) => {
    const { js, wgsl, cuda, hip } = numericBounds[op] as Readonly<
      Record<"js" | "wgsl" | "cuda" | "hip", Bound>
    >;
    const found = measured.map(
      ([, { bounds }]) => bounds.find((one) => one.op === op)?.ulps.toFixed(2) ?? "–",
    );
    return [
      `\`${op}\``,
      ...[js, wgsl, cuda, hip].map((bound) => describeBound(bound).replaceAll("|", "\\|")),
      ...found,
    ];
  });
  const head = ["", "`sim`, `cpu`, JavaScript", "WGSL", "CUDA", "HIP", ...heads];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

test("the page has the table of bounds as it is now (UPDATE_DOCS=1 writes it)", () => {
  const text = readFileSync(page, "utf8");
  const start = text.indexOf(MARK) + MARK.length;
  const end = text.indexOf("\n\nOn WebGPU, in addition", start);
  const wanted = `${text.slice(0, start)}\n\n${table()}${text.slice(end)}`;
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, wanted);
  expect(readFileSync(page, "utf8")).toBe(wanted);
});
