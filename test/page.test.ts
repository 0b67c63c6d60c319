/** The page of examples/page: built by Vite, and in Chromium, with WebGPU and without. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { build, createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasChromium, howToHaveChromium, launchChromium } from "./support/browser.ts";
import { requireOptional } from "./support/optional.ts";

const root = join(import.meta.dirname, "..", "examples", "page");

test("Vite builds it", async () => {
  const outDir = mkdtempSync(join(tmpdir(), "evolver-page-"));
  await build({ root, logLevel: "silent", build: { outDir } });
  const scripts = readdirSync(join(outDir, "assets")).filter((name) => name.endsWith(".js"));
  expect(scripts).toHaveLength(1);
  expect(readFileSync(join(outDir, "index.html"), "utf8")).toContain(scripts[0]);
  rmSync(outDir, { recursive: true });
});

requireOptional(
  "Chromium",
  hasChromium,
  howToHaveChromium,
)("in Chromium", () => {
  let server: ViteDevServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await createServer({ root, server: { port: 0, hmr: false }, logLevel: "silent" });
    await server.listen();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const settled = "#status:not(:text('Opening'))";
  const address = (): string => server.resolvedUrls?.local[0] as string;

  test("it draws, and again where the pointer goes", async () => {
    const page = await browser.newPage({ viewport: { width: 800, height: 700 } });
    await page.goto(address());
    await page.waitForSelector(settled);
    expect(await page.textContent("#status")).toMatch(/^Drawn by .*Move the pointer over the picture\.$/);
    const pixels = (): Promise<number[]> =>
      page.$eval("canvas", (canvas) => [...canvas.getContext("2d")!.getImageData(0, 0, 320, 200).data]);
    expect(furthest(await pixels(), 160, 100)).toBeLessThanOrEqual(1);

    await page.hover("canvas", { position: { x: 60, y: 90 } });
    const scale = 320 / (await page.$eval("canvas", (canvas) => canvas.clientWidth));
    await expect
      .poll(async () => furthest(await pixels(), 60 * scale, 90 * scale), { timeout: 20_000 })
      .toBeLessThanOrEqual(1);
    await page.close();
  });

  test("without WebGPU it says what to do", async () => {
    const page = await browser.newPage();
    await page.addInitScript(`Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined });`);
    await page.goto(address());
    await page.waitForSelector(settled);
    expect(await page.textContent("#status")).toMatch(
      /^No picture: this JavaScript engine has no navigator\.gpu\. What to do: use a browser with WebGPU/,
    );
    await page.close();
  });
});

/** How far a shade is from that of ripples around a point, at most. */
function furthest(data: readonly number[], x: number, y: number): number {
  let most = 0;
  for (let i = 0; i < 320 * 200; i++) {
    const distance = Math.hypot((i % 320) - x, Math.floor(i / 320) - y);
    const shade = Math.floor(128 + 100 * Math.cos(distance / 4));
    for (const [k, wanted] of [shade, shade, shade, 255].entries())
      most = Math.max(most, Math.abs((data[4 * i + k] ?? 0) - wanted));
  }
  return most;
}
