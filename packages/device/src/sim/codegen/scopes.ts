/** What the writers of a kernel's JavaScript pass to each other: options, where code is being written, and where values live. */

import type { Node, Value } from "@evolver/kernel";
import type { Guard } from "../analysis/guards.ts";
import type { RegisterFile } from "../runtime/subgroup.ts";
import type { CheckOptions } from "./checks.ts";

export interface CodeOptions extends CheckOptions {
  readonly checks: boolean;
  /** Whether to note which blocks run and what atomic operations return. */
  readonly observe: boolean;
  /** Whether to offer a stop before every memory access. */
  readonly seeded: boolean;
  /** Nodes whose results may be indeterminate by themselves: these and what depends on them get shadows. */
  readonly origins: ReadonlySet<Node>;
  /** Branches whose reach is watched. */
  readonly guards: readonly Guard[];
  /** Whether comments name the lines of TypeScript. Finding them takes longer than all else. */
  readonly comments: boolean;
}

/** Where code is being written: the active lanes, and the registers to free at the end. */
export interface Scope {
  /** The name of the set of active lanes, which is never empty where code runs. */
  readonly active: string;
  /** A label around the scope's statements: leaving it ends them. */
  readonly label: string;
  readonly loop: LoopScope | null;
  readonly owned: Value[];
  /** Slots of its variables. */
  readonly variables: number[];
}

export interface LoopScope {
  /** The label of the loop, and of its body. */
  readonly leave: string;
  readonly next: string;
  /** Sets of lanes still in the loop and in this iteration; null where lanes stay together. */
  readonly staying: string | null;
  readonly iteration: string | null;
}

/** Writes the nodes of blocks: what control flow needs of the writer of everything. */
export interface BlockWriter {
  /** Returns the index that the next node of the scope would have; `first` is that of the block's first one. */
  block(nodes: readonly Node[], scope: Scope, first?: number): number;
  /** Frees the scope's registers. */
  close(scope: Scope): void;
}

/** Registers of a value: the file, and the position of lane 0. */
export interface Registers {
  readonly file: RegisterFile;
  readonly at: number;
}

/** A block by its first node, and the number of the one around it (-1: none). */
export interface ObservedBlock {
  readonly first: Node;
  readonly outer: number;
}
