/**
 * The nodes of the IR: small, frozen, in program order. A block is a list of them; structured control flow nests
 * blocks. Nothing here knows how a node is recorded, checked, run or emitted.
 */

import type { AtomicOp } from "./atomics.ts";
import type { BuiltinName } from "./builtins.ts";
import type { OpName } from "./ops.ts";
import type { SubgroupOp } from "./subgroup.ts";
import type { Site } from "./site.ts";
import type { GlobalMemory, Memory, Param, PhaseBarrier, SharedMemory, Value, Variable } from "./types.ts";

interface NodeBase {
  readonly site: Site;
  /**
   * What the indices of an access must stay below, dimension by dimension: a row's end may lie inside the memory. Only the
   * simulator looks at it. Like the site it is no part of what a kernel computes: the hash and the JSON form leave it out.
   */
  readonly limits?: readonly IndexLimit[];
}

/** `index` and the `width − 1` after it are below `extent`; numbers are known when the kernel is built. */
export interface IndexLimit {
  readonly memory: Memory;
  /** From 0, the outermost. */
  readonly dimension: number;
  readonly index: Value | number;
  readonly width: number;
  readonly extent: Value | number;
  /** What the extent is: declared, or the stride of rows, which may be 1 or less and then says nothing. */
  readonly by: "extent" | "stride";
}

/** Nodes that run in order. A value can be used in its block, after its node, and in the blocks inside. */
export interface Block {
  readonly nodes: readonly Node[];
}

/** A literal. Constants, parameters and built-ins stand at the front of the kernel's body, each once. */
export interface ConstNode extends NodeBase {
  readonly kind: "const";
  readonly result: Value;
  readonly value: number | boolean;
}

/** Reads a scalar parameter of the kernel. */
export interface ParamNode extends NodeBase {
  readonly kind: "param";
  readonly result: Value;
  readonly name: string;
}

/** Reads a built-in index, u32. */
export interface BuiltinNode extends NodeBase {
  readonly kind: "builtin";
  readonly result: Value;
  readonly builtin: BuiltinName;
}

/** Pure arithmetic: see ops.ts for each operation's signature, meaning and cost. */
export interface OpNode extends NodeBase {
  readonly kind: "op";
  readonly op: OpName;
  readonly operands: readonly Value[];
  readonly result: Value;
}

/** How many elements one access moves; 8 only where the elements have two bytes. */
export type AccessWidth = 1 | 2 | 4 | 8;

/** Reads `results.length` (1, 2, 4 or 8) consecutive elements; `index` is in elements and a multiple of that width. */
export interface LoadNode extends NodeBase {
  readonly kind: "load";
  readonly memory: Memory;
  readonly index: Value;
  readonly results: readonly Value[];
}

/** Writes `values.length` (1, 2, 4 or 8) consecutive elements; `index` is in elements and a multiple of that width. */
export interface StoreNode extends NodeBase {
  readonly kind: "store";
  readonly memory: Memory;
  readonly index: Value;
  readonly values: readonly Value[];
}

/**
 * What an atomic operation orders. `relaxed` orders nothing. `acquire` makes what the releasing invocation wrote
 * before visible after; `release` publishes what this invocation wrote before; `acq_rel` does both.
 */
export type MemoryOrder = "relaxed" | "acquire" | "release" | "acq_rel";

/**
 * An atomic operation on one element. Operands: none for load, (expected, desired) for compareExchange, one
 * otherwise. The result is the old value (null for store); f32 supports load, store, add and exchange, f16 and bf16
 * none.
 */
export interface AtomicNode extends NodeBase {
  readonly kind: "atomic";
  readonly op: AtomicOp;
  readonly memory: Memory;
  readonly index: Value;
  readonly operands: readonly Value[];
  readonly result: Value | null;
  readonly order: MemoryOrder;
}

