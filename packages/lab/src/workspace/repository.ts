/**
 * The git side of a workspace. Commits are built beside the working tree and the index (objects first, then one
 * move of the branch), so that a stop at any moment leaves either the old state or a journal to finish from.
 */

import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { EvolverError } from "@evolver/kernel";
import { simpleGit } from "simple-git";
import type { SimpleGit } from "simple-git";
import { writeDurably } from "./files.ts";

/** What a commit changes: the new contents by path, or null to delete. */
export type Changes = ReadonlyMap<string, string | null>;

export class Repository {
  readonly root: string;
  /** Ours, inside .git and so never in the tree: lock, journal, drafts. */
  readonly private: string;
  readonly #git: SimpleGit;
  readonly #withIndex: SimpleGit;
  readonly #index: string;

  constructor(root: string) {
    this.root = root;
    this.private = join(root, ".git", "evolver");
    this.#index = join(this.private, "index");
    mkdirSync(this.private, { recursive: true });
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(GIT_|EDITOR$|VISUAL$|PAGER$|SSH_ASKPASS$)/.test(name),
      ),
    ) as Record<string, string>;
    // Without optional locks, looking at the state never writes, and never leaves an index.lock behind.
    const quiet = { ...environment, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
    const open = (extra: Record<string, string>): SimpleGit =>
      simpleGit({
        baseDir: root,
        trimmed: true,
        allowEnvironment: ["GIT_OPTIONAL_LOCKS", "GIT_INDEX_FILE"],
      } as Parameters<typeof simpleGit>[0]).env({ ...quiet, ...extra });
    this.#git = open({});
    this.#withIndex = open({ GIT_INDEX_FILE: this.#index });
  }

  /** Makes the repository: settings that its commits depend on are its own, not the user's. */
  async create(): Promise<void> {
    await this.#git.raw(["init", "-q", "-b", "main"]);
    const settings = { "core.autocrlf": "false", "core.safecrlf": "false", "gc.auto": "0" };
    for (const [name, value] of Object.entries(settings)) await this.#git.raw(["config", name, value]);
  }

  /** The commit that HEAD names; null before the first. */
  async head(): Promise<string | null> {
    const commit = await this.#git.raw(["rev-parse", "--verify", "-q", "HEAD^{commit}"]).catch(() => "");
    return commit === "" ? null : commit;
  }

  /** Paths with local changes, untracked ones included; sorted. */
  async dirty(): Promise<string[]> {
    const text = await this.#git.raw([
      "status",
      "--porcelain=v1",
      "-z",
      "--untracked-files=all",
      "--no-renames",
    ]);
    const entries = text.split("\0").filter((entry) => entry.trim() !== "");
    // The first entry's leading blank may be trimmed away.
    return entries.map((entry) => entry.replace(/^(?:[ MADRCUT?!]{1,2}) /, "")).toSorted();
  }

  async readBlob(commit: string, path: string): Promise<string | null> {
    const listed = await this.#git.raw(["ls-tree", "--name-only", "-z", commit, "--", path]);
    if (listed.replaceAll("\0", "") === "") return null;
    const bytes = await this.#git.showBuffer(`${commit}:${path}`);
    return bytes.toString("utf8");
  }

  /** Makes a commit object on top of `parent`, touching neither tree nor index nor branch. */
  async prepare(changes: Changes, message: string, parent: string | null): Promise<string> {
    rmSync(this.#index, { force: true });
    rmSync(`${this.#index}.lock`, { force: true });
    await this.#withIndex.raw(parent === null ? ["read-tree", "--empty"] : ["read-tree", parent]);
    const kept = [...changes].filter((entry): entry is [string, string] => entry[1] !== null);
    const drafts = kept.map(([, text], i) => {
      const draft = join(this.private, "drafts", `${i}`);
      writeDurably(draft, text);
      return draft;
    });
    if (drafts.length > 0) {
      const listing = await this.#git.raw(["hash-object", "-w", "--no-filters", "--", ...drafts]);
      const blobs = listing.split("\n");
      const entries = kept.flatMap(([path], i) => ["--cacheinfo", `100644,${blobs[i]},${path}`]);
      await this.#withIndex.raw(["update-index", "--add", ...entries]);
    }
    const removed = [...changes].filter(([, text]) => text === null).map(([path]) => path);
    if (removed.length > 0) await this.#withIndex.raw(["update-index", "--force-remove", "--", ...removed]);
    const tree = await this.#withIndex.raw(["write-tree"]);
    const author = [
      "-c",
      "user.name=Evolver",
      "-c",
      "user.email=evolver@localhost",
      "-c",
      "commit.gpgSign=false",
    ];
    const parents = parent === null ? [] : ["-p", parent];
    return this.#git.raw([...author, "commit-tree", tree, ...parents, "-m", message]);
  }

  /** Moves the branch from `parent` to a prepared commit; does nothing if it is there already. */
  async advance(commit: string, parent: string | null): Promise<void> {
    if ((await this.head()) === commit) return;
    await this.#git.raw(["update-ref", "-m", "evolver", "HEAD", commit, parent ?? "0".repeat(40)]);
  }

  /** Prepares the index of a commit, beside the one in use. */
  async readIndex(commit: string): Promise<void> {
    rmSync(`${this.#index}.lock`, { force: true });
    await this.#withIndex.raw(["read-tree", commit]);
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
      mkdirSync(dirname(target), { recursive: true });
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
}
