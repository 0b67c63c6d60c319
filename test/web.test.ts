/**
 * The page of examples/web in Chromium, served as `npm run web` serves it. EVOLVER_SCREENSHOTS names a folder to put
 * pictures of it into, with a shape that gives the rungs more to do; docs/web-ladder.png is one of them.
 */

import { join } from "node:path";
import { ladder } from "@evolver/attention";
import type { Browser, Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, howToHaveChromium, launchChromium } from "./support/browser.ts";
import { requireOptional } from "./support/optional.ts";

const root = join(import.meta.dirname, "..", "examples", "web");
const RUNGS = ladder.map(({ id }) => id);
const CLAIMS = ladder.reduce((sum, { claims }) => sum + claims.length, 0);
const screenshots = process.env["EVOLVER_SCREENSHOTS"];

type Fields = Readonly<Record<"device" | "heads" | "keyHeads" | "sequence" | "dim" | "mask", string>>;
const small: Fields = {
  device: "webgpu",
  heads: "2",
  keyHeads: "1",
  sequence: "32",
  dim: "16",
  mask: "full",
};
const shape: Fields = screenshots === undefined ? small : { ...small, sequence: "128", dim: "64" };

requireOptional(
  "Chromium",
  hasChromium,
  howToHaveChromium,
)("the ladder in a web page", () => {
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

  /** Opens the page; `sabotage` runs in its worker before anything of ours, and `before` in the page. */
  async function open(errors: string[], sabotage = "", before = ""): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    if (before !== "") await page.addInitScript(before);
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
    });
    if (sabotage !== "") {
      await page.route(/\/worker\.ts/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: `${sabotage}\n${await response.text()}` });
      });
    }
    await page.goto(server.resolvedUrls?.local[0] as string);
    return page;
  }

  describe.each([
    { device: "webgpu", name: "swiftshader", subgroup: "4", clock: "GPU timestamps", kind: "measured" },
    { device: "cpu", name: "thread", subgroup: "32", clock: "wall clock", kind: "measured" },
    { device: "sim", name: "simulator", subgroup: "32", clock: "model of an H200", kind: "modelled" },
  ])("on $device", ({ device, name, subgroup, clock, kind }) => {
    test("verifies, times and counts each rung", async () => {
      const errors: string[] = [];
      const page = await open(errors);
      await run(page, { ...shape, device, mask: device === "cpu" ? "causal" : "full" });
      expect(await ended(page)).toBe("done");
      expect(await page.textContent("#status")).toBe(
        `Done: ${RUNGS.length} of ${RUNGS.length} rungs verified, ${CLAIMS} of ${CLAIMS} claims hold.`,
      );
      const facts = (await page.textContent("#facts")) ?? "";
      for (const fact of [name, `Subgroup width${subgroup}`, clock]) expect(facts).toContain(fact);
      expect(await page.textContent("#time-column")).toBe(`Time, ${kind}`);
      for (const id of RUNGS) {
        const cells = await cellsOf(page, id);
        expect(cells["Verified"]).toMatch(/^✓ right \d\.\d·10\S+ of \d\.\d·10\S+ allowed$/);
        expect(cells[`Time, ${kind}`]).toMatch(/^[\d.,]+ [mµ]s$/);
        expect(Number.parseFloat(cells["GFLOP/s"] ?? "")).toBeGreaterThan(0);
        expect(cells["Speed-up over k01"]).toMatch(/^[\d.,]+×$/);
        expect(cells["Claims"]).toMatch(/^✓ (\d+) of \1$/);
      }
      expect(await cellsOf(page, "k03")).toMatchObject({
        "Bytes read": "278,528",
        "Bank conflicts (passes)": "57,344",
      });
      expect(await page.locator("#chart rect.bar").count()).toBe(RUNGS.length);
      expect(await page.getAttribute("#chart svg", "aria-label")).toMatch(
        /k01 [\d.,]+ ([mµ]s).*k04 [\d.,]+ \1/,
      );
      expect(await page.locator("#chart text.tick").last().textContent()).toMatch(/^[\d.]+ [mµ]s$/);
      for (const width of [360, 768, 1100, 1280]) expect(await overflowAt(page, width)).toEqual([]);
      expect(errors).toEqual([]);
      if (screenshots !== undefined) await takePictures(page, device);
      await page.close();
    });
  });

  test.each([
    {
      what: "no WebGPU",
      sabotage: `Object.defineProperty(navigator, "gpu", { value: undefined });`,
      says: /^WEBGPU_UNAVAILABLE this JavaScript engine has no navigator.gpu\.What to do: use a browser with WebGPU/,
    },
    {
      what: "no adapter",
      sabotage: `navigator.gpu.requestAdapter = async () => null;`,
      says: /^WEBGPU_UNAVAILABLE WebGPU finds no adapter\.What to do: check that the GPU's driver/,
    },
    {
      what: "a device lost in mid-run",
      sabotage: `
        const request = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = async function (...args) {
          const device = await request.apply(this, args);
          const submit = device.queue.submit;
          let submitted = 0;
          device.queue.submit = (...commands) => {
            if (++submitted === 10) device.destroy();
            submit.apply(device.queue, commands);
          };
          return device;
        };`,
      says: /^DEVICE_LOST the webgpu device was lost: .*What to do: open it again/,
    },
  ])("says what to do about $what", async ({ sabotage, says }) => {
    const page = await open([], sabotage);
    await run(page, { ...small, sequence: "128" });
    expect(await ended(page)).toBe("failed");
    expect(await page.textContent("#failure")).toMatch(says);
    await page.close();
  });

  test.each([
    {
      what: "no adapter",
      before: `navigator.gpu.requestAdapter = async () => null;`,
      says: "finds no adapter",
    },
    {
      what: "no WebGPU",
      before: `Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined });`,
      says: "this browser has none",
    },
  ])("with $what says so at once, and that the CPU and the simulator run", async ({ what, before, says }) => {
    const page = await open([], "", before);
    await page.waitForSelector("#notice:not([hidden])");
    const notice = (await page.textContent("#notice")) ?? "";
    expect(notice).toContain(says);
    expect(notice).toContain("The CPU and the simulator run the same kernels here, without a GPU.");
    expect(await page.inputValue("#device")).toBe("cpu");
    if (what !== "no adapter") return page.close();
    for (const [id, value] of Object.entries({ heads: "2", keyHeads: "1", sequence: "32", dim: "16" }))
      await page.fill(`#${id}`, value);
    await page.click("#notice button:text('Run on the CPU')");
    expect(await ended(page)).toBe("done");
    expect(await page.textContent("#status")).toContain(`${RUNGS.length} of ${RUNGS.length} rungs verified`);
    await page.close();
  });

  test("shows no empty chart or table before the first run, and a size that suits the device", async () => {
    const page = await open([]);
    expect(await page.textContent("#status")).toContain("Nothing has run yet.");
    for (const id of ["#times", "#results"]) expect(await page.isHidden(id)).toBe(true);
    await page.selectOption("#device", "sim");
    expect(await page.inputValue("#sequence")).toBe("64");
    await page.fill("#sequence", "48");
    await page.selectOption("#device", "cpu");
    expect(await page.inputValue("#sequence")).toBe("48");
    for (const width of [360, 768, 1100, 1280]) expect(await overflowAt(page, width)).toEqual([]);
    await page.close();
  });

  test("says on each rung that subgroups of no fixed width are refused, and counts all the same", async () => {
    const page = await open(
      [],
      `Object.defineProperty(GPUAdapterInfo.prototype, "subgroupMaxSize", { get: () => 64 });`,
    );
    await run(page, small);
    expect(await ended(page)).toBe("done");
    expect(await page.textContent("#status")).toBe(
      `Done: 0 of ${RUNGS.length} rungs verified, ${CLAIMS} of ${CLAIMS} claims hold.`,
    );
    expect(await page.textContent("#k01 .refused")).toMatch(
      /^SUBGROUPS_UNAVAILABLE .* What to do: use another/,
    );
    await page.close();
  });

  test("refuses a shape that cannot be, and runs again after that and after a stop", async () => {
    const page = await open([]);
    await run(page, { ...small, device: "cpu", heads: "3", keyHeads: "2" });
    expect(await ended(page)).toBe("failed");
    expect(await page.textContent("#failure")).toMatch(
      /^ATTENTION_SHAPE 3 query heads cannot share 2 key heads/,
    );
    await run(page, { ...small, device: "sim", sequence: "2048" });
    await page.click("#run");
    expect(await page.textContent("#status")).toBe("Stopped.");
    expect(await page.isHidden("#failure")).toBe(true);
    await run(page, { ...small, device: "cpu" });
    await page.waitForSelector("#k04 .good");
    await page.close();
  });
});