/** Declares a variable; it is initialised again each time control passes here. Without `init`, it must be set before it is read. */
export interface VarNode extends NodeBase {
  readonly kind: "var";
  readonly variable: Variable;
  readonly init: Value | null;
}

/** Reads a variable. */
export interface VarGetNode extends NodeBase {
  readonly kind: "varGet";
  readonly variable: Variable;
  readonly result: Value;
}

/** Writes a variable. */
export interface VarSetNode extends NodeBase {
  readonly kind: "varSet";
  readonly variable: Variable;
  readonly value: Value;
}

/** Runs one of two blocks, in each invocation by its own condition. */
export interface IfNode extends NodeBase {
  readonly kind: "if";
  readonly condition: Value;
  readonly then: Block;
  readonly else: Block;
}

/**
 * `for (i = from; i < to; i += step)` over whole numbers, with i, from, to and step of one integer type: it ends where the
 * next i would be outside that type. `from`, `to` and `step` are evaluated once. A constant negative step (i32) counts
 * down: `i > to`; a step that is not constant is u32, and where it is 0, which is an error, the loop has no turn. `continue` goes to
 * the next i.
 */
export interface ForNode extends NodeBase {
  readonly kind: "for";
  readonly induction: Value;
  readonly from: Value;
  readonly to: Value;
  readonly step: Value;
  /** The sign of the step, known at build time. */
  readonly direction: "up" | "down";
  /** A request to the target compiler: true for full, a number for a factor, false for none. */
  readonly unroll: boolean | number;
  readonly body: Block;
}

/** Runs `condition`, leaves when `test` (a value of that block) is false, runs `body`, and starts again. */
export interface WhileNode extends NodeBase {
  readonly kind: "while";
  readonly condition: Block;
  readonly test: Value;
  readonly body: Block;
}

/** Leaves the innermost loop. The last node of its block. */
export interface BreakNode extends NodeBase {
  readonly kind: "break";
}

/** Goes on with the next iteration of the innermost loop. The last node of its block. */
export interface ContinueNode extends NodeBase {
  readonly kind: "continue";
}

/** What some of a workgroup's subgroups run, chosen by their index. */
export interface Role {
  readonly name: string;
  /** The role's subgroups: first ≤ subgroupId < first + count. */
  readonly first: number;
  readonly count: number;
  readonly body: Block;
}

/** Each subgroup runs the body of the role that its index falls in; subgroups of no role run none. */
export interface RolesNode extends NodeBase {
  readonly kind: "roles";
  readonly roles: readonly Role[];
}

/**
 * All invocations of the scope, the workgroup or a subgroup, meet here; what they wrote to shared and global memory
 * before is visible to all of the scope after.
 */
export interface BarrierNode extends NodeBase {
  readonly kind: "barrier";
  readonly scope: BarrierScope;
}

/** Whose invocations wait for each other at a barrier. */
export type BarrierScope = "workgroup" | "subgroup";

/**
 * Starts to copy `width` (1, 2 or 4) consecutive elements from global to shared memory; where `active` is false, zeros
 * are written and nothing is read (null: active everywhere). Indices are in elements and multiples of the width. The copy is
 * complete only when the invocation has awaited it: until then no invocation may access the elements that it writes. Others
 * see them after a barrier, or after a phase that the copying invocation arrived at.
 */
export interface AsyncCopyNode extends NodeBase {
  readonly kind: "asyncCopy";
  readonly from: GlobalMemory;
  readonly fromIndex: Value;
  readonly to: SharedMemory;
  readonly toIndex: Value;
  readonly width: 1 | 2 | 4;
  readonly active: Value | null;
}

/**
 * Ends a group of the invocation's copies, possibly an empty one. `bytes`: what a group of all invocations of the
 * workgroup together copies if it is not empty, zeros included; null where nothing is expected.
 */
export interface CommitCopiesNode extends NodeBase {
  readonly kind: "commitCopies";
  readonly bytes: number | null;
}

