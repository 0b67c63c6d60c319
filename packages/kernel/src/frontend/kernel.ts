import type { KernelIR } from "../ir/nodes.ts";
import type { Params } from "./params.ts";

export interface BuildOptions {
  readonly subgroup: number;
}

/** A kernel in TypeScript: built anew, by running its body once, for each subgroup width it is needed in. */
export interface Kernel<P extends Params = Params> {
  readonly name: string;
  readonly params: P;
  build(options: BuildOptions): KernelIR;
}
