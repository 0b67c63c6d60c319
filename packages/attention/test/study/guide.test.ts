/** The guide to the ladder: complete, true to its evidence, and pictures that can be read. */

import { comparisons, guideOf, NO_EVIDENCE, readEvidence, type Evidence } from "@evolver/guide";
import type { Guide } from "@evolver/lab";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ladder, type Geometry } from "@evolver/attention";
import type { Counters, MemoryCounters } from "@evolver/device";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasChromium, howToHaveChromium, launchChromium } from "../../../../test/support/browser.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import type { CountedSubject } from "@evolver/attention/study/internal";
import { countLadder, ladderGuideOf } from "@evolver/attention/study/internal";
import { attentionEvidence } from "@evolver/attention/study";
import { lessonOf } from "@evolver/attention/study/internal";
import { study } from "@evolver/attention/study";

const SHAPE = "B1,Hq8,Hkv8,S1024,D64";

/** Times that no other number of the guide looks like. */
const timeOf = (k: number): number => 0.7131 + k * 0.0102;
const webgpuTimeOf = (k: number): number => 1.9377 + k * 0.0211;
const MODELLED_MS = 0.5559;

const wrapped = (result: unknown): unknown => ({
  command: "evolver ladder attention",
  date: "2030-01-02",
  versions: { commit: "abc1234" },
  machine: { gpu: "Some GPU" },
  result,
});

const ladderReport = (time: (k: number) => number, ids = ladder.map(({ id }) => id)): unknown => ({
  timeKind: "measured",
  deviceName: "Some GPU",
  profile: "some profile",
  input: `${SHAPE}, random data`,
  rungs: ids.map((id, k) => ({
    id,
    verified: true,
    timeMs: time(k),
    modelledTimeMs: MODELLED_MS,
    tflops: 2.147483648 / time(k),
    counters: { globalSectors: 1e6 },
  })),
});

const entry = (id: string, kind: string, tflops: number, verified: boolean): unknown => ({
  id,
  kind,
  point: null,
  kernels: null,
  tflops,
  timeMs: { median: 2.147483648 / tflops },
  shareOfPeak: null,
  shareOfBandwidth: null,
  verified,
  ofFastestTorch: null,
  ofTorchMath: null,
});

const peersOf = (shapes: readonly object[]): object => ({
  deviceName: "Some GPU",
  torch: null,
  rounds: 3,
  shapes: shapes.map((shape) => ({ compulsoryBytes: 1e6, refused: [], fastestTorch: null, ...shape })),
  failures: [],
});

const peersReport = peersOf([
  {
    shape: SHAPE,
    entries: [
      entry("k01", "rung", 3, true),
      entry("torch efficient", "torch", 19.6543, false),
      entry("torch math", "torch", 12.3456, true),
    ],
  },
]);

const ncuReport = {
  shape: "B1,H8,S1024,D64",
  allowed: 0.05,
  rows: [
    { rung: "k01", counter: "shared wavefronts", ncu: 1234567, sim: 1234567, flagged: false, note: null },
    { rung: "k01", counter: "instructions", ncu: 7654321, sim: 8765432, flagged: true, note: "the compiler" },
    { rung: "k01", counter: "barriers, one per subgroup", ncu: null, sim: 3, flagged: false },
  ],
};

const microbenchOf = (figures: Readonly<Record<string, number | null>>): object => ({
  timeKind: "measured",
  deviceName: "Some GPU",
  verified: true,
  sections: [
    {
      title: "All",
      figures: Object.entries(figures).map(([id, value]) => ({ id, name: id, value, unit: "" })),
    },
  ],
});

const microbenchReport = microbenchOf({ fmaPeak: 54_321, copyGBPerSecond: 4321, cacheGBPerSecond: 9876 });

let folder: string;
let counted: readonly CountedSubject[];
let bare: Guide;
let full: Guide;

const render = (evidence: Evidence): Guide => guideOf(ladderGuideOf(counted), evidence, "ladder");

