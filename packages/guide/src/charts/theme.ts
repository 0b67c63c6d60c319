/**
 * The colours of charts and pictures. A drawing has the light ones in its elements, and a style that replaces each by its dark
 * counterpart where the reader's system asks for it; so every colour here is a different one.
 */

export interface Tone {
  readonly light: string;
  readonly dark: string;
}

const tone = (light: string, dark: string): Tone => ({ light, dark });

export const PAGE = tone("#ffffff", "#0d1117");
export const EDGE = tone("#d1d9e0", "#3d444d");
export const GRID = tone("#e6eaef", "#262c36");
export const INK = tone("#1f2328", "#f0f6fc");
export const SOFT = tone("#59636e", "#9198a1");

/** By Okabe and Ito, which colour-blind people can tell apart; lines are darker on white and lighter on black. */
export const SERIES: readonly Tone[] = [
  tone("#0072b2", "#4aa8e8"),
  tone("#d55e00", "#f07c2e"),
  tone("#009e73", "#19c493"),
  tone("#b5568f", "#d98cb8"),
  tone("#b07d00", "#e6b422"),
  tone("#3d9bd1", "#8fd0f5"),
  tone("#4d4d4d", "#c8c8c8"),
];

export const FONT = "system-ui,-apple-system,'Segoe UI','Liberation Sans',Arial,sans-serif";

/** CSS for elements below `.chart` on a dark page. */
export function darkStyle(): string {
  const rules = [PAGE, EDGE, GRID, INK, SOFT, ...SERIES].flatMap(({ light, dark }) =>
    ["fill", "stroke"].map((name) => `.chart [${name}="${light}"]{${name}:${dark}}`),
  );
  return `@media(prefers-color-scheme:dark){${rules.join("")}}`;
}
