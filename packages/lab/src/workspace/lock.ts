/**
 * One run at a time in a workspace: a lock file that names the process. A lock whose process is gone (kill -9, power
 * loss) is taken over at once; there is no waiting for it to grow old.
 */

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { EvolverError } from "@evolver/base";
import { makeFolder } from "./files.ts";

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Tells a process from a later one with the same pid; null where the system doesn't say. */
  readonly started: string | null;
}

export interface Lock {
  release(): void;
}

/**
 * @param folder holds the lock file; made if it isn't there
 * @throws EvolverError WORKSPACE_LOCKED
 */
export function acquireLock(folder: string, workspace: string): Lock {
  makeFolder(folder);
  const path = join(folder, "lock");
  const own: Holder = { pid: process.pid, host: hostname(), started: startOf(process.pid) };
  const draft = join(folder, `lock.${process.pid}.${Math.trunc(performance.now() * 1e3)}`);
  writeFileSync(draft, JSON.stringify(own));
  try {
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        linkSync(draft, path);
        return {
          release() {
            if (readHolder(path)?.pid === own.pid) rmSync(path, { force: true });
          },
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const holder = readHolder(path);
      if (holder !== null && isAlive(holder)) throw locked(workspace, holder);
      // Only one of several claimants can move the dead lock away.
      const grave = `${draft}.stale`;
      try {
        renameSync(path, grave);
      } catch {
        continue;
      }
      const buried = readHolder(grave);
      if (buried !== null && isAlive(buried)) {
        // Between the look and the move another run took it; give it back.
        renameSync(grave, path);
        throw locked(workspace, buried);
      }
      rmSync(grave, { force: true });
    }
    throw new EvolverError("WORKSPACE_LOCKED", `The lock of workspace ${workspace} keeps changing hands.`, {
      hint: "let the other runs end, then try again",
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

function locked(workspace: string, { pid, host }: Holder): EvolverError {
  const elsewhere = host === hostname() ? "" : ` on ${host}`;
  return new EvolverError(
    "WORKSPACE_LOCKED",
    `Another run (process ${pid}${elsewhere}) is at work in workspace ${workspace}.`,
    { hint: `let it end, stop it, or use another workspace (--workspace DIR)` },
  );
}

/** Null if there is none or it can't be read, as after a crash of the machine. */
function readHolder(path: string): Holder | null {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Holder;
    return typeof value.pid === "number" ? value : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, host, started }: Holder): boolean {
  // Of another machine's processes nothing is known: believe the lock.
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startOf(pid);
  return now === null || started === null || now === started;
}

/** When a process started, in clock ticks since boot; null where /proc doesn't say. A zombie counts as gone. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "ended" : (fields[19] ?? null);
  } catch {
    return null;
  }
}
