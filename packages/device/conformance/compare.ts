/** Compares what came out with what must, element by element. */

import type { AnyTypedArray } from "@evolver/device";
import type { Expected, Rule, Target } from "./case.ts";

const SHOWN = 4;
const SMALLEST_NORMAL = 2 ** -126;

/** What is different, in one line, or null. */
export function difference(
  name: string,
  got: AnyTypedArray,
  expected: Expected,
  target: Target,
): string | null {
  const rule: Rule = ArrayBuffer.isView(expected) ? { values: expected } : expected;
  let wanted = rule.values;
  if (got.constructor !== wanted.constructor) return `"${name}" is a ${got.constructor.name}`;
  if (got.length !== wanted.length) return `"${name}" has ${got.length} elements, not ${wanted.length}`;
  if (rule.anyOrder) {
    got = got.slice().sort();
    wanted = wanted.slice().sort();
  }
  const wrong: number[] = [];
  for (let i = 0; i < wanted.length; i++)
    if (!agrees(got[i] as number, wanted[i] as number, i, rule, target)) wrong.push(i);
  if (wrong.length === 0) return null;
  const list = wrong
    .slice(0, SHOWN)
    .map((i) => `[${i}] is ${show(got[i] as number)}, not ${show(wanted[i] as number)}`);
  const more = wrong.length > SHOWN ? `, and ${wrong.length - SHOWN} more of ${wanted.length}` : "";
  return `"${name}" ${list.join("; ")}${more}`;
}

function agrees(got: number, wanted: number, i: number, rule: Rule, target: Target): boolean {
  if (Object.is(got, wanted)) return true;
  if (rule.values instanceof Float32Array && !target.capabilities.has("subnormals")) {
    // Flushing gives a zero of either sign for what is below the normal range.
    if (Math.abs(wanted) < SMALLEST_NORMAL && wanted !== 0 && got === 0) return true;
  }
  if (rule.half !== undefined) {
    const infinity = rule.half === "f16" ? 0x7c00 : 0x7f80;
    const isNaN = (bits: number): boolean => (bits & 0x7fff) > infinity;
    if (isNaN(got) && isNaN(wanted)) return true;
  }
  if (rule.zeros && got === 0 && wanted === 0) return true;
  if (rule.tolerance === undefined || !Number.isFinite(wanted) || !Number.isFinite(got)) return false;
  const { ulps = 0, absolute = 0 } = rule.tolerance(wanted, i);
  return Math.abs(got - wanted) <= Math.max(ulps * unitInLastPlace(wanted), absolute);
}

/** The distance between f32 neighbours at x. */
export function unitInLastPlace(x: number): number {
  const exponent = Math.floor(Math.log2(Math.max(Math.abs(x), SMALLEST_NORMAL)));
  return 2 ** (exponent - 23);
}

const show = (x: number): string => (Object.is(x, -0) ? "-0" : String(x));
