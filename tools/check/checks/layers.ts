/**
 * Which package may import which, what may use Node, and that no imports form a circle. Pure functions over a
 * source tree: `tools/check/check.ts` prints what they find, `test/layers.test.ts` shows that they find it.
 */

import { builtinModules } from "node:module";
import type { Problem } from "../problem.ts";
import { packageOf, splitSpecifier } from "../tree.ts";
import type { Import, SourceFile, SourceTree, WorkspacePackage } from "../tree.ts";

/**
 * What each layer may import. A package names its own in package.json: `"evolver": { "layer": "library", "browser": true }`,
 * so that a new package needs no line here.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  kernel: ["base"],
  device: ["base", "kernel"],
  machine: ["base", "kernel", "device"],
  testing: ["base", "kernel", "device"],
  library: ["base", "kernel", "device", "library"],
  lab: ["base", "kernel", "device", "machine"],
  guide: ["base", "kernel", "device", "machine", "lab"],
  registry: ["base", "lab", "library"],
  client: ["lab"],
  command: ["base", "kernel", "device", "machine", "lab", "guide", "registry", "client"],
};

/** What only the files below `src/study` of a library may import: what makes a study of it. */
const STUDY_LAYERS = ["machine", "lab", "guide"];

/** These may import only types of other packages, because they communicate with them over the network. */
const TYPES_ONLY_LAYER = "client";

/** Files of a browser package that say by their path that they need Node. */
const NODE_ONLY = [/[.-]node\.ts$/, /^packages\/[^/]+\/src\/(?:native|study)[/.]/];

const NODE_MODULES = new Set(builtinModules);

/** Imports that leave their layer, reach into a package past its exports, or need Node where a browser runs. */
export function findLayerProblems(tree: SourceTree): Problem[] {
  const problems: Problem[] = [];
  const byName = new Map(tree.packages.map((each) => [each.name, each]));
  for (const owner of tree.packages) {
    const path = `${owner.folder}/package.json`;
    const problem = (message: string): number => problems.push({ path, line: 1, message });
    if (owner.layer === null || !Object.hasOwn(LAYERS, owner.layer)) {
      problem(
        `${owner.name} names no layer: "evolver": { "layer": … }, one of ${Object.keys(LAYERS).join(", ")}`,
      );
      continue;
    }
    for (const name of owner.dependencies) {
      const dependency = byName.get(name);
      if (dependency !== undefined && !mayImport(owner, dependency, owner.exports.has("./study")))
        problem(`${owner.name} must not depend on ${name}`);
    }
  }
  for (const file of tree.files.values()) {
    const owner = packageOf(tree, file.path);
    for (const imported of file.imports) {
      const message =
        owner === undefined
          ? outsideProblem(tree, imported)
          : (layerProblem(tree, file, owner, imported) ?? nodeProblem(file, owner, imported));
      if (message !== null) problems.push({ path: file.path, line: imported.line, message });
    }
  }
  return problems;
}

/** @param asStudy for what makes a study of a library */
function mayImport(owner: WorkspacePackage, { layer }: WorkspacePackage, asStudy: boolean): boolean {
  if (layer === null || owner.layer === null) return false;
  return LAYERS[owner.layer]?.includes(layer) === true || (asStudy && STUDY_LAYERS.includes(layer));
}

function layerProblem(
  tree: SourceTree,
  file: SourceFile,
  owner: WorkspacePackage,
  { specifier, target, typeOnly }: Import,
): string | null {
  if (specifier.startsWith(".")) {
    if (target === null) return `"${specifier}" leads to no file`;
    if (target.startsWith(`${owner.folder}/`)) {
      const reachesIn = target.startsWith(`${owner.folder}/src/`) && !isSource(owner, file);
      return reachesIn ? `"${specifier}" reaches past the exports of ${owner.name}: import it by name` : null;
    }
    // Helpers that the tests of all packages share.
    if (file.path.startsWith(`${owner.folder}/test/`) && target.startsWith("test/support/")) return null;
    return `"${specifier}" leaves ${owner.name}: import other packages by name`;
  }
  const { name, subpath } = splitSpecifier(specifier);
  const known = tree.packages.find((candidate) => candidate.name === name);
  if (known === undefined) return null;
  if (known === owner) {
    // Tests and benchmarks use their package as its users do.
    if (!isSource(owner, file)) return exportProblem(owner, subpath);
    if (isStudy(owner, file) && !isInternal(subpath)) return exportProblem(owner, subpath);
    return `"${specifier}" names its own package: use a relative path`;
  }
  if (!mayImport(owner, known, isStudy(owner, file))) return `${owner.name} must not import ${name}`;
  if (!owner.dependencies.includes(name)) return `${owner.folder}/package.json does not list ${name}`;
  const hidden = isInternal(subpath)
    ? `${specifier} is for the tests of ${name} alone`
    : exportProblem(known, subpath);
  if (hidden !== null) return hidden;
  if (owner.layer === TYPES_ONLY_LAYER && !typeOnly)
    return `${owner.name} may import only types of ${name}: use "import type"`;
  return null;
}

