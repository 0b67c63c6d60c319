/**
 * Serves the repository's TypeScript to a browser on localhost, module by module as it is written: types are stripped
 * and names of packages become paths. Nothing is bundled, so that what runs is what lies on the disk.
 */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

const root = join(import.meta.dirname, "..", "..");

/** These let a page share memory with its workers (SharedArrayBuffer). */
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export interface PageOptions {
  /** The page's module, from the root of the repository. */
  readonly module: string;
  /** Whether the page may share memory with its workers; true if absent. */
  readonly isolated?: boolean;
}

export interface ServedPage {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a page that has one module, on a port of the system's choice. */
export async function servePage({ module, isolated = true }: PageOptions): Promise<ServedPage> {
  const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="/${module}"></script>`;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const headers = isolated ? ISOLATION : {};
    if (path === "/") {
      response.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(html);
      return;
    }
    try {
      const code = script(path);
      response.writeHead(200, { ...headers, "Content-Type": "text/javascript" }).end(code);
    } catch (error) {
      response.writeHead(404, { "Content-Type": "text/plain" }).end(String(error));
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "localhost", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A module of a package, ours or one that ours depend on, as JavaScript. */
function script(path: string): string {
  const isOurs = /^\/packages\/[\w/.-]+\.ts$/.test(path);
  if ((!isOurs && !/^\/node_modules\/[\w/.@-]+\.m?js$/.test(path)) || normalize(path) !== path)
    throw new Error(`no such module: ${path}`);
  const text = readFileSync(join(root, path), "utf8");
  const source = isOurs ? stripTypeScriptTypes(text) : text;
  const { staticImports, staticExports, dynamicImports } = parseSync(path, source).module;
  const quoted = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest),
    ...staticExports.flatMap(({ entries }) => entries[0]?.moduleRequest ?? []),
    ...dynamicImports.map(({ moduleRequest }) => moduleRequest),
  ];
  // From the end on, so that places before are not moved.
  return quoted
    .toSorted((a, b) => b.start - a.start)
    .reduce((code, { start, end }) => {
      const name = /^["']([^./"'][^"']*)["']$/.exec(code.slice(start, end))?.[1];
      return name === undefined ? code : `${code.slice(0, start)}"${resolve(name, path)}"${code.slice(end)}`;
    }, source);
}

/** Where a bare name leads in a browser: the main module of a package, or an entry of the importer's own `imports`. */
function resolve(name: string, importer: string): string {
  if (name.startsWith("@evolver/")) {
    const folder = `/packages/${name.slice("@evolver/".length)}`;
    return join(folder, (manifest(folder).exports as { ".": string })["."]);
  }
  if (!name.startsWith("#")) return dependency(name);
  const folder = importer.split("/").slice(0, 3).join("/");
  const { imports } = manifest(folder) as { imports: Record<string, { default: string }> };
  return join(folder, (imports[name] as { default: string }).default);
}

/** A module of a package of others, by what its `exports` say to whoever imports. */
function dependency(name: string): string {
  const [, owner = "", path = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name) ?? [];
  const folder = join("/node_modules", owner);
  const exports = manifest(folder)["exports"] as Readonly<Record<string, Conditions>>;
  return join(folder, chosen(exports[`.${path}`] as Conditions));
}

type Conditions = string | { readonly [condition: string]: Conditions };

const chosen = (conditions: Conditions): string =>
  typeof conditions === "string"
    ? conditions
    : chosen((conditions["import"] ?? conditions["default"]) as Conditions);

function manifest(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Record<string, unknown>;
}
