/** Compares what two schedules of one launch left in the buffers that the kernel writes. */

import { isFloat, memoriesOf, scalarTypes, visitNodes } from "@evolver/kernel";
import type { ElementType, KernelIR } from "@evolver/kernel";
import type { DeviceBuffer } from "../core/device.ts";

interface Contents {
  readonly name: string;
  readonly element: ElementType;
  /** Ascending: which invocation came first may say where a value stands, and so mean nothing. */
  readonly values: Float64Array;
}

export type Snapshot = readonly Contents[];

/** What rounding in another order may make of the sum of a buffer's values: this part of its largest. */
const ROUNDING = 1e-4;

/** The contents of the buffers that the kernel writes. */
export async function snapshot(ir: KernelIR, args: Readonly<Record<string, unknown>>): Promise<Snapshot> {
  const written = new Set<string>();
  visitNodes(ir.body, (node) => {
    for (const { memory, access } of memoriesOf(node))
      if (memory.space === "global" && access !== "read") written.add(memory.name);
  });
  const contents: Contents[] = [];
  for (const name of written) {
    const buffer = args[name] as DeviceBuffer;
    const { decode } = scalarTypes[buffer.element];
    const values = Float64Array.from(await buffer.read(), (held) => decode(held));
    contents.push({ name, element: buffer.element, values: values.sort() });
  }
  return contents;
}

/** Says where two launches differ by more than the order of values and rounding, or returns null. */
export function differs(a: Snapshot, b: Snapshot): string | null {
  for (const [i, { name, element, values }] of a.entries()) {
    const others = (b[i] as Contents).values;
    const largest = Math.max(...ends(values), ...ends(others));
    const allowed = isFloat(element) && Number.isFinite(largest) ? ROUNDING * largest : 0;
    const at = values.findIndex((value, j) => {
      const other = others[j] as number;
      return !Object.is(value, other) && !(Math.abs(value - other) <= allowed);
    });
    if (at < 0) continue;
    return `buffer "${name}" holds ${values[at]} after one schedule and ${others[at]} after another`;
  }
  return null;
}

/** Of ascending values, the largest magnitude is one of two. */
const ends = (values: Float64Array): [number, number] => [
  Math.abs(values[0] ?? 0),
  Math.abs(values.at(-1) ?? 0),
];
