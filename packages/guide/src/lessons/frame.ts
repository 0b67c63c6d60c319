/** The parts of a guide before the rungs and after them. */

import { NOTHING, number } from "@evolver/base";
import type { Origin } from "../evidence/document.ts";
import type { Evidence } from "../evidence/read-folder.ts";
import type { LadderPair } from "../evidence/ladder.ts";
import { torchOn } from "../evidence/peers.ts";
import { anchor, microseconds, table } from "../markdown.ts";
import { inputOf, TIME_HEADS, timeRow } from "../tables/times.ts";
import type { GuideRung, LadderGuide } from "./ladder.ts";
import { headingOf } from "./section.ts";

export interface Charts {
  /** Paths from the guide; null where there is no such chart. */
  readonly speed: string | null;
  readonly roofline: string | null;
}

export function front(guide: LadderGuide, evidence: Evidence, charts: Charts): string {
  const { study, title, intro, aboutPictures, aboutCode } = guide;
  return [
    `# ${title}`,
    `<!-- Written by \`evolver guide ${study}\`; changes by hand are lost. -->`,
    intro,
    "## How to read it",
    `Each rung has the same parts:

- **What was slow** before, **the idea**, and **a picture**, drawn from the rung's own settings: which lanes load what, where it lies, and when. ${aboutPictures}
- **What changes**: the settings, and the code. ${aboutCode}
- **What it gains and costs**: the counters that change most, and claims with a number, which the simulator counts again each
  time that this page is written.
- **Time** on the shape [below](#all-rungs-measured): measured by a clock on real hardware, or modelled from counters and
  a machine's datasheet. A modelled time is an estimate, not a result.
- **What one hears** about the step, **what was found** by counting, and **questions** with answers, on a page of their own.

A subgroup is 32 lanes here, which CUDA calls a warp of threads; the [glossary](glossary.md) has all names. Bytes and FLOPs
of a kernel depend only on what it does, so the simulator's are exact; time depends on the machine.`,
    "## All rungs, counted",
    ...countedRungs(guide),
    "## All rungs, measured",
    ...allRungs(guide, evidence, charts),
  ].join("\n\n");
}

const link = (rung: GuideRung): string => `[${rung.id}](#${anchor(headingOf(rung))})`;

/** One problem for all, so that columns may be compared from rung to rung. */
function countedRungs({ rungs, common }: LadderGuide): string[] {
  return [
    `By the simulator, on ${common.input}: ${common.about}.
Fewer is better in every column except the last, which is the number of floating-point operations for each byte that the kernel
reads from shared memory.`,
    table(
      [
        "rung",
        "what",
        "bytes from global memory",
        "sectors",
        "passes over banks",
        "conflicts",
        "barriers",
        "instructions",
        "FLOPs per byte",
      ],
      "llrrrrrrr",
      rungs.map((rung) => countersRow(rung)),
    ),
    common.note,
  ];
}

function countersRow(rung: GuideRung): string[] {
  const { common } = rung.counted;
  const issued = common.issuedArithmetic + common.issuedSpecial + common.issuedMemory + common.issuedSubgroup;
  return [
    link(rung),
    rung.title,
    number(common.globalReadBytes),
    number(common.globalSectors),
    number(common.sharedPasses),
    number(common.sharedConflicts),
    number(common.barriers),
    number(issued),
    common.sharedReadBytes === 0 ? NOTHING : number(common.flops / common.sharedReadBytes),
  ];
}

