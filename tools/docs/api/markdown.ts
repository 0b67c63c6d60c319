/** The reference as documents: docs/api/<page>.md, and docs/api/README.md, which lists them. */

import { basename } from "node:path";
import { assertNever } from "@evolver/base";
import { anchor } from "@evolver/guide";
import { firstSentence, markdownOf } from "./doc.ts";
import { entriesOfPackage, type Entry } from "./entries.ts";
import { moduleAt } from "./modules.ts";
import { PAGES, type Page } from "./pages.ts";

/** What regenerates them. */
export const REGENERATE = "npx node tools/docs/docs.ts api";

interface Section {
  readonly title: string;
  readonly block: string | null;
  /** Of the file, where a topic is one. */
  readonly says: string;
  readonly entries: readonly Entry[];
}

interface FilledPage {
  readonly page: Page;
  readonly sections: readonly Section[];
}

/** The text of each document by its name in docs/api. */
export function apiDocuments(): Map<string, string> {
  const pages = filled();
  const links = new Map<string, { readonly file: string; readonly heading: string }>();
  // A package that gives another one's names on has them on its own page, and others link to where they are declared.
  for (const isHome of [false, true])
    for (const { page, sections } of pages)
      for (const entry of sections.flatMap(({ entries }) => entries))
        if (entry.file.startsWith(`packages/${page.folder}/`) === isHome)
          links.set(entry.key, { file: `${page.file}.md`, heading: headingOf(entry) });
  const linkFrom = (entries: readonly Entry[]): Link => {
    const own = new Map(entries.map((entry) => [entry.key, headingOf(entry)]));
    return ({ key, name }) => {
      const here = own.get(key);
      if (here !== undefined) return `[\`${name}\`](#${anchorOf(here)})`;
      const there = links.get(key);
      return there === undefined ? null : `[\`${name}\`](${there.file}#${anchorOf(there.heading)})`;
    };
  };
  const documents = new Map<string, string>();
  for (const filledPage of pages) {
    const entries = filledPage.sections.flatMap((section) => section.entries);
    documents.set(`${filledPage.page.file}.md`, pageText(filledPage, linkFrom(entries)));
  }
  documents.set("README.md", listOf(pages));
  return documents;
}

/** The text of each generated block of docs/host-api.md: what a topic has, with links to where it is explained. */
export function hostApiBlocks(): Map<string, string> {
  const blocks = filled().flatMap(({ page, sections }) =>
    sections.flatMap(({ block, entries }): [string, string][] => {
      if (block === null) return [];
      const rows = entries
        .filter(({ exported }) => exported)
        .map((entry) => {
          const anchorHere = anchorOf(headingOf(entry));
          const says = firstSentence(entry.doc).replaceAll("|", "\\|");
          return `| [\`${entry.name}\`](api/${page.file}.md#${anchorHere}) | ${says} |`;
        });
      return [[block, ["| export | is |", "| --- | --- |", ...rows].join("\n")]];
    }),
  );
  return new Map(blocks);
}

/** All entries by the folder of their package. */
export const entriesByPackage = (): Map<string, Entry[]> =>
  new Map(
    [...new Set(PAGES.map(({ folder }) => folder))].map((folder) => [folder, entriesOfPackage(folder)]),
  );

function filled(): FilledPage[] {
  const rest = entriesByPackage();
  return PAGES.map((page, index) => {
    const isLast = !PAGES.slice(index + 1).some(({ folder }) => folder === page.folder);
    const sections: Section[] = [];
    for (const { title, places, block = null } of page.topics) {
      const here = (rest.get(page.folder) ?? []).filter((entry) => isAtSome(entry, page.folder, places));
      take(rest, page.folder, here);
      if (here.length > 0)
        sections.push({ title, block, says: "", entries: byPlaces(here, page.folder, places) });
    }
    if (isLast) sections.push(...byFile(rest.get(page.folder) ?? []));
    return { page, sections };
  });
}

function take(rest: Map<string, Entry[]>, folder: string, taken: readonly Entry[]): void {
  rest.set(
    folder,
    (rest.get(folder) ?? []).filter((entry) => !taken.includes(entry)),
  );
}

const placeOf = (place: string, folder: string): string =>
  place.startsWith("../../") ? `packages/${place.slice(6)}` : `packages/${folder}/src/${place}`;

const isAtSome = ({ file }: Entry, folder: string, places: readonly string[]): boolean =>
  places.some((place) => isAt(file, placeOf(place, folder)));

const isAt = (file: string, place: string): boolean =>
  place.endsWith("/") ? file.startsWith(place) : file === place;

/** In the order of the places; what is exported first. */
function byPlaces(entries: readonly Entry[], folder: string, places: readonly string[]): Entry[] {
  const rank = ({ file }: Entry): number => places.findIndex((place) => isAt(file, placeOf(place, folder)));
  return exportedFirst(entries.toSorted((one, other) => rank(one) - rank(other)));
}

