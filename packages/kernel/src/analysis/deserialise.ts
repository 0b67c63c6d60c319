/** Reads what `serialise` wrote and checks it, since the text may come from anywhere. */

import { decode } from "../ir/codec.ts";
import type { KernelIR } from "../ir/nodes.ts";
import { verify } from "./verify.ts";

/**
 * The IR that a text of `serialise` describes, frozen and verified.
 *
 * @throws EvolverError INVALID_IR that names the field, or, from `verify`, the node
 */
export function deserialise(text: string): KernelIR {
  const ir = decode(text);
  verify(ir);
  return ir;
}
