/** Failures of an expectation, as Vitest shows them best. */

import { relative } from "node:path";
import type { ToldAccess } from "@evolver/device/check";
import { chai, expect } from "vitest";

/** A file as its project names it. */
export function shortPath(file: string): string {
  const shorter = relative(process.cwd(), file);
  return shorter.startsWith("..") ? file : shorter;
}

/** The call of an expectation, for the place in the test that its failure names. */
export interface Call {
  /** @param places lines of a kernel that are to blame: Vitest shows the code around the first, and lists all before the test's */
  failure(message: string, places?: readonly ToldAccess[]): Error;
}

/** @param expectation the function that the test called, whose own frames say nothing */
export function callOf(expectation: CallableFunction): Call {
  // So that it counts for expect.assertions() and expect.hasAssertions().
  expect(expectation).toBeTypeOf("function");
  const called: { stack?: string } = {};
  Error.captureStackTrace(called, expectation);
  const frames = (called.stack ?? "").split("\n").slice(1);
  return {
    failure(message, places = []) {
      const error = new chai.AssertionError(message);
      const own = places.map(
        ({ action, file, line, column }) => `    at ${action} (${file}:${line}:${column})`,
      );
      error.stack = [`AssertionError: ${message}`, ...own, ...frames].join("\n");
      return error;
    },
  };
}
