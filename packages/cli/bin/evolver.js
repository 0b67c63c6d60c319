#!/usr/bin/env node
/**
 * Starts the command line. An installed package has JavaScript, which any Node runs that we support. A clone has TypeScript:
 * there the Node on PATH may be too old for it (npm scripts and npx put the installed one first, a direct call does not), and then
 * this hands over to the installed one. Plain JavaScript that Node 18 can read, and nothing else.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** As in package.json, and what runs TypeScript. */
const OLDEST_NODE = "20.19";
const NODE_OF_CLONE = "24";

const compiled = new URL("../dist/process.js", import.meta.url);

if (existsSync(compiled)) {
  if (!isAtLeast(OLDEST_NODE)) {
    tooOld(
      `Node ${process.versions.node} is too old for Evolver`,
      `put Node ${OLDEST_NODE} or newer on PATH`,
    );
    process.exit(2);
  }
  const { runAsProcess } = await import(compiled.href);
  runAsProcess(process.argv.slice(2));
} else if (isAtLeast(NODE_OF_CLONE) && process.features.typescript) {
  const { runAsProcess } = await import("../src/process.ts");
  runAsProcess(process.argv.slice(2));
} else {
  const node = installedNode();
  if (node === null) {
    tooOld(
      `Node ${process.versions.node} cannot run TypeScript`,
      `run "npm ci", which installs Node ${NODE_OF_CLONE}, or put Node ${NODE_OF_CLONE} or newer on PATH`,
    );
    process.exit(2);
  }
  handOver(node);
}

/** @param wanted major version, or major and minor */
function isAtLeast(wanted) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const [wantedMajor, wantedMinor = 0] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function tooOld(what, help) {
  console.error(`evolver: NODE_TOO_OLD: ${what}\n  help: ${help}`);
}

/** The node of the nearest node_modules above this file, other than the one that is running. */
function installedNode() {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    const node = join(
      folder,
      "node_modules",
      "node",
      "bin",
      process.platform === "win32" ? "node.exe" : "node",
    );
    if (existsSync(node) && process.env.EVOLVER_HANDED_OVER !== node) return node;
    if (folder === dirname(folder)) return null;
  }
}

/** Runs this file again under `node`, and ends as that ends. */
function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, EVOLVER_HANDED_OVER: node },
  });
  // A terminal sends Ctrl-C to both processes; anything else signals only this one.
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on("SIGINT", () => onTerminal || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(
      `evolver: NODE_TOO_OLD: cannot start ${node}: ${error.message}\n  help: run "npm ci" again`,
    );
    process.exitCode = 2;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}
