import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { Random } from "@evolver/base";
import { Workspace, evolve, readRecords } from "@evolver/lab";
import type { EvolveResult } from "@evolver/lab";
import { explainFailure } from "@evolver/lab/internal";
import { fakeStudy, openFakeJudge } from "./support/fake-study.ts";

const SCRIPT = join(import.meta.dirname, "support", "run-fake-study.ts");

let folder: string;
let workspace: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-test-"));
  workspace = join(folder, "workspace");
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(cycles = 1, path = workspace): Promise<EvolveResult> {
  return evolve(fakeStudy, { cycles, workspace: path, openJudge: openFakeJudge() });
}

function git(...args: string[]): string {
  return execFileSync("git", ["-C", workspace, ...args], { encoding: "utf8" }).trim();
}

function commitAll(): void {
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "By hand");
}

/** Everything in the folder but git's own files, by path. */
function snapshot(path = workspace): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(`${path}/.git`))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, "utf8")]));
}

function normalised(): unknown {
  return readRecords(workspace).map((record) => ({ ...record, id: "", date: "", durationMs: 0 }));
}

describe("what is in the way", () => {
  it("a file where the workspace should be is refused and left alone", async () => {
    writeFileSync(workspace, "precious");
    await expect(run()).rejects.toMatchObject({ code: "WORKSPACE_NOT_A_FOLDER" });
    expect(readFileSync(workspace, "utf8")).toBe("precious");
  });

  it("a folder with other files is refused and left alone", async () => {
    mkdirSync(workspace);
    writeFileSync(join(workspace, "thesis.tex"), "precious");
    await expect(run()).rejects.toMatchObject({ code: "WORKSPACE_NOT_EMPTY" });
    expect(readdirSync(workspace)).toEqual(["thesis.tex"]);
    execFileSync("git", ["-C", workspace, "init", "-q"]);
    await expect(run()).rejects.toMatchObject({ code: "WORKSPACE_NOT_EMPTY" });
    expect(readdirSync(workspace).toSorted()).toEqual([".git", "thesis.tex"]);
  });

  it("an empty folder is used", async () => {
    mkdirSync(workspace);
    await run();
    expect(readRecords(workspace)).toHaveLength(2);
  });

  it("a clone of a workspace is a workspace, and goes on", async () => {
    await run();
    const clone = join(folder, "clone");
    execFileSync("git", ["clone", "-q", workspace, clone]);
    const result = await run(1, clone);
    expect(result.history.map(({ cycle }) => cycle)).toEqual([2]);
    expect(execFileSync("git", ["-C", clone, "status", "--porcelain"], { encoding: "utf8" })).toBe("");
  });

  it("local changes are listed, and nothing is touched", async () => {
    await run();
    const head = git("rev-parse", "HEAD");
    appendFileSync(join(workspace, "PROGRESS.md"), "mine");
    writeFileSync(join(workspace, "knowledge", "my notes.md"), "mine");
    rmSync(join(workspace, "TASKS.md"));
    const before = snapshot();
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "WORKSPACE_DIRTY" });
    expect(String(error)).toContain("PROGRESS.md, TASKS.md, knowledge/my notes.md");
    expect(snapshot()).toEqual(before);
    expect(git("rev-parse", "HEAD")).toBe(head);
  });

  it.each([
    ["cut short", (text: string) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
    ["of another shape", () => '{"format":1}'],
    ["with a field of the wrong type", (text: string) => text.replace(/"seed": \d+/, '"seed": "one"')],
    ["of a later format", (text: string) => text.replace('"format": 1', '"format": 7')],
    ["under another's name", (text: string) => text.replace(/"id": "(.{20})/, '"id": "01AAAAAAAAAAAAAAAAAA')],
  ])("a record %s is named with the command that brings it back", async (_, damage) => {
    await run();
    const [name] = readdirSync(join(workspace, "records")) as [string];
    const path = join(workspace, "records", name);
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    const before = snapshot();
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "RECORD_CORRUPT" });
    expect(String(error)).toContain(path);
    expect(snapshot()).toEqual(before);
    const command = /help: .*: (git .*)$/m.exec(String(error))?.[1];
    execFileSync("sh", ["-c", command as string]);
    expect((await run()).history.map(({ cycle }) => cycle)).toEqual([2]);
  });

  it("a record that HEAD has damaged too is named with the commit that has it whole", async () => {
    await run();
    const [name] = readdirSync(join(workspace, "records")) as [string];
    writeFileSync(join(workspace, "records", name), "{");
    commitAll();
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "RECORD_CORRUPT" });
    const command = /bring an older version back with: (git .*)$/m.exec(String(error))?.[1];
    execFileSync("sh", [
      "-c",
      `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ${command}`,
    ]);
    expect((await run()).history.map(({ cycle }) => cycle)).toEqual([2]);
  });

  it("a record that no commit has whole is not promised back", async () => {
    await run();
    const id = "01AAAAAAAAAAAAAAAAAAAAAAAA";
    writeFileSync(join(workspace, "records", `${id}.json`), "{");
    commitAll();
    await expect(run()).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
      hint: expect.stringContaining("backup"),
    });
  });

  it.each([1, 2])(
    "cycle %i that is missing among the records is noticed, also where that is committed",
    async (cycle) => {
      await run(3);
      const name = readRecords(workspace).find((record) => record.cycle === cycle)?.id;
      rmSync(join(workspace, "records", `${name}.json`));
      const missing = { code: "RECORD_MISSING", what: expect.stringContaining(`cycle ${cycle} of fake`) };
      await expect(run()).rejects.toMatchObject(missing);
      commitAll();
      const error = await run().catch((reason: unknown) => reason);
      expect(error).toMatchObject(missing);
      const command = /: (git .*)$/m.exec(String(error))?.[1];
      execFileSync("sh", ["-c", command as string]);
      commitAll();
      expect((await run()).history.map(({ cycle: next }) => next)).toEqual([4]);
    },
  );

  it("two clones that each went on are merged, and the cycles of the same number stay", async () => {
    await run(1);
    const clone = join(folder, "clone");
    execFileSync("git", ["clone", "-q", workspace, clone]);
    await run(1);
    await run(1, clone);
    for (const name of readdirSync(join(clone, "records")))
      writeFileSync(join(workspace, "records", name), readFileSync(join(clone, "records", name)));
    commitAll();
    expect(readRecords(workspace).map(({ cycle }) => cycle)).toEqual([0, 1, 2, 2]);
    expect((await run()).history.map(({ cycle }) => cycle)).toEqual([3]);
  });

  it("a policy that is not committed is told by what is wrong in it first", async () => {
    await run();
    writeFileSync(join(workspace, "policy.json"), JSON.stringify({ trialsPerCycle: -1 }));
    await expect(run()).rejects.toMatchObject({ code: "POLICY_INVALID" });
  });

  it("a policy with a byte order mark is read", async () => {
    await run();
    const path = join(workspace, "policy.json");
    writeFileSync(path, `\uFEFF${readFileSync(path, "utf8")}`);
    commitAll();
    expect((await run()).history.map(({ cycle }) => cycle)).toEqual([2]);
  });

  it.each(["policy.json", "records/01ZZZZZZZZZZZZZZZZZZZZZZZZ.json"])(
    "a folder %s is named",
    async (name) => {
      await run();
      rmSync(join(workspace, name), { force: true });
      mkdirSync(join(workspace, name));
      const error = await run().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "FILE_NOT_READABLE" });
      expect(String(error)).toContain(`${join(workspace, name)} cannot be read: it is a folder`);
    },
  );

  it("what git says of a damaged repository is passed on, with what to do", async () => {
    await run();
    rmSync(join(workspace, ".git", "objects"), { recursive: true });
    mkdirSync(join(workspace, ".git", "objects"));
    await expect(run()).rejects.toMatchObject({ code: "GIT_FAILED", hint: expect.stringContaining("fsck") });
  });

  it("a policy that was deleted is a local change, and once that is committed the default one counts", async () => {
    await run();
    rmSync(join(workspace, "policy.json"));
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "WORKSPACE_DIRTY" });
    expect(String(error)).toContain("policy.json");
    commitAll();
    expect((await run()).history.map(({ cycle }) => cycle)).toEqual([2]);
  });

  it("a workspace without its .git is told so, can be read, and goes on as the advice says", async () => {
    await run();
    rmSync(join(workspace, ".git"), { recursive: true });
    const before = snapshot();
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "WORKSPACE_DAMAGED" });
    expect(snapshot()).toEqual(before);
    expect(readRecords(workspace)).toHaveLength(2);
    const command = /new beginning: (git .*); nothing/m.exec(String(error))?.[1];
    execFileSync("sh", [
      "-c",
      `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ${command}`,
    ]);
    expect((await run()).history.map(({ cycle }) => cycle)).toEqual([2]);
  });

  it.runIf(process.platform === "linux").each(["/proc/foo", "/proc/foo/bar", "/sys/foo", "/dev/null/x"])(
    "%s, where nothing can be made, is refused at once",
    async (path) => {
      await expect(run(0, path)).rejects.toMatchObject({ code: "OUTPUT_NOT_WRITTEN" });
    },
  );

  it("a second run at once is refused by the first one's process id", async () => {
    const first = spawn(process.execPath, [SCRIPT, workspace, "1", join(folder, "no gate")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    await new Promise((resolve) => first.stderr.once("data", resolve));
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "WORKSPACE_LOCKED" });
    expect(String(error)).toContain(`process ${first.pid}`);
    first.kill("SIGKILL");
    await new Promise((resolve) => first.once("exit", resolve));
    await run();
    expect(git("status", "--porcelain")).toBe("");
  });

  it("of several runs that find a dead lock, exactly one gets it", async () => {
    await run(0);
    writeFileSync(
      join(workspace, ".git", "evolver", "lock"),
      JSON.stringify({
        pid: 2 ** 22 - 3,
        host: execFileSync("hostname", { encoding: "utf8" }).trim(),
        started: "1",
      }),
    );
    // The one that gets it holds it until the others have been refused.
    const gate = join(folder, "gate");
    const outcomes: string[] = [];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, [SCRIPT, workspace, "1", gate], {
          stdio: ["ignore", "pipe", "ignore"],
        });
        let text = "";
        child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
        await new Promise((resolve) => child.once("close", resolve));
        outcomes.push((JSON.parse(text) as { code?: string }).code ?? "done");
        if (outcomes.length === 3) writeFileSync(gate, "");
      }),
    );
    expect(outcomes).toEqual(["WORKSPACE_LOCKED", "WORKSPACE_LOCKED", "WORKSPACE_LOCKED", "done"]);
  });

  it("a workspace that is not there can't be read", () => {
    expect(() => readRecords(workspace)).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }));
  });

  it("nor can another git repository", () => {
    execFileSync("git", ["init", "-q", workspace]);
    expect(() => readRecords(workspace)).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }));
  });

  it("one whose files are gone has lost its records, and does not begin anew", async () => {
    await run();
    const before = git("rev-parse", "HEAD");
    for (const name of readdirSync(workspace))
      if (name !== ".git") rmSync(join(workspace, name), { recursive: true });
    const lost = { code: "RECORD_MISSING", hint: expect.stringContaining("restore records") };
    expect(() => readRecords(workspace)).toThrow(expect.objectContaining(lost));
    await expect(run()).rejects.toMatchObject(lost);
    expect(git("rev-parse", "HEAD")).toBe(before);
  });

  it("a lock file of a git command that is not ours is named, not removed", async () => {
    await run();
    const lock = join(workspace, ".git", "index.lock");
    writeFileSync(lock, "");
    await expect(run()).rejects.toMatchObject({ code: "WORKSPACE_GIT_LOCKED" });
    expect(existsSync(lock)).toBe(true);
  });
});

