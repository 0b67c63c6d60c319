/** Random programs as plain data, for fast-check to make and to shrink. What they mean is record.ts's. */

import fc from "fast-check";

type FloatType = "f32" | "f16" | "bf16";
export type NumberType = FloatType | "i32" | "u32";
export type Type = NumberType | "bool";

export type Expression =
  | { readonly kind: "constant"; readonly value: number | boolean }
  | { readonly kind: "variable"; readonly index: number }
  | { readonly kind: "builtin"; readonly index: number }
  | { readonly kind: "load"; readonly at: Expression; readonly width: 1 | 2 | 4; readonly component: number }
  | { readonly kind: "unary"; readonly op: string; readonly from: Type; readonly a: Expression }
  | {
      readonly kind: "binary";
      readonly op: string;
      readonly from: Type;
      readonly a: Expression;
      readonly b: Expression;
    }
  | {
      readonly kind: "fma";
      readonly type: FloatType;
      readonly a: Expression;
      readonly b: Expression;
      readonly c: Expression;
    }
  | {
      readonly kind: "select";
      readonly condition: Expression;
      readonly a: Expression;
      readonly b: Expression;
    };

export type Statement =
  | {
      readonly kind: "set";
      readonly type: Type;
      readonly index: number;
      readonly value: Expression;
      readonly mix: boolean;
    }
  | {
      readonly kind: "if";
      readonly condition: Expression;
      readonly then: readonly Statement[];
      readonly else: readonly Statement[];
    }
  | {
      readonly kind: "for";
      readonly from: Expression | null;
      readonly count: Expression | number;
      readonly step: number;
      readonly down: boolean;
      readonly body: readonly Statement[];
    }
  | {
      readonly kind: "while";
      readonly limit: number;
      readonly condition: Expression;
      readonly body: readonly Statement[];
    }
  | { readonly kind: "leave"; readonly how: "break" | "continue"; readonly condition: Expression }
  | { readonly kind: "own"; readonly value: Expression; readonly width: 1 | 2 | 4 }
  | { readonly kind: "atomic"; readonly op: number; readonly at: Expression; readonly value: Expression }
  | {
      readonly kind: "subgroup";
      readonly op: string;
      readonly type: NumberType;
      readonly value: Expression;
      readonly condition: Expression;
    }
  /** The rest only where all of a workgroup, or of a subgroup, comes by. */
  | {
      readonly kind: "exchange";
      readonly type: NumberType;
      readonly value: Expression;
      readonly by: Expression;
    }
  | {
      readonly kind: "shuffle";
      readonly op: string;
      readonly type: NumberType;
      readonly value: Expression;
      readonly by: Expression;
    }
  | {
      readonly kind: "uniformFor";
      readonly count: number;
      readonly leaveAt: number | null;
      readonly body: readonly Statement[];
    }
  | {
      readonly kind: "uniformIf";
      readonly shared: boolean;
      readonly limit: number;
      readonly then: readonly Statement[];
      readonly else: readonly Statement[];
    }
  | { readonly kind: "roles"; readonly first: readonly Statement[]; readonly second: readonly Statement[] };

export interface Program {
  readonly shape: readonly [number, number, number];
  readonly body: readonly Statement[];
}

export const VARIABLES = 2;

const F32_CONSTANTS = [0, -0, 1, -1, 0.5, -1.5, 2.5, 3.25, 1e-3, 100.75, -7, 1e20, Infinity, NaN].map(
  Math.fround,
);
/** What f16 and bf16 hold of these is up to the recording. */
const HALF_CONSTANTS = [...F32_CONSTANTS, 65504, 2 ** -24, 1 + 2 ** -7, 0.333];
const I32_CONSTANTS = [0, 1, -1, 2, -3, 4, 7, 8, 31, 64, -100, 0x7fffffff, -0x80000000];
const U32_CONSTANTS = [0, 1, 2, 3, 4, 5, 8, 16, 31, 32, 64, 100, 0xffffffff];

