/**
 * The identity of what a kernel computes: SHA-256 over its normal form. A cryptographic hash, because the hash decides
 * which candidates count as duplicates and which compiled code is reused, and neither may be fooled by a collision.
 */

import { sha256 } from "@evolver/base";
import type { KernelIR } from "./nodes.ts";
import { normalForm } from "./print.ts";

/**
 * 64 hexadecimal digits. Names of the kernel, shared memory, phase barriers, variables and roles, sites, comments and
 * value numbers do not matter; parameter names, types and order, sizes and every operation do.
 */
export function hash(ir: KernelIR): string {
  return sha256(normalForm(ir));
}
