/** Nsight Compute's output, read, and set beside the simulator's counters. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readEvidence } from "../packages/attention/src/study/guide/evidence.ts";
import { parseNcuCsv } from "../tools/gpu/ncuCsv.ts";
import { comparisons } from "../tools/gpu/ncuMetrics.ts";

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

  it("leaves out what is no number, rather than taking it for one", () => {
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

describe("counters side by side", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "evolver-ncu-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  interface Report {
    readonly ncu: string;
    readonly rows: readonly {
      readonly rung: string;
      readonly counter: string;
      readonly ncu: number | null;
      readonly ratio: number | null;
      readonly flagged: boolean;
    }[];
    readonly launches: readonly { readonly metrics: Readonly<Record<string, number>> }[];
    readonly unavailableMetrics: readonly string[];
    readonly missingRungs: readonly string[];
  }

  // o and lse of 32 rows of 32, each row stored by a workgroup of one subgroup, in 4 sectors and 1.
  const METRICS = {
    "smsp__sass_data_bytes_mem_global_op_st.sum": "4,224",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "170",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "64",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "1",
    "smsp__inst_executed.sum": "n/a",
  };

  function start(metrics: object, rungs: string): { status: number | null; report: Report; stderr: string } {
    const ncu = join(folder, "ncu");
    const fake = join(import.meta.dirname, "support/fakeNcu.ts");
    writeFileSync(ncu, `#!/bin/sh\nexec "${process.execPath}" "${fake}" "$@"\n`, { mode: 0o755 });
    const script = join(import.meta.dirname, "../tools/gpu/ncu.ts");
    const args = [script, "--ncu", ncu, "--device", "cpu", "--rungs", rungs, "--shape", "B1,H1,S32,D32"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, FAKE_NCU: JSON.stringify(metrics) },
    });
    return { status, stderr, report: JSON.parse(stdout) as Report };
  }

  it("flags what differs by more than 5 %, and says what the GPU does not have", () => {
    const { status, stderr, report } = start(METRICS, "k01,k02");
    expect(status).toBe(0);
    expect(stderr).toContain("once more without");
    expect(report).toMatchObject({ ncu: "2025.3.1.0", missingRungs: [] });
    const row = (counter: string): object | undefined =>
      report.rows.find((each) => each.rung === "k01" && each.counter === counter);
    expect(row("global store bytes")).toMatchObject({ ncu: 4224, sim: 4224, ratio: 1, flagged: false });
    expect(row("global store requests")).toMatchObject({ ratio: 1, flagged: false });
    // 160 sectors on the simulator, 170 here: 6 % more.
    expect(row("global store sectors")).toMatchObject({ ncu: 170, sim: 160, flagged: true });
    expect(row("global load requests")).toMatchObject({ ncu: 1, flagged: true });
    expect(row("instructions")).toMatchObject({ ncu: null, ratio: null, flagged: false });
    expect(row("shared wavefronts")).toMatchObject({ ncu: null, flagged: false });
    expect(row("barriers, one a subgroup")).toMatchObject({ ncu: null, flagged: false });
    expect(report.unavailableMetrics).toContain("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
    expect(report.unavailableMetrics).not.toContain("launch__registers_per_thread");
    expect(new Set(report.rows.map(({ rung }) => rung))).toEqual(new Set(["k01", "k02"]));
  });

  it("counts barriers by their opcode, and tells a few conflicts from many", () => {
    const conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
    const metrics = {
      sass__inst_executed_per_opcode: "900 (BAR: 32; FFMA: 868)",
      [`${conflicts}st.sum`]: "0",
    };
    const few = start({ ...metrics, [`${conflicts}ld.sum`]: "10" }, "k01").report;
    const many = start({ ...metrics, [`${conflicts}ld.sum`]: "1,000" }, "k01").report;
    const row = ({ rows }: Report, counter: string): object | undefined =>
      rows.find((each) => each.counter === counter);
    expect(row(few, "barriers, one a subgroup")).toMatchObject({ ncu: 32, sim: 32, flagged: false });
    expect(few.launches[0]?.metrics).toMatchObject({ "sass__inst_executed_per_opcode:FFMA": 868 });
    expect(row(few, "shared bank conflicts")).toMatchObject({ ncu: 10, sim: 0, flagged: false });
    expect(row(many, "shared bank conflicts")).toMatchObject({ ncu: 1000, sim: 0, flagged: true });
  });
});

it("the guide to the ladder takes every counter that is compared", () => {
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
  expect(readEvidence(folder).ncu?.rows).toEqual(rows);
  rmSync(folder, { recursive: true });
});
