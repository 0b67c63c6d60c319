/**
 * What a study provides for a guide to its ladder: a few texts, and for each rung its changes, its counters and a lesson. All
 * of it is data; `guideOf` makes the document.
 */

import type { ClaimResult, Counters } from "@evolver/device";

/** Common advice about the step that a rung takes, and questions about it with answers. */
export interface Lesson {
  /** What was slow before, in a sentence or two: the reason for the rung. */
  readonly slow: string;
  /** What `found` of the rung answers, in a sentence or two. */
  readonly folklore: string;
  readonly questions: readonly Question[];
}

interface Question {
  readonly question: string;
  readonly answer: string;
}

/** What the simulator counts of a rung. */
export interface CountedRung {
  readonly claims: readonly ClaimResult[];
  /** Of the rung that it builds on; null for the first. */
  readonly base: Counters | null;
  readonly own: Counters;
  readonly variants: readonly { readonly name: string; readonly counters: Counters }[];
  /** On the problem that all rungs are compared on. */
  readonly common: Counters;
}

export interface GuideRung {
  /** "k04" */
  readonly id: string;
  readonly title: string;
  /** What the step is. */
  readonly idea: string;
  /** What is known of it, from what is counted. */
  readonly found: string;
  /** The rung that it builds on; null for the first. */
  readonly base: string | null;
  readonly changes: readonly AxisChange[];
  /** The problem of its claims and counters, as a text. */
  readonly on: string;
  readonly counted: CountedRung;
  readonly lesson: Lesson;
  readonly code: readonly CodeBlock[];
  /** SVG text. */
  readonly picture: string;
}

/** A part of a rung's program, or how it differs from that of the rung that it builds on. */
export interface CodeBlock {
  /** What it is, in a sentence that ends with a colon. */
  readonly about: string;
  readonly language: "typescript" | "cuda" | "diff";
  readonly text: string;
}

export interface AxisChange {
  readonly axis: string;
  readonly from: string;
  readonly to: string;
}

export interface LadderGuide {
  /** As the command line names the study. */
  readonly study: string;
  /** "The attention ladder" */
  readonly title: string;
  /** What is computed, and how the ladder climbs, in paragraphs. */
  readonly intro: string;
  /** What colours and arrows mean, in a sentence or two. */
  readonly aboutPictures: string;
  /** Where the code that is shown comes from, in a sentence or two. */
  readonly aboutCode: string;
  /** The problem that all rungs are counted on, as the command line takes it, and what is to be known of it. */
  readonly common: { readonly input: string; readonly about: string; readonly note: string };
  /** PyTorch's entries, beside which the rungs were measured: "PyTorch's float32 attention", and what to know of them. */
  readonly peersAre: { readonly what: string; readonly about: string };
  /** Inputs for the commands that the reader can try. */
  readonly tries: {
    readonly rungs: string;
    readonly input: string;
    readonly evolve: string;
    readonly emit: string;
  };
  /** Where to read on, in a paragraph. */
  readonly goOn: string;
  readonly rungs: readonly GuideRung[];
}
