/**
 * `npm run pack [FOLDER]`: each package as others install it, in dist/packages, and its tarball in dist/tarballs (or in another folder
 * than dist): JavaScript, types and source maps file by file, beside the TypeScript that they come from. In this repository packages
 * are run from their source.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { Documents } from "./documents.ts";
import { packedManifest, type Manifest } from "./manifest.ts";

const root = join(import.meta.dirname, "..", "..");
const dist = resolve(process.argv[2] ?? join(root, "dist"));
const build = join(dist, "build");
const staged = join(dist, "packages");
const tarballs = join(dist, "tarballs");
const folders = readdirSync(join(root, "packages"));
const manifests = new Map(
  folders.map((folder) => [
    folder,
    JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")) as Manifest,
  ]),
);
const documents = new Documents(root, new Map([...manifests].map(([folder, { name }]) => [folder, name])));

/** Compiles the sources of all packages at once: `kernel/src/index.ts` to `build/kernel/src/index.js`. */
function compile(): void {
  const config = join(dist, "tsconfig.pack.json");
  const options = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      declarationMap: true,
      sourceMap: true,
      rewriteRelativeImportExtensions: true,
      outDir: build,
      rootDir: join(root, "packages"),
      typeRoots: [join(root, "node_modules", "@types")],
    },
    include: [join(root, "packages", "*", "src")],
  };
  writeFileSync(config, JSON.stringify(options));
  execFileSync(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", config], {
    stdio: "inherit",
  });
}

/** What the compiler leaves: extensions in declarations, the names of files that are opened by URL, and where sources lie. */
function rewritten(file: string, text: string): string {
  if (file.endsWith(".d.ts")) return text.replace(/((?:from|import\()\s*"\.\.?\/[^"]*)\.ts"/g, '$1.js"');
  if (file.endsWith(".js")) return text.replace(/(new URL\("\.\.?\/(?!\.\.\/src\/)[^"]*)\.ts"/g, '$1.js"');
  if (!file.endsWith(".map")) return text;
  const up = "../".repeat(file.split("/").length);
  const source = file.replace(/(\.d\.ts|\.js)\.map$/, ".ts");
  return text.replace(/"sources":\["[^"]*"\]/, `"sources":["${up}src/${source}"]`);
}

function copyCompiled(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = relative(from, join(entry.parentPath, entry.name));
    mkdirSync(join(to, file, ".."), { recursive: true });
    writeFileSync(join(to, file), rewritten(file, readFileSync(join(from, file), "utf8")));
  }
}

function stage(folder: string, manifest: Manifest): string {
  const own = join(root, "packages", folder);
  const target = join(staged, folder);
  copyCompiled(join(build, folder, "src"), join(target, "dist"));
  cpSync(join(own, "src"), join(target, "src"), { recursive: true });
  documents.write(folder, target);
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
  for (const file of Object.values(manifest.bin ?? {})) {
    cpSync(join(own, file), join(target, file));
    chmodSync(join(target, file), 0o755);
  }
  writeFileSync(join(target, "package.json"), `${JSON.stringify(packedManifest(manifest), null, 2)}\n`);
  return target;
}

for (const folder of [build, staged, tarballs]) rmSync(folder, { recursive: true, force: true });
mkdirSync(tarballs, { recursive: true });
compile();
const targets = [...manifests].map(([folder, manifest]) => stage(folder, manifest));
const packed = JSON.parse(
  execFileSync("npm", ["pack", ...targets, "--json", "--pack-destination", tarballs], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 2 ** 26,
  }),
) as readonly { readonly filename: string; readonly size: number; readonly entryCount: number }[];
for (const { filename, size, entryCount } of packed)
  console.log(`${filename.padEnd(32)} ${(size / 1024).toFixed(0).padStart(5)} KiB, ${entryCount} files`);
rmSync(build, { recursive: true });