const HALF_UNARY = ["neg", "abs", "sqrt", "floor", "ceil", "round", "trunc"];
const conversions = (op: string, from: readonly Type[]): (readonly [string, Type])[] =>
  from.map((type) => [op, type] as const);

const UNARY: Record<Type, readonly (readonly [string, Type])[]> = {
  f32: [
    ...["neg", "abs", "sqrt", "rsqrt", "exp", "exp2", "floor", "ceil", "round", "trunc", "tanh"].map(
      (op) => [op, "f32"] as const,
    ),
    ["toF32", "i32"],
    ["toF32", "u32"],
    ["toF32", "f16"],
    ["toF32", "bf16"],
    ["bitcast", "u32"],
  ],
  f16: [
    ...HALF_UNARY.map((op) => [op, "f16"] as const),
    ...conversions("toF16", ["f32", "bf16", "i32", "u32"]),
  ],
  bf16: [
    ...HALF_UNARY.map((op) => [op, "bf16"] as const),
    ...conversions("toBF16", ["f32", "f16", "i32", "u32"]),
  ],
  i32: [
    ["neg", "i32"],
    ["abs", "i32"],
    ["not", "i32"],
    ["toI32", "f32"],
    ["toI32", "u32"],
    ["toI32", "f16"],
    ["bitcast", "f32"],
  ],
  u32: [
    ["not", "u32"],
    ["toU32", "f32"],
    ["toU32", "i32"],
    ["toU32", "bf16"],
    ["bitcast", "f32"],
  ],
  bool: [
    ["not", "bool"],
    ["toBool", "i32"],
    ["toBool", "f32"],
    ["toBool", "f16"],
  ],
};

const INTEGER_BINARY = [
  "add",
  "sub",
  "mul",
  "min",
  "max",
  "divTrunc",
  "divFloor",
  "remTrunc",
  "modFloor",
  "and",
  "or",
  "xor",
  "shl",
  "shr",
];
const FLOAT_BINARY = ["add", "sub", "mul", "div", "min", "max"];
const COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"];

const BINARY: Record<Type, readonly (readonly [string, Type])[]> = {
  f32: FLOAT_BINARY.map((op) => [op, "f32"] as const),
  f16: FLOAT_BINARY.map((op) => [op, "f16"] as const),
  bf16: FLOAT_BINARY.map((op) => [op, "bf16"] as const),
  i32: INTEGER_BINARY.map((op) => [op, "i32"] as const),
  u32: INTEGER_BINARY.map((op) => [op, "u32"] as const),
  bool: [
    ...["and", "or", "xor"].map((op) => [op, "bool"] as const),
    ...(["f32", "f16", "bf16", "i32", "u32"] as const).flatMap((type) =>
      COMPARISONS.map((op) => [op, type] as const),
    ),
  ],
};

const index = fc.nat({ max: VARIABLES - 1 });
const width = fc.constantFrom(1 as const, 1 as const, 2 as const, 4 as const);

function constantOf(type: Type): fc.Arbitrary<Expression> {
  if (type === "bool") return fc.boolean().map((value) => ({ kind: "constant", value }));
  const isHalf = type === "f16" || type === "bf16";
  const list =
    type === "f32" ? F32_CONSTANTS : isHalf ? HALF_CONSTANTS : type === "i32" ? I32_CONSTANTS : U32_CONSTANTS;
  return fc.constantFrom(...list).map((value) => ({ kind: "constant", value }));
}

/** Tests that lanes answer differently, or subgroups, or iterations: chance alone makes few of them. */
const laneTest = fc
  .tuple(
    fc.nat({ max: 9 }),
    fc.constantFrom(1, 3, 7, 31),
    fc.constantFrom(...COMPARISONS),
    fc.nat({ max: 6 }),
  )
  .map(([builtin, mask, op, limit]): Expression => {
    const u32 = (value: number): Expression => ({ kind: "constant", value });
    const a: Expression = {
      kind: "binary",
      op: "and",
      from: "u32",
      a: { kind: "builtin", index: builtin },
      b: u32(mask),
    };
    return { kind: "binary", op, from: "u32", a, b: u32(limit) };
  });

