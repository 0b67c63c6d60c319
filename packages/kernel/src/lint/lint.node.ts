/** Looks through files of a user's project, with the compiler that the project has. */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { API, type Snapshot } from "typescript/unstable/sync";
import { nativeUses, type NativeUse } from "./native-uses.node.ts";

const OPTIONS = {
  target: "es2024",
  lib: ["es2024", "dom"],
  module: "nodenext",
  moduleResolution: "nodenext",
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  allowJs: true,
  skipLibCheck: true,
};

/** The compiler's process inside its interface. */
interface Running {
  readonly client?: { readonly channel?: { readonly child?: { kill(signal: "SIGKILL"): void } } };
}

/** A project of a few files, which takes over the options of the nearest tsconfig.json. */
export class Linter {
  /** What the compiler reads instead of files: project files, and texts that are not saved yet. */
  readonly #texts = new Map<string, string>();
  #projects = 0;
  readonly #api: API;

  constructor() {
    const known = (path: string): string | undefined => this.#texts.get(path);
    this.#api = new API({
      fs: {
        readFile: (path) => known(path),
        fileExists: (path) => (known(path) === undefined ? undefined : true),
      },
    });
  }

  /**
   * Where files use run-time values as JavaScript values.
   *
   * @param text of the first file, where it is not the one on the disk
   */
  lint(files: readonly string[], text?: string): NativeUse[] {
    const [first] = files;
    if (first === undefined) return [];
    const paths = files.map((file) => resolve(file));
    const folder = dirname(resolve(first));
    const config = join(folder, `tsconfig.evolver-lint-${this.#projects++}.json`);
    this.#texts.set(config, JSON.stringify(projectOf(paths, folder)));
    if (text !== undefined) this.#texts.set(resolve(first), text);
    const snapshot: Snapshot = this.#api.updateSnapshot({
      openProjects: [config],
      fileChanges: { changed: paths },
    });
    try {
      const project = snapshot.getProject(config) ?? snapshot.getProjects()[0];
      if (project === undefined) return [];
      return paths.flatMap((path) => {
        const source = project.program.getSourceFile(path);
        return source === undefined ? [] : nativeUses(source, project.checker);
      });
    } finally {
      snapshot.dispose();
      this.#texts.clear();
    }
  }

  close(): void {
    // Asked to end, the compiler prints "context canceled" on our standard error.
    (this.#api as unknown as Running).client?.channel?.child?.kill("SIGKILL");
    this.#api.close();
  }
}

function projectOf(files: readonly string[], folder: string): object {
  const config = nearestConfig(folder);
  const paths = pathsFor(folder);
  if (config === null) return { compilerOptions: { ...OPTIONS, ...paths }, files };
  return {
    extends: config,
    compilerOptions: {
      noEmit: true,
      allowJs: true,
      composite: false,
      incremental: false,
      skipLibCheck: true,
      ...paths,
    },
    files,
    include: [],
    references: [],
  };
}

/** Where `@evolver/kernel` is, for files that do not find it themselves. */
function pathsFor(folder: string): object {
  try {
    createRequire(join(folder, "file.js")).resolve("@evolver/kernel");
    return {};
  } catch {
    return { paths: { "@evolver/kernel": [fileURLToPath(new URL("../../src/index.ts", import.meta.url))] } };
  }
}

function nearestConfig(folder: string): string | null {
  const config = join(folder, "tsconfig.json");
  if (existsSync(config) && readFileSync(config, "utf8").trim() !== "") return config;
  return dirname(folder) === folder ? null : nearestConfig(dirname(folder));
}

/** Where files use run-time values as JavaScript values: see nativeUses. Takes a second or two. */
export function lintFiles(files: readonly string[]): NativeUse[] {
  const linter = new Linter();
  try {
    return linter.lint(files);
  } finally {
    linter.close();
  }
}
