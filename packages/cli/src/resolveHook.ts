/**
 * Lets a kernel file anywhere on the disk import @evolver/kernel and its siblings: where the file's own folders do
 * not have them, those of this installation are taken. So the kernels of a file are of the same class as ours.
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