const expressions = fc.letrec<Record<Type, Expression>>((tie) => {
  const made = (type: Type): fc.Arbitrary<Expression> => {
    const variable = index.map((i): Expression => ({ kind: "variable", index: i }));
    const leaves = [
      { weight: 3, arbitrary: variable },
      { weight: 2, arbitrary: constantOf(type) },
    ];
    if (type === "bool") leaves.push({ weight: 8, arbitrary: laneTest });
    if (type === "u32")
      leaves.push({
        weight: 4,
        arbitrary: fc.nat({ max: 9 }).map((i): Expression => ({ kind: "builtin", index: i })),
      });
    const unary = fc
      .constantFrom(...UNARY[type])
      .chain(([op, from]) => tie(from).map((a): Expression => ({ kind: "unary", op, from, a })));
    const binary = fc
      .constantFrom(...BINARY[type])
      .chain(([op, from]) =>
        fc
          .tuple(tie(from), tie((op === "shl" || op === "shr") && from === "i32" ? "u32" : from))
          .map(([a, b]): Expression => ({ kind: "binary", op, from, a, b })),
      );
    const select = fc
      .tuple(tie("bool"), tie(type), tie(type))
      .map(([condition, a, b]): Expression => ({ kind: "select", condition, a, b }));
    const load = fc
      .tuple(tie("u32"), width, fc.nat({ max: 3 }))
      .map(([at, wide, component]): Expression => ({ kind: "load", at, width: wide, component }));
    const isFloat = type === "f32" || type === "f16" || type === "bf16";
    const fma = fc
      .tuple(tie(type), tie(type), tie(type))
      .map(([a, b, c]): Expression => ({ kind: "fma", type: type as FloatType, a, b, c }));
    return fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      ...leaves,
      { weight: 2, arbitrary: unary },
      { weight: 4, arbitrary: binary },
      { weight: 1, arbitrary: select },
      ...(type === "bool" ? [] : [{ weight: 2, arbitrary: load }]),
      ...(isFloat ? [{ weight: 1, arbitrary: fma }] : []),
    );
  };
  return {
    f32: made("f32"),
    f16: made("f16"),
    bf16: made("bf16"),
    i32: made("i32"),
    u32: made("u32"),
    bool: made("bool"),
  };
});

const anyType = fc.constantFrom<Type>("f32", "f16", "bf16", "i32", "u32", "bool");
const numberType = fc.constantFrom<NumberType>("f32", "f16", "bf16", "i32", "u32");
const typed = <T extends Type, R>(
  types: fc.Arbitrary<T>,
  make: (type: T, value: Expression) => R,
): fc.Arbitrary<R> => types.chain((type) => expressions[type].map((value) => make(type, value)));

const set = fc
  .tuple(
    index,
    typed(anyType, (type, value) => ({ type, value })),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([i, { type, value }, plain]): Statement => ({ kind: "set", type, index: i, value, mix: plain > 0 }));
const own = fc
  .tuple(expressions.f32, width)
  .map(([value, wide]): Statement => ({ kind: "own", value, width: wide }));
const atomic = fc
  .tuple(fc.nat({ max: 5 }), expressions.u32, expressions.u32)
  .map(([op, at, value]): Statement => ({ kind: "atomic", op, at, value }));
const leave = fc
  .tuple(fc.constantFrom("break" as const, "continue" as const), expressions.bool)
  .map(([how, condition]): Statement => ({ kind: "leave", how, condition }));
const subgroup = fc
  .tuple(
    fc.constantFrom(
      "sum",
      "min",
      "max",
      "any",
      "all",
      "ballot",
      "broadcastFirst",
      "inclusiveSum",
      "exclusiveSum",
    ),
    typed(numberType, (type, value) => ({ type, value })),
    expressions.bool,
  )
  .map(([op, { type, value }, condition]): Statement => ({ kind: "subgroup", op, type, value, condition }));
const exchange = fc
  .tuple(
    typed(numberType, (type, value) => ({ type, value })),
    expressions.u32,
  )
  .map(([{ type, value }, by]): Statement => ({ kind: "exchange", type, value, by }));
