/** The parts of a guide before the rungs and after them. */

import { NOTHING, number } from "@evolver/base";
import type { Origin } from "../evidence/document.ts";
import type { Evidence } from "../evidence/read-folder.ts";
import type { LadderPair } from "../evidence/ladder.ts";
import { torchOn } from "../evidence/peers.ts";
import { anchor, microseconds, table } from "../markdown.ts";
import { inputOf, TIME_HEADS, timeRow } from "../tables/times.ts";
import { GLOSSARY } from "./glossary.ts";
import type { GuideRung, LadderGuide } from "./ladder.ts";
import { headingOf } from "./section.ts";

export interface Charts {
  /** Paths from the guide; null where there is no such chart. */
  readonly speed: string | null;
  readonly roofline: string | null;
}

export function front(guide: LadderGuide, evidence: Evidence, charts: Charts): string {
  const { study, title, intro, aboutPictures } = guide;
  return [
    `# ${title}`,
    `<!-- Written by \`evolver guide ${study}\`; changes by hand are lost. -->`,
    intro,
    "## How to read it",
    `Each rung has the same parts:

- **The idea**, and the axes of the kernel on which it differs from the rung that it builds on.
- **A picture**, drawn from the rung's own settings: which lanes load what, where it lies, and when. ${aboutPictures}
- **Claims**: sentences with a number, which the simulator counts again each time that this page is written. A claim that does
  not hold fails our tests.
- **Counters** of the rung and of the one that it builds on, on the small problem of the claims.
- **Time**: measured by a clock on real hardware, or modelled from counters and a machine's datasheet. The two are never in
  one column. A modelled time is an estimate, not a result.
- **What people say** about the step, **what was found** by counting, and, where there is evidence, what was **measured**.
- **Questions** as they come up in interviews and reviews, each with a hidden answer. Answer first, then look.

A subgroup is 32 lanes here, which CUDA calls a warp of threads; the [glossary](#glossary) has all names. Bytes and FLOPs
of a kernel depend only on what it does, so the simulator's are exact; time depends on the machine.`,
    "## All rungs, counted",
    ...countedRungs(guide),
    "## All rungs, measured",
    ...allRungs(guide, evidence, charts),
  ].join("\n\n");
}

const link = (rung: GuideRung): string => `[${rung.id}](#${anchor(headingOf(rung))})`;

/** One problem for all, so that columns may be compared from rung to rung. */
function countedRungs({ study, rungs, common }: LadderGuide): string[] {
  return [
    `By the simulator, on ${common.input}: ${common.about}.
Fewer is better in every column except the last, which is the number of floating-point operations for each byte that the kernel
reads from shared memory.`,
    table(
      [
        "rung",
        "bytes from global memory",
        "sectors",
        "passes over banks",
        "conflicts",
        "barriers",
        "instructions",
        "FLOPs per byte",
      ],
      "lrrrrrrr",
      rungs.map((rung) => countersRow(rung)),
    ),
    `${common.note} \`npx evolver guide ${study}\` counts exactly these numbers again.`,
  ];
}

function countersRow(rung: GuideRung): string[] {
  const { common } = rung.counted;
  const issued = common.issuedArithmetic + common.issuedSpecial + common.issuedMemory + common.issuedSubgroup;
  return [
    link(rung),
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
    return [
      "Times: not measured.",
      table(
        ["rung", "what"],
        "ll",
        rungs.map((rung) => [link(rung), rung.title]),
      ),
    ];
  }
  return [
    `The benchmark beside PyTorch (\`peers*.json\`) times many launches back to back; its times are used where it has the shape. Other
times are from the ladder's own report (\`ladder-*.json\`), which times single launches, so that they include the cost of
starting one. Compare within a table, not between tables whose times are from different files.`,
    ...evidence.ladders.flatMap((pair) => [
      `${inputOf(pair)}. ${originOf(pair)}`,
      table(
        ["rung", "what", ...TIME_HEADS.slice(1)],
        "llrrrrr",
        rungs.map((rung) => {
          const [name, ...cells] = timeRow(link(rung), pair, rung.id);
          return [name as string, rung.title, ...cells];
        }),
      ),
    ]),
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
    `Everything on this page except the measured times comes from the simulator, which needs only Node:`,
    commands([
      [`ladder ${study}`, "verify and count every rung, check its claims"],
      [`ladder ${study} --rungs ${tries.rungs}`, "only these"],
      [`ladder ${study} ${tries.input} --json`, "on your own input, as data"],
      [`guide ${study} -o ladder.md`, "this page"],
    ]),
    `With a GPU, \`--device webgpu\`, \`cuda\` or \`hip\` measures instead of modelling; \`npx evolver devices\` says what is here and
what is missing for the rest.`,
    "## Go on",
    "The ladder shows a few points of a much larger space of settings. From here:",
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
    "## Glossary",
    table(["here and in WebGPU", "CUDA", "HIP", "what"], "llll", GLOSSARY),
  ].join("\n\n");
}

/** A block of code: one command per line, each with what it is for. */
function commands(lines: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return lines.map(([command, what]) => `    npx evolver ${command.padEnd(width)}  ${what}`).join("\n");
}
