/** `evolver evolve` obeys the workspace's policy where an option does not say otherwise. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { evolver } from "./support/command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-policy-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SIZE = ["--rows", "4", "--columns", "4"];
const COMMAND = ["evolve", "softmax", ...SIZE, "--cycles", "0", "--workspace", "ws", "--json"];

function setSampler(sampler: string): void {
  const path = join(folder, "ws", "policy.json");
  const policy = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...policy, sampler }));
  const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
  execFileSync("git", ["-C", join(folder, "ws"), ...who, "commit", "-qam", `Sampler ${sampler}`]);
}

it("its sampler counts unless --agent names one, and has to exist", async () => {
  const agentOf = async (...options: string[]): Promise<string> => {
    const { code, stdout } = await evolver([...COMMAND, ...options], folder);
    expect(code).toBe(0);
    return (JSON.parse(stdout) as { agent: string }).agent;
  };
  expect(await agentOf()).toBe("evolutionary");
  setSampler("random");
  expect(await agentOf()).toBe("random");
  expect(await agentOf("--agent", "evolutionary")).toBe("evolutionary");
  setSampler("zzz");
  const refused = await evolver(COMMAND, folder);
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "POLICY_INVALID" } });
  expect(refused.stderr).toMatch(/error\[POLICY_INVALID\][^]*there is no sampler "zzz"/);
});
