/**
 * Expressions as text with a precedence, and the few ways in which C, WGSL and JavaScript build larger ones. Where the
 * three languages disagree about precedence (shifts, bit operations), parentheses are written out.
 */

import type { ScalarType } from "../../ir/types.ts";

/** How tightly an expression holds together: smaller is tighter. */
const ATOM = 0;
const UNARY = 1;
const MULTIPLY = 2;
const ADD = 3;
/** Shifts and bit operations: always in parentheses inside another operator, and so are their operands. */
const BITS = 4;
export const COMPARE = 5;
const LOGIC = 6;
const CHOICE = 7;

export interface Expression {
  readonly text: string;
  readonly precedence: number;
  /** True if it may be written twice: a name or a literal. */
  readonly simple?: boolean;
  /** C++: for an i32 that was computed as unsigned, that computation. */
  readonly unsigned?: Expression;
}

/** An operand as a row of an operation table sees it. */
export interface Operand extends Expression {
  readonly type: ScalarType;
  /** The value of a literal. */
  readonly constant: number | boolean | null;
}

export const atom = (text: string): Expression => ({ text, precedence: ATOM });
export const simple = (text: string): Expression => ({ text, precedence: ATOM, simple: true });

/** A number, with its sign as an operator of its own. */
export const signed = (text: string): Expression =>
  text.startsWith("-") ? { text, precedence: UNARY, simple: true } : simple(text);

export const parenthesised = ({ text }: Expression): string => `(${text})`;

/** The text of an operand that must hold at least as tightly as `precedence`. */
function within(expression: Expression, precedence: number): string {
  return expression.precedence <= precedence ? expression.text : parenthesised(expression);
}

/** How tight an infix expression is, and how tight its operands must be to stand in it without parentheses. */
interface Tightness {
  readonly precedence: number;
  readonly left: number;
  readonly right: number;
}

const MULTIPLYING: Tightness = { precedence: MULTIPLY, left: MULTIPLY, right: UNARY };
const ADDING: Tightness = { precedence: ADD, left: ADD, right: MULTIPLY };
const ON_BITS: Tightness = { precedence: BITS, left: UNARY, right: UNARY };
const COMPARING: Tightness = { precedence: COMPARE, left: ADD, right: ADD };
const LOGICAL: Tightness = { precedence: LOGIC, left: COMPARE, right: COMPARE };

const INFIX = {
  "*": MULTIPLYING,
  "/": MULTIPLYING,
  "%": MULTIPLYING,
  "+": ADDING,
  "-": ADDING,
  "<<": ON_BITS,
  ">>": ON_BITS,
  ">>>": ON_BITS,
  "&": ON_BITS,
  "|": ON_BITS,
  "^": ON_BITS,
  "<": COMPARING,
  "<=": COMPARING,
  ">": COMPARING,
  ">=": COMPARING,
  "==": COMPARING,
  "!=": COMPARING,
  "===": COMPARING,
  "!==": COMPARING,
  "&&": LOGICAL,
  "||": LOGICAL,
} as const satisfies Readonly<Record<string, Tightness>>;

export type InfixOperator = keyof typeof INFIX;

/** `left operator right`, with parentheses only where they are needed or the languages disagree. */
export function infix(operator: InfixOperator, left: Expression, right: Expression): Expression {
  const { precedence, left: loosestLeft, right: loosestRight } = INFIX[operator];
  const continues = precedence === LOGIC && left.precedence === LOGIC && hasOnly(left.text, operator);
  const leftText = continues ? left.text : within(left, loosestLeft);
  return { text: `${leftText} ${operator} ${within(right, loosestRight)}`, precedence };
}

/** Whether a chain of && and || has only the one; others were put in parentheses when it was built. */
function hasOnly(text: string, operator: string): boolean {
  const other = operator === "&&" ? "||" : "&&";
  return !text.includes(` ${other} `);
}

export function prefix(operator: string, operand: Expression): Expression {
  const text = operand.text.startsWith(operator) ? parenthesised(operand) : within(operand, ATOM);
  return { text: `${operator}${text}`, precedence: UNARY };
}

export function call(name: string, ...operands: readonly Expression[]): Expression {
  return atom(`${name}(${operands.map(({ text }) => text).join(", ")})`);
}

/** `condition ? a : b`; WGSL has none. */
export function choice(condition: Expression, a: Expression, b: Expression): Expression {
  return {
    text: `${within(condition, COMPARE)} ? ${within(a, LOGIC)} : ${within(b, LOGIC)}`,
    precedence: CHOICE,
  };
}

const LARGEST = 3.4028234663852886e38;

/** The shortest decimal that is this 32-bit float, always with a point or an exponent. Finite values only. */
export function decimal(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  let text = String(value);
  for (let digits = 1; digits <= 9; digits++) {
    const candidate = value.toPrecision(digits);
    // WGSL refuses what is beyond the largest f32, even where it would round to it.
    if (Math.fround(Number(candidate)) === value && Math.abs(Number(candidate)) <= LARGEST) {
      text = String(Number(candidate));
      break;
    }
  }
  return /[.e]/.test(text) ? text : `${text}.0`;
}