/** Tests, tools and examples of the whole repository import packages as their users do. */
function outsideProblem(tree: SourceTree, { specifier, target }: Import): string | null {
  if (specifier.startsWith(".")) {
    const owner = target === null ? undefined : packageOf(tree, target);
    return owner === undefined ? null : `"${specifier}" reaches into ${owner.name}: import it by name`;
  }
  const { name, subpath } = splitSpecifier(specifier);
  const known = tree.packages.find((candidate) => candidate.name === name);
  if (known === undefined) return null;
  return isInternal(subpath)
    ? `${specifier} is for the tests of ${name} alone`
    : exportProblem(known, subpath);
}

/** The part of a package that only its own tests and benchmarks may import. */
const isInternal = (subpath: string): boolean => subpath.endsWith("/internal");

const isSource = ({ folder }: WorkspacePackage, { path }: SourceFile): boolean =>
  path.startsWith(`${folder}/src/`) || path.startsWith(`${folder}/bin/`);

/** The study of a library, with its tests and benchmarks, may import more than the library. */
function isStudy({ folder }: WorkspacePackage, { path }: SourceFile): boolean {
  return ["src/study", "test/study", "bench"].some((inside) => path.startsWith(`${folder}/${inside}/`));
}

function exportProblem(owner: WorkspacePackage, subpath: string): string | null {
  return owner.exports.has(subpath) ? null : `${owner.name} does not export "${subpath}"`;
}

function nodeProblem(file: SourceFile, owner: WorkspacePackage, imported: Import): string | null {
  if (!owner.browser || !file.path.startsWith(`${owner.folder}/src/`)) return null;
  if (imported.typeOnly || isNodeOnly(file.path)) return null;
  const { specifier, target, dynamic } = imported;
  if (specifier.startsWith("node:") || NODE_MODULES.has(splitSpecifier(specifier).name))
    return `${owner.name} also runs in a browser: "${specifier}" belongs in a file named *.node.ts`;
  if (!dynamic && target !== null && isNodeOnly(target))
    return `"${specifier}" needs Node: load it with import() where Node is known to run`;
  return null;
}

function isNodeOnly(path: string): boolean {
  return NODE_ONLY.some((pattern) => pattern.test(path));
}

/**
 * Circles of imports, one for each group of files that need each other. An `import type` counts, although it is erased, because a reader
 * of one of the files has to read them all. `import()` breaks a circle on purpose and does not count.
 */
export function findCycles(tree: SourceTree): Problem[] {
  const problems: Problem[] = [];
  for (const group of stronglyConnected(tree)) {
    const circle = shortestCircle(tree, group);
    const [first, second] = circle as [string, string];
    problems.push({
      path: first,
      line: edges(tree, first).find(({ target }) => target === second)?.line ?? 1,
      message: `circular import: ${circle.join(" → ")}`,
    });
  }
  return problems;
}

function edges(tree: SourceTree, path: string): (Import & { target: string })[] {
  const imports = tree.files.get(path)?.imports ?? [];
  return imports.filter((imported): imported is Import & { target: string } => {
    const { target, dynamic } = imported;
    return target !== null && !dynamic && tree.files.has(target);
  });
}

/** Tarjan's algorithm; groups of one file only if it imports itself. */
function stronglyConnected(tree: SourceTree): Set<string>[] {
  const groups: Set<string>[] = [];
  const order = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();

  const visit = (path: string): number => {
    const index = order.size;
    let low = index;
    order.set(path, index);
    stack.push(path);
    onStack.add(path);
    for (const { target } of edges(tree, path)) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (onStack.has(target)) low = Math.min(low, order.get(target) as number);
    }
    if (low === index) {
      const group = new Set(stack.splice(stack.indexOf(path)));
      for (const member of group) onStack.delete(member);
      if (group.size > 1 || edges(tree, path).some(({ target }) => target === path)) groups.push(group);
    }
    return low;
  };
  for (const path of tree.files.keys()) if (!order.has(path)) visit(path);
  return groups;
}

/** The shortest way from the group's first file back to itself, both ends included. */
function shortestCircle(tree: SourceTree, group: ReadonlySet<string>): string[] {
  const start = [...group].toSorted()[0] as string;
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const { target } of edges(tree, way.at(-1) as string)) {
      if (target === start) return [...way, start];
      if (!group.has(target) || seen.has(target)) continue;
      seen.add(target);
      ways.push([...way, target]);
    }
  }
  return [start, start];
}
