/** Shared by the simulator's tests: one set of parameters, and source lines as text. */

import { readFileSync } from "node:fs";
import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { SourceLocation } from "@evolver/base";
import type { Gpu, Symbols } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import type { Counters, Finding, SimOptions } from "@evolver/device";
import { expect, test } from "vitest";

const params = {
  a: buffer(f32, "read_write"),
  b: buffer(f32, "read_write"),
  flags: buffer(atomic(u32)),
  n: u32,
};

export type Body = (symbols: Symbols<typeof params>, gpu: Gpu) => void;

/** Elements in `a` and `b`. */
const LENGTH = 256;

export interface Setup extends SimOptions {
  /** Invocations per workgroup; 64 by default. */
  readonly size?: number | readonly [number, number?, number?];
  readonly workgroups?: number | readonly [number, number?, number?];
  readonly n?: number;
  /** Adds an acquiring load that orders nothing, so that races are sought with vector clocks. */
  readonly clocks?: boolean;
}

export interface Outcome {
  readonly findings: readonly Finding[];
  readonly counters: Counters;
  readonly a: Float32Array;
  readonly b: Float32Array;
  readonly flags: Uint32Array;
}

/** Runs a body on fresh buffers: a[i] = i, b and flags 0. */
export async function simulate(body: Body, setup: Setup = {}): Promise<Outcome> {
  const { size = 64, workgroups = 1, n = 64, clocks = false, ...options } = setup;
  const workgroup: readonly [number, number?, number?] = typeof size === "number" ? [size] : size;
  const device = openSim({ onFinding: "collect", ...options });
  const recorded: Body = clocks
    ? (symbols, gpu) => {
        void symbols.flags.get(63, { order: "acquire" });
        body(symbols, gpu);
      }
    : body;
  const program = await device.compile(kernel("k", { params, workgroup, uniformity: "dynamic" }, recorded));
  const a = device.createBuffer(
    "f32",
    Float32Array.from({ length: LENGTH }, (_, i) => i),
  );
  const b = device.createBuffer("f32", LENGTH);
  const flags = device.createBuffer("u32", 64);
  const { findings, counters } = await program.run({ workgroups, args: { a, b, flags, n } });
  const result = { a: await a.read(), b: await b.read(), flags: await flags.read() };
  await device.close();
  return { findings, counters: counters as Counters, ...result };
}

const files = new Map<string, string[]>();

/** The text of a line of source. */
function sourceLine({ file, line }: SourceLocation): string {
  let lines = files.get(file);
  if (lines === undefined) files.set(file, (lines = readFileSync(file, "utf8").split("\n")));
  return (lines[line - 1] ?? "").trim();
}

/**
 * A wrong program and its corrected twin. The wrong one must give a finding of the kind whose accesses stand on lines
 * with the given texts, in that order, and no findings of other kinds; the twin must give none.
 */
export function negative(
  name: string,
  kind: Finding["kind"],
  lines: readonly string[],
  wrong: Body,
  right: Body,
  setup: Setup = {},
  check?: (finding: Finding) => void,
): void {
  const run = async (clocks: boolean): Promise<void> => {
    const { findings } = await simulate(wrong, { ...setup, clocks });
    const texts = findings.map((finding) => finding.accesses.map(({ location }) => sourceLine(location)));
    const index = texts.findIndex(
      (found) => found.length === lines.length && found.every((text, i) => text.includes(lines[i] as string)),
    );
    const message = `no finding on [${lines.join(" | ")}] among ${JSON.stringify(texts)}`;
    expect(index, message).toBeGreaterThanOrEqual(0);
    for (const finding of findings) expect(finding.kind, finding.message).toBe(kind);
    for (const access of findings[index]?.accesses ?? []) expect(access.lanes.length).toBeGreaterThan(0);
    check?.(findings[index] as Finding);
    const clean = await simulate(right, { ...setup, clocks });
    expect(clean.findings.map((finding) => finding.message)).toEqual([]);
  };
  test(name, () => run(false));
  test(`${name}, with vector clocks`, () => run(true));
}
