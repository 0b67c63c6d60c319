/** What the sides of a value-returning gpu.if give. */

import { EvolverError } from "@evolver/base";
import type { Site } from "../ir/site.ts";
import { kindOf, withArticle } from "./given.ts";
import { note } from "./recorder.ts";
import { Scalar } from "./scalar.ts";

export function asResults(result: unknown): readonly Scalar[] | null {
  if (result instanceof Scalar) return [result];
  return Array.isArray(result) && result.length > 0 && result.every((item) => item instanceof Scalar)
    ? result
    : null;
}

/** A number beside the other side's value would silently leave the `if` without a result. */
export function refuseLiteral(results: readonly Scalar[] | null, other: unknown, site: Site): void {
  const [first] = results ?? [];
  if (first === undefined || (typeof other !== "number" && typeof other !== "boolean")) return;
  throw new EvolverError(
    "TYPE_MISMATCH",
    `one side of a gpu.if gives ${withArticle(first.type)}, the other ${kindOf(other)}`,
    {
      where: [site.location, note(first.site, `${withArticle(first.type)} made here`)],
      hint: `make it a run-time value: gpu.constant(${first.type}, ${String(other)})`,
    },
  );
}
