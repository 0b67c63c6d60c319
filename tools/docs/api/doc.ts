/** Comments of declarations: found before them, without their stars, with their tags as lists. */

import type { Module } from "./modules.ts";

export interface DocComment {
  readonly start: number;
  readonly end: number;
  /** Without stars, trimmed. */
  readonly text: string;
}

/** The comment that ends right before a place; null where there is none. */
export function docBefore({ text, comments }: Module, start: number): DocComment | null {
  const own = comments.findLast(
    ({ type, value, end }) =>
      type === "Block" &&
      value.startsWith("*") &&
      end <= start &&
      /^\s*(?:\/\/[^\n]*\s*)*(?:export )?$/.test(text.slice(end, start)),
  );
  if (own === undefined) return null;
  const lines = own.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  return { start: own.start, end: own.end, text: lines.join("\n").trim() };
}

/** Says of a declaration or a member that it is not for users, although the language has no way to hide it. */
export const isInternal = (doc: string): boolean => /@internal\b/.test(doc);

/** A comment as Markdown: parameters, what is given and what is thrown as a list behind the text. */
export function markdownOf(doc: string): string {
  // The space is for a comment that begins with a tag.
  const [text = "", ...tags] = ` ${doc}`.split(/\s+(?=@(?:param|typeParam|returns|throws|example)\b)/);
  const list = tags.filter((tag) => !tag.startsWith("@example")).map(listed);
  const examples = tags
    .filter((tag) => tag.startsWith("@example"))
    .map((tag) => tag.replace(/^@example\s*/, ""));
  return [text.trim(), list.join("\n"), ...examples].filter((part) => part !== "").join("\n\n");
}

function listed(tag: string): string {
  return tag
    .trim()
    .replace(/\n\s*/g, " ")
    .replace(/^@(?:param|typeParam) (\w+)\s*(?:- )?/, "- `$1`: ")
    .replace(/^@returns\s*/, "- gives ")
    .replace(/^@throws\s+(?:\{\w+\} )?EvolverError /, "- throws EvolverError ")
    .replace(/^@throws\s*/, "- throws ");
}

/** The first sentence of a comment, for lists. */
export function firstSentence(doc: string): string {
  const paragraph = (markdownOf(doc).split("\n\n")[0] ?? "").replace(/\s+/g, " ");
  const sentence = /^.*?[.;:](?= [A-Z`]|$)/.exec(paragraph)?.[0] ?? paragraph;
  return sentence.replace(/[.;:]$/, "");
}
