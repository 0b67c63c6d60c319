import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Processes, not threads: tests start workers of their own and send signals.
    pool: "forks",
    // Only so that a test that hangs ends: how long one takes says nothing of what it tests, least of all on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    slowTestThreshold: 2_000,
    reporters: ["./test/support/slow-reporter.ts", "default"],
  },
});
