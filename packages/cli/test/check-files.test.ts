/** `evolver check` on several files and patterns, and what it writes as SARIF. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import schema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with { type: "json" };
import Ajv from "ajv";
import draft4 from "ajv/lib/refs/json-schema-draft-04.json" with { type: "json" };
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evolver, type Finished } from "./support/command.ts";

const imports = `import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";\n`;
const tiled = (name: string, barrier: string): string => `export const ${name} = kernel(
  "${name}",
  { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [64], example: { workgroups: 1, args: { x: 64, y: 64 } } },
  ({ x, y }, gpu) => {
    const tile = gpu.shared(f32, 64);
    tile.set(gpu.localIndex, x.get(gpu.localIndex));${barrier}
    y.set(gpu.localIndex, tile.get(gpu.localIndex.xor(63)));
  },
);
`;

const FILES: Readonly<Record<string, string>> = {
  "src/clean.ts": imports + tiled("clean", " gpu.barrier();"),
  "src/index.ts": `export * from "./clean.ts";\n`,
  "src/main.ts": `export const answer = 42;\n`,
  "src/types.d.ts": `export type A = number;\n`,
  "src/clean.test.ts": `throw new Error("a test runs in its runner");\n`,
  "src/more kernels/racy.ts": imports + tiled("racy", ""),
  "src/notes.md": "no source\n",
  "wrong/broken.ts": "export const a = 1;\nexport const b = {{;\n",
  "wrong/wide.ts": `${imports}export const wide = kernel("wide", { params: { y: buffer(f32, "write") }, workgroup: [4096] }, () => {});\n`,
  "wrong/turns.ts": `${imports}export const turns = kernel(
  "turns",
  { params: { turn: buffer(atomic(u32)), y: buffer(u32, "write") }, workgroup: [64], example: { workgroups: 2, args: { turn: 1, y: 128 } } },
  ({ turn, y }, gpu) => y.set(gpu.globalId.x, turn.add(0, 1)),
);
export const scatter = kernel(
  "scatter",
  { params: { at: buffer(u32), y: buffer(u32, "write") }, workgroup: [64], example: { workgroups: 1, args: { at: 64, y: 64 } } },
  ({ at, y }, gpu) => y.set(at.get(gpu.globalId.x), 1),
);
export const decided = kernel(
  "decided",
  { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [32], example: { workgroups: 1, args: { x: 32, y: 32 } } },
  ({ x, y }, gpu) => {
    if (x.get(gpu.globalId.x)) y.set(gpu.globalId.x, 1);
  },
);
`,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-check-files-"));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const check = (...args: string[]): Promise<Finished> => evolver(["check", ...args], folder);

describe("several files", () => {
  it("are checked one after another, each kernel once, with a line for all", async () => {
    const { code, stdout, stderr } = await check(
      ...["src/clean.ts", "src/clean.test.ts", "src/index.ts", "src/main.ts", "src/types.d.ts"],
    );
    expect(stderr).not.toContain("error");
    expect(stdout).toContain("src/clean.ts#clean: clean at subgroup width 32\n");
    expect(stdout.match(/^\S+#/gm)).toHaveLength(1);
    expect(stdout).toMatch(/\n\n1 kernel in 1 file: none with findings; no kernels in src\/main\.ts\n$/);
    expect(code).toBe(0);
  });

  it("can be patterns", async () => {
    const { code, stdout } = await check("src/**/*");
    expect(stdout).toContain("src/more kernels/racy.ts#racy: 2 findings at subgroup width 32\n");
    expect(stdout).toContain("\n\n2 kernels in 2 files: 1 with findings; no kernels in src/main.ts\n");
    expect(code).toBe(1);
  });

  it("of which one cannot be loaded are checked without it, and the exit code says so", async () => {
    const { code, stdout, stderr } = await check("wrong/broken.ts", "src/clean.ts#clean");
    expect(stderr).toMatch(/^error\[FILE_NOT_LOADED\]: .*broken\.ts could not be loaded/);
    expect(stdout).toContain("src/clean.ts#clean: clean at ");
    expect(stdout).toContain("1 kernel in 1 file: none with findings; not loaded: wrong/broken.ts\n");
    expect(code).toBe(2);
  });

  it("are one list as JSON, with their files", async () => {
    const { code, stdout } = await check("wrong/broken.ts", "src/clean.ts", "--json");
    expect(JSON.parse(stdout)).toMatchObject([
      { file: join(folder, "src", "clean.ts"), kernel: "clean", findings: [] },
      { file: join(folder, "wrong", "broken.ts"), error: { code: "FILE_NOT_LOADED" } },
    ]);
    expect(code).toBe(2);
  });

  it.each([
    ["a pattern that matches nothing", ["nowhere/*.ts"], "NO_FILE_MATCHES"],
    ["a pattern that matches no source", ["src/*.md"], "NO_FILE_MATCHES"],
    ["tests and declarations alone", ["src/clean.test.ts", "src/types.d.ts"], "NO_FILE_MATCHES"],
    ["files without kernels", ["src/main.ts", "src/m*.ts", "wrong/../src/main.ts"], "NO_KERNEL"],
    ["a file without kernels", ["src/main.ts"], "NO_KERNEL"],
  ])("%s is an error", async (_, files, error) => {
    const { code, stderr } = await check(...files);
    expect(stderr).toContain(`error[${error}]`);
    expect(code).toBe(2);
  });
});

