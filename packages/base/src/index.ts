/** What all packages share: errors, random numbers, statistics, JSON, schemas, number formats, names, plots. */

export * from "./errors.ts";
export * from "./format.ts";
export * from "./hash.ts";
export * from "./json.ts";
export * from "./never.ts";
export * from "./nearest.ts";
export * from "./once.ts";
export * from "./plot.ts";
export * from "./random.ts";
export * from "./schema.ts";
export * from "./statistics.ts";
export * from "./tolerance.ts";
