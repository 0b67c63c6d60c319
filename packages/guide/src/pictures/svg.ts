/**
 * Building blocks of SVG pictures. A picture is an opaque card with its own palettes for light and dark pages, so that it can
 * be read on any page. Coordinates are pixels; a picture is shown at its own size, with no text below 11 px.
 */

export const WIDTH = 780;
export const MARGIN = 16;

/** What a colour means, in all pictures. */
export type Role = "global" | "shared" | "compute" | "wait" | "other" | "plain";

const LIGHT = {
  card: "#ffffff",
  edge: "#d1d9e0",
  ink: "#1f2328",
  soft: "#59636e",
  stop: "#cf222e",
  global: ["#ddf4ff", "#0969da"],
  shared: ["#fff1e5", "#bc4c00"],
  compute: ["#dafbe1", "#1a7f37"],
  wait: ["#f6f8fa", "#818b98"],
  other: ["#fbefff", "#8250df"],
  plain: ["#ffffff", "#818b98"],
} as const;

const DARK: typeof LIGHT | Record<keyof typeof LIGHT, string | readonly [string, string]> = {
  card: "#0d1117",
  edge: "#3d444d",
  ink: "#f0f6fc",
  soft: "#9198a1",
  stop: "#f85149",
  global: ["#0c2d6b", "#4493f8"],
  shared: ["#5a1e02", "#db6d28"],
  compute: ["#04471c", "#3fb950"],
  wait: ["#212830", "#656c76"],
  other: ["#3c1e70", "#ab7df8"],
  plain: ["#0d1117", "#656c76"],
};

/** Groups of four neighbouring banks, each a hue. */
const BANK_GROUPS = 8;

function rules(palette: typeof DARK, bank: (hue: number) => string): string {
  const of = (name: keyof typeof LIGHT): string => String(palette[name]);
  const roles = (["global", "shared", "compute", "wait", "other", "plain"] as const).flatMap((role) => {
    const [fill, stroke] = palette[role] as readonly [string, string];
    return [
      `.${role}{fill:${fill};stroke:${stroke}}`,
      `.${role}-line{stroke:${stroke}}`,
      `.${role}-fill{fill:${stroke}}`,
    ];
  });
  const banks = Array.from(
    { length: BANK_GROUPS },
    (_, k) => `.bank${k}{fill:${bank((k * 360) / BANK_GROUPS)};stroke:${of("card")}}`,
  );
  return [
    `.card{fill:${of("card")};stroke:${of("edge")}}`,
    `text{fill:${of("ink")}}`,
    `.soft{fill:${of("soft")}}`,
    `.stop{stroke:${of("stop")}}`,
    `.ink-line{stroke:${of("ink")}}`,
    `.edge-line{stroke:${of("edge")}}`,
    `.cell{fill:${of("card")};stroke:${of("edge")}}`,
    ...roles,
    ...banks,
  ].join("");
}

const STYLE = [
  "text{font:12px system-ui,-apple-system,'Segoe UI','Liberation Sans',Arial,sans-serif}",
  ".head{font-weight:600;font-size:14px}.bold{font-weight:600}.small{font-size:11px}",
  ".end{text-anchor:end}.middle{text-anchor:middle}",
  "line{fill:none;stroke-width:1.5}.dash{stroke-dasharray:5 3}.thick{stroke-width:2.5}.thin{stroke-width:.8}.none{fill:none}",
  rules(LIGHT, (hue) => `hsl(${hue} 75% 80%)`),
  `@media(prefers-color-scheme:dark){${rules(DARK, (hue) => `hsl(${hue} 45% 32%)`)}}`,
].join("");

const round = (value: number): string => String(Math.round(value * 10) / 10);

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** @param style classes: `head`, `bold`, `small`, `soft`, `end`, `middle` */
export const text = (x: number, y: number, content: string, style = ""): string =>
  `<text x="${round(x)}" y="${round(y)}"${style === "" ? "" : ` class="${style}"`}>${escapeXml(content)}</text>`;

/** Classes, and the radius of the corners where it is not 2. */
export type Look = string | readonly [style: string, radius: number];

export function rect(x: number, y: number, width: number, height: number, look: Look): string {
  const [style, radius] = typeof look === "string" ? [look, 2] : look;
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}" class="${style}"/>`;
}

export const line = (x1: number, y1: number, x2: number, y2: number, style: string): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" class="${style}"/>`;

/** A line with a head at its end; dashed where what it stands for happens by itself, later. */
export function arrow(from: Place, to: Place, role: Role, dashed = false): string {
  const [[x1, y1], [x2, y2]] = [from, to];
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - 8 * ux, y2 - 8 * uy];
  const points = [
    [x2, y2],
    [bx - 4 * uy, by + 4 * ux],
    [bx + 4 * uy, by - 4 * ux],
  ];
  const head = points.map(([x, y]) => `${round(x as number)},${round(y as number)}`).join(" ");
  return `${line(x1, y1, bx, by, `${role}-line${dashed ? " dash" : ""}`)}<polygon points="${head}" class="${role}-fill"/>`;
}

export type Place = readonly [x: number, y: number];

/** Part of a picture: what it shows, and how to draw it with its upper edge at `top`. */
export interface Panel {
  readonly title: string;
  /** Without the title. */
  readonly height: number;
  draw(top: number): readonly string[];
}

const TITLE_HEIGHT = 34;

/** A whole file: panels from top to bottom. */
export function picture(title: string, panels: readonly Panel[]): string {
  let y = 6;
  const parts: string[] = [];
  for (const panel of panels) {
    parts.push(text(MARGIN, y + 22, panel.title, "head"), ...panel.draw(y + TITLE_HEIGHT));
    y += TITLE_HEIGHT + panel.height + 8;
  }
  const height = Math.ceil(y + 4);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${STYLE}</style>`,
    rect(0.5, 0.5, WIDTH - 1, height - 1, ["card", 8]),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** 0, 1, … below `length`. */
export const upTo = (length: number): number[] => Array.from({ length }, (_, k) => k);

/** "row 3", "rows 3–5". */
export const span = (one: string, first: number, count: number): string =>
  count === 1 ? `${one} ${first}` : `${one}s ${first}–${first + count - 1}`;

/** "1 key", "4 keys". */
export const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? "" : "s"}`;
