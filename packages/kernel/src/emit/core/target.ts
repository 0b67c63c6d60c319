/**
 * What a target is: a record of small parts, each of which translates one kind of request of the kernel. A part is made for
 * one kernel, whose `Code` it gets; it returns expressions, or writes lines into that code. Types only: the walk over the
 * kernel, which calls the parts, is in emitter.ts, and the targets themselves are in cpp/, wgsl/ and js/.
 */

import type { BuiltinName } from "../../ir/builtins.ts";
import type {
  ArriveNode,
  AsyncCopyNode,
  AtomicNode,
  AwaitCopiesNode,
  AwaitPhaseNode,
  BarrierNode,
  ForNode,
  KernelIR,
  Node,
  SubgroupNode,
  WhileNode,
} from "../../ir/nodes.ts";
import type { Memory, SharedMemory } from "../../ir/types.ts";
import type { Code, Language } from "./code.ts";
import type { Expression, Operand } from "./expression.ts";
import type { Lines } from "./lines.ts";
import type { OperationTable } from "./operation-table.ts";
import type { Emitted, EmitOptions } from "./result.ts";
import type { EmitTarget } from "../targets.ts";

/** How a target makes itself ready for a kernel. */
export interface TargetDefinition {
  readonly name: EmitTarget;
  /** The language for a kernel: helper functions, names, types, literals. Refuses kernels that the target cannot run. */
  language(ir: KernelIR, options: EmitOptions): Language;
  /** The parts, for the kernel whose text `code` collects. */
  target(code: Code): Target;
}

export interface Target {
  readonly inputs: Inputs;
  /** Pure operations: a row each. */
  readonly operations: OperationTable;
  readonly memory: MemoryAccess;
  readonly flow: ControlFlow;
  readonly barriers: Barriers;
  readonly copies: Copies;
  readonly phaseBarriers: PhaseBarrierCalls;
  /** The old value of an atomic operation, or for a store the operation alone: a row each in emit/atomics.ts. */
  atomic(node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression;
  /** The results of a subgroup operation, which is a statement of its own: a row each in emit/subgroups.ts. */
  subgroup(node: SubgroupNode, operands: readonly Operand[]): readonly Expression[];
  readonly entry: Entry;
}

/** What comes into the kernel beside memory. */
export interface Inputs {
  /** The scalar parameter that has this name in emitted code. */
  parameter(name: string): Expression;
  builtin(builtin: BuiltinName): Expression;
}

/** Memory that is not atomic, in elements. */
export interface MemoryAccess {
  load(memory: Memory, index: Operand): Expression;
  store(memory: Memory, index: Operand, value: Operand): void;
  /** A load of 2, 4 or 8 elements: the expression of each, after whatever statements it needs. */
  loadMany(memory: Memory, index: Operand, count: number): readonly Expression[];
  storeMany(memory: Memory, index: Operand, values: readonly Operand[]): void;
  /** One load that the workgroup shares, between barriers. */
  uniformLoad(memory: SharedMemory, index: Operand): Expression;
}

/** A `for` with its parts as text. */
interface ForHeader {
  readonly node: ForNode;
  /** The name of the induction value. */
  readonly name: string;
  readonly from: Expression;
  readonly to: Expression;
  readonly step: Operand;
  /** Whether the step may lead outside the counter's type: then the next value is at most `to`. See LoopGuards. */
  readonly passesEnd: boolean;
}

/** Loops and branches, which C, WGSL and JavaScript write nearly alike. */
export interface ControlFlow {
  /** `for (…)`, without its brace. */
  forHeader(header: ForHeader): string;
  /** The first line of a loop that only `break` leaves. */
  readonly endless: string;
  /** Writes what stands before a loop. Absent where that is nothing; so are the next three. */
  beforeLoop?(node: ForNode | WhileNode): void;
  /** Writes what comes before the condition in each turn. */
  beginCondition?(node: WhileNode): void;
  /** Writes what comes first in the body. */
  beginLoopBody?(node: ForNode | WhileNode): void;
  /** Writes what comes after the end of a loop, a branch or roles. */
  afterControl?(node: Node): void;
}

interface Barriers {
  workgroup(): void;
  subgroup(node: BarrierNode): void;
}

/** A copy with its operands; `active` is null where all invocations take part. */
export interface CopyCall {
  readonly node: AsyncCopyNode;
  readonly to: Operand;
  readonly from: Operand;
  readonly active: Operand | null;
}

/** Copies from global to shared memory. */
export interface Copies {
  /** Starts a copy, or, where the target has none such, copies at once. */
  start(copy: CopyCall): void;
  commit(): void;
  await(node: AwaitCopiesNode): void;
}

export interface PhaseBarrierCalls {
  arrive(node: ArriveNode, index: Operand): void;
  await(node: AwaitPhaseNode, index: Operand, parity: Operand): void;
}

/** How a kernel is launched, as far as targets differ in it. */
export type Launch = Pick<Emitted, "grid"> &
  Partial<
    Pick<Emitted, "kernelArguments" | "dynamicSharedBytes" | "bindings" | "uniform" | "compileOptions">
  >;

/** The file around the statements. */
export interface Entry {
  /** The name of the kernel's function. */
  readonly name: string;
  /** How deep in the file the statements stand. */
  readonly depth: number;
  /** Whether the file has C's `#line` before statements. */
  readonly lineDirectives: boolean;
  /** Writes the whole file: opening comment, helpers, bindings, the function with `body` in it. */
  write(file: Lines, body: Lines): Launch;
}
