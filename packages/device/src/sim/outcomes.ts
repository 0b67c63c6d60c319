/** Compares what two schedules of one launch left in the buffers that the kernel writes. */

import { isFloat, memoriesOf, scalarTypes, visitNodes } from "@evolver/kernel";
import type { ElementType, KernelIR, Memory } from "@evolver/kernel";
import type { DeviceBuffer } from "../core/device.ts";
import { placedByAtomics } from "./analysis/placement.ts";

interface Contents {
  readonly name: string;
  readonly element: ElementType;
  /** Ascending, and of no place, where atomic operations say where a value stands: that order means nothing. */
  readonly values: Float64Array;
  readonly inPlace: boolean;
}

export type Snapshot = readonly Contents[];

/** What rounding in another order may make of the sum of a buffer's values: this part of its largest. */
const ROUNDING = 1e-4;

/** The contents of the buffers that the kernel writes. */
export async function snapshot(ir: KernelIR, args: Readonly<Record<string, unknown>>): Promise<Snapshot> {
  const written = new Set<Memory>();
  visitNodes(ir.body, (node) => {
    for (const { memory, access } of memoriesOf(node))
      if (memory.space === "global" && access !== "read") written.add(memory);
  });
  const placed = placedByAtomics(ir);
  const contents: Contents[] = [];
  for (const memory of written) {
    const { name } = memory;
    const buffer = args[name] as DeviceBuffer;
    const { decode } = scalarTypes[buffer.element];
    const values = Float64Array.from(await buffer.read(), (held) => decode(held));
    const inPlace = !placed.has(memory);
    contents.push({ name, element: buffer.element, values: inPlace ? values : values.sort(), inPlace });
  }
  return contents;
}

interface Difference {
  readonly buffer: string;
  readonly message: string;
}

/** Says where two launches differ by more than the order of values and rounding, or returns null. */
export function differs(a: Snapshot, b: Snapshot): Difference | null {
  for (const [i, { name, element, values, inPlace }] of a.entries()) {
    const others = (b[i] as Contents).values;
    const largest = Math.max(largestOf(values), largestOf(others));
    const allowed = isFloat(element) && Number.isFinite(largest) ? ROUNDING * largest : 0;
    const at = values.findIndex((value, j) => {
      const other = others[j] as number;
      return !Object.is(value, other) && !(Math.abs(value - other) <= allowed);
    });
    if (at < 0) continue;
    const place = inPlace ? `[${at}]` : "";
    const message = `buffer "${name}"${place} holds ${values[at]} after one schedule and ${others[at]} after another`;
    return { buffer: name, message };
  }
  return null;
}

const largestOf = (values: Float64Array): number =>
  values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
