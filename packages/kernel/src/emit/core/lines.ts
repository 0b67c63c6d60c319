/** Lines of output, each with its indentation and the TypeScript line that it comes from. */

import type { SourceLocation } from "@evolver/base";
import type { Site } from "../../ir/site.ts";

interface Line {
  readonly text: string;
  readonly site: Site | null;
}

export class Lines {
  readonly #lines: Line[] = [];
  depth: number;

  constructor(depth = 0) {
    this.depth = depth;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Adds text, which may be several lines, at the present depth. */
  add(text: string, site: Site | null = null): void {
    const indent = "  ".repeat(this.depth);
    for (const line of text.split("\n")) this.#lines.push({ text: line === "" ? "" : indent + line, site });
  }

  append(other: Lines): void {
    this.#lines.push(...other.#lines);
  }

  /** The text and its line map. With `directives`, C's `#line` stands wherever the origin does not follow by itself. */
  finish(directives: boolean): { source: string; lineMap: (SourceLocation | null)[] } {
    const text: string[] = [];
    const lineMap: (SourceLocation | null)[] = [null];
    let file = "";
    let next = -1;
    for (const { text: line, site } of this.#lines) {
      const location = site !== null && site.location.line > 0 ? site.location : null;
      if (directives && location !== null && (location.file !== file || location.line !== next)) {
        text.push(`#line ${location.line} ${JSON.stringify(location.file)}`);
        lineMap.push(location);
        ({ file, line: next } = location);
      }
      text.push(line);
      lineMap.push(location);
      next++;
    }
    return { source: `${text.join("\n")}\n`, lineMap };
  }
}
