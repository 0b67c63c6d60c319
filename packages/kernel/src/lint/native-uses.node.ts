/**
 * Finds where a kernel's source uses a run-time value as a JavaScript value: `if (x.get(0))`, `i === n`, `a && b`. Such code
 * builds, because every object is true and two objects are equal only if they are one, and then always takes the same way.
 * Nothing can find it when the kernel is built, so this looks at the source, with the types that the compiler gives it.
 */

import { SyntaxKind as Kind, type Node, type SourceFile } from "typescript/unstable/ast";
import {
  isBinaryExpression,
  isCallExpression,
  isCaseClause,
  isConditionalExpression,
  isDoStatement,
  isElementAccessExpression,
  isForStatement,
  isIfStatement,
  isParenthesizedExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isSpreadElement,
  isSwitchStatement,
  isTemplateExpression,
  isWhileStatement,
} from "typescript/unstable/ast/is";
import type { Checker, Type, TypeReference } from "typescript/unstable/sync";

/** A place where a run-time value is used as a JavaScript value, such as `a < b`. */
export interface NativeUse {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** One sentence: what is used as what. */
  readonly message: string;
  /** What to write instead. */
  readonly hint: string;
  /** Where the call of `kernel(…)` around it begins, or null outside of all, in a helper function. */
  readonly kernel: { readonly line: number; readonly column: number } | null;
}

/** Classes of values that exist at run time only. */
const VALUES: ReadonlySet<string> = new Set([
  "Scalar",
  "F32",
  "I32",
  "U32",
  "F16",
  "BF16",
  "Bool",
  "Offset",
  "Vec",
]);
/** Places that hold such values: true as a condition, whatever they hold. */
const PLACES: ReadonlySet<string> = new Set(["Var", "RegisterArray"]);

const EQUALITY: ReadonlySet<number> = new Set([
  Kind.EqualsEqualsToken,
  Kind.EqualsEqualsEqualsToken,
  Kind.ExclamationEqualsToken,
  Kind.ExclamationEqualsEqualsToken,
]);
const ORDER: ReadonlySet<number> = new Set([
  Kind.LessThanToken,
  Kind.LessThanEqualsToken,
  Kind.GreaterThanToken,
  Kind.GreaterThanEqualsToken,
]);
const ARITHMETIC: ReadonlySet<number> = new Set([
  Kind.PlusToken,
  Kind.MinusToken,
  Kind.AsteriskToken,
  Kind.SlashToken,
  Kind.PercentToken,
  Kind.AsteriskAsteriskToken,
  Kind.AmpersandToken,
  Kind.BarToken,
  Kind.CaretToken,
  Kind.LessThanLessThanToken,
  Kind.GreaterThanGreaterThanToken,
  Kind.GreaterThanGreaterThanGreaterThanToken,
  Kind.PlusEqualsToken,
  Kind.MinusEqualsToken,
  Kind.AsteriskEqualsToken,
  Kind.SlashEqualsToken,
]);
const LOGIC: ReadonlySet<number> = new Set([
  Kind.AmpersandAmpersandToken,
  Kind.BarBarToken,
  Kind.QuestionQuestionToken,
  Kind.AmpersandAmpersandEqualsToken,
  Kind.BarBarEqualsToken,
  Kind.QuestionQuestionEqualsToken,
]);
/** Methods that compare with `===`. */
const SEARCHES: ReadonlySet<string> = new Set(["includes", "indexOf", "lastIndexOf"]);
/** Methods that take what their function returns as a condition or a number. */
const TESTS: ReadonlySet<string> = new Set([
  "filter",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
  "some",
  "every",
  "sort",
  "toSorted",
]);
/** Functions of JavaScript that want a JavaScript value. */
const CONVERSIONS: ReadonlySet<string> = new Set([
  "Number",
  "String",
  "Boolean",
  "BigInt",
  "isNaN",
  "isFinite",
  "parseInt",
  "parseFloat",
]);
const NAMESPACES: ReadonlySet<string> = new Set(["Math", "Number", "Object"]);
/** What these namespaces have for every object. */
const HARMLESS: ReadonlySet<string> = new Set([
  "freeze",
  "keys",
  "values",
  "entries",
  "assign",
  "fromEntries",
  "defineProperty",
]);

