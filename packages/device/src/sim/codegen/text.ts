/** Generated JavaScript as text: names, indentation, and which fields of a record a piece of code uses. */

import type { Site } from "@evolver/kernel";

/**
 * Indents code by its braces: a block opens at the end of a line and closes at the start of one. Empty lines go.
 */
export function indent(code: string): string {
  const lines: string[] = [];
  let depth = 0;
  for (const raw of code.split("\n")) {
    const line = raw.trim();
    if (line === "") continue;
    if (line.startsWith("}")) depth--;
    lines.push("  ".repeat(depth) + line);
    if (line.endsWith("{") && !line.startsWith("//")) depth++;
  }
  return lines.join("\n");
}

/** A name of the kernel as a part of a JavaScript name. */
export const identifier = (name: string): string => name.replace(/[^A-Za-z0-9_$]/g, "_");

/** Gives each thing a name of its own. */
export class Names {
  readonly #taken = new Map<string, number>();

  unique(wanted: string): string {
    const earlier = this.#taken.get(wanted) ?? 0;
    this.#taken.set(wanted, earlier + 1);
    return earlier === 0 ? wanted : this.unique(`${wanted}_${earlier + 1}`);
  }
}

/** Takes the fields that the code uses out of a record: the statement, to stand before the code. */
export function takeFields(record: string, fields: readonly string[], code: string): string {
  const used = fields.filter((field) => new RegExp(`(?<![.\\w$])${field}(?![\\w$]|:)`).test(code));
  return used.length === 0 ? "" : `const { ${used.join(", ")} } = ${record};`;
}

/** "kernel.ts:12", for comments. */
export function sourceLine({ location }: Site): string {
  return `${location.file.slice(location.file.lastIndexOf("/") + 1)}:${location.line}`;
}