it("sizes of a kernel can be given, and are small without", async () => {
  writeFileSync(
    join(folder, "sized.ts"),
    `${imports}export const sized = kernel(
  "sized",
  { params: { y: buffer(f32, "write") }, sizes: { n: 1 << 20 }, workgroup: [32], example: ({ n }) => ({ workgroups: Math.ceil(n / 32), args: { y: n } }) },
  ({ y }, gpu) => gpu.if(gpu.globalId.x.lt(y.length), () => y.set(gpu.globalId.x, 1)),
);
`,
  );
  const launched = async (...args: string[]): Promise<string | undefined> =>
    /launch: .*/.exec((await check("sized.ts", ...args)).stdout)?.[0];
  expect(await launched("--size", "n=64")).toBe("launch: 2×1×1 workgroups, y=[64]");
  expect(await launched()).toMatch(/ y=\[\d{1,4}\]$/);
  const { code, stderr } = await check("sized.ts", "--size", "m=64");
  expect({ code, error: stderr.split(":")[0] }).toEqual({ code: 2, error: "error[INVALID_SIZE]" });
});

interface Location {
  readonly physicalLocation: {
    readonly artifactLocation: object;
    readonly region: { readonly startLine: number };
  };
  readonly message: { readonly text: string };
}

interface Sarif {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly invocations: readonly [{ readonly executionSuccessful: boolean }];
      readonly results: readonly {
        readonly ruleId: string;
        readonly ruleIndex: number;
        readonly level: string;
        readonly message: { readonly text: string };
        readonly locations: readonly Location[];
        readonly relatedLocations?: readonly Location[];
      }[];
    },
  ];
}

