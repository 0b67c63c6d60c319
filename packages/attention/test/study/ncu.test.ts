/** The ladder under Nsight Compute, set beside the simulator's counters. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

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
    const fake = join(import.meta.dirname, "fixtures/fake-ncu.ts");
    writeFileSync(ncu, `#!/bin/sh\nexec "${process.execPath}" "${fake}" "$@"\n`, { mode: 0o755 });
    const script = join(import.meta.dirname, "../../bench/ncu.ts");
    const args = [script, "--ncu", ncu, "--device", "cpu", "--rungs", rungs, "--shape", "B1,H1,S32,D32"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, FAKE_NCU: JSON.stringify(metrics) },
    });
    return { status, stderr, report: JSON.parse(stdout) as Report };
  }

  it("flags counters that differ by more than 5 %, and names those that the GPU does not have", () => {
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
    expect(row("barriers, one per subgroup")).toMatchObject({ ncu: null, flagged: false });
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
    expect(row(few, "barriers, one per subgroup")).toMatchObject({ ncu: 32, sim: 32, flagged: false });
    expect(few.launches[0]?.metrics).toMatchObject({ "sass__inst_executed_per_opcode:FFMA": 868 });
    expect(row(few, "shared bank conflicts")).toMatchObject({ ncu: 10, sim: 0, flagged: false });
    expect(row(many, "shared bank conflicts")).toMatchObject({ ncu: 1000, sim: 0, flagged: true });
  });
});