async function run(page: Page, { device, mask, ...numbers }: Fields): Promise<void> {
  await page.selectOption("#device", device);
  await page.selectOption("#mask", mask);
  for (const [id, value] of Object.entries(numbers)) await page.fill(`#${id}`, value);
  await page.click("#run");
}

/** How it ended: "done" or "failed". */
async function ended(page: Page): Promise<string | null> {
  await page.waitForSelector("body[data-state=done], body[data-state=failed]", { timeout: 0 });
  return page.getAttribute("body", "data-state");
}

/** What a row of the table shows, by the labels of its cells. */
function cellsOf(page: Page, rung: string): Promise<Record<string, string>> {
  return page.$$eval(`#${rung} td`, (cells) =>
    Object.fromEntries(cells.map((cell) => [cell.dataset["label"] ?? "", cell.textContent.trim()])),
  );
}

/** Elements beyond the right edge of a window so wide. */
async function overflowAt(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  // The chart is drawn again in the frame after the one that is laid out.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return page.$$eval("body *", (elements) =>
    elements
      .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      .filter((each) => each.closest("thead, .hidden") === null)
      .map((each) => `${each.tagName} ${each.id} ${each.textContent.slice(0, 40)}`),
  );
}

/** Of the page down to the end of the table, by day and night, on a wide and a narrow screen. */
async function takePictures(page: Page, device: string): Promise<void> {
  await page.addStyleTag({ content: "html { scrollbar-width: none }" });
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1280, 400]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const end = await page.$eval("#table", (table) => table.getBoundingClientRect().bottom + scrollY);
      const path = join(screenshots as string, `${device}-${colorScheme}-${width}.png`);
      await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height: end + 20 } });
    }
  }
}
