/** What is known of a rung, as a row of the table and as a text for learners. */

import { grouped, NOTHING, number, scientific, times } from "@evolver/base";
import { forwardFlops, createProblem, type AttentionRung } from "@evolver/attention";
import { element } from "./dom.ts";
import type { Counted, Failure, Job, Timing, Verified } from "./job.ts";

export interface RungState {
  readonly verified?: Verified;
  readonly refused?: Failure;
  readonly timing?: Timing;
  readonly counted?: Counted;
}

export interface RowContext {
  readonly job: Job | null;
  /** The first rung's time in milliseconds; null while it is not known. */
  readonly first: number | null;
  readonly timeKind: string;
  /** Writes a time in milliseconds, in the unit of all of them. */
  show(timeMs: number): string;
}

/** Characters. */
const LEAD = 80;

/** A row of the table. On a narrow screen each cell shows its label itself. */
export function rowOf(
  rung: AttentionRung,
  state: RungState,
  { job, first, timeKind, show }: RowContext,
): HTMLElement {
  const { verified, refused, timing, counted } = state;
  const cell = (label: string, ...content: (Node | string)[]): HTMLElement =>
    element("td", { "data-label": label }, element("span", {}, ...content));
  const simulated = (label: string, ...content: (Node | string)[]): HTMLElement => {
    const made = cell(label, ...content);
    made.className = "simulated";
    return made;
  };
  const name = element("th", { scope: "row" }, element("code", {}, rung.id), ` ${rung.title}`);
  const onDevice =
    refused === undefined
      ? [
          cell("Verified", ...verdict(verified)),
          cell(`Time, ${timeKind}`, timing === undefined ? NOTHING : show(timing.medianMs)),
          cell("GFLOP/s", timing === undefined || job === null ? NOTHING : number(rate(job, timing))),
          cell(
            "Speed-up over k01",
            timing === undefined || first === null ? NOTHING : times(first / timing.medianMs),
          ),
        ]
      : [refusal(refused)];
  const holding = counted?.claims.filter(({ holds }) => holds).length;
  return element(
    "tr",
    { id: rung.id },
    name,
    ...onDevice,
    simulated("Bytes read", counted === undefined ? NOTHING : grouped(counted.globalReadBytes)),
    simulated("Sectors of 32 bytes", counted === undefined ? NOTHING : grouped(counted.globalSectors)),
    simulated("Bank conflicts (passes)", counted === undefined ? NOTHING : grouped(counted.sharedConflicts)),
    simulated(
      "Claims",
      ...(counted === undefined
        ? [NOTHING]
        : [mark(holding === counted.claims.length), ` ${holding} of ${counted.claims.length}`]),
    ),
  );
}

function verdict(verified: Verified | undefined): (Node | string)[] {
  if (verified === undefined) return [NOTHING];
  const { pass, error, bound } = verified;
  const numbers = `${scientific(error)} of ${scientific(bound)} allowed`;
  return [mark(pass), ` ${pass ? "right" : "wrong"} `, element("small", {}, numbers)];
}

function refusal({ code, what, hint }: Failure): HTMLElement {
  const help = hint === null ? "" : ` What to do: ${hint}.`;
  return element("td", { colspan: 4, class: "refused" }, element("strong", {}, code), ` ${what}.${help}`);
}

const rate = ({ shape, causal }: Job, { medianMs }: Timing): number =>
  forwardFlops(createProblem(shape, { causal })) / medianMs / 1e6;

/** A tick or a cross; what it means is said in words beside it. */
const mark = (good: boolean): HTMLElement =>
  element("span", { class: good ? "good" : "bad", "aria-hidden": "true" }, good ? "✓" : "✗");

/** The idea of a rung, its claims, and what was found; `open` has the ids of the details that the reader opened. */
export function ideaOf(rung: AttentionRung, { counted }: RungState, open: ReadonlySet<string>): HTMLElement {
  const [lead, rest] = leadOf(rung.idea);
  const claims = rung.claims.map(({ text }, i) => {
    const result = counted?.claims[i];
    const tick = result === undefined ? "" : mark(result.holds);
    const said =
      result === undefined ? "" : element("span", { class: "hidden" }, result.holds ? "holds: " : "fails: ");
    return element("li", {}, tick, said, ` ${text}`);
  });
  const id = `more-${rung.id}`;
  const more = element(
    "details",
    { id, ...(open.has(id) ? { open: "" } : {}) },
    element("summary", {}, "More, and what was found"),
    ...(rest === "" ? [] : [element("p", {}, rest)]),
    element("p", {}, rung.found),
  );
  return element(
    "article",
    { class: "card" },
    element("h3", {}, element("code", {}, rung.id), ` ${rung.title}`),
    element("p", {}, lead),
    element("ul", { class: "claims" }, ...claims),
    more,
  );
}

/** Enough sentences to say something, and the others. */
function leadOf(text: string): [lead: string, rest: string] {
  const sentences = text.replaceAll("\n", " ").split(/(?<=\.) (?=[A-Z])/);
  let lead = sentences.shift() ?? "";
  while (lead.length < LEAD && sentences.length > 0) lead += ` ${sentences.shift()}`;
  return [lead, sentences.join(" ")];
}
