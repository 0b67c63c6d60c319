/**
 * Lets a kernel file anywhere on the disk import @evolver/kernel and the other packages: where the file's own folders do
 * not have them, those of this installation are used. So the file's kernels are instances of our own Kernel class.
 */

import { registerHooks } from "node:module";

let registered = false;

export function resolveOwnPackages(): void {
  if (registered) return;
  registered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!specifier.startsWith("@evolver/")) return nextResolve(specifier, context);
      return nextResolve(specifier, { ...context, parentURL: import.meta.url });
    },
  });
}
