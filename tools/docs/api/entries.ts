/**
 * The entries of the reference: what each package exports, by entry point, and what is not exported but stands in the signatures of
 * what is.
 */

import { docBefore, isInternal } from "./doc.ts";
import {
  entriesOf,
  exportsOf,
  isNamespace,
  keyOf,
  resolveName,
  type Declared,
  type Exported,
} from "./modules.ts";
import { kindOf, signatureOf, type Kind } from "./signature.ts";

export interface Entry {
  readonly name: string;
  /** What others import it from: `@evolver/device/check`. */
  readonly from: string;
  /** The file that declares it, from the root. */
  readonly file: string;
  readonly kind: Kind | "namespace";
  /** False for what only stands in signatures. */
  readonly exported: boolean;
  /** The comment as it is written, without stars; "" where there is none. */
  readonly doc: string;
  readonly signature: string;
  /** The declarations that the signature names, in its order. */
  readonly names: readonly { readonly key: string; readonly name: string }[];
  /** What references go by. */
  readonly key: string;
}

/** Everything that the entry points of a package give to its users; `/internal` is none of them. */
export function entriesOfPackage(folder: string): Entry[] {
  const found = new Map<string, Entry>();
  const main = folder === "cli" ? "evolver" : `@evolver/${folder}`;
  for (const [subpath, path] of entriesOf(folder)) {
    if (subpath.endsWith("/internal")) continue;
    const from = `${main}${subpath.slice(1)}`;
    for (const [name, exported] of exportsOf(path)) {
      const entry = entryOf(name, from, exported, true);
      if (!found.has(entry.key)) found.set(entry.key, entry);
    }
  }
  addNamed(folder, found);
  return [...found.values()];
}

/** Adds what the exported signatures name of the same package, and what that extends. */
function addNamed(folder: string, found: Map<string, Entry>): void {
  const add = (key: string, from: string): void => {
    const declared = declaredByKey.get(key);
    if (!key.startsWith(`packages/${folder}/`) || found.has(key) || declared === undefined) return;
    const entry = entryOf(declared.name, from, declared, false);
    // Values that a type is made from say less than what is made from them.
    if (entry.kind === "constant" || entry.kind === "function" || isInternal(entry.doc)) return;
    found.set(key, entry);
    const [head = ""] = entry.signature.split("{");
    for (const base of entry.names)
      if (new RegExp(`extends [^{]*\\b${base.name}\\b`).test(head)) add(base.key, from);
  };
  for (const { names, from } of [...found.values()]) for (const { key } of names) add(key, from);
}

const declaredByKey = new Map<string, Declared>();

function entryOf(name: string, from: string, exported: Exported, isExported: boolean): Entry {
  if (isNamespace(exported)) {
    const { module, members } = exported;
    const parts = [...members.values()].map((member) => {
      const doc = docOf(member);
      return `${doc === "" ? "" : `/** ${doc.replaceAll("\n", "\n * ")} */\n`}${signatureOf(member)};`;
    });
    const signature = `namespace ${name} {\n${parts.join("\n").replace(/^(?=.)/gm, "  ")}\n}`;
    const doc = headerOf(module.text);
    const names = [...members.values()].flatMap(namesIn);
    return {
      name,
      from,
      file: module.path,
      kind: "namespace",
      exported: isExported,
      doc,
      signature,
      names,
      key: module.path,
    };
  }
  const key = keyOf(exported);
  return {
    name,
    from,
    file: exported.module.path,
    kind: kindOf(exported),
    exported: isExported,
    doc: docOf(exported),
    signature: signatureOf(exported),
    names: namesIn(exported),
    key,
  };
}

/** Of several overloads, the first comment; of a constant and a type of one name, each. */
function docOf({ module, nodes }: Declared): string {
  const docs = nodes.flatMap(({ start }) => docBefore(module, start)?.text ?? []);
  return [...new Set(docs)].join("\n\n");
}

/** The comment at the top of a module. */
const headerOf = (text: string): string =>
  (/^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "").replace(/^\s*\* ?/gm, "").trim();

/** The declarations of ours that a signature names. */
function namesIn(declared: Declared): { readonly key: string; readonly name: string }[] {
  const code = signatureOf(declared)
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "")
    .replace(/"[^"\n]*"|'[^'\n]*'/g, "");
  const words = new Set([...code.matchAll(/\b[A-Z]\w*\b|(?<=typeof )\w+/g)].map(([word]) => word));
  words.delete(declared.name);
  return [...words].flatMap((word) => {
    const target = resolveName(declared.module, word);
    if (target === null || isNamespace(target)) return [];
    const key = keyOf(target);
    declaredByKey.set(key, target);
    return [{ key, name: word }];
  });
}