/** All uses in a file, in its order. */
export function nativeUses(source: SourceFile, checker: Checker): NativeUse[] {
  const walk = new Walk(source, checker);
  walk.visit(source);
  return walk.found.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

class Walk {
  readonly found: NativeUse[] = [];
  readonly #source: SourceFile;
  readonly #checker: Checker;
  #kernel: NativeUse["kernel"] = null;

  constructor(source: SourceFile, checker: Checker) {
    this.#source = source;
    this.#checker = checker;
  }

  visit(node: Node): void {
    if (isIfStatement(node)) this.#condition(node.expression, "if", "gpu.if(c, () => …)");
    else if (isConditionalExpression(node))
      this.#condition(node.condition, "?:", "select(c, a, b) or gpu.if");
    else if (isWhileStatement(node) || isDoStatement(node))
      this.#condition(node.expression, "while", "gpu.while(() => c, () => …)");
    else if (isForStatement(node)) {
      if (node.condition) this.#condition(node.condition, "for", "gpu.for({ from, to }, (i) => …)");
    } else if (isSwitchStatement(node)) {
      if (this.#isValue(node.expression))
        this.#report(node.expression, "takes no case of this switch", "gpu.if with .eq() for each case");
    } else if (isCaseClause(node)) {
      if (this.#isValue(node.expression))
        this.#report(node.expression, "is a case that nothing equals", "gpu.if for each case");
    } else if (isBinaryExpression(node)) this.#binary(node.left, node.operatorToken.kind, node.right, node);
    else if (isPrefixUnaryExpression(node)) this.#unary(node.operand, node.operator);
    else if (isPostfixUnaryExpression(node)) this.#unary(node.operand, node.operator);
    else if (isTemplateExpression(node)) {
      for (const { expression } of node.templateSpans)
        if (this.#isValue(expression))
          this.#report(expression, "has no text when the kernel is built", 'gpu.trace("label", value)');
    } else if (isElementAccessExpression(node)) {
      const index = node.argumentExpression;
      if (this.#isValue(index))
        this.#report(
          index,
          "indexes a JavaScript array, which has no such element",
          "shared memory, or select() over the elements",
        );
    } else if (isCallExpression(node)) this.#call(node.expression, node.arguments);
    const outer = this.#kernel;
    if (isCallExpression(node) && this.#text(node.expression) === "kernel")
      this.#kernel = this.#place(node.expression.getStart(this.#source));
    node.forEachChild((child) => {
      this.visit(child);
      return undefined;
    });
    this.#kernel = outer;
  }

  /** Logic and `!` inside a condition are looked at on their own. */
  #condition(condition: Node, what: string, instead: string): void {
    let tested = condition;
    while (isParenthesizedExpression(tested)) tested = tested.expression;
    if (isBinaryExpression(tested) && LOGIC.has(tested.operatorToken.kind))
      return this.#condition(tested.right, what, instead);
    if (this.#isObject(tested))
      this.#report(tested, `is always true as the condition of a JavaScript ${what}`, instead);
  }

  #binary(left: Node, operator: Kind, right: Node, whole: Node): void {
    if (LOGIC.has(operator)) {
      // A name before ?? may well be of something that is absent: types of elements do not say so.
      const isNullish =
        operator === Kind.QuestionQuestionToken || operator === Kind.QuestionQuestionEqualsToken;
      if (this.#isObject(left) && (!isNullish || isCallExpression(left)))
        this.#report(
          left,
          `is always the true side of a JavaScript ${textOf(operator)}`,
          ".and(), .or() or select()",
        );
    } else if (EQUALITY.has(operator)) {
      const [a, b] = [this.#isValue(left), this.#isValue(right)];
      if ((a && b) || (a && !this.#isNothing(right)) || (b && !this.#isNothing(left)))
        this.#report(
          whole,
          "compares objects when the kernel is built, not run-time values",
          ".eq() or .ne()",
        );
    } else if (ORDER.has(operator) || ARITHMETIC.has(operator)) {
      const operand = [left, right].find((side) => this.#isValue(side));
      if (operand !== undefined)
        this.#report(
          operand,
          `is an operand of a JavaScript ${textOf(operator)}`,
          ORDER.has(operator) ? ".lt(), .le(), .gt() or .ge()" : ".add(), .sub(), .mul() and so on",
        );
    }
  }

  #unary(operand: Node, operator: Kind): void {
    if (operator === Kind.ExclamationToken) {
      if (this.#isObject(operand)) this.#report(operand, "is always false after a JavaScript !", ".not()");
    } else if (this.#isValue(operand))
      this.#report(
        operand,
        `is the operand of a JavaScript ${textOf(operator)}`,
        ".neg(), .not() or .add(1)",
      );
  }

  #call(callee: Node, given: readonly Node[]): void {
    const method = isPropertyAccessExpression(callee) ? callee.name.text : "";
    const of = isPropertyAccessExpression(callee) ? this.#text(callee.expression) : "";
    const isConversion = CONVERSIONS.has(this.#text(callee)) || (NAMESPACES.has(of) && !HARMLESS.has(method));
    for (const argument of given) {
      if (
        isConversion &&
        (isSpreadElement(argument) ? this.#areValues(argument.expression) : this.#isValue(argument))
      )
        this.#report(
          argument,
          `is an argument of ${this.#text(callee)}, which wants a JavaScript value`,
          "the functions of @evolver/kernel, such as max(), sqrt() or abs()",
        );
      if (SEARCHES.has(method) && this.#isValue(argument))
        this.#report(
          argument,
          `is looked for by ${method}(), which compares objects when the kernel is built`,
          ".eq() with each element, and .or()",
        );
      if (TESTS.has(method) && this.#returnsValue(argument))
        this.#report(
          argument,
          `returns a run-time value to ${method}(), which wants a JavaScript one`,
          "select() or gpu.if",
        );
    }
  }

  #returnsValue(node: Node): boolean {
    const type = this.#checker.getTypeAtLocation(node);
    if (type === undefined) return false;
    return this.#checker.getSignaturesOfType(type, 0).some((signature) => {
      const returned = this.#checker.getReturnTypeOfSignature(signature);
      return returned !== undefined && this.#isOf(returned, VALUES);
    });
  }

  /** A run-time value, or a place that holds one. */
  #isObject(node: Node): boolean {
    const type = this.#checker.getTypeAtLocation(node);
    return type !== undefined && (this.#isOf(type, VALUES) || this.#isOf(type, PLACES));
  }

  #isValue(node: Node): boolean {
    const type = this.#checker.getTypeAtLocation(node);
    return type !== undefined && this.#isOf(type, VALUES);
  }

  /** Whether a list has run-time values. */
  #areValues(list: Node): boolean {
    const type = this.#checker.getTypeAtLocation(list);
    if (type === undefined || !this.#checker.isArrayLikeType(type)) return false;
    return this.#checker
      .getTypeArguments(type as TypeReference)
      .some((element) => this.#isOf(element, VALUES));
  }

  /** Whether all that a type may be is of these classes: `F32 | undefined` may well be asked for. */
  #isOf(type: Type, classes: ReadonlySet<string>): boolean {
    if (type.isUnionType()) return type.getTypes().every((part) => this.#isOf(part, classes));
    const name = type.getSymbol()?.name ?? "";
    if (classes.has(name))
      return this.#checker.getPropertyOfType(type, MARKS[name] ?? "recorder") !== undefined;
    const constraint = type.isTypeParameter() ? this.#checker.getBaseConstraintOfType(type) : undefined;
    return constraint !== undefined && constraint !== type && this.#isOf(constraint, classes);
  }

  /** `null`, `undefined` and what may only be these. */
  #isNothing(node: Node): boolean {
    const type = this.#checker.getTypeAtLocation(node);
    if (type === undefined) return true;
    const text = this.#checker.typeToString(type);
    return text === "null" || text === "undefined";
  }

  #text(node: Node): string {
    return this.#source.text.slice(node.getStart(this.#source), node.end);
  }

  #place(position: number): { readonly line: number; readonly column: number } {
    const { line, character } = this.#source.getLineAndCharacterOfPosition(position);
    return { line: line + 1, column: character + 1 };
  }

  #report(node: Node, what: string, instead: string): void {
    const start = node.getStart(this.#source);
    const from = this.#place(start);
    const to = this.#place(node.end);
    const text = this.#text(node).replaceAll(/\s+/g, " ");
    this.found.push({
      file: this.#source.fileName,
      ...from,
      endLine: to.line,
      endColumn: to.column,
      message: `${text.length > 40 ? `${text.slice(0, 39)}…` : text} ${what}`,
      hint: `write ${instead}`,
      kernel: this.#kernel,
    });
  }
}

/** A property that each class has and no class of the same name elsewhere is likely to have. */
const MARKS: Readonly<Record<string, string>> = { Vec: "components", Var: "set", RegisterArray: "at" };

const TEXTS: Readonly<Partial<Record<Kind, string>>> = {
  [Kind.AmpersandAmpersandToken]: "&&",
  [Kind.BarBarToken]: "||",
  [Kind.QuestionQuestionToken]: "??",
  [Kind.AmpersandAmpersandEqualsToken]: "&&=",
  [Kind.BarBarEqualsToken]: "||=",
  [Kind.QuestionQuestionEqualsToken]: "??=",
};

const textOf = (operator: Kind): string => TEXTS[operator] ?? "operator";
