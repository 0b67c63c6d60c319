/**
 * Holds the errors of an earlier run of peers.ts to the bounds as they are computed now, of the same inputs. Times and errors stay
 * as they were measured. One JSON document on stdout, the file's own with new bounds.
 *
 *     node packages/attention/bench/rejudge-peers.ts evidence/h200/peers.json
 */

import { readFileSync } from "node:fs";
import { randomInputs } from "@evolver/attention";
import { parseShape } from "@evolver/attention/study/internal";
import { widerBound } from "./peer-truth.ts";
import type { Entry, PeersReport, ShapeReport } from "./peers-report.ts";

const file = process.argv[2] ?? "evidence/h200/peers.json";
const evidence = JSON.parse(readFileSync(file, "utf8")) as {
  readonly exitCode: number;
  readonly result: PeersReport;
};
const { seed, failures } = evidence.result;

const shapes = evidence.result.shapes.map((shape): ShapeReport => {
  const problem = parseShape(shape.shape);
  const bound = widerBound(shape.bound, problem, randomInputs(problem, { seed }));
  const entries = shape.entries.map((entry): Entry => {
    const verified = entry.error !== null && entry.error <= bound;
    if (verified !== entry.verified)
      process.stderr.write(
        `${shape.shape} ${entry.id}: error ${entry.error}, bound ${shape.bound} before, ${bound} now\n`,
      );
    return { ...entry, verified };
  });
  return { ...shape, bound, entries };
});
const right = shapes.every(({ entries }) => {
  const ours = entries.filter(({ kind }) => kind !== "torch");
  return ours.length > 0 && ours.every(({ verified }) => verified);
});
const exitCode = right && failures.length === 0 ? 0 : 1;
const result: PeersReport = { ...evidence.result, shapes };
process.stdout.write(
  `${JSON.stringify({ ...evidence, exitCode, judgedAgain: "node packages/attention/bench/rejudge-peers.ts", result }, null, 2)}\n`,
);
