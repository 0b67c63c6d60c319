/**
 * Checks that every switch is complete: its default calls `assertNever`, so that the compiler names every switch to which a
 * new kind, type, operation or device has to be added. Code for open lists of cases uses `if`. Pure functions over a source
 * tree.
 */

import { parseSync, Visitor, type Statement, type SwitchStatement } from "oxc-parser";
import type { Problem } from "../problem.ts";
import { lineAt, type SourceFile, type SourceTree } from "../tree.ts";

/** Switches in `src` that do nothing for a case that they do not list. */
export function findOpenSwitches(tree: SourceTree): Problem[] {
  const problems: Problem[] = [];
  for (const file of tree.files.values()) {
    if (!/^packages\/[^/]+\/src\//.test(file.path)) continue;
    for (const open of openSwitches(file)) {
      const over = file.text.slice(open.discriminant.start, open.discriminant.end);
      const message = `a switch over ${over} does not end in "default: assertNever(...)"`;
      problems.push({ path: file.path, line: lineAt(file.text, open.start), message });
    }
  }
  return problems;
}

function openSwitches({ path, text }: SourceFile): SwitchStatement[] {
  const found: SwitchStatement[] = [];
  const visitor = new Visitor({
    SwitchStatement(node) {
      if (!endsInNever(node)) found.push(node);
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}

function endsInNever({ cases }: SwitchStatement): boolean {
  const last = cases.find(({ test }) => test === null);
  return last?.consequent.some(callsNever) ?? false;
}

/** `assertNever(…)` as a statement of its own, returned or thrown, alone or in a block. */
function callsNever(statement: Statement): boolean {
  if (statement.type === "BlockStatement") return statement.body.some(callsNever);
  const expression =
    statement.type === "ExpressionStatement"
      ? statement.expression
      : statement.type === "ReturnStatement" || statement.type === "ThrowStatement"
        ? statement.argument
        : null;
  return (
    expression?.type === "CallExpression" &&
    expression.callee.type === "Identifier" &&
    expression.callee.name === "assertNever"
  );
}
