/** The Chromium that is installed, with WebGPU over the SwiftShader that it brings. */

import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** EVOLVER_CHROMIUM may name it. Null if there is none. */
const chromiumPath: string | null =
  [process.env["EVOLVER_CHROMIUM"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path)) ?? null;

export const hasChromium = chromiumPath !== null;

export const howToHaveChromium = "apt-get install chromium, or name it in EVOLVER_CHROMIUM";

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--enable-unsafe-webgpu",
  "--enable-features=Vulkan",
  "--use-webgpu-adapter=swiftshader",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts it without a window, and with a profile that is thrown away. */
export function launchChromium(): Promise<Browser> {
  if (chromiumPath === null) throw new Error(`there is no Chromium: ${howToHaveChromium}`);
  // The flag says which headless mode; playwright's own choice is the old one.
  return chromium.launch({ executablePath: chromiumPath, headless: false, args: FLAGS });
}
