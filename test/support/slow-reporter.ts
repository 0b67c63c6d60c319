/** Lists the slowest tests of a run, above the lines with which Vitest closes it. */

import type { Reporter, TestCase, TestModule } from "vitest/node";

const SHOWN = 5;
const SLOW_MS = 2000;

export default class SlowReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const slow = tests
      .filter((test) => durationMs(test) >= SLOW_MS)
      .toSorted((a, b) => durationMs(b) - durationMs(a));
    if (slow.length === 0) return;
    console.log(`\n slowest of ${slow.length} tests that took ${SLOW_MS / 1000} s or more:`);
    for (const test of slow.slice(0, SHOWN)) {
      const seconds = (durationMs(test) / 1000).toFixed(1).padStart(6);
      console.log(` ${seconds} s  ${test.module.relativeModuleId}  ${test.fullName}`);
    }
  }
}

function durationMs(test: TestCase): number {
  return test.diagnostic()?.duration ?? 0;
}
