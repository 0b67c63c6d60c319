/**
 * Names that the user gave to values, read from the source at the place where a value was made: the `row` of
 * `const row = gpu.workgroupId.x.mul(8)`. They are for readers of emitted code, messages and findings only, and belong to
 * no kernel's identity. Where the source cannot be read, as in a browser, there are none.
 */

import type { SourceLocation } from "@evolver/base";
import { tokensOf, type Token } from "./tokens.ts";

/** The names on the left of an assignment; null for those that are no simple names. */
export interface SourceNames {
  /** What the value as a whole is assigned to: `acc = …`. */
  readonly whole: string | null;
  /** What its elements are assigned to: `[low, high] = …`. */
  readonly elements: readonly (string | null)[];
  /** What is called, or the property that is read. */
  readonly callee: string;
  /** The first parameter of the call's last argument: the `i` of `gpu.for(range, (i) => …)`. */
  readonly parameter: string | null;
}

const NONE: SourceNames = Object.freeze({ callee: "", whole: null, elements: [], parameter: null });

interface Source {
  readonly tokens: readonly Token[];
  readonly lineStarts: readonly number[];
  readonly known: Map<number, SourceNames>;
}

const sources = new Map<string, Source | null>();

/** The names that the call at a place gives what it returns. */
export function namesAt({ file, line, column }: SourceLocation): SourceNames {
  const source = sourceOf(file);
  const lineStart = source?.lineStarts[line - 1];
  if (source === null || lineStart === undefined) return NONE;
  const offset = lineStart + column - 1;
  const known = source.known.get(offset);
  if (known !== undefined) return known;
  const names = new Around(source.tokens).names(offset);
  source.known.set(offset, names);
  return names;
}

/** The name of result `k` of the `count` results that the call at a place gives, or null. */
export function nameOf({ whole, elements }: SourceNames, k: number, count: number): string | null {
  if (elements.length > 0) return elements[k] ?? null;
  return whole === null || count === 1 ? whole : `${whole}${/\d$/.test(whole) ? "_" : ""}${k}`;
}

function sourceOf(file: string): Source | null {
  let source = sources.get(file);
  if (source === undefined) {
    const text = read(file);
    source =
      text === null ? null : { tokens: tokensOf(text), lineStarts: lineStarts(text), known: new Map() };
    sources.set(file, source);
  }
  return source;
}

