/**
 * What was measured on the H200, read for the tables of docs/gpu.md and README.md. Every file of the folder may be absent;
 * one that is there has to be whole.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { axes, type FlashPoint } from "@evolver/attention";
import {
  originOf,
  readEvidence,
  type Evidence,
  type Origin,
} from "../../../packages/attention/src/study/guide/evidence.ts";
import { Field } from "../../../packages/attention/src/study/guide/field.ts";
import { readChecks, type Checks } from "./readChecks.ts";

export interface PeerEntry {
  readonly id: string;
  readonly kind: "rung" | "point" | "torch";
  readonly point: FlashPoint | null;
  readonly kernels: readonly string[];
  readonly timeMs: number;
  readonly tflops: number;
  /** By the roofs that the benchmark was given; null where it had none. */
  readonly shareOfPeak: number | null;
  readonly shareOfBandwidth: number | null;
  readonly verified: boolean;
  readonly ofFastestTorch: number | null;
  readonly ofTorchMath: number | null;
}

export interface PeerShape {
  readonly shape: string;
  readonly compulsoryBytes: number;
  readonly entries: readonly PeerEntry[];
  readonly refused: readonly { readonly id: string; readonly why: string }[];
  readonly fastestTorch: string | null;
}

export interface Peers extends Origin {
  readonly deviceName: string;
  /** PyTorch's version; null where it was measured without. */
  readonly torch: string | null;
  readonly rounds: number;
  readonly shapes: readonly PeerShape[];
  readonly failures: readonly { readonly shape: string; readonly why: string }[];
}