const shuffle = fc
  .tuple(
    fc.constantFrom("broadcast", "shuffle", "shuffleXor", "shuffleUp", "shuffleDown"),
    typed(numberType, (type, value) => ({ type, value })),
    expressions.u32,
  )
  .map(([op, { type, value }, by]): Statement => ({ kind: "shuffle", op, type, value, by }));

/** Statements for divergent flow, `depth` more levels deep. */
function inner(depth: number, inLoop: boolean): fc.Arbitrary<readonly Statement[]> {
  const simple: fc.WeightedArbitrary<Statement>[] = [
    { weight: 5, arbitrary: set },
    { weight: 1, arbitrary: own },
    { weight: 1, arbitrary: atomic },
    { weight: 1, arbitrary: subgroup },
  ];
  if (inLoop) simple.push({ weight: 2, arbitrary: leave });
  if (depth === 0) return fc.array(fc.oneof(...simple), { minLength: 1, maxLength: 3 });
  return fc.array(fc.oneof(...simple, { weight: 5, arbitrary: nested(depth, inLoop) }), {
    minLength: 1,
    maxLength: 4,
  });
}

function nested(depth: number, inLoop: boolean): fc.Arbitrary<Statement> {
  const branch = fc
    .tuple(expressions.bool, inner(depth - 1, inLoop), fc.option(inner(depth - 1, inLoop)))
    .map(([condition, then, otherwise]): Statement => ({
      kind: "if",
      condition,
      then,
      else: otherwise ?? [],
    }));
  const counted = fc
    .record({
      from: fc.option(expressions.i32),
      count: fc.oneof(fc.nat({ max: 5 }), expressions.i32),
      step: fc.integer({ min: 1, max: 3 }),
      down: fc.boolean(),
      body: inner(depth - 1, true),
    })
    .map((fields): Statement => ({ kind: "for", ...fields }));
  const repeated = fc
    .record({ limit: fc.nat({ max: 4 }), condition: expressions.bool, body: inner(depth - 1, true) })
    .map((fields): Statement => ({ kind: "while", ...fields }));
  return fc.oneof(branch, counted, repeated);
}

/** Statements for flow that the whole workgroup shares. */
function outer(depth: number): fc.Arbitrary<readonly Statement[]> {
  const list: fc.WeightedArbitrary<Statement>[] = [
    { weight: 4, arbitrary: set },
    { weight: 1, arbitrary: own },
    { weight: 1, arbitrary: atomic },
    { weight: 2, arbitrary: subgroup },
    { weight: 2, arbitrary: shuffle },
    { weight: 3, arbitrary: exchange },
    { weight: 3, arbitrary: nested(2, false) },
  ];
  if (depth > 0) {
    const roles = fc
      .tuple(inner(1, false), inner(1, false))
      .map(([first, second]): Statement => ({ kind: "roles", first, second }));
    const uniformFor = fc
      .record({ count: fc.nat({ max: 3 }), leaveAt: fc.option(fc.nat({ max: 2 })), body: outer(depth - 1) })
      .map((fields): Statement => ({ kind: "uniformFor", ...fields }));
    const uniformIf = fc
      .record({
        shared: fc.boolean(),
        limit: fc.nat({ max: 3 }),
        then: outer(depth - 1),
        else: outer(depth - 1),
      })
      .map((fields): Statement => ({ kind: "uniformIf", ...fields }));
    list.push(
      { weight: 1, arbitrary: roles },
      { weight: 2, arbitrary: uniformFor },
      { weight: 1, arbitrary: uniformIf },
    );
  }
  return fc.array(fc.oneof(...list), { minLength: 1, maxLength: 5 });
}

export const programs: fc.Arbitrary<Program> = fc.record({
  shape: fc.constantFrom(
    [64, 1, 1] as const,
    [128, 1, 1] as const,
    [16, 4, 1] as const,
    [4, 4, 8] as const,
    [2, 64, 1] as const,
  ),
  body: outer(2),
});
