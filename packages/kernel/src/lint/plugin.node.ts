/**
 * A plugin for oxlint (`jsPlugins`) and ESLint with one rule, `native-use`: see native-uses.node.ts. The rule asks the
 * compiler for types itself, so it needs no other plugin and no parser of its own.
 */

import { Linter } from "./lint.node.ts";

interface Place {
  readonly line: number;
  readonly column: number;
}

interface Context {
  readonly filename: string;
  readonly sourceCode: { readonly text: string };
  report(problem: {
    readonly message: string;
    readonly loc: { readonly start: Place; readonly end: Place };
  }): void;
}

/** One for all files: the compiler takes longer to start than to look at one. */
let linter: Linter | undefined;

const nativeUse = {
  meta: {
    type: "problem",
    docs: {
      description: "Disallow run-time values of a kernel as JavaScript conditions, operands and indices",
    },
    schema: [],
  },
  create: (context: Context) => ({
    Program(): void {
      const { text } = context.sourceCode;
      if (!text.includes("@evolver/")) return;
      linter ??= new Linter();
      for (const use of linter.lint([context.filename], text))
        context.report({
          message: `${use.message}; ${use.hint}`,
          loc: {
            start: { line: use.line, column: use.column - 1 },
            end: { line: use.endLine, column: use.endColumn - 1 },
          },
        });
    },
  }),
};

/** The plugin for oxlint and ESLint. */
export const plugin = { meta: { name: "evolver" }, rules: { "native-use": nativeUse } };