/** Runs a check that writes SARIF, and sees that the official schema takes it. */
async function sarif(
  ...args: string[]
): Promise<{ readonly code: number | null; readonly run: Sarif["runs"][0] }> {
  const { code } = await check(...args, "--sarif", "out/found.sarif");
  const log = JSON.parse(readFileSync(join(folder, "out", "found.sarif"), "utf8")) as Sarif;
  const ajv = new Ajv({ schemaId: "auto", meta: false, unknownFormats: ["uri", "uri-reference"] });
  ajv.addMetaSchema(draft4);
  const isValid = ajv.compile(schema);
  expect(isValid({ ...log, runs: [{ tool: { driver: {} } }] })).toBe(false);
  isValid(log);
  expect(isValid.errors ?? []).toEqual([]);
  for (const { ruleId, ruleIndex } of log.runs[0].results)
    expect(log.runs[0].tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  return { code, run: log.runs[0] };
}

describe("SARIF", () => {
  it("has each finding with its place, and the other places beside it", async () => {
    const { code, run } = await sarif("src/**/*.ts");
    expect(code).toBe(1);
    expect(run.invocations[0].executionSuccessful).toBe(true);
    const race = run.results.find(({ ruleId }) => ruleId === "data-race");
    const artifactLocation = { uri: "src/more%20kernels/racy.ts", uriBaseId: "%SRCROOT%" };
    const at = (line: number, action: string): object => ({
      physicalLocation: { artifactLocation, region: { startLine: line, startColumn: expect.any(Number) } },
      message: { text: expect.stringMatching(`^${action} by invocation .* of workgroup \\[0, 0, 0\\]$`) },
    });
    const sides = [race?.locations[0], race?.relatedLocations?.[0]].toSorted(
      (a, b) => (a?.physicalLocation.region.startLine ?? 0) - (b?.physicalLocation.region.startLine ?? 0),
    );
    expect(sides).toMatchObject([at(7, "write"), at(8, "read")]);
    expect(race).toMatchObject({
      level: "error",
      message: { text: expect.stringMatching(/^data race on .*, in kernel racy at subgroup width 32\.$/) },
      locations: [{ logicalLocations: [{ name: "racy", kind: "function" }] }],
    });
  });

  it("of a clean file has no results, and the rules all the same", async () => {
    const { code, run } = await sarif("src/clean.ts");
    expect(code).toBe(0);
    expect(run.results).toEqual([]);
    expect(run.tool.driver.rules).toContainEqual({
      id: "data-race",
      shortDescription: { text: expect.any(String) },
      fullDescription: { text: expect.any(String) },
      help: { text: expect.stringContaining("gpu.barrier()") },
      defaultConfiguration: { level: "error" },
    });
  });

  it("has files that were not loaded, kernels that do not build, and each level", async () => {
    const { code, run } = await sarif("wrong/*.ts");
    expect(code).toBe(2);
    expect(run.invocations[0].executionSuccessful).toBe(false);
    const found = run.results.map(({ ruleId, level, locations }) => {
      const { artifactLocation, region } = (locations[0] as Location).physicalLocation;
      return `${level} ${ruleId} ${(artifactLocation as { uri: string }).uri}:${region.startLine}`;
    });
    expect(found.toSorted()).toEqual([
      "error file-not-loaded wrong/broken.ts:2",
      "error invalid-workgroup wrong/wide.ts:2",
      "error native-use wrong/turns.ts:16",
      "note data-race wrong/turns.ts:10",
      "warning schedule-dependent-result wrong/turns.ts:5",
    ]);
    const strict = await sarif("wrong/turns.ts#turns", "--deterministic");
    expect(strict).toMatchObject({ code: 1, run: { results: [{ level: "error" }] } });
  });

  it("has addresses from the root of the repository, where GitHub looks for them", async () => {
    execFileSync("git", ["init", "-q", folder]);
    try {
      const { code } = await evolver(
        ["check", "racy.ts", "--sarif", "here.sarif"],
        join(folder, "src", "more kernels"),
      );
      expect(code).toBe(1);
      const text = readFileSync(join(folder, "src", "more kernels", "here.sarif"), "utf8");
      expect(text).toContain('"uri": "src/more%20kernels/racy.ts"');
    } finally {
      rmSync(join(folder, ".git"), { recursive: true });
    }
  });

  it("never replaces a file that is checked", async () => {
    const { code, stderr } = await check("src/clean.ts", "src/main.ts", "--sarif", "src/main.ts");
    expect(stderr).toContain("error[OUTPUT_NOT_WRITTEN]");
    expect(code).toBe(2);
    expect(readFileSync(join(folder, "src", "main.ts"), "utf8")).toBe(FILES["src/main.ts"]);
  });
});