const exportedFirst = (entries: readonly Entry[]): Entry[] => [
  ...entries.filter(({ exported }) => exported),
  ...entries.filter(({ exported }) => !exported),
];

/** A section per file, named as the file is, with the first sentence of its header. */
function byFile(entries: readonly Entry[]): Section[] {
  return [...new Set(entries.map(({ file }) => file))].map((file) => {
    const inFile = entries.filter((entry) => entry.file === file);
    const header = /^\/\*\*([\s\S]*?)\*\//.exec(moduleAt(file).text)?.[1] ?? "";
    const says = firstSentence(header.replace(/^\s*\* ?/gm, "").trim());
    const name = basename(file, ".ts").replaceAll("-", " ");
    const title = name === "index" ? "The package" : name.charAt(0).toUpperCase() + name.slice(1);
    return { title, block: null, says: says === "" ? "" : `${says}.`, entries: exportedFirst(inFile) };
  });
}

type Link = (to: { readonly key: string; readonly name: string }) => string | null;

function pageText({ page, sections }: FilledPage, link: Link): string {
  const entries = sections.flatMap((section) => section.entries);
  const froms = [...new Set(entries.map(({ from }) => from))].map((from) => `\`${from}\``);
  const others = PAGES.filter(({ folder, file }) => folder === page.folder && file !== page.file);
  const also = others.map(({ file, says }) => `[${file}.md](${file}.md) has ${says}.`);
  return `${[
    `# ${froms.join(", ")}`,
    `${page.says.charAt(0).toUpperCase()}${page.says.slice(1)}. ${[WRITTEN, ...also].join(" ")}`,
    ...beginWith(page, entries, link),
    contents(sections, link),
    ...sections.map(({ title, says, entries: own }) =>
      [
        `## ${title}`,
        ...(says === "" ? [] : [says]),
        ...own.map((entry) => entryText(entry, froms.length > 1, link)),
      ].join("\n\n"),
    ),
  ].join("\n\n")}\n`;
}

function beginWith({ file, first = [] }: Page, entries: readonly Entry[], link: Link): string[] {
  const links = first.map((wanted) => {
    const entry = entries.find(({ name, exported }) => exported && name === wanted);
    const found = entry === undefined ? null : link(entry);
    if (found === null) throw new Error(`${file}.md has no ${wanted}: mend tools/docs/api/pages.ts`);
    return found;
  });
  return links.length === 0 ? [] : [`Begin with ${links.join(", ")}.`];
}

const WRITTEN = `Written from the source by \`${REGENERATE}\`.`;

function contents(sections: readonly Section[], link: Link): string {
  const rows = sections.map(({ title, entries }) => {
    const names = entries.filter(({ exported }) => exported).map((entry) => link(entry) ?? entry.name);
    return `| [${title}](#${anchor(title)}) | ${names.join(", ")} |`;
  });
  return ["| topic | exports |", "| --- | --- |", ...rows].join("\n");
}

function entryText(entry: Entry, showFrom: boolean, link: Link): string {
  const { from, file, doc, signature, names } = entry;
  const links = names.flatMap((name) => link(name) ?? []);
  const source = `[${file.replace(/^packages\//, "")}](../../${file})`;
  const foot = [
    ...(showFrom && from.split("/").length > 2 ? [`From \`${from}\``] : []),
    ...(links.length > 0 ? [`See ${links.join(", ")}`] : []),
    `Source: ${source}`,
  ];
  return [
    `### ${headingOf(entry)}`,
    ...(doc === "" ? [] : [markdownOf(doc)]),
    `\`\`\`typescript\n${signature}\n\`\`\``,
    `${foot.join(". ")}.`,
  ].join("\n\n");
}

const headingOf = ({ kind, name, exported }: Entry): string =>
  `${wordOf(kind)} \`${name}\`${exported ? "" : " (not exported)"}`;

const anchorOf = (heading: string): string => anchor(heading.replaceAll("`", ""));

function wordOf(kind: Entry["kind"]): string {
  switch (kind) {
    case "function":
    case "class":
    case "interface":
    case "type":
    case "namespace":
      return kind;
    case "constant":
      return "const";
    default:
      return assertNever(kind, "kind of export");
  }
}

function listOf(pages: readonly FilledPage[]): string {
  const rows = pages.map(({ page, sections }) => {
    const count = sections.flatMap(({ entries }) => entries.filter(({ exported }) => exported)).length;
    return `| [${page.file}.md](${page.file}.md) | ${page.says} | ${count} |`;
  });
  return `${[
    "# API reference",
    [
      "Every name that the packages export, with its signature, its comment and a link to its source.",
      `${WRITTEN} [language.md](../language.md) and [host-api.md](../host-api.md) teach the same with examples;`,
      "what a package exports under `/internal` is for its own tests and is not here.",
    ].join("\n"),
    ["| page | what it has | names |", "| --- | --- | --- |", ...rows].join("\n"),
  ].join("\n\n")}\n`;
}
