/** Finds run-time values that are used as JavaScript values, in a linter or by a call. Needs Node and TypeScript 7. */

export { lintFiles, Linter } from "./lint.node.ts";
export type { NativeUse } from "./native-uses.node.ts";
export { plugin as default } from "./plugin.node.ts";
