/**
 * Which cases hold each operation, kind of node and type to its meaning. The tables lack no row by type: who adds one to the
 * language is asked by the compiler for a case, and a test builds the cases that are named here and looks for it in them.
 */

import type { AtomicOp, BuiltinName, ElementType, NodeKind, OpName, SubgroupOp } from "@evolver/kernel";

/** Names of cases. */
type Covered<K extends string> = Readonly<Record<K, readonly string[]>>;

const HALF = "from and to f32, i32 and u32";

export const operationCases: Covered<OpName> = {
  add: ["f32 add", "i32 add wraps", "u32 add wraps", "f16: add", "bf16: add"],
  sub: ["f32 sub", "i32 sub wraps", "u32 sub wraps", "f16: sub", "bf16: sub"],
  mul: ["f32 mul", "i32 mul wraps", "u32 mul wraps", "f16: mul", "bf16: mul"],
  div: ["f32 div", "f16: div", "bf16: div"],
  divTrunc: ["i32 divTrunc", "u32 divTrunc"],
  divFloor: ["i32 divFloor", "u32 divFloor"],
  remTrunc: ["i32 remTrunc", "u32 remTrunc"],
  modFloor: ["i32 modFloor", "u32 modFloor"],
  min: ["f32 min", "i32 min", "u32 min", "f16: min and max", "bf16: min and max"],
  max: ["f32 max", "i32 max", "u32 max", "f16: min and max", "bf16: min and max"],
  neg: ["f32 neg", "i32 neg wraps", "f16: neg", "bf16: neg"],
  abs: ["f32 abs", "i32 abs wraps", "f16: abs", "bf16: abs"],
  fma: ["f32 fma", "f16: fma", "bf16: fma"],
  select: [
    "f32 select",
    "i32 min and max of three, clamp, select",
    "bool and, or, xor, not, select, conversions",
    "f16: select by lt",
    "bf16: select by lt",
  ],
  sqrt: ["f32 sqrt", "f16: sqrt", "bf16: sqrt"],
  rsqrt: ["f32 rsqrt", "f32 rsqrt at the ends of its domain"],
  exp: ["f32 exp", "f32 exp at the ends of its domain"],
  exp2: ["f32 exp2", "f32 exp2 at the ends of its domain"],
  exp2Flushed: ["f32 exp2Flushed", "f32 exp2Flushed at the ends of its domain"],
  log: ["f32 log", "f32 log at the ends of its domain"],
  log2: ["f32 log2", "f32 log2 at the ends of its domain"],
  sin: ["f32 sin"],
  cos: ["f32 cos"],
  tanh: ["f32 tanh", "f32 tanh at the ends of its domain"],
  floor: ["f32 floor", "f16: floor", "bf16: floor"],
  ceil: ["f32 ceil", "f16: ceil", "bf16: ceil"],
  round: ["f32 round, halves to even", "f16: round", "bf16: round"],
  trunc: ["f32 trunc", "f16: trunc", "bf16: trunc"],
  eq: ["f32 eq", "i32 eq", "u32 eq", "f16: select by ne", "bf16: select by ne"],
  ne: ["f32 ne", "i32 ne", "u32 ne", "f16: select by ne", "bf16: select by ne"],
  lt: ["f32 lt", "i32 lt", "u32 lt", "f16: select by lt", "bf16: select by lt"],
  le: ["f32 le", "i32 le", "u32 le", "f16: select by ge", "bf16: select by ge"],
  gt: ["f32 gt", "i32 gt", "u32 gt"],
  ge: ["f32 ge", "i32 ge", "u32 ge", "f16: select by ge", "bf16: select by ge"],
  and: ["i32 and", "u32 and", "bool and, or, xor, not, select, conversions"],
  or: ["i32 or", "u32 or", "bool and, or, xor, not, select, conversions"],
  xor: ["i32 xor", "u32 xor", "bool and, or, xor, not, select, conversions"],
  not: ["i32 not", "u32 not", "bool and, or, xor, not, select, conversions"],
  shl: ["i32 shl, the amount modulo 32", "u32 shl, the amount modulo 32"],
  shr: ["i32 shr, the amount modulo 32", "u32 shr, the amount modulo 32"],
  popcount: ["i32 popcount", "u32 popcount"],
  clz: ["i32 clz", "u32 clz"],
  toI32: ["f32 to i32 truncates and saturates", "u32 to i32 keeps the bits"],
  toU32: ["f32 to u32 truncates and saturates", "i32 to u32 keeps the bits"],
  toF32: ["i32 to f32 rounds to nearest", "u32 to f32 rounds to nearest", `f16: ${HALF}`, `bf16: ${HALF}`],
  toF16: [`f16: ${HALF}`],
  toBF16: [`bf16: ${HALF}`],
  toBool: ["f32 to bool: not equal to zero", "i32 to bool", "u32 to bool"],
  toIndex: ["views with run-time strides: transposed, every other row, with an offset"],
  bitcastF32: ["u32 bitcast to f32", "i32 bitcast to f32"],
  bitcastI32: ["f32 bitcast to i32, all NaN alike", "i32 bitcast to u32 and back"],
  bitcastU32: ["f32 bitcast to u32, all NaN alike", "i32 bitcast to u32 and back"],
};

