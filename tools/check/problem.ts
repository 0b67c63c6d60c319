/** What a check finds. */

export interface Problem {
  /** From the root, with `/`. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}
