/** Removes the types of a TypeScript file as Node 24 does itself, with the same library: lines and columns stay where they are. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transformSync } from "@swc/wasm-typescript";

/** What the library throws. */
interface Complaint {
  readonly code: string;
  readonly message: string;
  readonly snippet: string;
  readonly startLine: number;
}

/** Whether this is a TypeScript file that Node 24 runs. It runs none of an installed package. */
export const isTypeScript = (url: string): boolean =>
  url.startsWith("file:") && /\.m?ts$/.test(url) && !url.includes("/node_modules/");

/** @throws SyntaxError with Node's code, whose stack begins with the place, as Node's does */
export function readWithoutTypes(url: string): string {
  const filename = fileURLToPath(url);
  try {
    return transformSync(readFileSync(filename, "utf8"), { mode: "strip-only", filename }).code;
  } catch (error) {
    if (error instanceof Error) throw error;
    const { code, message, snippet, startLine } = error as Complaint;
    const syntaxError = new SyntaxError(message);
    const isForeign = code === "UnsupportedSyntax";
    throw Object.assign(syntaxError, {
      code: isForeign ? "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" : "ERR_INVALID_TYPESCRIPT_SYNTAX",
      stack: `${filename}:${startLine}\n${snippet}\n\n${syntaxError.stack}`,
    });
  }
}
