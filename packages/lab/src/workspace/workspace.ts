/**
 * A workspace: a git repository of records and what is rendered from them. Opening it takes the lock, finishes a
 * commit that was cut short, and refuses local changes; `commit` is the only way anything gets in.
 */

import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import { decodeTime, monotonicFactory } from "ulid";
import type { CycleRecord } from "./record.ts";
import { checkCommitted, hasOurFiles, readOwn, readRecords } from "./records.ts";
import { explainFailure, makeFolder, writeWhole } from "./files.ts";
import { acquireLock } from "./lock.ts";
import type { Lock } from "./lock.ts";
import { DEFAULT_POLICY, parsePolicy, printPolicy } from "./policy.ts";
import type { Policy } from "./policy.ts";
import { Repository } from "./repository.ts";
import type { Changes } from "./repository.ts";

/** Written before the branch and the tree change: all that is needed to finish. The commit itself exists by then. */
interface Journal {
  readonly commit: string;
  readonly parent: string | null;
  readonly paths: readonly string[];
}

const FIRST_FILES: Changes = new Map([
  [
    "README.md",
    [
      "# Evolver workspace",
      "",
      "Written by `evolver evolve`. `records/` has one file per cycle, from which all else is made: `evolution_log.md`,",
      "`PROGRESS.md`, `TASKS.md` and `knowledge/` are rendered from it. `champion/` is the best code so far.",
      "`policy.json` says how the loop behaves: edit and commit it. `skills/` is for tools that agents write.",
      "",
    ].join("\n"),
  ],
  ["policy.json", printPolicy(DEFAULT_POLICY)],
  [
    "knowledge/README.md",
    "# Knowledge\n\nWhat the cycles taught, in one file per objective, rendered from the records.\n",
  ],
  [
    "skills/README.md",
    "# Skills\n\nTools for agents: one folder per tool, with a `SKILL.md` that says when and how to use it.\n",
  ],
]);

/** A folder with records and what is rendered from them: a git repository of its own. */
export class Workspace {
  readonly root: string;
  readonly #repository: Repository;
  readonly #lock: Lock;
  #head: string | null;
  #lastId: string | null = null;
  readonly #ulid = monotonicFactory();

  private constructor(repository: Repository, lock: Lock, head: string | null) {
    this.root = repository.root;
    this.#repository = repository;
    this.#lock = lock;
    this.#head = head;
  }

  /**
   * Opens a workspace to work in, making it if the folder is absent or empty.
   * @throws EvolverError WORKSPACE_NOT_EMPTY, WORKSPACE_DAMAGED, WORKSPACE_LOCKED, WORKSPACE_DIRTY, RECORD_CORRUPT,
   *   RECORD_MISSING, POLICY_INVALID, OUTPUT_NOT_WRITTEN, DISK_FULL
   */
  static async open(folder: string): Promise<Workspace> {
    const root = resolve(folder);
    try {
      refuseForeign(root);
      makeFolder(join(root, ".git", "evolver"));
      const lock = acquireLock(join(root, ".git", "evolver"), root);
      try {
        const repository = new Repository(root);
        if (!isWorkspace(root)) await create(repository);
        await recover(repository);
        const workspace = new Workspace(repository, lock, await repository.head());
        // A damaged record or policy is also a local change, and the better message of the two.
        workspace.records();
        workspace.policy();
        await refuseDirty(repository);
        return workspace;
      } catch (error) {
        lock.release();
        throw error;
      }
    } catch (error) {
      throw explainFailure(error, root);
    }
  }

  /** All records, oldest first. @throws EvolverError RECORD_CORRUPT, RECORD_MISSING */
  records(): CycleRecord[] {
    const records = readRecords(this.root);
    this.#lastId = records.at(-1)?.id ?? null;
    return records;
  }

  /** @throws EvolverError POLICY_INVALID */
  policy(): Policy {
    const path = join(this.root, "policy.json");
    return existsSync(path) ? parsePolicy(readOwn(path), path) : DEFAULT_POLICY;
  }

  /** An id that sorts after all records', even if the clock went back. */
  newId(): string {
    const after = this.#lastId === null ? 0 : decodeTime(this.#lastId) + 1;
    const id = this.#ulid(Math.max(Date.now(), after));
    this.#lastId = id;
    return id;
  }

  /** Files below a folder of the workspace, relative to the root, with forward slashes. */
  filesBelow(folder: string): string[] {
    const path = join(this.root, folder);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(this.root.length + 1)
          .replaceAll("\\", "/"),
      );
  }

  /**
   * Commits the changes, all or nothing, and gives the commit's hash.
   * @throws EvolverError DISK_FULL, with everything as it was
   */
  async commit(changes: Changes, message: string): Promise<string> {
    try {
      this.#head = await commit(this.#repository, changes, message, this.#head);
      return this.#head;
    } catch (error) {
      throw explainFailure(error, this.root);
    }
  }

  close(): void {
    this.#lock.release();
  }
}

