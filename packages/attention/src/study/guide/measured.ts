/** What evidence about attention speaks of: the ladder's rungs, the points of the space, shapes in their text form. */

import { axes, fitPoint, forwardFlops, ladder, rungById, type AttentionProblem } from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import type { CounterNote, HardwareCounter, MeasuredStudy } from "@evolver/guide";
import { parseShape, printShape } from "../shape.ts";

/** Points are told as they fit subgroups this wide. */
const SUBGROUP = 32;

/** Pipelines whose copies are asynchronous. */
const ASYNCHRONOUS: readonly string[] = ["ring", "roles", "staggered"];

const pipelineOf = ({ rung }: HardwareCounter): string =>
  ladder.find(({ id }) => id === rung)?.point.pipeline ?? "";

const copiesAsynchronously = (row: HardwareCounter): boolean => ASYNCHRONOUS.includes(pipelineOf(row));

const moreOnHardware = ({ ncu, sim }: HardwareCounter): boolean => ncu !== null && ncu > sim;

const counterNotes: readonly CounterNote[] = [
  {
    counters: ["global load sectors"],
    applies: (row) => copiesAsynchronously(row) && moreOnHardware(row),
    why: "each asynchronous copy of a subgroup counts as one sector more than it reads",
  },
  {
    counters: ["shared wavefronts"],
    applies: (row) => copiesAsynchronously(row) && moreOnHardware(row),
    why: "an asynchronous copy of 16 bytes per lane counts as 7.25 wavefronts (9.25 in k07), a store of as much as 4",
  },
  {
    counters: ["barriers, one per subgroup"],
    applies: (row) => pipelineOf(row) === "roles" && moreOnHardware(row),
    why: "one barrier more per workgroup: phase barriers are initialised before it",
  },
  {
    counters: ["global store requests", "global store sectors"],
    applies: moreOnHardware,
    why: "NVRTC 13 splits 8-byte stores into two of 4 bytes: the same bytes in more requests, and twice the sectors",
  },
];

/** The problem that an input names; null where it is no shape, such as a file of tensors. */
function problemIn(input: string): AttentionProblem | null {
  try {
    return parseShape(input.replace(/, random data$/, ""));
  } catch (error) {
    if (error instanceof EvolverError) return null;
    throw error;
  }
}

/** How evidence about attention is read and shown. */
export const attentionEvidence: MeasuredStudy = {
  id: "attention",
  prefix: "",
  ladders: ["", "-gqa"],
  rungs: ladder,
  axes,
  reference: "k11",
  problemOf(input) {
    const problem = problemIn(input);
    return problem === null ? null : { shape: printShape(problem), flops: forwardFlops(problem) };
  },
  fitted: (rung, input) =>
    fitPoint(rungById(rung).point, parseShape(input.replace(/, random data$/, "")), SUBGROUP),
  counterNotes,
};
