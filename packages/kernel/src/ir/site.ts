/**
 * Where in the user's TypeScript an operation was written.
 *
 * Capturing an Error costs a few microseconds; formatting its stack costs more, so the stack is kept as an object
 * and parsed only when the location is needed.
 */

import type { SourceLocation } from "@evolver/base";

/** A place in the source that can be resolved to a location when needed. */
export interface Site {
  readonly location: SourceLocation;
}

const UNKNOWN: SourceLocation = Object.freeze({ file: "<unknown>", line: 0, column: 0 });

/** A site whose location is already known, for IR that was deserialised or written by hand. */
export function fixedSite(location: SourceLocation): Site {
  return Object.freeze({ location });
}

/** A place for what no line of TypeScript made. */
export const unknownSite: Site = fixedSite(UNKNOWN);

/** Everything below this URL or path is the library itself and never the place the user wrote. */
const libraryRoot = normalise(import.meta.url).replace(/\/ir\/site\.[jt]s$/, "/");

/** Stack frames to keep: more than the library has between a call by the user and the recording of an operation. */
const STACK_DEPTH = 8;
const DEEP_STACK = 16;

class CapturedSite implements Site {
  #trace: { stack?: string } | null;
  #location: SourceLocation | null = null;

  constructor(trace: { stack?: string }) {
    this.#trace = trace;
  }

  get location(): SourceLocation {
    if (this.#location === null) {
      this.#location = parseStack(this.#trace?.stack ?? "");
      this.#trace = null;
    }
    return this.#location;
  }
}

/**
 * Captures the caller's place: the innermost stack frame outside this library. Each frame looked at costs time, so
 * only what is captured rarely, from deep in the library, asks for more.
 *
 * @param below the function of another library that the user called; its frame and those it called are left out
 */
export function captureSite(deep = false, below: CallableFunction = captureSite): Site {
  const trace: { stack?: string } = {};
  if (typeof Error.captureStackTrace === "function") {
    const before = Error.stackTraceLimit;
    Error.stackTraceLimit = deep ? DEEP_STACK : STACK_DEPTH;
    Error.captureStackTrace(trace, below);
    Error.stackTraceLimit = before;
    return new CapturedSite(trace);
  }
  return new CapturedSite(new Error("site"));
}

/** Where the user's code was when an error was thrown, by it or by the library below it. */
export function siteOfThrown(error: Error): Site {
  return fixedSite(parseStack(error.stack ?? ""));
}

function parseStack(stack: string): SourceLocation {
  for (const line of stack.split("\n")) {
    const match = /(?:\(|at |@)((?:file:\/\/|https?:\/\/|\/|[A-Za-z]:[\\/])[^()]*?):(\d+):(\d+)\)?$/.exec(
      line.trim(),
    );
    if (!match) continue;
    const file = normalise(match[1] as string);
    if (file.startsWith(libraryRoot)) continue;
    return { file, line: Number(match[2]), column: Number(match[3]) };
  }
  return UNKNOWN;
}

function normalise(file: string): string {
  const withoutQuery = file.replace(/[?#].*$/, "");
  if (!withoutQuery.startsWith("file://")) return withoutQuery.replaceAll("\\", "/");
  const path = decodeURIComponent(new URL(withoutQuery).pathname);
  return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path;
}
