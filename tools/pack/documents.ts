/**
 * Documents as they are published: a package's README, and in `evolver` also docs/. Their links lead to where packages lie beside
 * each other in a project's node_modules; of what is not published, the text of the link stays.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative, sep } from "node:path";

/** The package that has docs/ with it: what its messages name is there. */
const WITH_DOCS = "evolver";
/** What documents show, except pictures of pixels, which are large. */
const PUBLISHED = [".md", ".svg"];

export class Documents {
  readonly #root: string;
  /** Names of packages by their folders. */
  readonly #names: ReadonlyMap<string, string>;

  constructor(root: string, names: ReadonlyMap<string, string>) {
    this.#root = root;
    this.#names = names;
  }

  /** Writes those of the package in this folder below `target`. */
  write(folder: string, target: string): void {
    this.#copy(join("packages", folder, "README.md"), join(target, "README.md"));
    if (this.#names.get(folder) !== WITH_DOCS) return;
    for (const file of readdirSync(join(this.#root, "docs"), { recursive: true, encoding: "utf8" }))
      if (PUBLISHED.includes(extname(file))) this.#copy(join("docs", file), join(target, "docs", file));
  }

  #copy(file: string, to: string): void {
    mkdirSync(dirname(to), { recursive: true });
    if (extname(file) !== ".md") cpSync(join(this.#root, file), to);
    else writeFileSync(to, this.#published(file, readFileSync(join(this.#root, file), "utf8")));
  }

  #published(file: string, text: string): string {
    const own = dirname(this.#placeOf(file) ?? file);
    // In order: a block of code, which stays, except that \`npx node\` is for clones; a link within the document or to the web, which stays; any other link.
    return text.replace(
      /^```[\s\S]*?^```$|!?\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]+)?\)/gm,
      (whole: string, words: string | undefined, link: string | undefined, heading = "") => {
        if (link === undefined) return whole.replace(/^(```text \$ )npx node /, "$1node ");
        const place = this.#placeOf(join(dirname(file), link));
        if (place === null) return words ?? "";
        const href = relative(own, place).split(sep).join("/") || ".";
        return `${whole.slice(0, whole.lastIndexOf("("))}(${href}${heading})`;
      },
    );
  }

  /** Where a file of this repository lies in node_modules; null where it is not published. */
  #placeOf(path: string): string | null {
    if (!existsSync(join(this.#root, path))) return null;
    const [top, folder = "", ...rest] = path.split(sep).filter((part) => part !== "");
    if (top === "docs") return PUBLISHED.includes(extname(path)) ? join(WITH_DOCS, path) : null;
    const name = this.#names.get(folder);
    if (top !== "packages" || name === undefined) return null;
    const isPublished = rest.length === 0 || ["src", "README.md", "bin"].includes(rest[0] as string);
    return isPublished ? join(name, ...rest) : null;
  }
}
