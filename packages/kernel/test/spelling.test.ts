/** Each operation is written as the table says: the method or function, called, records it. */

import * as language from "@evolver/kernel";
import { buffer, descriptors, f32, i32, kernel, ops, spellings, u32, visitNodes } from "@evolver/kernel";
import type { OpName, Scalar, ScalarType } from "@evolver/kernel";
import { expect, test } from "vitest";

type Writable = keyof typeof descriptors;
type Call = (...operands: unknown[]) => unknown;

/** Lists of types that an operation takes. */
function takenBy(op: OpName): Writable[][] {
  const types = Object.keys(descriptors) as Writable[];
  const lists = types.flatMap((a) => [
    [a],
    ...types.flatMap((b) => [[a, b], ...types.map((c) => [a, b, c])]),
  ]);
  return lists.filter((list) => ops[op].signature(list) !== null);
}

/** Whether a kernel that calls `write` on variables of the types records the operation. */
function records(op: OpName, types: readonly Writable[], write: (operands: Scalar[]) => unknown): boolean {
  const names = new Set<OpName>();
  const built = kernel("written", { params: { out: buffer(f32, "write") }, workgroup: [4] }, (_, gpu) => {
    const operands = types.map((type) => gpu.var(descriptors[type] as typeof f32).get() as Scalar);
    const result = write(operands) as Scalar;
    if ((result.type as ScalarType) === "bool") gpu.if(result as never, () => {});
  });
  visitNodes(built.build({ subgroup: 4, forwardProgress: false }).body, (node) => {
    if (node.kind === "op") names.add(node.op);
  });
  return names.has(op);
}

/** Of the types, whether some list leads to the operation. */
const someRecords = (op: OpName, write: (operands: Scalar[]) => unknown): boolean =>
  takenBy(op).some((types) => {
    try {
      return records(op, types, write);
    } catch {
      return false;
    }
  });

const bitcasts: Partial<Record<OpName, unknown>> = { bitcastF32: f32, bitcastI32: i32, bitcastU32: u32 };

test.each(Object.keys(spellings) as OpName[])("%s", (op) => {
  const spelling = spellings[op];
  if ("by" in spelling) return;
  if ("method" in spelling) {
    const method = (operands: Scalar[]): unknown => {
      const [first, ...rest] = operands as [Scalar, ...Scalar[]];
      const call = (first as unknown as Record<string, Call>)[spelling.method] as Call;
      return call.apply(first, op in bitcasts ? [bitcasts[op]] : rest);
    };
    expect(someRecords(op, method)).toBe(true);
  }
  if (spelling.function !== undefined) {
    const call = language[spelling.function] as unknown as Call;
    expect(someRecords(op, (operands) => call(...operands))).toBe(true);
  }
});
