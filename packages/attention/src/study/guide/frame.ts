/** What stands before the rungs and after them. */

import type { ClaimCase } from "@evolver/attention";
import { printShape } from "../shape.ts";
import type { CountedRung } from "./counted.ts";
import { number } from "@evolver/base";
import {
  anchor,
  inputOf,
  microseconds,
  table,
  TIME_HEADS,
  timeRow,
  torchOn,
  type Evidence,
  type LadderPair,
  type Origin,
} from "@evolver/guide";
import { headingOf } from "./section.ts";
import type { Subject } from "./subject.ts";

export interface Charts {
  /** Paths from the guide; null where there is no such chart. */
  readonly speed: string | null;
  readonly roofline: string | null;
}

export interface CountedSubject {
  readonly subject: Subject;
  readonly counted: CountedRung;
}

export function front(
  rungs: readonly CountedSubject[],
  common: ClaimCase,
  evidence: Evidence,
  charts: Charts,
): string {
  const subjects = rungs.map(({ subject }) => subject);
  return [
    "# The attention ladder",
    "<!-- Written by `evolver guide attention`; what is changed here by hand is lost. -->",
    `Attention computes softmax(scale · Q Kᵀ) V: every query looks at every key, and takes a mean of the values, weighted by
how well the keys fit. This guide begins with a plain kernel for it and changes it ${subjects.length - 1} times. Each kernel is a rung and
differs little from one before; most are faster, some are not. What changes is said in numbers that are counted, not guessed.
You need no GPU to follow: the simulator counts on any machine, and you can run every count again.`,
    "## How to read it",
    `Each rung has the same parts:

- **The idea**, and on which axes of the kernel it differs from the rung that it builds on.
- **A picture**, drawn from the rung's own settings: who loads what, where it lies, and when. In all pictures blue is global
  memory and what comes from it, orange shared memory, green computing, purple what is neither K nor V, and dashed arrows
  are copies that go by themselves.
- **What is claimed**: sentences with a number, which the simulator counts anew each time that this page is written. A claim
  that does not hold fails our tests.
- **Counters**, of the rung and of the one that it builds on, on the small problem of the claims.
- **Time**: measured by a clock on real hardware, or modelled from counters and a machine's datasheet. The two are never in
  one column. A modelled time is a reason to look, never a result.
- **What one hears** about the step, and **what was found**.
- **Questions** as they come up in interviews and reviews, each with an answer behind it. Answer first, then look.

A subgroup is 32 lanes here, which CUDA calls a warp of threads; the [glossary](#glossary) has all names. Bytes and FLOPs
of a kernel depend only on what it does, so the simulator's are exact; time depends on the machine.`,
    "## All rungs, counted",
    ...countedRungs(rungs, common),
    "## All rungs, measured",
    ...allRungs(subjects, evidence, charts),
  ].join("\n\n");
}

function headsOf({ problem: { shape } }: ClaimCase): string {
  const { batch, headsQ } = shape;
  return batch * headsQ === 1 ? "one head" : `${batch * headsQ} heads of queries`;
}

const workgroupsOf = ({ persistentWorkgroups: most }: ClaimCase): string =>
  most === undefined
    ? "with as many persistent workgroups as an H200 holds"
    : `with at most ${most} persistent workgroups`;

const link = (subject: Subject): string => `[${subject.rung.id}](#${anchor(headingOf(subject))})`;

/** One problem for all, so that columns may be compared from rung to rung. */
function countedRungs(rungs: readonly CountedSubject[], common: ClaimCase): string[] {
  return [
    `By the simulator, on ${printShape(common.problem)}: ${headsOf(common)}, small enough to count in seconds, ${workgroupsOf(common)}.
Fewer is better in every column but the last, which says how many floating-point operations the kernel does for each byte that
it reads from shared memory.`,
    table(
      [
        "rung",
        "bytes from global memory",
        "sectors",
        "passes over banks",
        "conflicts",
        "barriers",
        "instructions",
        "FLOPs a byte",
      ],
      "lrrrrrrr",
      rungs.map(({ subject, counted: { common: all } }) => [
        link(subject),
        number(all.globalReadBytes),
        number(all.globalSectors),
        number(all.sharedPasses),
        number(all.sharedConflicts),
        number(all.barriers),
        number(all.issuedArithmetic + all.issuedSpecial + all.issuedMemory + all.issuedSubgroup),
        number(all.flops / all.sharedReadBytes),
      ]),
    ),
    `Packing (k09, k10) and persistent workgroups (k08, k10, k12) have little to do on a problem so small; their sections count where
they have. \`npx evolver guide attention\` counts exactly these numbers again. \`npx evolver ladder attention --shape ${printShape(common.problem)}\`
counts a little more, sectors and instructions above all: what it runs also stores the logarithm of each row's sum, which a
backward pass needs.`,
  ];
}

