/**
 * The git side of a workspace. Commits are built beside the working tree and the index (objects first, then one
 * move of the branch), so that a stop at any moment leaves either the old state or a journal to finish from.
 */

import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { EvolverError } from "@evolver/base";
import { makeFolder, writeDurably } from "./files.ts";
import { GitError, gitIn } from "./git.ts";
import type { Git } from "./git.ts";

/** What a commit changes: the new contents by path, or null to delete. */
export type Changes = ReadonlyMap<string, string | null>;

export class Repository {
  readonly root: string;
  /** Ours, inside .git and so never in the tree: lock, journal, drafts. */
  readonly private: string;
  readonly #git: Git;
  /** Where commits are put together: an index beside the one in use. */
  readonly #index: string;

  constructor(root: string) {
    this.root = root;
    this.private = join(root, ".git", "evolver");
    this.#index = join(this.private, "index");
    makeFolder(this.private);
    this.#git = gitIn(root);
  }

  /** Makes the repository: settings that its commits depend on are its own, not the user's. */
  async create(): Promise<void> {
    await this.#git(["init", "-q", "-b", "main"]);
    const settings = { "core.autocrlf": "false", "core.safecrlf": "false", "gc.auto": "0" };
    for (const [name, value] of Object.entries(settings)) await this.#git(["config", name, value]);
  }

  /** The commit that HEAD names; null before the first. */
  async head(): Promise<string | null> {
    try {
      return (await this.#git(["rev-parse", "--verify", "-q", "HEAD^{commit}"])).trim();
    } catch (error) {
      // Quietly 1: there is no such commit.
      if (error instanceof GitError && error.exitCode === 1) return null;
      throw error;
    }
  }

  /** Paths with local changes, untracked ones included; sorted. */
  async dirty(): Promise<string[]> {
    const text = await this.#git(["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]);
    const entries = text.split("\0").filter((entry) => entry !== "");
    // Two letters of state and a blank come before the path.
    return entries.map((entry) => entry.slice(3)).toSorted();
  }

  async readBlob(commit: string, path: string): Promise<string | null> {
    const listed = await this.#git(["ls-tree", "--name-only", "-z", commit, "--", path]);
    if (listed.replaceAll("\0", "") === "") return null;
    return this.#git(["cat-file", "blob", `${commit}:${path}`]);
  }

  /** Makes a commit object on top of `parent`, touching neither tree nor index nor branch. */
  async prepare(changes: Changes, message: string, parent: string | null): Promise<string> {
    rmSync(this.#index, { force: true });
    rmSync(`${this.#index}.lock`, { force: true });
    await this.#gitWithIndex(parent === null ? ["read-tree", "--empty"] : ["read-tree", parent]);
    const kept = [...changes].filter((entry): entry is [string, string] => entry[1] !== null);
    const drafts = kept.map(([, text], i) => {
      const draft = join(this.private, "drafts", `${i}`);
      writeDurably(draft, text);
      return draft;
    });
    if (drafts.length > 0) {
      const listing = await this.#git(["hash-object", "-w", "--no-filters", "--", ...drafts]);
      const blobs = listing.split("\n");
      const entries = kept.flatMap(([path], i) => ["--cacheinfo", `100644,${blobs[i]},${path}`]);
      await this.#gitWithIndex(["update-index", "--add", ...entries]);
    }
    const removed = [...changes].filter(([, text]) => text === null).map(([path]) => path);
    if (removed.length > 0) await this.#gitWithIndex(["update-index", "--force-remove", "--", ...removed]);
    const tree = (await this.#gitWithIndex(["write-tree"])).trim();
    const author = [
      "-c",
      "user.name=Evolver",
      "-c",
      "user.email=evolver@localhost",
      "-c",
      "commit.gpgSign=false",
    ];
    const parents = parent === null ? [] : ["-p", parent];
    return (await this.#git([...author, "commit-tree", tree, ...parents, "-m", message])).trim();
  }

  /** Moves the branch from `parent` to a prepared commit; does nothing if it is there already. */
  async advance(commit: string, parent: string | null): Promise<void> {
    if ((await this.head()) === commit) return;
    await this.#git(["update-ref", "-m", "evolver", "HEAD", commit, parent ?? "0".repeat(40)]);
  }

  /** Prepares the index of a commit, beside the one in use. */
  async readIndex(commit: string): Promise<void> {
    rmSync(`${this.#index}.lock`, { force: true });
    await this.#gitWithIndex(["read-tree", commit]);
  }

  /** Puts the prepared index in place, in one move that needs no space. */
  useIndex(): void {
    renameSync(this.#index, join(this.root, ".git", "index"));
  }

  /** Moves the draft of the i-th kept change into the tree, or deletes; what is not listed stays. */
  apply(changes: Changes): void {
    let i = 0;
    for (const [path, text] of changes) {
      const target = join(this.root, path);
      if (text === null) {
        rmSync(target, { force: true });
        continue;
      }
      makeFolder(dirname(target));
      renameSync(join(this.private, "drafts", `${i++}`), target);
    }
  }

  /** Removes lock files that a git process of ours can leave when it dies with us, and refuses a lock of others. */
  removeOwnLocks(branchMoves: boolean): void {
    const locks = ["HEAD.lock", "refs/heads/main.lock", "index.lock"].map((name) =>
      join(this.root, ".git", name),
    );
    for (const path of locks) {
      if (!existsSync(path)) continue;
      if (!branchMoves)
        throw new EvolverError("WORKSPACE_GIT_LOCKED", `Git's own lock ${path} is in the way.`, {
          hint: "if no git command is running in the workspace, delete that file",
        });
      rmSync(path, { force: true });
    }
  }

  #gitWithIndex(args: readonly string[]): Promise<string> {
    return this.#git(args, { GIT_INDEX_FILE: this.#index });
  }
}
