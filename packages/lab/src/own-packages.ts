/**
 * Lets a kernel file anywhere on the disk import @evolver/kernel and the other packages: where the file's own folders do
 * not have them, those of this installation are used. So the file's kernels are instances of our own Kernel class. TypeScript
 * counts as modules in folders of CommonJS, too: a kernel file has imports and exports whatever package.json says.
 */

import module from "node:module";

let registered = false;

/** Whether Node runs TypeScript, and has hooks in the same thread: 22.18 and newer. */
export const runsTypeScript = Boolean(process.features.typescript) && "registerHooks" in module;

/** From now on, files anywhere import the packages of this installation, so that their kernels are instances of our `Kernel`. */
export function resolveOwnPackages(): void {
  if (registered) return;
  registered = true;
  if (!runsTypeScript) {
    module.register(new URL("./node20/hooks-thread.ts", import.meta.url));
    return;
  }
  module.registerHooks({
    resolve(specifier, context, nextResolve) {
      const isOwn = specifier.startsWith("@evolver/");
      const found = nextResolve(specifier, isOwn ? { ...context, parentURL: import.meta.url } : context);
      return found.format === "commonjs-typescript" ? { ...found, format: "module-typescript" } : found;
    },
  });
}
