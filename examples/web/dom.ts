/** Elements in a line each. No framework: the page is a form, a table and a chart. */

type Attributes = Readonly<Record<string, string | number>>;
type Content = Node | string;

/** An HTML element. */
export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...content);
  return made;
}

/** An SVG element. */
export function svg(tag: string, attributes: Attributes = {}, ...content: readonly Content[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...content);
  return made;
}

/** The element of the page that has this id. */
export function byId<T extends HTMLElement>(id: string, type: abstract new (...args: never[]) => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new TypeError(`index.html has no ${type.name} called ${id}`);
}
