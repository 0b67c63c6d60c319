import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Processes, not threads: tests start workers of their own and send signals.
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    slowTestThreshold: 2_000,
    reporters: ["./test/support/slow-reporter.ts", "default"],
  },
});
