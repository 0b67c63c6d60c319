/** Runs one measurement and returns its output as evidence: with the command, versions, commit, machine and date. */

import { spawn, spawnSync } from "node:child_process";
import { cpus } from "node:os";

export interface Run {
  /** As it is recorded. */
  readonly command: readonly string[];
  /** What is run for `evolver`: a program and its first arguments. */
  readonly evolver: readonly string[];
  readonly limitSeconds: number;
  readonly untilLimit: boolean;
  readonly version: string;
}

export type Kept =
  | {
      readonly kind: "kept";
      readonly document: object;
      readonly exitCode: number | null;
      readonly seconds: number;
    }
  | { readonly kind: "failed"; readonly why: string; readonly seconds: number };

export async function keep(run: Run): Promise<Kept> {
  const started = performance.now();
  const { stdout, exitCode, ended } = await outputOf(run);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  if (ended) return { kind: "failed", why: `it was ended after ${run.limitSeconds} s`, seconds };
  let result: unknown;
  try {
    result = JSON.parse(stdout);
  } catch {
    return { kind: "failed", why: `it printed no JSON (exit code ${exitCode})`, seconds };
  }
  const document = {
    command: run.command.join(" "),
    exitCode,
    date: new Date().toISOString().slice(0, 10),
    seconds,
    versions: {
      evolver: run.version,
      // A machine to measure on may have no git to ask.
      commit: process.env["EVOLVER_COMMIT"] ?? firstLine("git", "rev-parse", "--short", "HEAD"),
      node: process.version,
      nvcc: /release (\S+),/.exec(textOf("nvcc", "--version"))?.[1] ?? null,
    },
    machine: {
      gpu: firstLine(
        "nvidia-smi",
        "--query-gpu=name,driver_version,clocks.max.sm,memory.total",
        "--format=csv,noheader",
      ),
      cpu: cpus()[0]?.model ?? null,
      cores: cpus().length,
    },
    result,
  };
  return { kind: "kept", document, exitCode, seconds };
}

interface Output {
  readonly stdout: string;
  readonly exitCode: number | null;
  /** At the limit, without having been asked to print what it has. */
  readonly ended: boolean;
}

function outputOf({ command, evolver, limitSeconds, untilLimit }: Run): Promise<Output> {
  const [name = "", ...args] = command;
  const [program = "", ...first] = name === "evolver" ? evolver : [name === "node" ? process.execPath : name];
  return new Promise((resolve) => {
    const child = spawn(program, [...first, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    const parts: Buffer[] = [];
    let ended = false;
    const limit = setTimeout(() => {
      ended = !untilLimit;
      child.kill(untilLimit ? "SIGINT" : "SIGKILL");
    }, limitSeconds * 1000);
    const finish = (exitCode: number | null): void => {
      clearTimeout(limit);
      resolve({ stdout: Buffer.concat(parts).toString("utf8"), exitCode, ended });
    };
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    child.on("error", () => finish(null));
    child.on("close", finish);
  });
}

const textOf = (program: string, ...args: string[]): string => {
  const { stdout, status } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? stdout : "";
};

/** Null where there is no such program, or it fails. */
const firstLine = (program: string, ...args: string[]): string | null =>
  textOf(program, ...args)
    .trim()
    .split("\n")[0] || null;
