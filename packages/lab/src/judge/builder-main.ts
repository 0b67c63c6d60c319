/**
 * The process that runs a candidate's code. It imports the candidate, asks it for its plans, prints them on
 * descriptor 3, and ends. Started by builder.ts only, with hardly any rights.
 */

import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { printPlan, type Plan, type PlanBuild } from "@evolver/device";
import { resolveOwnPackages, runsTypeScript } from "../own-packages.ts";
import type { Shape } from "../study/case.ts";

/** What a candidate's module exports, under the name asked for. */
type PlanFunction = (shape: Shape, build: PlanBuild) => Plan;

interface Request {
  readonly path: string;
  readonly name: string;
  readonly shapes: readonly Shape[];
  readonly build: PlanBuild;
}

// A candidate may lie anywhere, and finds the project's packages as the lab does.
async function importCandidate(path: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(path);
  if (!runsTypeScript) return (await import("../node20/import-module.ts")).importModule(href);
  resolveOwnPackages();
  return (await import(href)) as Record<string, unknown>;
}

const request = JSON.parse(readFileSync(0, "utf8")) as Request;
const candidate = (await importCandidate(request.path)) as Record<string, PlanFunction | undefined>;
const plan = candidate[request.name];
if (typeof plan !== "function") throw new TypeError(`the module exports no function called ${request.name}`);
const plans = request.shapes.map((shape) => printPlan(plan(shape, request.build)));

const bytes = Buffer.from(JSON.stringify(plans), "utf8");
for (let at = 0; at < bytes.length;) at += writeSync(3, bytes, at);
process.exit(0);
