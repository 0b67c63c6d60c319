/** Progress on a terminal and elsewhere. */

import { expect, it } from "vitest";
import { openProgress, type Progress } from "evolver/internal";

/** What was written to a stream, which is a terminal of so many columns, or none. */
function record(columns: number | null, work: (progress: Progress) => void): string {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  const stream = { isTTY: columns !== null, columns: columns ?? undefined, write };
  work(openProgress(stream as unknown as NodeJS.WriteStream));
  return written.join("");
}

const ERASE_LINE = "\r\u001b[2K";

/** The lines that a terminal shows in the end. */
function screen(text: string): string[] {
  const lines = [""];
  for (const piece of text.split(ERASE_LINE)) {
    const [here = "", ...below] = piece.split("\n");
    lines[lines.length - 1] = here;
    lines.push(...below);
  }
  return lines;
}

it("on a terminal is a bar in its last line, below the lines that stay", () => {
  const text = record(80, (progress) => {
    progress.line("first");
    progress.step(0, 4, "one");
    progress.step(2, 4, "two");
    progress.line("second");
  });
  expect(screen(text)).toEqual(["first", "second", `${"█".repeat(12)}${"░".repeat(12)} 2/4 two`]);
});

it("on a terminal leaves nothing behind", () => {
  const text = record(80, (progress) => {
    progress.step(3, 4, "three");
    progress.end();
    progress.end();
    progress.line("done");
  });
  expect(screen(text)).toEqual(["done", ""]);
});

it("on a terminal fits into a line, and is full where nothing is to do", () => {
  const long = record(60, (progress) => progress.step(1, 10, "x".repeat(200)));
  expect(screen(long)[0]?.length).toBeLessThan(60);
  const [nothing] = screen(record(80, (progress) => progress.step(0, 0, "the baseline")));
  expect(nothing).toBe(`${"█".repeat(24)} the baseline`);
  expect(record(null, (progress) => progress.step(0, 0, "the baseline"))).toBe("the baseline\n");
});

it("elsewhere is plain lines, one for each tenth of the way", () => {
  const text = record(null, (progress) => {
    progress.line("first");
    for (let done = 1; done <= 100; done++) progress.step(done, 100, `step ${done}`);
    progress.end();
  });
  const lines = text.split("\n");
  expect(lines[0]).toBe("first");
  expect(lines.slice(1, 4)).toEqual(["[1/100] step 1", "[10/100] step 10", "[20/100] step 20"]);
  expect(lines).toHaveLength(1 + 11 + 1);
  for (const mark of ["\r", "\u001b", "█"]) expect(text).not.toContain(mark);
});
