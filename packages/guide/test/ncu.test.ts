/** Nsight Compute's output, read. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { comparisons, parseNcuCsv, readEvidence } from "@evolver/guide";
import { someStudy } from "./support/some-study.ts";

const HEADER = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","launch__registers_per_thread","l1tex__t_sector_hit_rate.pct"`;
const UNITS = `"","","","","","","","","","","","byte","register/thread","%"`;
const ROW = `"0","812","node","127.0.0.1","flash<int, 4>(const float *, ""x"")","1","13","(32, 1, 1)","(8192, 1, 1)","0","9.0","4,297,064,448","40","93.75"`;
const SAMPLE = `==PROF== Connected to process 812 (/tmp/evolver-host/bin/node)
==PROF== Disconnected from process 812
${HEADER}
${UNITS}
${ROW}
`;

describe("what Nsight Compute prints", () => {
  it("is read with its separators, commas and quotes in names, and units", () => {
    expect(parseNcuCsv(SAMPLE)).toEqual([
      {
        kernel: `flash<int, 4>(const float *, "x")`,
        grid: [8192, 1, 1],
        block: [32, 1, 1],
        metrics: {
          "dram__bytes_read.sum": 4_297_064_448,
          launch__registers_per_thread: 40,
          "l1tex__t_sector_hit_rate.pct": 93.75,
        },
        units: {
          "dram__bytes_read.sum": "byte",
          launch__registers_per_thread: "register/thread",
          "l1tex__t_sector_hit_rate.pct": "%",
        },
      },
    ]);
  });

  it("is in the order of the launches, with any line ends", () => {
    const other = ROW.replace(`"0"`, `"1"`).replace("8192", "64");
    const text = [HEADER, UNITS, other, ROW].join("\r\n");
    expect(parseNcuCsv(text).map(({ grid }) => grid[0])).toEqual([8192, 64]);
  });

  it("leaves out what is not a number, rather than taking it for one", () => {
    for (const odd of ["n/a", "", "1.234.567", "12,34", "0x10", "nan"]) {
      const [launch] = parseNcuCsv(SAMPLE.replace("4,297,064,448", odd));
      expect(launch?.metrics, odd).not.toHaveProperty("dram__bytes_read.sum");
      expect(launch?.metrics, odd).toHaveProperty("launch__registers_per_thread", 40);
    }
    expect(parseNcuCsv(SAMPLE.replace("4,297,064,448", "1.5e+09"))[0]?.metrics).toMatchObject({
      "dram__bytes_read.sum": 1.5e9,
    });
  });

  it("gives the values of instances, too", () => {
    const text = SAMPLE.replace("4,297,064,448", "1,300 (FFMA: 1,000; BAR: 300; n/a: n/a)");
    expect(parseNcuCsv(text)[0]?.metrics).toEqual({
      "dram__bytes_read.sum": 1300,
      "dram__bytes_read.sum:FFMA": 1000,
      "dram__bytes_read.sum:BAR": 300,
      launch__registers_per_thread: 40,
      "l1tex__t_sector_hit_rate.pct": 93.75,
    });
  });

  it.each([
    ["nothing", ""],
    ["an error of the tool's", "==ERROR== Failed to find metric dram__bytes_rea.sum\n"],
    ["a header alone", `${HEADER}\n`],
    ["a row that was cut off", SAMPLE.replace(`,"93.75"`, "")],
    ["a row that is too wide", SAMPLE.replace(`"93.75"`, `"93.75","1"`)],
    ["a quote that is not closed", SAMPLE.replace(`"93.75"`, `"93.75`)],
    ["no row of units", SAMPLE.replace(`${UNITS}\n`, "")],
    ["another table", `"a","b"\n"",""\n"1","2"\n`],
  ])("is refused where it is %s", (_, text) => {
    expect(() => parseNcuCsv(text)).toThrow(expect.objectContaining({ code: "NCU_OUTPUT" }));
  });

  it("is refused with the tool's own words", () => {
    expect(() => parseNcuCsv("==ERROR== Failed to find metric x\n")).toThrow(/Failed to find metric x/);
  });
});

it("evidence takes every counter that is compared", () => {
  const folder = mkdtempSync(join(tmpdir(), "evolver-ncu-"));
  const rows = comparisons.map(({ title }) => ({
    rung: "k01",
    counter: title,
    ncu: 1,
    sim: 1,
    flagged: false,
    note: null,
  }));
  writeFileSync(join(folder, "ncu.json"), JSON.stringify({ shape: "H1,S8,D8", allowed: 0.05, rows }));
  expect(readEvidence(folder, someStudy).ncu?.rows).toEqual(rows);
  rmSync(folder, { recursive: true });
});