function read(file: string): string | null {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function") return null;
  try {
    return process.getBuiltinModule("node:fs").readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

const ENDS: ReadonlySet<string> = new Set([";", ",", ")", "]", "}"]);
/** Signs that carry an expression on over the end of a line. */
const GOES_ON: ReadonlySet<string> = new Set([".", "?.", "(", "[", "=", "?", ":", "=>"]);
/** Calls whose function is called for each element of what they return. */
const FOR_EACH: ReadonlySet<string> = new Set(["map", "from"]);
const DECLARES: ReadonlySet<string> = new Set(["const", "let", "var"]);

/** Looks around a token. Methods take and give indices of tokens; −1 where there is none. */
class Around {
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  names(offset: number): SourceNames {
    const callee = this.#callee(offset);
    if (callee < 0) return NONE;
    const bound = this.#destructured(callee);
    if (bound !== null) return Object.freeze({ ...NONE, whole: bound, callee: this.#text(callee) });
    const end = this.#callEnd(callee);
    const parameter = this.#text(end - 1) === ")" ? this.#parameter(end - 1) : null;
    const target = this.#isWhole(end) ? this.#target(this.#start(callee)) : null;
    return Object.freeze({ whole: null, elements: [], ...target, callee: this.#text(callee), parameter });
  }

  #text(at: number): string {
    return this.#tokens[at]?.text ?? "";
  }

  #isWord(at: number): boolean {
    return this.#tokens[at]?.kind === "word";
  }

  #partner(at: number): number {
    return this.#tokens[at]?.partner ?? -1;
  }

  /** The word that is called at a place; engines give the parenthesis for methods that are named like keywords. */
  #callee(offset: number): number {
    const tokens = this.#tokens;
    let [low, high] = [0, tokens.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((tokens[middle] as Token).start <= offset) low = middle;
      else high = middle - 1;
    }
    if (tokens[low]?.start !== offset) return -1;
    if (this.#isWord(low)) return low;
    if (this.#text(low) !== "(") return -1;
    const before = this.#text(low - 1) === ">" ? this.#typeArguments(low - 1) - 1 : low - 1;
    return this.#isWord(before) ? before : -1;
  }

  /** The `row` of `const { y: row } = gpu.globalId`, where engines give the place of the property. */
  #destructured(property: number): string | null {
    if (this.#text(property + 1) !== ":" || !this.#isWord(property + 2)) return null;
    let open = property - 1;
    while (open > 0 && !this.#isOpen(open))
      open = this.#partner(open) >= 0 ? this.#partner(open) - 1 : open - 1;
    const isPattern = DECLARES.has(this.#text(open - 1)) && this.#text(this.#partner(open) + 1) === "=";
    return isPattern ? bare(this.#text(property + 2)) : null;
  }

  /** Where `<…>` that ends here begins. */
  #typeArguments(end: number): number {
    let depth = 0;
    for (let at = end; at >= 0 && end - at < 40; at--) {
      if (this.#text(at) === ">") depth++;
      if (this.#text(at) === "<" && --depth === 0) return at;
    }
    return -1;
  }

  /** The token after a call, or after a property that is not called. */
  #callEnd(callee: number): number {
    let at = callee + 1;
    if (this.#text(at) === "<") {
      let after = at + 1;
      while (after - at < 40 && this.#text(after) !== "(" && !ENDS.has(this.#text(after))) after++;
      if (this.#text(after) === "(" && this.#text(after - 1) === ">") at = after;
    }
    return this.#text(at) === "(" && this.#partner(at) > 0 ? this.#partner(at) + 1 : callee + 1;
  }

  /** Whether an expression ends before a token. */
  #isWhole(end: number): boolean {
    const at = this.#text(end) === "!" ? end + 1 : end;
    const token = this.#tokens[at];
    if (token === undefined || ENDS.has(token.text) || token.text === "as" || token.text === "satisfies")
      return true;
    return token.onNewLine && (token.kind !== "sign" || !GOES_ON.has(token.text)) && token.kind !== "text";
  }

  /** Where the chain of members and calls begins that a callee ends. */
  #start(callee: number): number {
    let at = callee;
    while (this.#text(at - 1) === "." || this.#text(at - 1) === "?.") {
      at = this.#text(at - 2) === "!" ? at - 3 : at - 2;
      while ((this.#text(at) === ")" || this.#text(at) === "]") && this.#partner(at) >= 0) {
        at = this.#partner(at);
        const before = this.#tokens[at - 1];
        const isCalled = before?.kind === "word" || before?.text === ")" || before?.text === "]";
        if (!isCalled) break;
        at--;
      }
    }
    return this.#text(at - 1) === "new" ? at - 1 : at;
  }

  /** What the expression that starts here is assigned to. */
  #target(start: number): Partial<SourceNames> | null {
    const sign = this.#text(start - 1);
    if (sign === "=") return this.#assigned(start - 2);
    if (sign === ":") return this.#property(start - 2);
    if (sign === "=>") return this.#ofEach(start - 1);
    if (sign === "[" || sign === ",") return this.#item(start - 1);
    return null;
  }

  /** For `[low, high] = [ …, … ]`: the name that stands where the item does. */
  #item(before: number): Partial<SourceNames> | null {
    let open = before;
    let k = 0;
    while (open > 0 && !this.#isOpen(open)) {
      if (this.#text(open) === ",") k++;
      open = this.#partner(open) >= 0 ? this.#partner(open) - 1 : open - 1;
    }
    if (this.#text(open) !== "[" || this.#text(open - 1) !== "=" || !this.#isWhole(this.#partner(open) + 1))
      return null;
    return { whole: this.#assigned(open - 2)?.elements?.[k] ?? null };
  }

  #isOpen(at: number): boolean {
    return this.#partner(at) > at;
  }

  #assigned(left: number): Partial<SourceNames> | null {
    if (this.#text(left) === "]" && this.#partner(left) >= 0) {
      const open = this.#partner(left);
      const indexed = this.#tokens[open - 1];
      if (indexed?.kind === "word" && !DECLARES.has(indexed.text)) return this.#word(open - 1);
      const texts = this.#tokens.slice(open + 1, left);
      if (texts.some(({ kind, text }) => kind !== "word" && text !== ",")) return null;
      return { elements: texts.filter(({ text }) => text !== ",").map(({ text }) => bare(text)) };
    }
    const annotated = this.#annotated(left);
    return this.#word(annotated >= 0 ? annotated : left);
  }

  /** The name before a type: `const acc: Var<"f32"> = …`. */
  #annotated(left: number): number {
    for (let at = left; at > 0 && left - at < 40; at--) {
      const text = this.#text(at);
      if (text === ":" && this.#isWord(at - 1) && this.#text(at - 2) !== "?") return at - 1;
      if (text === ";" || text === "=" || text === "," || text === "." || DECLARES.has(text)) return -1;
    }
    return -1;
  }

  /**
   * `{ sums: … }`, also of `() => ({ sums: … })`, but not the options of a call, whose names say what the call does with
   * a value.
   */
  #property(key: number): Partial<SourceNames> | null {
    const left = this.#text(key - 1);
    if (left !== "{" && left !== ",") return null;
    let open = key - 1;
    while (open > 0 && this.#text(open) !== "{") {
      open = this.#partner(open) >= 0 && this.#partner(open) < open ? this.#partner(open) - 1 : open - 1;
    }
    const before = this.#text(open - 1);
    const isReturned = before === "(" && this.#text(open - 2) === "=>";
    return (before === "(" && !isReturned) || before === "," ? null : this.#word(key);
  }

  /** For `const dots = rows.map(() => …)`: each gets the name of the list. */
  #ofEach(arrow: number): Partial<SourceNames> | null {
    const parameters = this.#partner(arrow - 1) >= 0 ? this.#partner(arrow - 1) : arrow - 1;
    for (let at = parameters - 1; at > 0 && parameters - at < 40; at--) {
      if (this.#partner(at) >= 0 && this.#partner(at) < at) at = this.#partner(at);
      else if (this.#text(at) === "(") {
        if (!FOR_EACH.has(this.#text(at - 1)) || !this.#isWhole(this.#partner(at) + 1)) return null;
        return this.#target(this.#start(at - 1));
      }
    }
    return null;
  }

  #word(at: number): Partial<SourceNames> | null {
    return this.#isWord(at) ? { whole: bare(this.#text(at)) } : null;
  }

  /** The parameter of the arrow function that is the last argument of the call that ends with this parenthesis. */
  #parameter(close: number): string | null {
    for (let at = close - 1; at > this.#partner(close); at--) {
      if (this.#partner(at) >= 0 && this.#partner(at) < at) at = this.#partner(at);
      else if (this.#text(at) === "=>") {
        const open = this.#partner(at - 1);
        const first = open < 0 ? at - 1 : open + 1;
        return this.#isWord(first) ? bare(this.#text(first)) : null;
      }
    }
    return null;
  }
}

/** A word as a name that every target's language can have; null if it is none. */
function bare(word: string): string | null {
  const name = word.replace(/^#/, "");
  return /^[A-Za-z_]\w*$/.test(name) ? name : null;
}