/** Made by us to the end, here or where it was cloned from. */
function isWorkspace(root: string): boolean {
  return existsSync(join(root, ".git", "HEAD")) && hasOurFiles(root);
}

/** Only an empty folder, or one that holds nothing but our own beginnings, may become a workspace. */
function refuseForeign(root: string): void {
  if (!existsSync(root) || isWorkspace(root)) return;
  if (!statSync(root).isDirectory())
    throw new EvolverError("WORKSPACE_NOT_A_FOLDER", `${root} is a file, and a workspace is a folder.`, {
      hint: "name an empty or new folder with --workspace DIR; nothing was changed",
    });
  if (readdirSync(root).every((name) => name === ".git" && existsSync(join(root, name, "evolver"))))
    return checkCommitted(root, []);
  if (hasOurFiles(root))
    throw new EvolverError(
      "WORKSPACE_DAMAGED",
      `The folder ${root} has the files of a workspace, but its git repository, .git, is missing.`,
      {
        hint: `bring .git back from a backup or a clone; or keep the files as a new beginning: git -C ${root} init && git -C ${root} add -A && git -C ${root} commit -m "Workspace"; nothing was changed`,
      },
    );
  throw new EvolverError(
    "WORKSPACE_NOT_EMPTY",
    `The folder ${root} is not empty and is not an Evolver workspace.`,
    {
      hint: "name an empty or new folder with --workspace DIR; nothing was changed",
    },
  );
}

/** Makes the repository and its first commit; starts over if an earlier attempt was cut short. */
async function create(repository: Repository): Promise<void> {
  for (const name of readdirSync(join(repository.root, ".git")))
    if (name !== "evolver") rmSync(join(repository.root, ".git", name), { recursive: true, force: true });
  rmSync(journalPath(repository), { force: true });
  await repository.create();
  await commit(repository, FIRST_FILES, "Workspace", null);
}

/** Commits of this process that are under way. */
const underWay = new Set<Promise<unknown>>();

/** Ends when no commit is under way: then the process may end, and leaves branch, index and files as one. */
export async function commitSettled(): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay);
}

function commit(
  repository: Repository,
  changes: Changes,
  message: string,
  parent: string | null,
): Promise<string> {
  const done = writeCommit(repository, changes, message, parent);
  underWay.add(done);
  const forget = (): boolean => underWay.delete(done);
  void done.then(forget, forget);
  return done;
}

async function writeCommit(
  repository: Repository,
  changes: Changes,
  message: string,
  parent: string | null,
): Promise<string> {
  const hash = await repository.prepare(changes, message, parent);
  const journal: Journal = { commit: hash, parent, paths: [...changes.keys()] };
  writeWhole(journalPath(repository), join(repository.private, "draft"), JSON.stringify(journal));
  await repository.advance(hash, parent);
  repository.apply(changes);
  repository.useIndex();
  rmSync(journalPath(repository));
  return hash;
}

/** Finishes the commit that a journal names: exactly its files, and nothing else, are brought to its contents. */
async function recover(repository: Repository): Promise<void> {
  const journal = readJournal(repository);
  repository.removeOwnLocks(journal !== null);
  if (journal === null) return;
  const head = await repository.head();
  if (head === journal.parent || head === journal.commit) {
    await repository.advance(journal.commit, journal.parent);
    for (const path of journal.paths) {
      const text = await repository.readBlob(journal.commit, path);
      const target = join(repository.root, path);
      if (text === null) rmSync(target, { force: true });
      else writeWhole(target, join(repository.private, "draft"), text);
    }
    await repository.readIndex(journal.commit);
    repository.useIndex();
  }
  rmSync(journalPath(repository), { force: true });
}

function readJournal(repository: Repository): Journal | null {
  try {
    return JSON.parse(readFileSync(journalPath(repository), "utf8")) as Journal;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new EvolverError(
      "WORKSPACE_JOURNAL_CORRUPT",
      `The journal ${journalPath(repository)} can't be read.`,
      {
        hint: "delete it, then look at `git status` in the workspace",
        cause: error,
      },
    );
  }
}

function journalPath(repository: Repository): string {
  return join(repository.private, "journal.json");
}

async function refuseDirty(repository: Repository): Promise<void> {
  const dirty = await repository.dirty();
  if (dirty.length === 0) return;
  const shown = dirty.slice(0, 10).join(", ") + (dirty.length > 10 ? `, and ${dirty.length - 10} more` : "");
  throw new EvolverError(
    "WORKSPACE_DIRTY",
    `Workspace ${repository.root} has changes that are not committed: ${shown}. Nothing was touched.`,
    { hint: `commit them, or drop them (git -C ${repository.root} stash -u), and run again` },
  );
}
