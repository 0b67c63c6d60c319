/** docs/api and docs/cli.md are what the source has now, and what users call is explained. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliDocument, REGENERATE_CLI } from "../tools/docs/cli.ts";
import { replaceGenerated } from "../tools/docs/markdown.ts";
import { firstSentence, markdownOf } from "../tools/docs/api/doc.ts";
import type { Entry } from "../tools/docs/api/entries.ts";
import { apiDocuments, entriesByPackage, hostApiBlocks, REGENERATE } from "../tools/docs/api/markdown.ts";

const folder = join(import.meta.dirname, "..", "docs", "api");
const documents = apiDocuments();
const packages = entriesByPackage();

const entry = (from: string, wanted: string): Entry | undefined =>
  packages.get(from)?.find(({ name, exported }) => exported && name === wanted);

it("docs/cli.md has every command as --help says it", async () => {
  const text = readFileSync(join(folder, "..", "cli.md"), "utf8");
  expect(text === (await cliDocument()), `docs/cli.md is old: run ${REGENERATE_CLI}`).toBe(true);
  expect(text).toMatch(/^## evolver evolve$[^]*?\| `--cycles <n>` \| cycles to run \| 6 \|$/m);
  expect(text).toMatch(/^## evolver evidence collect$/m);
});

describe("docs/api", () => {
  it.each([...documents])("has %s as the source gives it", (file, text) => {
    const written = globSync(file, { cwd: folder }).map((found) => readFileSync(join(folder, found), "utf8"));
    expect(written[0] === text, `docs/api/${file} is old, or not there: run ${REGENERATE}`).toBe(true);
  });

  it("has no page of what is gone", () => {
    const old = globSync("*.md", { cwd: folder }).filter((file) => !documents.has(file));
    expect(old, `run ${REGENERATE}`).toEqual([]);
  });

  it.each([...hostApiBlocks()])("is listed by %s of docs/host-api.md", (name, text) => {
    const markdown = readFileSync(join(folder, "..", "host-api.md"), "utf8");
    expect(markdown).toContain(`<!-- generated:${name} -->`);
    const isNew = replaceGenerated(markdown, name, text, false) === markdown;
    expect(isNew, `docs/host-api.md is old: run ${REGENERATE}`).toBe(true);
  });

  it("has pages that can be read", () => {
    for (const [file, text] of documents)
      expect(text.split("\n").length, `${file}: divide it in tools/docs/api/pages.ts`).toBeLessThan(1800);
  });

  it("shows signatures without bodies, private parts and values, with comments", () => {
    expect(entry("device", "openDevice")?.signature).toBe(
      "function openDevice<I extends DeviceId>(id: I, options?: DeviceOptions[I]): Promise<Device>",
    );
    expect(entry("device", "SECTOR_BYTES")?.signature).toBe("const SECTOR_BYTES = 32");
    expect(entry("kernel", "buffer")?.signature.match(/^function buffer</gm)?.length).toBe(5);
    const gpu = entry("kernel", "Gpu")?.signature ?? "";
    expect(gpu).toMatch(/^class Gpu \{\n/);
    expect(gpu).toContain("  /** CUDA and HIP: threadIdx. */\n  readonly localId: Xyz;\n");
    expect(gpu).not.toMatch(/#recorder|constructor|recorder\./);
  });

  it("explains what the signatures name and nobody can import", () => {
    const hidden = packages.get("kernel")?.filter(({ exported }) => !exported) ?? [];
    expect(hidden.map(({ name }) => name)).toContain("MutableBuffer");
    expect(hidden.map(({ name }) => name)).not.toContain("Recorder");
  });

  it.each(["kernel", "device", "attention", "softmax", "machine", "lab"])(
    "has a docstring of everything that %s exports",
    (folder) => {
      const exported = packages.get(folder)?.filter((entry) => entry.exported) ?? [];
      const bare = exported.filter(({ doc }) => doc === "").map(({ name, file }) => `${name} in ${file}`);
      expect(bare, `write a docstring before each, then run ${REGENERATE}`).toEqual([]);
    },
  );

  it("writes tags as a list", () => {
    expect(
      markdownOf("A sum.\n\n@param x in ms\n@returns it\n@throws EvolverError SOME_CODE where\nit fails"),
    ).toBe("A sum.\n\n- `x`: in ms\n- gives it\n- throws EvolverError SOME_CODE where it fails");
    expect(markdownOf("@throws EvolverError SOME_CODE")).toBe("- throws EvolverError SOME_CODE");
    expect(firstSentence("What `a.b` is. And more.")).toBe("What `a.b` is");
  });
});
