/** What each kind of finding means and what to do about it, for tools that show findings by rules. */

import type { FindingKind } from "@evolver/device";

export interface Rule {
  /** One line. */
  readonly title: string;
  /** What happened, and what to do. */
  readonly help: string;
}

export const rules: Readonly<Record<FindingKind | "native-use", Rule>> = {
  "data-race": {
    title: "Two invocations touch one element, and nothing orders them",
    help: "At least one of them writes. Put gpu.barrier() between the two lines if both invocations are in one workgroup; make the accesses atomic, or give each invocation elements of its own, if they are not.",
  },
  "out-of-bounds": {
    title: "An index lies outside a buffer, a shared array, or a row of a layout",
    help: "Guard the access with gpu.if(i.lt(x.length), …), or read with getOr(i, value).",
  },
  "misaligned-access": {
    title: "A vector does not begin at a multiple of its size",
    help: "Make the index of the first element a multiple of the vector's components, or use narrower vectors.",
  },
  "uninitialised-shared-memory": {
    title: "Shared memory is read where nobody wrote",
    help: "Write the element in this workgroup first, and put gpu.barrier() between, or do not let the value reach a result.",
  },
  "uninitialised-global-memory": {
    title: "A buffer is read where nobody wrote",
    help: "Give the buffer contents, or write the element before it is read.",
  },
  "output-not-written": {
    title: "The launch stops short of the size that the kernel compares with",
    help: "Launch more workgroups, or let each invocation go over several elements.",
  },
  "uninitialised-variable": {
    title: "A variable is read before it has a value on some way through the kernel",
    help: "Give gpu.var a value to begin with, or set it on every way.",
  },
  "divergent-barrier": {
    title: "Some invocations of a workgroup do not reach a barrier",
    help: "Move the barrier out of the condition or loop, or make the condition the same for the whole workgroup.",
  },
  "divergent-subgroup-operation": {
    title: "Some invocations of a subgroup do not reach an operation that all must reach",
    help: "Move the operation out of the condition or loop, and give lanes without data a neutral value.",
  },
  "inactive-lane-read": {
    title: "A lane takes a value from a lane that does not take part",
    help: "Let all lanes reach the operation, or take only from lanes that do.",
  },
  "copy-in-flight": {
    title: "Memory is accessed while a copy into it is under way",
    help: "Wait for the copy first, and put gpu.barrier() behind the wait where other invocations read.",
  },
  "copy-bytes": {
    title: "Copies are not of the size that was declared",
    help: "Declare the bytes that all copies of the group or phase bring together.",
  },
  deadlock: {
    title: "A wait that nobody ends, or a loop without an end",
    help: "See that what is waited for is written by invocations that run; workgroups that have not begun may never begin.",
  },
  "schedule-dependent-result": {
    title: "Other orders of invocations leave other results",
    help: "Put a barrier between the accesses to order them, or take it as meant: it is a warning unless --deterministic is given.",
  },
  "invalid-loop-step": {
    title: "The step of a loop is 0, or leads away from its end",
    help: "Give a positive step, or a negative one where the loop counts down.",
  },
  "division-by-zero": {
    title: "An integer is divided by zero",
    help: "Guard the division, or make the divisor at least 1 with max(1, …).",
  },
  "native-use": {
    title: "A run-time value is used as a JavaScript value",
    help: "JavaScript decides it once, when the kernel is built. Write gpu.if, select, or the methods of the value, such as a.lt(b) and a.eq(b).",
  },
};
