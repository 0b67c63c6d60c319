/**
 * Imports a TypeScript file in a process that may start no threads, and so cannot have the hooks of older Nodes. It needs their
 * flags --experimental-vm-modules, and --experimental-import-meta-resolve for another file's imports.
 */

import { fileURLToPath } from "node:url";
import { SourceTextModule, SyntheticModule, type Module } from "node:vm";
import { isTypeScript, readWithoutTypes } from "./strip-types.ts";

/** @param url of a file */
export async function importModule(url: string): Promise<Record<string, unknown>> {
  const module = await load(url);
  await run(module);
  return module.namespace as Record<string, unknown>;
}

/** By URL. */
const loaded = new Map<string, Promise<Module>>();

function load(url: string): Promise<Module> {
  const module = loaded.get(url) ?? (isTypeScript(url) ? ownModule(url) : nodeModule(url));
  loaded.set(url, module);
  return module;
}

async function ownModule(url: string): Promise<Module> {
  return new SourceTextModule(readWithoutTypes(url), {
    identifier: url,
    initializeImportMeta: (meta) => {
      meta.url = url;
      meta.filename = fileURLToPath(url);
      meta.dirname = fileURLToPath(new URL(".", url));
    },
    importModuleDynamically: async (specifier) => {
      const module = await load(resolve(specifier, url));
      await run(module);
      return module;
    },
  });
}

/** What Node can import itself. */
async function nodeModule(url: string): Promise<Module> {
  const namespace = (await import(url)) as Record<string, unknown>;
  const names = Object.keys(namespace);
  const module: SyntheticModule = new SyntheticModule(names, () => {
    for (const name of names) module.setExport(name, namespace[name]);
  });
  return module;
}

async function run(module: Module): Promise<void> {
  if (module.status === "unlinked")
    await module.link((specifier, { identifier }) => load(resolve(specifier, identifier)));
  await module.evaluate();
}

const resolve = (specifier: string, from: string): string =>
  specifier.startsWith("@evolver/") ? import.meta.resolve(specifier) : import.meta.resolve(specifier, from);