export const subgroupCases: Covered<SubgroupOp> = {
  sum: ["subgroup sum of f32", "subgroup sum of i32", "f16: subgroup sum, rounded at each step"],
  min: ["subgroup min of f32", "subgroup min of u32", "f16: subgroup min and max"],
  max: ["subgroup max of f32", "subgroup max of u32", "bf16: subgroup min and max"],
  any: ["subgroup any and all"],
  all: ["subgroup any and all"],
  ballot: ["subgroup ballot, every word of it"],
  broadcast: ["f16: subgroup shuffle, shuffleXor and broadcast"],
  broadcastFirst: ["f16: subgroup shuffle, shuffleXor and broadcast"],
  shuffle: ["f16: subgroup shuffle, shuffleXor and broadcast"],
  shuffleXor: ["f16: subgroup shuffle, shuffleXor and broadcast"],
  shuffleUp: ["subgroup shuffleUp, which wraps nothing"],
  shuffleDown: ["subgroup shuffleDown"],
  inclusiveSum: ["subgroup inclusiveSum of f32", "f16: subgroup inclusive sum"],
  exclusiveSum: ["subgroup exclusiveSum of f32", "f16: subgroup exclusive sum"],
};

const CELLS = [
  "every atomic operation of u32 on a cell of its own: old and new values",
  "every atomic operation of i32 on a cell of its own: old and new values",
];

export const atomicCases: Covered<AtomicOp> = {
  load: ["atomic add of u32 in shared memory"],
  store: ["atomic add of u32 in shared memory"],
  add: ["atomic add of u32 in a buffer", "atomic add of i32 in a buffer"],
  min: ["atomic min of u32 in a buffer", "atomic min of i32 in a buffer"],
  max: ["atomic max of u32 in a buffer", "atomic max of i32 in a buffer"],
  and: ["atomic and of u32 in a buffer"],
  or: ["atomic or of u32 in a buffer"],
  xor: ["atomic xor of u32 in a buffer"],
  exchange: CELLS,
  compareExchange: CELLS,
};

const INDICES = ["all indices, workgroups on one axis", "all indices, workgroups [W, 2]"];

export const builtinCases: Covered<BuiltinName> = {
  "workgroupId.x": INDICES,
  "workgroupId.y": INDICES,
  "workgroupId.z": INDICES,
  "localId.x": INDICES,
  "localId.y": INDICES,
  "localId.z": INDICES,
  "globalId.x": INDICES,
  "globalId.y": INDICES,
  "globalId.z": INDICES,
  "numWorkgroups.x": INDICES,
  "numWorkgroups.y": INDICES,
  "numWorkgroups.z": INDICES,
  workgroupIndex: INDICES,
  localIndex: INDICES,
  subgroupId: INDICES,
  lane: INDICES,
};

const PIPELINE = ["a pipeline of 2 stages between producers and consumers, over two loops"];
const COPIES = ["asynchronous copies of 1 f32, zeros where not active"];
const VARIABLES = ["f16: variables, registers, loops and uniform loads"];
const LOOPS = ["break and continue in for", "break and continue in while, and in loops inside one another"];

export const nodeCases: Covered<NodeKind> = {
  const: ["f32 add"],
  param: ["f32 add"],
  builtin: INDICES,
  op: ["f32 add"],
  load: ["f32 add"],
  store: ["f32 add"],
  atomic: CELLS,
  var: VARIABLES,
  varGet: VARIABLES,
  varSet: VARIABLES,
  if: ["f32 add"],
  for: LOOPS,
  while: ["while, with a condition of several steps"],
  break: LOOPS,
  continue: LOOPS,
  roles: ["roles: each subgroup runs its own body, one runs none"],
  barrier: ["a sum as a tree: barriers in a uniform loop"],
  asyncCopy: COPIES,
  commitCopies: COPIES,
  awaitCopies: COPIES,
  arrive: PIPELINE,
  awaitPhase: PIPELINE,
  uniformLoad: ["uniformLoad decides loops and branches around barriers"],
  subgroup: ["subgroup any and all"],
  trace: ["traces change nothing"],
  comment: ["for that asks to be unrolled, wholly and by a factor"],
};

/** In buffers; shared memory holds them in the cases of nodes. */
export const elementCases: Covered<ElementType> = {
  f32: ["f32 add"],
  i32: ["i32 add wraps"],
  u32: ["u32 add wraps"],
  f16: ["f16: add", "f16: 2 elements at once"],
  bf16: ["bf16: add", "bf16: 2 elements at once"],
};
