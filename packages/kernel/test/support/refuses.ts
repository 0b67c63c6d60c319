/** Tests that the verifier refuses IR: one table row per rule. */

import { EvolverError } from "@evolver/base";
import { verify } from "@evolver/kernel";
import type { KernelIR } from "@evolver/kernel";
import { expect, test } from "vitest";
import { draft, type Draft } from "./draft.ts";

export type Write = (d: Draft) => void;

/** One rule broken: what it is, the IR, what the message says, and changes to the header. */
export type Negative = readonly [rule: string, write: Write, message: RegExp, change?: Partial<KernelIR>];

/** The error that `verify` throws; it is a failure if it throws none. */
export function errorOf(ir: KernelIR): EvolverError {
  try {
    verify(ir);
  } catch (error) {
    if (error instanceof EvolverError) return error;
    throw error;
  }
  throw new Error("verify accepted the IR");
}

export function refuses(cases: readonly Negative[]): void {
  for (const [rule, write, message, change] of cases) {
    test(rule, () => {
      const error = errorOf(draft(write, change));
      expect(error.code).toBe("INVALID_IR");
      expect(error.message).toMatch(message);
      expect(error.where[0]?.file).toBe("/draft.ts");
    });
  }
}
