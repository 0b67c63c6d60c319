/** What documents are made of: the schemas of evidence, tables, charts and lessons. */

export * from "./markdown.ts";
