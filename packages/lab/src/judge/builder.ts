/**
 * Builds a candidate that is code: in a process of its own that may read but not write files, start no processes and
 * no threads, and whose only product is the text of a plan.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EvolverError } from "@evolver/base";
import { parsePlan, type Plan, type PlanBuild } from "@evolver/device";
import { runsTypeScript } from "../own-packages.ts";
import type { Shape } from "../study/case.ts";
import type { Candidate } from "./verdict.ts";
import { StderrTail } from "./stderr.ts";

type ModuleCandidate = Extract<Candidate, { readonly kind: "module" }>;

const MAIN = fileURLToPath(new URL("./builder-main.ts", import.meta.url));
/** The clone, or the node_modules that we are installed in. */
const PROJECT = fileURLToPath(new URL("../../../../", import.meta.url)).replace(
  /([\\/]node_modules[\\/]).*/,
  "$1",
);
const MAX_BYTES = 64 * 2 ** 20;
const HEAP_MIB = 512;
/** Node 20 has another name for it. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has("--permission")
  ? "--permission"
  : "--experimental-permission";
/** What import-module.ts needs. */
const MODULES = runsTypeScript ? [] : ["--experimental-vm-modules", "--experimental-import-meta-resolve"];

/**
 * One plan for each shape.
 * @throws EvolverError BUILD_FAILED, PLAN_INVALID
 */
export async function buildModule(
  candidate: ModuleCandidate,
  shapes: readonly Shape[],
  build: PlanBuild,
): Promise<Plan[]> {
  const { path, export: name = "plan" } = candidate;
  const folder = mkdtempSync(join(tmpdir(), "evolver-build-"));
  try {
    const text = await runBuilder(folder, path, JSON.stringify({ path, name, shapes, build }));
    const plans: unknown = JSON.parse(text);
    if (
      !Array.isArray(plans) ||
      plans.length !== shapes.length ||
      plans.some((plan) => typeof plan !== "string")
    )
      throw new EvolverError(
        "PLAN_INVALID",
        "The candidate's process printed something else than its plans.",
      );
    return plans.map((plan) => parsePlan(plan as string));
  } catch (error) {
    if (error instanceof EvolverError) throw error;
    throw new EvolverError("PLAN_INVALID", "The candidate's plans can't be read.", { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What it may read: its own folder, and where the modules lie that it imports and that they import. Node 20 takes no folder twice. */
function readableFolders(path: string): string[] {
  const folders = [dirname(path), resolve(PROJECT)];
  for (let at = dirname(PROJECT); at !== dirname(at); at = dirname(at))
    folders.push(join(at, "node_modules"));
  return [...new Set(folders)].filter((folder) => existsSync(folder));
}

function runBuilder(folder: string, path: string, request: string): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      PERMISSION,
      ...MODULES,
      ...readableFolders(path).map((readable) => `--allow-fs-read=${readable}`),
      `--max-old-space-size=${HEAP_MIB}`,
      "--disable-warning=ExperimentalWarning",
      MAIN,
    ],
    // Its group is the judge's, to die with it. Nothing of the environment is its business.
    { cwd: folder, env: {}, stdio: ["pipe", "ignore", "pipe", "pipe"] },
  );
  return new Promise((done, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stderr = new StderrTail();
    const plans = child.stdio[3] as NodeJS.ReadableStream;
    plans.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => stderr.add(text));
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) done(Buffer.concat(chunks).toString("utf8"));
      else
        reject(
          new EvolverError(
            "BUILD_FAILED",
            size > MAX_BYTES
              ? `Its plans are larger than ${MAX_BYTES} bytes.`
              : stderr.reason() || `Its process ended with ${signal ?? code}.`,
          ),
        );
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(request);
  });
}