function allRungs(guide: LadderGuide, evidence: Evidence, charts: Charts): string[] {
  const { rungs } = guide;
  const [first] = evidence.ladders;
  if (first === undefined) {
    return ["Times: not measured."];
  }
  return [
    `${inputOf(first)}. ${originOf(first)} Times from \`peers*.json\` are of many launches back to back; those from
\`ladder-*.json\` are of single launches and include the cost of starting one. [gpu.md](gpu.md) has other shapes.`,
    table(
      ["rung", ...TIME_HEADS.slice(1)],
      "lrrrrr",
      rungs.map((rung) => timeRow(link(rung), first, rung.id)),
    ),
    ...(charts.speed === null ? [] : [`![TFLOP/s of each rung, beside PyTorch](${charts.speed})`]),
    ...peersSection(guide, first, evidence),
    ...(charts.roofline === null
      ? ["Roofline: the microbenchmarks were not measured."]
      : [
          `![The rungs below the machine's limits](${charts.roofline})`,
          "The horizontal position of a rung is counted by the simulator; its height and the machine's limits are measured.",
        ]),
  ];
}

/** "Measured on NVIDIA H200 …, 2026-11-30, at commit abc; modelled: H200 (datasheet)." */
function originOf({ cuda, webgpu }: LadderPair): string {
  const one = cuda ?? webgpu;
  if (one === null) return "";
  const commits = [
    ...new Set([cuda?.commit, webgpu?.commit].filter((commit) => commit !== null && commit !== undefined)),
  ];
  const where = [
    one.gpu ?? one.deviceName,
    one.date,
    commits.length > 0 ? `commit ${commits.join(" and ")}` : null,
  ];
  const files = [
    ...(cuda === null ? [] : [`CUDA by ${cuda.file}`]),
    ...(webgpu === null ? [] : [`WebGPU by ${webgpu.file}`]),
  ];
  return `Measured: ${where.filter((part) => part !== null).join("; ")}. Modelled: ${one.profile}. Times over ${files.join(", over ")}.`;
}

function peersSection({ peersAre }: LadderGuide, first: LadderPair, { peers }: Evidence): string[] {
  if (peers === null) return ["PyTorch on the same machine: not measured."];
  const shown = first.cuda ?? first.webgpu;
  const own = shown === null ? [] : torchOn(peers, shown.input);
  if (own.length === 0) return ["PyTorch on this shape: not measured."];
  return [
    `${peersAre.what} on the same shape, measured${origin(peers)}:`,
    table(
      ["", "measured µs", "TFLOP/s", "error within our tolerance"],
      "lrrl",
      own.map(({ id, timeMs, tflops, verified }) => [
        id,
        microseconds(timeMs),
        tflops.toFixed(2),
        verified ? "yes" : "no",
      ]),
    ),
    peersAre.about,
  ];
}

const origin = ({ date, commit }: Origin): string =>
  `${date === null ? "" : `, ${date}`}${commit === null ? "" : `, commit ${commit}`}`;

/** The part after the last rung. */
export function back({ study, tries, goOn }: LadderGuide): string {
  return [
    "## Run it yourself, without a GPU",
    "Everything here except the measured times comes from the simulator, which needs only Node:",
    commands([
      [`ladder ${study}`, "verify and count every rung, check its claims"],
      [`ladder ${study} --rungs ${tries.rungs}`, "only these"],
      [`ladder ${study} ${tries.input} --json`, "on your own input, as data"],
      [`guide ${study} -o ladder.md`, "this page"],
    ]),
    `With a GPU, \`--device webgpu\`, \`cuda\` or \`hip\` measures instead of modelling; \`npx evolver devices\` says what is here and
what is missing for the rest.`,
    "## Go on",
    "From here:",
    commands([
      [`evolve ${study} ${tries.evolve}`, "search the space for your input"],
      ["check my-kernel.ts", "all checks of the simulator on your own kernel"],
      [
        `emit ${study}/${tries.emit} --target cuda --selftest -o ${tries.emit}.cu`,
        "a rung as CUDA, HIP, WGSL or JavaScript",
      ],
      ["bench microbench --device cuda --save machine.json", "what your machine can do"],
    ]),
    goOn,
  ].join("\n\n");
}

/** A block of code: one command per line, each with what it is for. */
function commands(lines: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return lines.map(([command, what]) => `    npx evolver ${command.padEnd(width)}  ${what}`).join("\n");
}
