/** The command as a process: outputs that cannot be written, signals, workspaces that may not be written. */

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "./support/command.ts";

const bin = join(import.meta.dirname, "..", "bin", "evolver.js");
const SMALL = ["softmax", "--rows", "4", "--columns", "4"];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-process-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const isLinux = process.platform === "linux";

describe("standard output", () => {
  it.runIf(isLinux)("that is full is an error with a code, and no stack trace", () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [bin, "devices"], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error\[OUTPUT_NOT_WRITTEN\]: standard output cannot be written: ENOSPC/);
    expect(stderr).not.toContain("    at ");
  });

  it("whose reader has gone changes nothing", async () => {
    const child = spawn(process.execPath, [bin, "devices"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

const git = (at: string, ...args: string[]): string =>
  spawnSync("git", ["-C", at, ...args], { encoding: "utf8" }).stdout.trim();

describe("signals", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s once: it stops with %i and what is complete", async (signal, wanted) => {
    const at = join(folder, signal);
    let sent = false;
    const { finished } = start(["evolve", ...SMALL, "--cycles", "1000", "--trials", "1", "--workspace", at], {
      onStderr(text, child) {
        if (sent || !/^(?:kept|reverted): /m.test(text)) return;
        sent = child.kill(signal);
      },
    });
    expect((await finished).code).toBe(wanted);
    expect(git(at, "status", "--porcelain")).toBe("");
  });

  it("once ends a kernel's body that never ends", async () => {
    const file = join(folder, "spins.ts");
    const body = "() => { console.error('begun'); for (;;); }";
    writeFileSync(
      file,
      `import { kernel } from "@evolver/kernel";\nexport const k = kernel("k", { params: {}, workgroup: [64] }, ${body});\n`,
    );
    const { child, finished } = start(["check", file], {
      onStderr: (text, running) => void (text.includes("begun") && running.kill("SIGTERM")),
    });
    await finished;
    expect(child.signalCode).toBe("SIGTERM");
  });

  it("twice, at any moment: branch, index and files stay one", async () => {
    const at = join(folder, "twice");
    for (let attempt = 0; attempt < 6; attempt++) {
      // As a terminal does it: to the whole group, the git commands too.
      const child = spawn(
        process.execPath,
        [bin, "evolve", ...SMALL, "--cycles", "1000", "--trials", "1", "--workspace", at],
        { stdio: ["ignore", "ignore", "pipe"], detached: true },
      );
      const signal = (): boolean => process.kill(-(child.pid as number), "SIGINT");
      let sent = false;
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
        if (sent || !/^(?:baseline|kept|reverted|\[\d+\/1000\] trial)/m.test(stderr)) return;
        sent = signal();
        // The commit that follows the trial takes some ten milliseconds: the second falls before, into or after it.
        setTimeout(() => child.exitCode ?? signal(), 8 * attempt);
      });
      const code = await new Promise((resolve) => child.on("close", resolve));
      expect({ code, stderr: stderr.slice(-2000) }).toEqual({ code: 130, stderr: expect.any(String) });
      expect(git(at, "status", "--porcelain")).toBe("");
    }
  });
});

describe.runIf(isLinux)("a workspace that may not be written", () => {
  it.each([["/proc/foo"], ["/proc/foo/bar/baz"], ["/sys/foo"], ["/dev/null/x"], ["/dev/full"]])(
    "%s is refused at once",
    (at) => {
      const { status, stderr } = spawnSync(
        process.execPath,
        [bin, "evolve", ...SMALL, "--cycles", "0", "--workspace", at],
        { encoding: "utf8", timeout: 30_000 },
      );
      expect(status).toBe(2);
      expect(stderr).toMatch(/^error\[OUTPUT_NOT_WRITTEN\]: /);
      expect(stderr).not.toContain("UNEXPECTED");
    },
  );

  it.runIf(process.getuid?.() === 0)("by its permissions is refused, and nothing is made", () => {
    const at = join(folder, "locked");
    mkdirSync(at, { mode: 0o555 });
    const { status, stderr } = spawnSync(
      process.execPath,
      [bin, "evolve", ...SMALL, "--cycles", "0", "--workspace", at],
      { encoding: "utf8", uid: 65_534, gid: 65_534 },
    );
    expect(stderr).toMatch(/^error\[OUTPUT_NOT_WRITTEN\]: /);
    expect(status).toBe(2);
    expect(readdirSync(at)).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("that may not be looked into is no missing one", () => {
    const at = join(folder, "closed");
    mkdirSync(at);
    chmodSync(at, 0);
    const [within, own] = [join(at, "ws"), at].map((path) =>
      spawnSync(process.execPath, [bin, "log", "--workspace", path], {
        encoding: "utf8",
        uid: 65_534,
        gid: 65_534,
      }),
    );
    for (const { status, stderr } of [within!, own!]) {
      expect(stderr).toMatch(/^error\[FILE_NOT_READABLE\]: .*closed.* cannot be read: .*permission denied/);
      expect(status).toBe(2);
    }
    chmodSync(at, 0o755);
  });
});