describe("kill -9", () => {
  it("at any moment: the next run goes on from the last record, with a clean tree, to the same end", async () => {
    const random = new Random(Number(process.env["EVOLVER_KILL_SEED"] ?? 1));
    const wanted = inFull(12, 6);
    let kills = 0;
    let lastCount = 0;
    for (let attempt = 0; attempt < inFull(15, 6); attempt++) {
      const done = await killedRun(wanted, {
        event: random.below(8),
        afterMs: random.below(40),
        group: random.uniform() < 0.5,
      });
      kills += done ? 0 : 1;
      if (!existsSync(join(workspace, "policy.json"))) continue;
      // Nothing that was recorded is ever lost.
      const count = readRecords(workspace).length;
      expect(count).toBeGreaterThanOrEqual(lastCount);
      lastCount = count;
    }
    expect(kills).toBeGreaterThan(0);
    const left = wanted - Math.max(0, lastCount - 1);
    await run(Math.max(1, left));
    expect(git("status", "--porcelain")).toBe("");
    expect(git("fsck", "--strict", "--no-dangling")).toBe("");
    expect(existsSync(join(workspace, ".git", "evolver", "journal.json"))).toBe(false);
    const records = readRecords(workspace);
    expect(records.map(({ cycle }) => cycle)).toEqual(records.map((_, i) => i));
    expect(git("log", "--format=%s").split("\n")).toHaveLength(records.length + 1);

    const interrupted = normalised();
    workspace = join(folder, "in one go");
    await run(records.length - 1);
    expect(interrupted).toEqual(normalised());
  });

  it.each(["before the branch moved", "after the branch moved", "with half of the files in place"])(
    "between journal and end, %s: the commit is finished",
    async (moment) => {
      await run();
      const parent = git("rev-parse", "HEAD~1");
      const commit = git("rev-parse", "HEAD");
      const changed = git("diff", "--name-only", "--no-renames", "-z", parent, commit)
        .split("\0")
        .filter(Boolean);
      const after = snapshot();
      // Back to the parent, with the journal as it was then.
      git("reset", "-q", "--hard", parent);
      if (moment !== "before the branch moved") git("update-ref", "HEAD", commit);
      if (moment === "with half of the files in place")
        for (const path of changed.slice(0, 3)) {
          mkdirSync(join(workspace, path, ".."), { recursive: true });
          writeFileSync(join(workspace, path), git("show", `${commit}:${path}`) + "\n");
        }
      const journal = JSON.stringify({ commit, parent, paths: changed });
      writeFileSync(join(workspace, ".git", "evolver", "journal.json"), journal);
      writeFileSync(join(workspace, ".git", "HEAD.lock"), "");
      // The user's own file, not in the journal, is no business of the recovery.
      writeFileSync(join(workspace, "mine.txt"), "mine");

      await expect(Workspace.open(workspace)).rejects.toMatchObject({ code: "WORKSPACE_DIRTY" });
      expect(snapshot()).toEqual({ ...after, [join(workspace, "mine.txt")]: "mine" });
      rmSync(join(workspace, "mine.txt"));
      expect(git("rev-parse", "HEAD")).toBe(commit);
      expect(git("status", "--porcelain")).toBe("");
      expect((await run()).history.map(({ cycle }) => cycle)).toEqual([2]);
    },
  );

  it("while the repository is being made: the next run makes it", async () => {
    for (const files of [[], ["HEAD", "config.lock"], ["HEAD", "config", "index.lock"]]) {
      rmSync(workspace, { recursive: true, force: true });
      mkdirSync(join(workspace, ".git", "evolver", "drafts"), { recursive: true });
      for (const name of files) writeFileSync(join(workspace, ".git", name), "");
      await run();
      expect(git("status", "--porcelain")).toBe("");
      expect(readRecords(workspace)).toHaveLength(2);
    }
  });
});

