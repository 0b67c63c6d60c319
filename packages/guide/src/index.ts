/** What documents are made of: evidence with its schemas, tables, charts and lessons. */

export * from "./collect/index.ts";
export * from "./evidence/index.ts";
export * from "./lessons/difference.ts";
export * from "./lessons/guide.ts";
export * from "./lessons/ladder.ts";
export * from "./markdown.ts";
export * from "./pictures/svg.ts";
export * from "./plots/index.ts";
export * from "./tables/index.ts";