export interface Figure {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

interface Microbench extends Origin {
  readonly deviceName: string;
  /** By their ids. */
  readonly figures: ReadonlyMap<string, Figure>;
  readonly verified: boolean;
}

export interface Evolution extends Origin {
  /** NAME of evolve-NAME.json. */
  readonly name: string;
  readonly device: string;
  /** "B1,Hq8,Hkv8,S512,D64, random data" */
  readonly input: string;
  readonly cycles: number;
  readonly trials: number;
  readonly interrupted: boolean;
  readonly baseline: { readonly title: string; readonly timeMs: number };
  /** The point is null where the champion is code, or from a space with fewer axes than today's. */
  readonly champion: {
    readonly title: string;
    readonly timeMs: number;
    readonly point: FlashPoint | null;
  };
  readonly speedup: number;
  readonly rejected: readonly { readonly reason: string; readonly count: number }[];
}

/** A file of evidence, and how it came about. */
interface Source extends Origin {
  readonly file: string;
  readonly exitCode: number | null;
  readonly seconds: number | null;
}

export interface H200 extends Pick<Evidence, "ladders" | "ncu" | "roof"> {
  readonly sources: readonly Source[];
  readonly peers: Peers | null;
  readonly peersWebgpu: Peers | null;
  readonly microbench: Microbench | null;
  readonly evolutions: readonly Evolution[];
  readonly checks: Checks;
  /** Whether the folder has such a file: a plot, a log. */
  has(file: string): boolean;
}

/** @throws EvolverError EVIDENCE_NOT_FOUND, or EVIDENCE_INVALID with the file and the field that is not as it should be */
export function readH200(folder: string): H200 {
  const { ladders, ncu, roof } = readEvidence(folder);
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .toSorted();
  const documents = new Map(
    names.map((name) => {
      const path = join(folder, `${name}.json`);
      return [name, Field.ofFile(path, readFileSync(path, "utf8"))] as const;
    }),
  );
  /** What a file that tools/gpu/evidence.ts kept says; a bare report is taken, too. */
  const load = <T>(name: string, parse: (report: Field) => T): (T & Origin) | null => {
    const document = documents.get(name);
    if (document === undefined) return null;
    const report = document.has("result") ? document.get("result") : document;
    return { ...originOf(document), ...parse(report) };
  };
  return {
    ladders,
    ncu,
    roof,
    sources: [...documents].map(([name, document]) => sourceOf(`${name}.json`, document)),
    peers: load("peers", parsePeers),
    peersWebgpu: load("peers-webgpu", parsePeers),
    microbench: load("microbench", parseMicrobench),
    evolutions: names
      .filter((name) => name.startsWith("evolve-"))
      .flatMap((name) => load(name, (report) => parseEvolution(name.slice("evolve-".length), report)) ?? []),
    checks: readChecks(load),
    has: (file) => existsSync(join(folder, file)),
  };
}

function sourceOf(file: string, document: Field): Source {
  const numberIn = (name: string): number | null =>
    document.has(name) ? numberOrNull(document.get(name)) : null;
  const own = { ...originOf(document) };
  const gpu = own.gpu ?? (document.has("gpu") ? document.get("gpu").text() : null);
  return { file, ...own, gpu, exitCode: numberIn("exitCode"), seconds: numberIn("seconds") };
}

const numberOrNull = (field: Field): number | null => (field.isNull ? null : field.number());
const positiveOrNull = (field: Field): number | null => (field.isNull ? null : field.positive());

function parsePeers(report: Field): Omit<Peers, keyof Origin> {
  const torch = report.get("torch");
  return {
    deviceName: report.get("deviceName").text(),
    torch: torch.isNull ? null : torch.get("torch").text(),
    rounds: report.get("rounds").positive(),
    shapes: report
      .get("shapes")
      .items()
      .map((shape) => ({
        shape: shape.get("shape").text(),
        compulsoryBytes: shape.get("compulsoryBytes").positive(),
        entries: shape.get("entries").items().map(parseEntry),
        refused: shape
          .get("refused")
          .items()
          .map((each) => ({ id: each.get("id").text(), why: each.get("why").text() })),
        fastestTorch: shape.get("fastestTorch").isNull ? null : shape.get("fastestTorch").text(),
      })),
    failures: report
      .get("failures")
      .items()
      .map((each) => ({ shape: each.get("shape").text(), why: each.get("why").text() })),
  };
}

function parseEntry(entry: Field): PeerEntry {
  const kind = entry.get("kind");
  const known = (["rung", "point", "torch"] as const).find((each) => each === kind.text());
  if (known === undefined) throw kind.invalid("rung, point or torch");
  const kernels = entry.get("kernels");
  return {
    id: entry.get("id").text(),
    kind: known,
    point: entry.get("point").isNull ? null : parsePoint(entry.get("point")),
    kernels: kernels.isNull ? [] : kernels.items().map((name) => name.text()),
    timeMs: entry.get("timeMs").get("median").positive(),
    tflops: entry.get("tflops").positive(),
    shareOfPeak: positiveOrNull(entry.get("shareOfPeak")),
    shareOfBandwidth: positiveOrNull(entry.get("shareOfBandwidth")),
    verified: entry.get("verified").flag(),
    ofFastestTorch: positiveOrNull(entry.get("ofFastestTorch")),
    ofTorchMath: positiveOrNull(entry.get("ofTorchMath")),
  };
}

/** Null for a point of an older space, which lacks axes. */
function parsePoint(field: Field): FlashPoint | null {
  if (axes.some(({ name }) => !field.has(name))) return null;
  const values = axes.map(({ name, values: all }) => {
    const value = field.get(name);
    return [name, typeof all[0] === "number" ? value.number() : value.text()] as const;
  });
  return Object.fromEntries(values) as unknown as FlashPoint;
}

function parseMicrobench(report: Field): Omit<Microbench, keyof Origin> {
  const kind = report.get("timeKind");
  if (kind.text() !== "measured") throw kind.invalid('"measured"');
  const figures = report
    .get("sections")
    .items()
    .flatMap((section) =>
      section
        .get("figures")
        .items()
        .map((figure): [string, Figure] => [
          figure.get("id").text(),
          {
            section: section.get("title").text(),
            name: figure.get("name").text(),
            value: figure.get("value").number(),
            unit: figure.get("unit").text(),
          },
        ]),
    );
  return {
    deviceName: report.get("deviceName").text(),
    figures: new Map(figures),
    verified: report.get("verified").flag(),
  };
}

function parseEvolution(name: string, report: Field): Omit<Evolution, keyof Origin> {
  const kind = report.get("timeKind");
  if (kind.text() !== "measured") throw kind.invalid('"measured"');
  const [baseline, champion] = [report.get("baseline"), report.get("champion")];
  const candidate = champion.get("candidate");
  return {
    name,
    device: report.get("device").text(),
    input: report.get("input").text(),
    cycles: report.get("cycles").number(),
    trials: report.get("trials").positive(),
    interrupted: report.get("interrupted").flag(),
    baseline: { title: baseline.get("title").text(), timeMs: baseline.get("timeMs").positive() },
    champion: {
      title: champion.get("title").text(),
      timeMs: champion.get("timeMs").positive(),
      point: candidate.get("kind").text() === "point" ? parsePoint(candidate.get("point")) : null,
    },
    speedup: report.get("speedup").positive(),
    rejected: report
      .get("rejected")
      .items()
      .map((each) => ({ reason: each.get("reason").text(), count: each.get("count").positive() })),
  };
}
