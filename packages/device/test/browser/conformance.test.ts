/** The conformance suite in Chromium: WebGPU over the SwiftShader that it brings, and the devices without a GPU. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, howToHaveChromium, launchChromium } from "../../../../test/support/browser.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { servePage, type ServedPage } from "../../../../test/support/page.ts";
import type { PageReport } from "./page.ts";

const module = "packages/device/test/browser/page.ts";

requireOptional(
  "Chromium",
  hasChromium,
  howToHaveChromium,
)("conformance in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  describe("a page that may share memory", () => {
    let served: ServedPage;
    let page: Page;
    const errors: string[] = [];
    beforeAll(async () => {
      served = await servePage({ module });
      page = await open(browser, served, errors);
    });
    afterAll(async () => {
      await page.close();
      await served.close();
    });

    // What WGSL does not promise; and where subgroups cannot wait for each other, the cases in which they do.
    test.each([
      { id: "webgpu", name: "swiftshader", subgroup: 4, skipped: 27 },
      { id: "sim", name: "simulator", subgroup: 8, skipped: 0 },
      { id: "cpu", name: "thread", subgroup: 32, skipped: 6 },
    ] as const)("$id", async ({ id, name, subgroup, skipped }) => {
      const report = await run(page, id, subgroup);
      expect(failures(report)).toEqual([]);
      expect(report.name).toContain(name);
      expect(report.subgroupSize).toBe(subgroup);
      expect(report.isolated).toBe(true);
      expect(report.results).toHaveLength(report.cases);
      expect(report.results.filter(({ status }) => status === "skipped")).toHaveLength(skipped);
      expect(errors).toEqual([]);
    });

    test("a module that is not there, or not a package's, is not served", async () => {
      for (const path of ["packages/device/src/none.ts", "packages/../package.json", "etc/passwd"])
        expect((await fetch(served.url + path)).status, path).toBe(404);
    });
  });

  test("a page that may not: the cpu device does without threads", async () => {
    const served = await servePage({ module, isolated: false });
    const page = await open(browser, served);
    const report = await run(page, "cpu", 4);
    expect(failures(report)).toEqual([]);
    expect(report.isolated).toBe(false);
    expect(report.name).toContain("1 thread");
    await page.close();
    await served.close();
  });
});

async function open(browser: Browser, served: ServedPage, errors: string[] = []): Promise<Page> {
  const page = await browser.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  const failed = new Promise<never>((_, reject) => {
    page.once("pageerror", reject);
    page.on("response", (response) => {
      if (response.status() >= 400) reject(new Error(`${response.status()} ${response.url()}`));
    });
  });
  // A page may go wrong later too, which the errors tell.
  failed.catch(() => {});
  await page.goto(served.url);
  await Promise.race([
    page.waitForFunction(() => globalThis.conformance !== undefined, undefined, { timeout: 0 }),
    failed,
  ]);
  return page;
}

const run = (page: Page, id: "webgpu" | "sim" | "cpu", subgroup: number): Promise<PageReport> =>
  page.evaluate(
    ([device, width]) =>
      (globalThis.conformance as NonNullable<typeof globalThis.conformance>)(device, width),
    [id, subgroup] as const,
  );

const failures = ({ results }: PageReport): string[] =>
  results.filter(({ status }) => status === "failed").map(({ name, detail }) => `${name}: ${detail}`);