/** Waits for the invocation's own copies, all but those of its `newer` youngest groups. Orders nothing for others. */
export interface AwaitCopiesNode extends NodeBase {
  readonly kind: "awaitCopies";
  readonly newer: number;
}

/**
 * The invocation arrives at the current phase of a phase barrier: `now`, or when the copies that it started since its last
 * such arrival have landed (`copies`). What it did before is visible to those who wait for the phase.
 */
export interface ArriveNode extends NodeBase {
  readonly kind: "arrive";
  readonly barrier: PhaseBarrier;
  readonly index: Value;
  readonly after: "now" | "copies";
}

/** Waits until the phase of this parity (0 or 1) is complete: until the parity of the current phase is another. */
export interface AwaitPhaseNode extends NodeBase {
  readonly kind: "awaitPhase";
  readonly barrier: PhaseBarrier;
  readonly index: Value;
  readonly parity: Value;
}

/** Barrier, one load that all invocations share (index is workgroup-uniform), barrier. The result is uniform. */
export interface UniformLoadNode extends NodeBase {
  readonly kind: "uniformLoad";
  readonly memory: SharedMemory;
  readonly index: Value;
  readonly result: Value;
}

/** An operation over the active invocations of a subgroup: see subgroup.ts for each one's meaning. */
export interface SubgroupNode extends NodeBase {
  readonly kind: "subgroup";
  readonly op: SubgroupOp;
  readonly operands: readonly Value[];
  readonly results: readonly Value[];
}

/** A label for readers of the printed IR and of emitted code (an unrolled iteration, say). No effect. */
export interface CommentNode extends NodeBase {
  readonly kind: "comment";
  readonly text: string;
}

/** Shows values of the active invocations to whoever runs the kernel in the simulator. No effect elsewhere. */
export interface TraceNode extends NodeBase {
  readonly kind: "trace";
  readonly label: string;
  readonly values: readonly Value[];
}

/** One step of a kernel: an operation, an access to memory, or control flow. */
export type Node =
  | ConstNode
  | ParamNode
  | BuiltinNode
  | OpNode
  | LoadNode
  | StoreNode
  | AtomicNode
  | VarNode
  | VarGetNode
  | VarSetNode
  | IfNode
  | ForNode
  | WhileNode
  | BreakNode
  | ContinueNode
  | RolesNode
  | BarrierNode
  | AsyncCopyNode
  | CommitCopiesNode
  | AwaitCopiesNode
  | ArriveNode
  | AwaitPhaseNode
  | UniformLoadNode
  | SubgroupNode
  | CommentNode
  | TraceNode;

/** The kind of a node, which says what its other fields are. */
export type NodeKind = Node["kind"];

/** Nodes that decide which nodes run. */
export type ControlNode = IfNode | ForNode | WhileNode | BreakNode | ContinueNode | RolesNode;

/** All others, which run where they stand. */
export type PlainNode = Exclude<Node, ControlNode>;

/** How strictly barriers are checked: proved at build time, or left to the simulator (`dynamic`). */
export type UniformityMode = "static" | "dynamic";

/** A kernel recorded for one subgroup width: everything a device needs to run or emit it. */
export interface KernelIR {
  readonly name: string;
  readonly params: readonly Param[];
  /** In declaration order. */
  readonly shared: readonly SharedMemory[];
  /** In declaration order. */
  readonly phaseBarriers: readonly PhaseBarrier[];
  readonly workgroupSize: readonly [number, number, number];
  /**
   * Invocations per subgroup, 4 to 128, a power of two. Where the workgroup's size is no multiple of it, the last subgroup
   * has fewer lanes, and the kernel no subgroup operation: on GPUs those want all lanes.
   */
  readonly subgroupSize: number;
  readonly uniformity: UniformityMode;
  readonly body: Block;
  /** Number of values; ids are 0 to valueCount − 1. */
  readonly valueCount: number;
  readonly variableCount: number;
  readonly site: Site;
}
