/** The part of the verifier that looks at the operands of barriers, asynchronous copies and phase barriers. */

import { assertNever } from "@evolver/base";
import type { AsyncCopyNode, KernelIR, Node } from "../ir/nodes.ts";
import { elementBytes } from "../ir/types.ts";
import type { Fail } from "./invalid.ts";

type Synchronisation = Node & {
  readonly kind: "barrier" | "asyncCopy" | "commitCopies" | "awaitCopies" | "arrive" | "awaitPhase";
};

/** What hardware copies at once. */
const COPY_BYTES: readonly number[] = [4, 8, 16];

/** Refuses what all lanes of a subgroup do together where the last subgroup has fewer. */
export function checkFullSubgroups({ subgroupSize, workgroupSize }: KernelIR, fail: Fail): void {
  const invocations = workgroupSize[0] * workgroupSize[1] * workgroupSize[2];
  if (invocations % subgroupSize !== 0)
    fail(`wants full subgroups of ${subgroupSize}, which a workgroup of ${invocations} does not have`);
}

export function checkSynchronisation(node: Synchronisation, ir: KernelIR, fail: Fail): void {
  switch (node.kind) {
    case "barrier":
      if (node.scope === "subgroup") checkFullSubgroups(ir, fail);
      else if (node.scope !== "workgroup") fail(`has scope "${String(node.scope)}"`);
      return;
    case "asyncCopy":
      return checkCopy(node, fail);
    case "commitCopies":
      if (node.bytes !== null && !isCount(node.bytes, 1)) fail(`expects ${node.bytes} bytes`);
      return;
    case "awaitCopies":
      if (!isCount(node.newer, 0)) fail(`leaves out ${node.newer} groups`);
      return;
    case "arrive":
      if (node.after !== "now" && node.after !== "copies") fail(`arrives after "${String(node.after)}"`);
      return;
    case "awaitPhase":
      return;
    default:
      assertNever(node, "kind of node");
  }
}

const isCount = (value: number, min: number): boolean => Number.isSafeInteger(value) && value >= min;

function checkCopy({ from, to, width }: AsyncCopyNode, fail: Fail): void {
  if (from.space !== "global") fail("does not copy from a buffer");
  if (to.space !== "shared") fail("does not copy to shared memory");
  if (from.atomic || to.atomic) fail("is not atomic, but the memory is");
  if (from.access === "write") fail("is against the buffer's access, write");
  if (from.element !== to.element) fail(`copies ${from.element} to memory of ${to.element}`);
  const bytes = width * elementBytes(from.element);
  if (![1, 2, 4].includes(width) || !COPY_BYTES.includes(bytes))
    fail(`copies ${width} ${from.element}: 1, 2 or 4 elements of together 4, 8 or 16 bytes are allowed`);
}