const put = (name: string, document: unknown): void =>
  writeFileSync(join(folder, name), typeof document === "string" ? document : JSON.stringify(document));

function putAll(): void {
  put("ladder-cuda.json", wrapped(ladderReport(timeOf)));
  put("ladder-webgpu.json", wrapped(ladderReport(webgpuTimeOf)));
  put("peers.json", wrapped(peersReport));
  put("ncu.json", ncuReport);
  put("microbench.json", wrapped(microbenchReport));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "evolver-guide-"));
  putAll();
  counted = await countLadder();
  bare = render(NO_EVIDENCE);
  full = render(readEvidence(folder, attentionEvidence));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The sections of a guide by rung. */
function sectionsOf({ markdown }: Guide): Map<string, string> {
  const parts = markdown.split(/^## /m);
  return new Map(parts.filter((part) => /^k\d+:/.test(part)).map((part) => [part.slice(0, 3), part]));
}

/** The parts of its page of questions, by rung. */
function questionsOf({ pages }: Guide): Map<string, string> {
  const parts = (pages.get("questions.md") ?? "").split(/^## /m);
  return new Map(parts.slice(1).map((part) => [part.slice(0, 3), part]));
}

describe("every rung", () => {
  it.each(ladder.map(({ id }) => id))("%s has all its parts", (id) => {
    const rung = ladder.find((each) => each.id === id);
    for (const guide of [bare, full]) {
      const section = sectionsOf(guide).get(id) ?? "";
      expect(section).toContain(rung?.title);
      expect(section).toContain(`](ladder/${id}.svg)`);
      expect(guide.pictures.get(`${id}.svg`)).toMatch(/^<svg /);
      expect(section.match(/^- ✓ /gm) ?? []).toHaveLength(rung?.claims.length ?? -1);
      expect(section).toMatch(/\n```(?:typescript|diff|cuda)\n|There is no new code/);
      expect(section).not.toContain("✗");
      for (const [name, least] of [
        ["idea", 80],
        ["found", 80],
      ] as const)
        expect((rung?.[name] ?? "").length).toBeGreaterThan(least);
      expect(section).toMatch(/\*\*What was slow:\*\* .{40}/);
      expect(section).toMatch(/\*\*One hears:\*\* .{40}/);
      expect(section).toMatch(/\*\*Found:\*\* .{40}/);
      expect(
        questionsOf(guide)
          .get(id)
          ?.match(/<details>/g)?.length ?? 0,
      ).toBeGreaterThanOrEqual(4);
    }
  });

  it("counts what it claims", () => {
    for (const { subject, counted: own } of counted)
      expect(own.claims.map(({ holds }) => holds)).toEqual(subject.rung.claims.map(() => true));
  });

  it("builds on the rung that it differs least from", () => {
    const bases = Object.fromEntries(
      counted.map(({ subject }) => [subject.rung.id, subject.base?.id ?? null]),
    );
    expect(bases).toMatchObject({
      k01: null,
      k02: "k01",
      k03: "k02",
      k04: "k03",
      k05: "k04",
      k10: "k09",
      k12: "k11",
    });
  });

  it("has answers with the numbers that are counted", () => {
    const of = (id: string): CountedSubject => {
      const one = counted.find(({ subject }) => subject.rung.id === id);
      if (one === undefined) throw new Error(`no ${id}`);
      return one;
    };
    const own = (id: string): Counters => of(id).counted.own;
    const memory = (id: string, name: string): MemoryCounters => own(id).memory[name] as MemoryCounters;
    const geometry = (id: string): Geometry => of(id).subject.geometry;
    const keyValueBytes = (id: string): number => memory(id, "k").readBytes + memory(id, "v").readBytes;
    const slotBytes = (geometry("k05").sharedBytes - geometry("k04").sharedBytes).toLocaleString("en-US");
    const numbers: Readonly<Record<string, readonly (number | string)[]>> = {
      k01: [
        memory("k01", "k").readBytes,
        memory("k01", "k").readSectors,
        memory("k01", "v").readSectors,
        memory("k01", "k").readRequests,
        memory("k01", "v").readRequests,
        own("k01").issuedSubgroup,
      ],
      k02: [
        own("k02").sharedConflicts,
        memory("k02", "k").readSectors,
        memory("k02", "k_tile").readRequests,
        memory("k02", "k_tile").readBytes / 128,
        memory("k02", "k_tile").readBytes / 128 + own("k02").sharedConflicts,
      ],
      k03: [
        own("k02").globalReadBytes,
        own("k03").globalReadBytes,
        keyValueBytes("k02"),
        keyValueBytes("k03"),
        memory("k03", "q").readBytes,
      ],
      k05: [slotBytes, geometry("k05").sharedBytes, geometry("k04").sharedBytes],
      k06: [slotBytes],
      k07: [`${own("k07").workgroups} workgroups`],
      k08: [`= ${own("k08").globalAtomics} atomic operations`],
      k10: [`Why ${own("k10").barriers}?`],
      k11: [`= ${geometry("k11").registers},`],
      k12: [`Why ${own("k12").barriers}?`],
    };
    for (const [id, expected] of Object.entries(numbers)) {
      const questions = questionsOf(bare).get(id) ?? "";
      for (const number of expected) {
        const written = typeof number === "number" ? number.toLocaleString("en-US") : number;
        expect(questions, `${id}: ${written}`).toContain(written);
      }
    }
  });

  it("is counted on one problem for all", () => {
    const part = bare.markdown.slice(bare.markdown.indexOf("## All rungs, counted"));
    const rows = [
      ...part.matchAll(/^\| \[(k\d+)\]\(#[^)]*\) \| [^|]* \| ([\d,]+) \|(?: [\d,]+ \|){5} [\d.]+ \|$/gm),
    ];
    expect(rows.map(([, id, bytes]) => [id, bytes])).toEqual(
      counted.map(({ subject, counted: { common } }) => [
        subject.rung.id,
        common.globalReadBytes.toLocaleString("en-US"),
      ]),
    );
  });

  it("without a lesson is refused", () => {
    expect(() => lessonOf("k99")).toThrow(/LESSON_MISSING|no lesson for k99/);
  });
});

describe("links", () => {
  it("lead to headings and pictures that are there", () => {
    const headings = [...full.markdown.matchAll(/^#+ (.*)$/gm)].map((match) =>
      (match[1] as string)
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} -]/gu, "")
        .replaceAll(" ", "-"),
    );
    const anchors = [...full.markdown.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]);
    expect(anchors.length).toBeGreaterThan(ladder.length);
    expect(anchors.filter((anchor) => !headings.includes(anchor as string))).toEqual([]);
    const images = [...full.markdown.matchAll(/!\[[^\]]*\]\(ladder\/([^)]+)\)/g)].map((match) => match[1]);
    expect(images.toSorted()).toEqual([...full.pictures.keys()].toSorted());
    const pages = [...full.markdown.matchAll(/\]\(ladder\/([^)#]+\.md)#(k\d+)\)/g)];
    expect(pages.map((match) => match[2])).toEqual(ladder.map(({ id }) => id));
    for (const [, page] of pages) expect([...full.pages.keys()]).toContain(page);
    expect(full.pages.get("questions.md")).toContain("](../ladder.md#k01-naive");
  });
});

describe("docs/ladder.md", () => {
  const root = join(import.meta.dirname, "..", "..", "..", "..");
  const how = "write it anew: node tools/docs/docs.ts guide";

  it("is what the rungs and evidence/h200 give now, with its pictures", () => {
    const evidence = readEvidence(join(root, "evidence", "h200"), attentionEvidence);
    const { markdown, pictures, pages } = render(evidence);
    const kept = (name: string): string => readFileSync(join(root, "docs", name), "utf8");
    expect(kept("ladder.md") === markdown, how).toBe(true);
    const files = [...pictures, ...pages];
    expect(readdirSync(join(root, "docs", "ladder")).toSorted()).toEqual(
      files.map(([name]) => name).toSorted(),
    );
    for (const [name, text] of files)
      expect(kept(join("ladder", name)) === text, `${name}: ${how}`).toBe(true);
  });
});

describe("evidence", () => {
  it("is optional: what is missing is said, and no number made up", () => {
    expect(bare.markdown).toContain("Times: not measured.");
    expect(bare.markdown).not.toContain("PyTorch's float32 attention on the same shape");
    expect(bare.markdown).not.toMatch(/\d µs|TFLOP\/s \|/);
    for (const section of sectionsOf(bare).values())
      expect(section).toContain("\n**Time** on the shape of the table above: not measured.\n");
    expect([...bare.pictures.keys()]).toEqual(ladder.map(({ id }) => `${id}.svg`));
  });

  it("is shown as it is: measured and modelled times in columns of their own", () => {
    const part = full.markdown.slice(full.markdown.indexOf("## All rungs, measured"));
    const rows = [...part.matchAll(/^\| \[(k\d+)\]\(#[^)]*\) \|(.*)\|$/gm)];
    const cells = rows.map((match) => (match[2] as string).split("|").map((cell) => cell.trim()));
    expect(rows.map((match) => match[1])).toEqual(ladder.map(({ id }) => id));
    const grouped = (ms: number): string => Math.round(ms * 1000).toLocaleString("en-US");
    cells.forEach((numbers, k) =>
      expect(numbers).toEqual([
        grouped(timeOf(k)),
        (2.147483648 / timeOf(k)).toFixed(2),
        grouped(webgpuTimeOf(k)),
        (2.147483648 / webgpuTimeOf(k)).toFixed(2),
        grouped(MODELLED_MS),
      ]),
    );
    expect(full.markdown).toContain(
      "| CUDA, measured µs | TFLOP/s | WebGPU, measured µs | TFLOP/s | modelled µs |",
    );
    expect(full.markdown).toContain(
      "Measured: Some GPU; 2030-01-02; commit abc1234. Modelled: some profile.",
    );
  });

  it("of PyTorch and the microbenchmarks stands beside the rungs", () => {
    expect(full.markdown).toContain("| torch efficient | 109 | 19.65 | no |");
    expect(full.markdown).toContain("| torch math | 174 | 12.35 | yes |");
    expect(full.pictures.get("speed.svg")).toContain("torch math: 12.35");
    expect(full.pictures.get("speed.svg")).toContain("torch efficient: 19.65");
    expect(full.pictures.get("speed.svg")).toContain("torch efficient: its error is above our tolerance.");
    expect(full.pictures.get("roofline.svg")).toContain("54.3 TFLOP/s; memory 4321 GB/s");
    expect(sectionsOf(full).get("k02")).toContain(
      "**Time**, measured: CUDA 723 µs (k01: 713), WebGPU 1,959 µs (k01: 1,938); modelled 556 µs (k01: 556).",
    );
  });

  it("of the benchmark is preferred to the ladder's own report where it has every rung, and named", () => {
    const benchmark = (ids: readonly string[]): unknown =>
      peersOf([{ shape: SHAPE, entries: ids.map((id, k) => entry(id, "rung", 31.25 + k, true)) }]);
    const all = ladder.map(({ id }) => id);
    put("peers-webgpu.json", wrapped(benchmark(all)));
    const { markdown } = render(readEvidence(folder, attentionEvidence));
    put("peers-webgpu.json", wrapped(benchmark(all.slice(1))));
    const partial = render(readEvidence(folder, attentionEvidence));
    rmSync(join(folder, "peers-webgpu.json"));
    expect(markdown).toMatch(/^\| \[k01\].*\| 713 \| 3.01 \| 69 \| 31.25 \| 556 \|$/m);
    expect(markdown).toContain("Times over CUDA by ladder-cuda.json, over WebGPU by peers-webgpu.json.");
    expect(partial).toEqual(full);
    expect(full.markdown).toContain("over WebGPU by ladder-webgpu.json.");
  });

  it("of some rungs leaves the others unmeasured", () => {
    put("ladder-cuda.json", wrapped(ladderReport(timeOf, ["k01"])));
    rmSync(join(folder, "ladder-webgpu.json"));
    const { markdown, pictures } = render(readEvidence(folder, attentionEvidence));
    putAll();
    expect(markdown).toMatch(/^\| \[k01\].*\| 716 \| 3.00 \| not measured \|  \| 556 \|$/m);
    expect(markdown).toMatch(/^\| \[k02\].*\| not measured \|  \| not measured \|  \|  \|$/m);
    expect(pictures.get("speed.svg")?.match(/not measured/g)).toHaveLength(2 * ladder.length - 1);
  });

  it("of none of the rungs draws no chart", () => {
    put("ladder-cuda.json", wrapped(ladderReport(timeOf, [])));
    put("ladder-webgpu.json", wrapped(ladderReport(timeOf, [])));
    const { pictures } = render(readEvidence(folder, attentionEvidence));
    putAll();
    expect([...pictures.keys()]).toEqual([...bare.pictures.keys()]);
  });

  it("of other microbenchmarks draws no roofline", () => {
    put("microbench.json", microbenchOf({ fmaPeak: 1 }));
    const { markdown, pictures } = render(readEvidence(folder, attentionEvidence));
    putAll();
    expect(markdown).toContain("Roofline: the microbenchmarks were not measured.");
    expect(pictures.has("roofline.svg")).toBe(false);
  });

  it("has reasons for counters that are compared, in the direction that they explain", () => {
    const titles = comparisons.map(({ title }) => title);
    for (const { counters } of attentionEvidence.counterNotes)
      for (const counter of counters) expect(titles).toContain(counter);
    const ring = ladder.find(({ point }) => point.pipeline === "ring")?.id ?? "";
    const whys = (rung: string, sim: number): string[] =>
      attentionEvidence.counterNotes
        .filter(({ counters }) => counters.includes("global load sectors"))
        .filter(({ applies }) =>
          applies({ rung, counter: "global load sectors", ncu: 100, sim, flagged: true, note: null }),
        )
        .map(({ why }) => why);
    expect(whys(ring, 50)).toEqual([expect.stringContaining("one sector more")]);
    expect(whys(ring, 200)).toEqual([]);
    expect(whys("k01", 50)).toEqual([]);
  });

  it("gives the same guide each time", () => {
    expect(render(readEvidence(folder, attentionEvidence))).toEqual(full);
  });

  it.each([
    ["ladder-cuda.json", "{ no", /ladder-cuda\.json is not JSON/],
    ["ladder-cuda.json", "[]", /ladder-cuda\.json is an empty list; it must be an object/],
    ["ladder-cuda.json", wrapped({ timeKind: "modelled" }), /timeKind" is "modelled"; it must be "measured"/],
    [
      "ladder-webgpu.json",
      wrapped({ ...(ladderReport(timeOf) as object), rungs: 3 }),
      /rungs" is 3; it must be a list/,
    ],
    [
      "ladder-webgpu.json",
      wrapped(ladderReport((k) => (k === 2 ? -1 : 1))),
      /ladder-webgpu\.json: "result\.rungs\[2\]\.timeMs" is -1; it must be a positive number/,
    ],
    [
      "ladder-cuda-gqa.json",
      wrapped({ ...(ladderReport(timeOf) as object), input: 3 }),
      /result\.input" is 3/,
    ],
    ["peers.json", peersOf([{ shape: SHAPE }]), /peers\.json: "shapes\[0\]\.entries" is missing/],
    [
      "ncu.json",
      { ...ncuReport, rows: [{ rung: 1 }] },
      /ncu\.json: "rows\[0\]\.rung" is 1; it must be one of "?k01/,
    ],
    [
      "ladder-cuda.json",
      wrapped(ladderReport(timeOf, ["k01", "k99"])),
      /ladder-cuda\.json: "result\.rungs\[1\]\.id" is "k99"; it must be one of "k01", "k02"/,
    ],
    [
      "ladder-webgpu-gqa.json",
      ladderReport(timeOf, ["k01", "k02", "k01"]),
      /ladder-webgpu-gqa\.json: "rungs\[2\]\.id" is "k01"; it must be named once/,
    ],
    [
      "peers.json",
      peersOf([
        { shape: SHAPE, entries: [] },
        { shape: SHAPE, entries: [] },
      ]),
      /peers\.json: "shapes\[1\]\.shape" is "B1,Hq8,Hkv8,S1024,D64"; it must be named once/,
    ],
    [
      "peers-webgpu.json",
      peersOf([{ shape: SHAPE, entries: [entry("k99", "rung", 3, true)] }]),
      /peers-webgpu\.json: "shapes\[0\]\.entries\[0\]\.id" is "k99"; it must be one of "?k01/,
    ],
    [
      "peers.json",
      peersOf([{ shape: SHAPE, entries: [entry("k01", "rang", 3, true)] }]),
      /peers\.json: "shapes\[0\]\.entries\[0\]\.kind" is "rang"; it must be one of "rung", "point", "torch"/,
    ],
    [
      "peers.json",
      peersOf([{ shape: SHAPE, entries: ["torch", "torch"].map((id) => entry(id, "torch", 3, true)) }]),
      /peers\.json: "shapes\[0\]\.entries\[1\]\.id" is "torch"; it must be named once/,
    ],
    [
      "ncu.json",
      { ...ncuReport, rows: [{ ...ncuReport.rows[0], rung: "k99" }] },
      /ncu\.json: "rows\[0\]\.rung" is "k99"; it must be one of "?k01/,
    ],
    [
      "ncu.json",
      { ...ncuReport, rows: [{ ...ncuReport.rows[0], counter: "luck" }] },
      /ncu\.json: "rows\[0\]\.counter" is "luck"; it must be one of "global load requests"/,
    ],
    [
      "ncu.json",
      { ...ncuReport, rows: [ncuReport.rows[0], ncuReport.rows[0]] },
      /ncu\.json: "rows\[1\]\.counter" is "shared wavefronts"; it must be named once/,
    ],
    [
      "microbench.json",
      microbenchOf({ fmaPeak: null }),
      /microbench\.json: "sections\[0\]\.figures\[0\]\.value" is null; it must be a number/,
    ],
  ])("%s, malformed, is refused with the field", (name, document, message) => {
    put(name, document);
    try {
      expect(() => readEvidence(folder, attentionEvidence)).toThrow(message);
      expect(() => readEvidence(folder, attentionEvidence)).toThrow(
        expect.objectContaining({ code: "EVIDENCE_INVALID" }),
      );
    } finally {
      rmSync(join(folder, name));
      putAll();
    }
  });

  it("that is a folder is refused by its name", () => {
    const path = join(folder, "ladder-cuda-gqa.json");
    mkdirSync(path);
    expect(() => readEvidence(folder, attentionEvidence)).toThrow(
      /ladder-cuda-gqa\.json cannot be read: EISDIR/,
    );
    expect(() => readEvidence(folder, attentionEvidence)).toThrow(
      expect.objectContaining({ code: "EVIDENCE_INVALID" }),
    );
    rmSync(path, { recursive: true });
  });

  it("in no folder is refused before anything is counted", async () => {
    const guide = study.guide!({ evidence: join(folder, "none"), pictures: "ladder" });
    await expect(guide).rejects.toMatchObject({ code: "EVIDENCE_NOT_FOUND" });
  });
});

/** Elements of an XML text by name, if it is well-formed. Throws where it is not. */
function elementsOf(xml: string): string[] {
  const open: string[] = [];
  const names: string[] = [];
  let end = 0;
  for (const match of xml.matchAll(/<(\/?)([a-zA-Z]+)((?: [A-Za-z0-9:-]+="[^"<]*")*)(\/?)>/g)) {
    const between = xml.slice(end, match.index);
    if (/[<>]|&(?!(?:amp|lt|gt|quot|#\d+);)/.test(between)) throw new Error(`stray markup: ${between}`);
    end = match.index + match[0].length;
    const [, closing, name, , empty] = match as unknown as [string, string, string, string, string];
    if (closing === "/") {
      if (open.pop() !== name) throw new Error(`</${name}> closes another element`);
    } else {
      names.push(name);
      if (empty !== "/") open.push(name);
    }
  }
  if (open.length > 0 || xml.slice(end).trim() !== "") throw new Error(`not closed: ${open.join(", ")}`);
  return names;
}

describe("pictures", () => {
  it("are well-formed", () => {
    for (const [name, svg] of full.pictures) {
      const elements = elementsOf(svg);
      expect(elements[0], name).toBe("svg");
      expect(elements.length, name).toBeGreaterThan(20);
    }
    expect(() => elementsOf("<svg><text>a < b</text></svg>")).toThrow("stray markup");
    expect(() => elementsOf("<svg><g></svg>")).toThrow("closes another");
  });

  it("show the point: slots, layouts, rows, the queue", () => {
    const shown = (id: string): string => full.pictures.get(`${id}.svg`) ?? "";
    expect(shown("k01")).not.toContain("K tile");
    expect(shown("k03")).toContain("8 passes where one would do");
    expect(shown("k04").match(/one pass, no conflict/g)).toHaveLength(2);
    expect(shown("k06")).toContain("K tile, slot 1");
    expect(shown("k07").match(/only copies/g)).toHaveLength(2);
    expect(shown("k08")).toContain("32 tiles for 3 workgroups, the longest of each head first");
    expect(shown("k09")).toContain("q0, h3");
    expect(shown("k11")).toContain("8 rows × 8 keys");
    expect(shown("k12")).toContain("4 rows × 8 keys");
  });
});

requireOptional(
  "Chromium",
  hasChromium,
  howToHaveChromium,
)("pictures in a browser", () => {
  it("have no text outside, none on top of another, and none below 11 px", async () => {
    const browser = await launchChromium();
    try {
      for (const colorScheme of ["light", "dark"] as const) {
        const page = await browser.newPage({ colorScheme });
        for (const [name, svg] of full.pictures) {
          await page.setContent(`<body>${svg}</body>`);
          expect({ name, faults: await page.evaluate(faultsOfPage) }).toEqual({ name, faults: [] });
        }
        await page.setContent(BROKEN);
        expect(await page.evaluate(faultsOfPage)).toEqual(["outside: a", "small: b", "covers: a, b"]);
      }
    } finally {
      await browser.close();
    }
  });
});

const BROKEN = `<svg width="40" height="40" viewBox="0 0 40 40"><text x="-3" y="20" font-size="12">a</text><text x="1" y="20" font-size="9">b</text></svg>`;

/** Runs in the page. */
function faultsOfPage(): string[] {
  const {
    x: left,
    y: top,
    width,
    height,
  } = (document.querySelector("svg") as SVGSVGElement).getBoundingClientRect();
  const texts = [...document.querySelectorAll("text")].map((element) => ({
    content: element.textContent ?? "",
    box: element.getBoundingClientRect(),
    size: Number.parseFloat(getComputedStyle(element).fontSize),
  }));
  const outside = texts.filter(
    ({ box }) => box.left < left || box.top < top || box.right > left + width || box.bottom > top + height,
  );
  const covering = texts.flatMap((a, k) =>
    texts
      .slice(k + 1)
      .filter(
        (b) =>
          a.box.x < b.box.x + b.box.width &&
          b.box.x < a.box.x + a.box.width &&
          a.box.y + 2 < b.box.y + b.box.height &&
          b.box.y + 2 < a.box.y + a.box.height,
      )
      .map((b) => `covers: ${a.content}, ${b.content}`),
  );
  return [
    ...outside.map(({ content }) => `outside: ${content}`),
    ...texts.filter(({ size }) => size < 11).map(({ content }) => `small: ${content}`),
    ...covering,
  ];
}