function allRungs(subjects: readonly Subject[], evidence: Evidence, charts: Charts): string[] {
  const [first] = evidence.ladders;
  if (first === undefined) {
    return [
      "Times: not measured.",
      table(
        ["rung", "what"],
        "ll",
        subjects.map((subject) => [link(subject), subject.rung.title]),
      ),
    ];
  }
  return [
    `The benchmark beside PyTorch (\`peers*.json\`) times many launches back to back; its times are taken where it has the shape. Else
they are those of the ladder's own report (\`ladder-*.json\`), which times one launch at a time and so has what starting one costs
in them: compare within a table, not between tables whose times are from different files.`,
    ...evidence.ladders.flatMap((pair) => [
      `${inputOf(pair)}. ${originOf(pair)}`,
      table(
        ["rung", "what", ...TIME_HEADS.slice(1)],
        "llrrrrr",
        subjects.map((subject) => {
          const [name, ...cells] = timeRow(link(subject), pair, subject.rung.id);
          return [name as string, subject.rung.title, ...cells];
        }),
      ),
    ]),
    ...(charts.speed === null ? [] : [`![TFLOP/s of each rung, beside PyTorch](${charts.speed})`]),
    ...peersSection(first, evidence),
    ...(charts.roofline === null
      ? ["Roofline: the microbenchmarks were not measured."]
      : [
          `![The rungs under the roofs of the machine](${charts.roofline})`,
          "A rung's place from left to right is counted by the simulator, its height is measured, and so are the roofs.",
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

function peersSection(first: LadderPair, { peers }: Evidence): string[] {
  if (peers === null) return ["PyTorch on the same machine: not measured."];
  const shown = first.cuda ?? first.webgpu;
  const own = shown === null ? [] : torchOn(peers, shown.input);
  if (own.length === 0) return ["PyTorch on this shape: not measured."];
  return [
    `PyTorch's float32 attention on the same shape, measured${origin(peers)}:`,
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
    `\`torch math\` is PyTorch's unfused attention: it writes the matrix of scores to memory and uses the ordinary float32
units, as all rungs do. \`torch efficient\` is its fused kernel, which multiplies on tensor cores, each float32 product as
three of tf32; that is another kind of arithmetic, with another error.`,
  ];
}

const origin = ({ date, commit }: Origin): string =>
  `${date === null ? "" : `, ${date}`}${commit === null ? "" : `, commit ${commit}`}`;

/** What comes after the last rung. */
export function back(): string {
  return [
    "## Run it yourself, without a GPU",
    `All of this page but the measured times comes from the simulator, which needs nothing but Node:

    npx evolver ladder attention                        every rung verified, counted, its claims proved
    npx evolver ladder attention --rungs k03,k04        only these
    npx evolver ladder attention --shape B1,Hq8,Hkv2,S256,D128,causal --json
    npx evolver guide attention -o ladder.md            this page

With a GPU, \`--device webgpu\`, \`cuda\` or \`hip\` measures instead of modelling; \`npx evolver devices\` says what is here and
what is missing for the rest.`,
    "## Go on",
    `The ladder is a walk through a space of settings that is much larger. From here:

    npx evolver evolve attention --shape B1,Hq32,Hkv8,S256,D128     search the space for your shape
    npx evolver check my-kernel.ts                                  every check of the simulator on a kernel of yours
    npx evolver emit attention/k04 --target cuda --selftest -o k04.cu    a rung as CUDA, HIP, WGSL or JavaScript
    npx evolver bench microbench --device cuda --save machine.json  what your machine can do

The rungs are in \`packages/attention/src/rungs\`, a file each, and the axes beside them in \`packages/attention/src/flash\`.
[CONTRIBUTING.md](../CONTRIBUTING.md) says how to add a rung or an axis, [gpu.md](gpu.md) how to measure on a GPU,
[language.md](language.md) how kernels are written.`,
    "## Glossary",
    table(["here and in WebGPU", "CUDA", "HIP", "what"], "llll", GLOSSARY),
  ].join("\n\n");
}

const GLOSSARY: readonly (readonly [string, string, string, string])[] = [
  [
    "invocation, lane",
    "thread, lane",
    "work-item, lane",
    "one run of the kernel's body; a lane is its place in the subgroup",
  ],
  ["subgroup", "warp (32)", "wavefront (64, or 32)", "lanes that execute together and can exchange values"],
  [
    "workgroup",
    "thread block, CTA",
    "workgroup, block",
    "invocations that share memory and can wait for each other",
  ],
  ["dispatch of workgroups", "grid", "grid", "all workgroups of a launch"],
  ["multiprocessor", "SM", "compute unit (CU)", "what runs workgroups, and has the shared memory"],
  ["storage buffer, global memory", "global memory", "global memory", "what all workgroups see"],
  ["workgroup memory, shared memory", "`__shared__`", "`__shared__`, LDS", "fast memory of a workgroup"],
  ["sector", "sector", "part of a cache line", "32 bytes: the least that global memory brings"],
  ["bank", "bank", "LDS bank", "one of the 32 columns, 4 bytes wide, that shared memory is served in"],
  [
    "bank conflict",
    "bank conflict",
    "LDS bank conflict",
    "an additional pass, as lanes want different words of one bank",
  ],
  [
    "`workgroupBarrier`",
    "`__syncthreads`",
    "`__syncthreads`, `s_barrier`",
    "nobody goes on until all are here",
  ],
  [
    "`subgroupBroadcast`, `subgroupShuffle`",
    "`__shfl_sync`",
    "`__shfl`",
    "a value from another lane's register",
  ],
  [
    "none; copied at once",
    "`cp.async`",
    "none here; copied at once",
    "a copy from global to shared memory that goes by itself",
  ],
  ["none; a barrier a tile", "mbarrier", "two words of LDS", "a phase barrier: some arrive, others wait"],
  ["`atomicAdd`", "`atomicAdd`", "`atomicAdd`", "addition that nobody can interrupt"],
  ["register", "register", "VGPR", "memory of one lane"],
  [
    "occupancy",
    "occupancy",
    "occupancy",
    "how many subgroups a multiprocessor holds at once, to hide waiting",
  ],
];
