/** Sites as rows of a table, each distinct location once. */

import { isCount } from "./json.ts";
import { fixedSite, type Site } from "./site.ts";

export type SiteRow = readonly [file: number, line: number, column: number, note?: string];

/** Gathers the sites that are written. */
export class SiteTable {
  readonly files: string[] = [];
  readonly rows: SiteRow[] = [];
  readonly #fileIndex = new Map<string, number>();
  readonly #rowIndex = new Map<string, number>();

  index(site: Site): number {
    const { file, line, column, note } = site.location;
    let fileIndex = this.#fileIndex.get(file);
    if (fileIndex === undefined) {
      fileIndex = this.files.push(file) - 1;
      this.#fileIndex.set(file, fileIndex);
    }
    const row: SiteRow = note === undefined ? [fileIndex, line, column] : [fileIndex, line, column, note];
    const key = JSON.stringify(row);
    let index = this.#rowIndex.get(key);
    if (index === undefined) {
      index = this.rows.push(row) - 1;
      this.#rowIndex.set(key, index);
    }
    return index;
  }
}

/** The site of a row, or null if it is none. */
export function siteOf(row: unknown, files: readonly unknown[]): Site | null {
  const [fileIndex, line, column, note] = Array.isArray(row) ? (row as unknown[]) : [];
  const file = isCount(fileIndex) ? files[fileIndex] : undefined;
  if (typeof file !== "string" || !isCount(line) || !isCount(column)) return null;
  if (note === undefined) return fixedSite(Object.freeze({ file, line, column }));
  return typeof note === "string" ? fixedSite(Object.freeze({ file, line, column, note })) : null;
}
