/** `npm run web` serves this folder with the repository's packages as they are written; `npm run web:build` bundles it. */

import { defineConfig } from "vite";

/** These let the cpu device share memory with its threads (SharedArrayBuffer). */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export default defineConfig({
  base: "./",
  // The packages are source files of this repository and there are no others: nothing to bundle beforehand.
  optimizeDeps: { noDiscovery: true },
  server: { host: "localhost", port: 5173, headers },
  preview: { host: "localhost", port: 4173, headers },
  worker: { format: "es" },
  build: { target: "esnext", outDir: "../../dist/web", emptyOutDir: true },
});
