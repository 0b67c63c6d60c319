/** What every package shares and none of them is about: errors, random numbers, statistics, JSON, formats, plots. */

export * from "./errors.ts";
export * from "./never.ts";
export * from "./plot.ts";
