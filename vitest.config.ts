import { globSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes some seconds by itself on a quiet machine: browsers, compilers, other processes, and large products of
 * cases. `npm run test:fast` leaves them out.
 */
const SLOW = [
  "packages/attention/test/{golden-cpu,golden-sim,golden-webgpu,hip,hostile,kernels/compile,kernels/packed,kernels/persistent,kernels/pipelines,properties,space,study/extrapolate,study/judge,study/ladder,study/ncu,study/peers,study/selftest,tolerance}.test.ts",
  "packages/cli/test/{bench,check,check-files,findings,guide,long,policy}.test.ts",
  "packages/device/test/{browser/conformance,conformance/cli,conformance/sim,conformance/webgpu,hip/conformance,property/devices,property/webgpu,sim/oracle}.test.ts",
  "packages/guide/test/collect.test.ts",
  "packages/kernel/test/{emit/compile,emit/hip-run,emit/selftest}.test.ts",
  "packages/lab/test/{evolve,judge,second-look,whole,workspace}.test.ts",
  "packages/machine/test/{microbench/cases,microbench/loops,microbench/suite}.test.ts",
  "packages/softmax/test/{study/judge,study/study}.test.ts",
  "packages/tasks/test/tasks.test.ts",
  "test/{ci,docs,examples-run,examples-tune,packages,page,support,testing,web}.test.ts",
];

const slow = new Set(globSync(SLOW).map((path) => resolve(path)));

/** Slow files first, so that the run does not end with one of them on one processor. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => slow.has(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(process.env["EVOLVER_TEST_FAST"] === "1" ? SLOW : [])],
    // Processes, not threads: tests start workers of their own and send signals.
    pool: "forks",
    setupFiles: ["./test/support/properties.ts"],
    // All processors: Vitest leaves one to itself by default, and two is what a small machine has.
    maxWorkers: "100%",
    // Only so that a test that hangs ends: how long one takes says nothing of what it tests, least of all on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    sequence: { sequencer: SlowFirst },
    slowTestThreshold: 2_000,
    reporters: ["./test/support/slow-reporter.ts", "default"],
  },
});
