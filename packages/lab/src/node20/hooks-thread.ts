/** What Node 24 does by itself or in the same thread, for older ones: their hooks run in a thread of their own, started by own-packages.ts. */

import type { LoadHook, ResolveHook } from "node:module";
import { isTypeScript, readWithoutTypes } from "./strip-types.ts";

export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier, specifier.startsWith("@evolver/") ? { ...context, parentURL: import.meta.url } : context);

export const load: LoadHook = (url, context, next) =>
  isTypeScript(url)
    ? { format: "module", source: readWithoutTypes(url), shortCircuit: true }
    : next(url, context);
