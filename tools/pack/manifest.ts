/** A package's package.json as it is published: entries lead to JavaScript and types instead of TypeScript. */

type Entry = string | { readonly [condition: string]: Entry };

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, Entry>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const compiled = (file: string, extension: string): string =>
  file.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, extension);

const compiledEntry = (entry: Entry): Entry =>
  typeof entry === "string"
    ? compiled(entry, ".js")
    : Object.fromEntries(
        Object.entries(entry).map(([condition, inner]) => [condition, compiledEntry(inner)]),
      );

export function packedManifest(manifest: Manifest): Record<string, unknown> {
  const { exports: entries, imports, evolver: _, ...rest } = manifest;
  // What only this repository's tests import.
  const shown = Object.entries(entries).filter(([path]) => !path.endsWith("/internal"));
  return {
    ...rest,
    files: ["dist", "src", "docs", ...(manifest.bin === undefined ? [] : ["bin"])],
    engines: { node: ">=20.19" },
    exports: {
      ...Object.fromEntries(
        shown.map(([path, file]) => [
          path,
          { types: compiled(file, ".d.ts"), default: compiled(file, ".js") },
        ]),
      ),
      "./package.json": "./package.json",
    },
    ...(imports === undefined
      ? {}
      : {
          imports: Object.fromEntries(
            Object.entries(imports).map(([name, entry]) => [name, compiledEntry(entry)]),
          ),
        }),
  };
}
