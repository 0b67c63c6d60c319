/**
 * `npm run pack:host`: one archive with a Node runtime, Evolver and everything it needs at run time, for a Linux x64
 * machine with a GPU and no network. Unpack it anywhere and run `evolver-host/evolver devices`.
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const output = join(root, "dist");
const stage = join(output, "evolver-host");
const archive = join(output, "evolver-host-linux-x64.tar.xz");

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Parts of packages that only other platforms need. */
const FOREIGN = [
  /^webgpu\/dist\/(?!linux-x64)[^/]/,
  /^koffi\/(doc|vendor)\//,
  /^@koromix\/koffi-(?!linux-x64)/,
  /^@koromix\/koffi-linux-x64\/musl/,
  // Only the modules are used, of which both bring bundles, too.
  /^echarts\/(asset|dist|i18n|theme|types)\//,
  /^zrender\/(build|dist|src)\//,
];

const LAUNCHER = `#!/bin/sh
# Runs Evolver with the Node beside this file.
here=$(dirname "$(readlink -f "$0")")
exec "$here/bin/node" "$here/packages/cli/bin/evolver.js" "$@"
`;

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Everything that our packages need at run time, by name, own packages apart. */
function runtimeDependencies(): string[] {
  const needed = new Set<string>();
  const visit = (manifest: Manifest): void => {
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const folder = join(root, "node_modules", name);
      if (needed.has(name) || name.startsWith("@evolver/") || !existsSync(folder)) continue;
      needed.add(name);
      visit(manifestOf(folder));
    }
  };
  for (const folder of packageFolders()) visit(manifestOf(folder));
  visit({ name: "random programs for GPU machines", dependencies: { "fast-check": "*" } });
  for (const name of readdirSync(join(root, "node_modules", "@koromix"))) needed.add(`@koromix/${name}`);
  return [...needed].toSorted();
}

const packageFolders = (): string[] =>
  readdirSync(join(root, "packages")).map((name) => join(root, "packages", name));

function copyPackages(): void {
  for (const folder of packageFolders()) {
    const target = join(stage, relative(root, folder));
    for (const part of ["package.json", "src", "bin", "bench", "conformance", "test/property"]) {
      if (existsSync(join(folder, part))) cpSync(join(folder, part), join(target, part), { recursive: true });
    }
    const { name } = manifestOf(folder);
    const link = join(stage, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(link), target), link);
  }
}

function copyDependencies(): void {
  const modules = join(root, "node_modules");
  for (const name of runtimeDependencies()) {
    cpSync(join(modules, name), join(stage, "node_modules", name), {
      recursive: true,
      dereference: true,
      filter: (path) => {
        const inside = relative(modules, path) + (statSync(path).isDirectory() ? "/" : "");
        return !FOREIGN.some((pattern) => pattern.test(inside)) && !/\.(map|md)$|\.d\.[cm]?ts$/.test(inside);
      },
    });
  }
}

rmSync(output, { recursive: true, force: true });
mkdirSync(join(stage, "bin"), { recursive: true });
cpSync(join(root, "node_modules", "node", "bin", "node"), join(stage, "bin", "node"));
copyPackages();
copyDependencies();
for (const name of ["package.json", "LICENSE"]) cpSync(join(root, name), join(stage, name));
for (const name of ["examples", "tools"])
  if (existsSync(join(root, name))) cpSync(join(root, name), join(stage, name), { recursive: true });
writeFileSync(join(stage, "evolver"), LAUNCHER);
chmodSync(join(stage, "evolver"), 0o755);
execFileSync("tar", ["-C", output, "-cJf", archive, "evolver-host"], {
  env: { ...process.env, XZ_OPT: "-3 -T0" },
});
rmSync(stage, { recursive: true });
process.stdout.write(
  `${relative(process.cwd(), archive)}: ${(statSync(archive).size / 2 ** 20).toFixed(1)} MiB\n`,
);
