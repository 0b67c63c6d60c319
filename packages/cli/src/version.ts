/** The version of this package, as its manifest says. */

import { readFileSync } from "node:fs";

export function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
