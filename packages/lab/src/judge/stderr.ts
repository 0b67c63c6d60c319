/** The last output of a process that failed. */

/** Keeps the end of what a process prints on its standard error. */
export class StderrTail {
  #text = "";

  add(text: string): void {
    this.#text = (this.#text + text).slice(-8000);
  }

  /** The line of a printed stack that says what went wrong, else the last lines; empty if nothing was printed. */
  reason(): string {
    const lines = this.#text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    const error = lines.find((line) => /^(?:Uncaught )?\w*Error\b/.test(line));
    return error ?? lines.slice(-4).join(" ");
  }
}