describe("Ctrl-C", () => {
  it("ends the run with what is complete, and a clean tree", async () => {
    const child = spawn(process.execPath, [SCRIPT, workspace, "50"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    let events = "";
    child.stderr.on("data", (chunk: Buffer) => {
      events += chunk.toString();
      if (events.split("recorded").length === 3) child.kill("SIGINT");
    });
    await new Promise((resolve) => child.once("close", resolve));
    const result = JSON.parse(text) as EvolveResult;
    expect(result.interrupted).toBe(true);
    expect(result.history.length).toBe(readRecords(workspace).length);
    expect(git("status", "--porcelain")).toBe("");
  });
});

const canMount =
  spawnSync("sh", [
    "-c",
    "mkdir -p /tmp/evolver-mount-probe && mount -t tmpfs -o size=1m none /tmp/evolver-mount-probe && umount /tmp/evolver-mount-probe",
  ]).status === 0;

describe("a full disk", () => {
  it.runIf(canMount)(
    "gives one clear error, and the last commit is intact; with space again, it goes on",
    async () => {
      mkdirSync(workspace);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "none", workspace]);
      try {
        await run(1);
        // Fill it step by step, so that the end comes at different places.
        let error: unknown = null;
        for (let i = 0; i < 40 && error === null; i++) {
          spawnSync("dd", [
            "if=/dev/zero",
            `of=${workspace}/.git/filler${i}`,
            "bs=4096",
            `count=${i < 3 ? 200 : 8}`,
          ]);
          error = await run(1).then(
            () => null,
            (reason: unknown) => reason,
          );
        }
        expect(error).toMatchObject({ code: "DISK_FULL" });
        await expect(run(1)).rejects.toMatchObject({ code: "DISK_FULL" });
        const count = readRecords(workspace).length;
        expect(git("fsck", "--strict", "--no-dangling")).toBe("");
        execFileSync("sh", ["-c", `rm ${workspace}/.git/filler*`]);
        const result = await run(1);
        expect(git("status", "--porcelain")).toBe("");
        expect(result.history.at(-1)?.cycle).toBeGreaterThanOrEqual(count - 1);
      } finally {
        execFileSync("umount", [workspace]);
      }
    },
  );

  it("is also recognised from what git says of it", () => {
    for (const said of [
      "git update-index: fatal: sha1 file '.git/evolver/index.lock' write error. Out of diskspace",
      "git hash-object: error: unable to write file: No space left on device",
    ])
      expect(explainFailure(new Error(said), workspace)).toMatchObject({ code: "DISK_FULL" });
  });

  it("or a limit on file sizes is the same error, and nothing is lost", async () => {
    await run(1);
    const head = git("rev-parse", "HEAD");
    const before = snapshot();
    const limited = spawnSync(
      "sh",
      ["-c", `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`, process.execPath, SCRIPT, workspace, "3"],
      {
        encoding: "utf8",
      },
    );
    expect(JSON.parse(limited.stdout)).toMatchObject({ code: "DISK_FULL" });
    expect(snapshot()).toEqual(before);
    expect(git("rev-parse", "HEAD")).toBe(head);
    expect((await run(1)).history.map(({ cycle }) => cycle)).toEqual([2]);
  });
});

interface Kill {
  /** At which of the run's events; 0 is its start. */
  readonly event: number;
  /** So much later, so that it dies at any moment between that event and the next; what is tested holds for all of them. */
  readonly afterMs: number;
  /** With its git processes. */
  readonly group: boolean;
}

/** Starts a run and kills it; true if it ended by itself. */
async function killedRun(cycles: number, { event, afterMs, group }: Kill): Promise<boolean> {
  const child = spawn(process.execPath, [SCRIPT, workspace, String(cycles)], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  let timer: NodeJS.Timeout | undefined;
  const kill = (): void => {
    timer ??= setTimeout(() => process.kill(group ? -child.pid! : child.pid!, "SIGKILL"), afterMs);
  };
  const exited = new Promise<boolean>((resolve) => child.once("exit", (code) => resolve(code === 0)));
  let events = "";
  child.stderr.on("data", (chunk: Buffer) => {
    events += chunk.toString();
    if (events.split("\n").length > event) kill();
  });
  if (event === 0) kill();
  const done = await exited;
  clearTimeout(timer);
  return done;
}
