/**
 * Lets a kernel file anywhere on the disk import @evolver/kernel and the other packages: where the file's own folders do
 * not have them, those of this installation are used. So the file's kernels are instances of our own Kernel class. TypeScript
 * counts as modules in folders of CommonJS, too: a kernel file has imports and exports whatever package.json says.
 */

import { registerHooks } from "node:module";

let registered = false;

export function resolveOwnPackages(): void {
  if (registered) return;
  registered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isOwn = specifier.startsWith("@evolver/");
      const found = nextResolve(specifier, isOwn ? { ...context, parentURL: import.meta.url } : context);
      return found.format === "commonjs-typescript" ? { ...found, format: "module-typescript" } : found;
    },
  });
}
