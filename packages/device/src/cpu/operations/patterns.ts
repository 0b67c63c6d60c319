/**
 * How operations carry patterns across lanes (see lane-pattern.ts) from their operands to their result. A rule never
 * says more than holds: `pointwise`, which is right for every operation that works lane by lane, is the weakest.
 */

import { scalarTypes, type ScalarType } from "@evolver/kernel";
import {
  affine,
  alignmentOf,
  alignmentOfProduct,
  lanesAgreeOnLess,
  patternOfSum,
  uniform,
  VARYING,
  type LanePattern,
} from "../lane-pattern.ts";

interface PatternOperands {
  /** None of them varying. */
  readonly patterns: readonly LanePattern[];
  readonly types: readonly ScalarType[];
  /** All operands are the same for the workgroup, bases of affine ones included. */
  readonly workgroupUniform: boolean;
  /** The width of a subgroup. */
  readonly width: number;
}

export interface PatternRule {
  /** Of a result that is an integer, where all operands are uniform. */
  uniform(operands: PatternOperands): LanePattern;
  /** Where at least one operand is affine. */
  affine(operands: PatternOperands): LanePattern;
}

const pairOf = ({ patterns }: PatternOperands): [LanePattern, LanePattern] =>
  patterns as unknown as [LanePattern, LanePattern];

const plainUniform: PatternRule["uniform"] = ({ workgroupUniform }) => uniform(workgroupUniform);
const alignedToBoth: PatternRule["uniform"] = (operands) => {
  const [a, b] = pairOf(operands);
  return uniform(operands.workgroupUniform, Math.min(a.align, b.align));
};
const varying: PatternRule["affine"] = () => VARYING;

/** Uniform operands give a uniform result; nothing else is known. */
export const pointwise: PatternRule = { uniform: plainUniform, affine: varying };

export const sum = (sign: 1 | -1): PatternRule => ({
  uniform: alignedToBoth,
  affine: (operands) => patternOfSum(...pairOf(operands), sign),
});

export const negation: PatternRule = {
  uniform: plainUniform,
  affine({ patterns, workgroupUniform }) {
    const [a] = patterns as [LanePattern];
    return affine(-a.stride, workgroupUniform, a.align);
  },
};

export const product: PatternRule = {
  uniform(operands) {
    const [a, b] = pairOf(operands);
    return uniform(operands.workgroupUniform, alignmentOfProduct(a.align, b.align));
  },
  affine(operands) {
    const [a, b] = pairOf(operands);
    const [value, factor] = a.kind === "affine" ? [a, b.constant] : [b, a.constant];
    if (factor === undefined) return VARYING;
    const align = alignmentOfProduct(value.align, alignmentOf(factor));
    return affine(Math.imul(value.stride, factor), operands.workgroupUniform, align);
  },
};

export const shiftLeft: PatternRule = {
  uniform(operands) {
    const [a, b] = pairOf(operands);
    if (b.constant === undefined) return uniform(operands.workgroupUniform);
    return uniform(operands.workgroupUniform, alignmentOfProduct(a.align, 2 ** (b.constant & 31)));
  },
  affine(operands) {
    const [a, b] = pairOf(operands);
    if (b.constant === undefined || a.kind !== "affine") return VARYING;
    const align = alignmentOfProduct(a.align, 2 ** (b.constant & 31));
    return affine(a.stride << b.constant, operands.workgroupUniform, align);
  },
};

export const extremum: PatternRule = { uniform: alignedToBoth, affine: varying };

/** The result has the bits of the operand. */
export const sameBits: PatternRule = {
  uniform: plainUniform,
  affine: ({ patterns: [a] }) => a as LanePattern,
};

/** Conversions to integers: of other integers they change nothing. */
export const conversionToInteger: PatternRule = {
  uniform({ patterns, types, workgroupUniform }) {
    const [a] = patterns as [LanePattern];
    const { kind } = scalarTypes[types[0] as ScalarType];
    if (kind !== "integer" && kind !== "index") return uniform(workgroupUniform);
    return uniform(workgroupUniform, a.align, a.constant);
  },
  affine: sameBits.affine,
};

export const selection: PatternRule = {
  uniform: plainUniform,
  affine({ patterns, workgroupUniform }) {
    const [condition, yes, no] = patterns as [LanePattern, LanePattern, LanePattern];
    if (condition.kind !== "uniform" || yes.stride !== no.stride) return VARYING;
    return affine(yes.stride, workgroupUniform, Math.min(yes.align, no.align));
  },
};

/** `less`: a < b and a ≥ b, on which lanes agree or not together; `greater`: a > b and a ≤ b. */
export const comparison = (kind: "less" | "greater"): PatternRule => ({
  uniform: plainUniform,
  affine(operands) {
    const [a, b] = pairOf(operands);
    const agree =
      kind === "less" ? lanesAgreeOnLess(a, b, operands.width) : lanesAgreeOnLess(b, a, operands.width);
    return agree ? uniform(operands.workgroupUniform) : VARYING;
  },
});

/**
 * Quotients and remainders by a constant, which `divisorOf` takes from the second operand: where a power of two at least
 * as large as the subgroup divides lanes that start at a multiple of the width, all have one quotient.
 */
function divided(
  part: "quotient" | "remainder",
  divisorOf: (constant: number) => number,
  accept: (type: ScalarType) => boolean = () => true,
): PatternRule {
  return {
    uniform: plainUniform,
    affine(operands) {
      const { types, width, workgroupUniform } = operands;
      const [a, b] = pairOf(operands);
      if (!accept(types[0] as ScalarType) || b.constant === undefined) return VARYING;
      const divisor = divisorOf(b.constant);
      if (divisor < width || alignmentOf(divisor) !== divisor) return VARYING;
      if (a.kind !== "affine" || a.stride !== 1 || a.align < width) return VARYING;
      return part === "quotient"
        ? uniform(workgroupUniform, Math.max(1, a.align / divisor))
        : affine(1, workgroupUniform, a.align);
    },
  };
}

const identity = (constant: number): number => constant;

/** Rounding down, quotients of negative numbers are as regular as others; truncating, only those of the unsigned are. */
export const floored = (part: "quotient" | "remainder"): PatternRule => divided(part, identity);
export const truncated = (part: "quotient" | "remainder"): PatternRule =>
  divided(part, identity, (type) => scalarTypes[type].least === 0);
export const shiftRight: PatternRule = divided("quotient", (constant) => 2 ** (constant & 31));
export const bitMask: PatternRule = divided("remainder", (constant) => constant + 1);
