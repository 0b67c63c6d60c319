/**
 * The one error class of the project. Every error says what is wrong, where, and what to do, and has a
 * stable code that programs and tests may rely on.
 */

/** A place in a user's source. */
export interface SourceLocation {
  /** Absolute path, or the URL as the engine prints it where there is no file. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** What happened there, for messages that name several places. */
  readonly note?: string;
}

export interface ErrorDetails {
  /** Source lines involved, the offending one first. */
  readonly where?: readonly SourceLocation[] | undefined;
  /** What the reader should do about it. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/**
 * An error with a stable code that says what is wrong, where, and what to do. All errors that the packages throw on
 * purpose are of this class.
 */
export class EvolverError extends Error {
  readonly code: string;
  /** The message without places and hint. */
  readonly what: string;
  readonly where: readonly SourceLocation[];
  readonly hint: string | undefined;

  /**
   * @param code stable, SCREAMING_SNAKE_CASE
   * @param what one sentence that says what is wrong
   */
  constructor(code: string, what: string, details: ErrorDetails = {}) {
    const where = details.where ?? [];
    const lines = [what];
    for (const location of where)
      lines.push(`  at ${formatLocation(location)}${location.note ? ` (${location.note})` : ""}`);
    if (details.hint) lines.push(`  help: ${details.hint}`);
    super(lines.join("\n"), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "EvolverError";
    this.code = code;
    this.what = what;
    this.where = where;
    this.hint = details.hint;
  }
}

export function formatLocation(location: SourceLocation): string {
  return `${location.file}:${location.line}:${location.column}`;
}
