/**
 * The tokens of a TypeScript file, with the partner of each bracket: enough to see what stands around a call. It is no
 * parser, and whoever uses it has to live with text that it cannot make sense of.
 */

export interface Token {
  readonly kind: "word" | "text" | "sign";
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether a line ends between this token and the one before. */
  readonly onNewLine: boolean;
  /** For a bracket, the index of its partner; −1 for others, and where there is none. */
  partner: number;
}

const BLANK = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
const WORD = /#?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y;
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const REGEX = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const SIGN = /\.\.\.|=>|\?\.(?!\d)|\?\?=?|===|!==|\*\*=?|&&=?|\|\|=?|[=!<>+\-*/%&|^]=|\+\+|--|[^]/y;

const OPENS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const CLOSES: ReadonlySet<string> = new Set(Object.values(OPENS));

/** Words after which a slash begins a regular expression. */
const BEFORE_REGEX: ReadonlySet<string> = new Set(["return", "typeof", "case", "in", "of", "void", "throw"]);

export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const open: number[] = [];
  let at = 0;
  const match = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.test(source) ? pattern.lastIndex : -1;
  };
  while (at < source.length) {
    const blankEnd = match(BLANK);
    const onNewLine = source.slice(at, blankEnd).includes("\n");
    at = Math.max(at, blankEnd);
    if (at >= source.length) break;
    const start = at;
    const push = (kind: Token["kind"], end: number): Token => {
      const token = { kind, text: source.slice(start, end), start, end, onNewLine, partner: -1 };
      tokens.push(token);
      at = end;
      return token;
    };
    const last = tokens.at(-1);
    if (source[at] === "`") {
      push("text", templateEnd(source, at));
      continue;
    }
    const literalEnd = Math.max(match(STRING), match(NUMBER));
    const wordEnd = match(WORD);
    const regexEnd = isOperand(last) ? -1 : match(REGEX);
    if (wordEnd > 0) push("word", wordEnd);
    else if (literalEnd > 0) push("text", literalEnd);
    else if (regexEnd > 0) push("text", regexEnd);
    else pair(tokens, open, push("sign", match(SIGN)));
  }
  return tokens;
}

/** Whether an operator would follow: a slash is then a division. */
function isOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === "sign") return token.text === ")" || token.text === "]";
  return !BEFORE_REGEX.has(token.text);
}

function pair(tokens: readonly Token[], open: number[], token: Token): void {
  const index = tokens.length - 1;
  if (token.text in OPENS) open.push(index);
  if (!CLOSES.has(token.text)) return;
  const partner = open.pop();
  if (partner === undefined || OPENS[(tokens[partner] as Token).text] !== token.text) return;
  token.partner = partner;
  (tokens[partner] as Token).partner = index;
}

/** The end of a template string, with the expressions in it. */
function templateEnd(source: string, start: number): number {
  let depth = 0;
  for (let at = start + 1; at < source.length; at++) {
    const here = source[at];
    if (here === "\\") at++;
    else if (depth === 0 && here === "`") return at + 1;
    else if (depth === 0 && here === "$" && source[at + 1] === "{") {
      depth = 1;
      at++;
    } else if (depth > 0 && here === "`") at = templateEnd(source, at) - 1;
    else if (depth > 0 && here === "{") depth++;
    else if (depth > 0 && here === "}") depth--;
  }
  return source.length;
}
