/**
 * What was measured, read from a folder of evidence: the ladders' reports, the benchmark beside PyTorch, Nsight Compute's
 * counters, the microbenchmarks. Every file may be absent; one that is there has to be whole.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ladder } from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import { Field } from "./field.ts";

/** Where a file came from. */
export interface Origin {
  readonly command: string | null;
  readonly date: string | null;
  readonly commit: string | null;
  readonly gpu: string | null;
}

interface MeasuredRung {
  readonly verified: boolean;
  readonly timeMs: number;
  readonly modelledTimeMs: number;
  readonly tflops: number;
  readonly globalSectors: number;
}

export interface LadderEvidence extends Origin {
  /** The file that its times are from. */
  readonly file: string;
  readonly deviceName: string;
  /** "B1,Hq8,Hkv8,S1024,D64, random data" */
  readonly input: string;
  /** Of the modelled times. */
  readonly profile: string;
  readonly rungs: ReadonlyMap<string, MeasuredRung>;
}

export interface Peer {
  readonly id: string;
  readonly tflops: number;
  readonly timeMs: number;
  /** Its output is within the tolerance that our rungs are held to. */
  readonly verified: boolean;
}

export interface PeersEvidence extends Origin {
  readonly file: string;
  /** PyTorch's entries by shape. */
  readonly shapes: ReadonlyMap<string, readonly Peer[]>;
  /** Our rungs by shape and id. */
  readonly rungs: ReadonlyMap<string, ReadonlyMap<string, Peer>>;
}

interface HardwareCounter {
  readonly rung: string;
  readonly counter: string;
  readonly ncu: number | null;
  readonly sim: number;
  readonly flagged: boolean;
  readonly note: string | null;
}

interface NcuEvidence extends Origin {
  readonly shape: string;
  /** The largest difference that is not flagged, as a share. */
  readonly allowed: number;
  readonly rows: readonly HardwareCounter[];
}

/** Null is what was not measured. */
interface RoofEvidence extends Origin {
  readonly peakGflops: number | null;
  readonly memoryGBPerSecond: number | null;
  readonly cacheGBPerSecond: number | null;
}

/** A shape on both devices. */
export interface LadderPair {
  readonly cuda: LadderEvidence | null;
  readonly webgpu: LadderEvidence | null;
}

export interface Evidence {
  /** The first is what the guide's chart and table show. */
  readonly ladders: readonly LadderPair[];
  readonly peers: PeersEvidence | null;
  readonly peersWebgpu: PeersEvidence | null;
  readonly ncu: NcuEvidence | null;
  readonly roof: RoofEvidence | null;
}

export const NO_EVIDENCE: Evidence = Object.freeze({
  ladders: [],
  peers: null,
  peersWebgpu: null,
  ncu: null,
  roof: null,
});

/**
 * @throws EvolverError EVIDENCE_NOT_FOUND where there is no such folder; EVIDENCE_INVALID, with the file and the field, for
 *   a file that is not what it should be
 */
export function readEvidence(folder: string): Evidence {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new EvolverError("EVIDENCE_NOT_FOUND", `there is no folder ${folder}`, {
      hint: "name a folder such as evidence/h200, or leave --evidence out; files may be missing in it",
    });
  const load = <T>(
    name: string,
    parse: (field: Field) => T,
  ): (T & Origin & { readonly file: string }) | null => {
    const path = join(folder, `${name}.json`);
    if (!existsSync(path)) return null;
    const document = Field.ofFile(path, textOf(path));
    const wrapped = document.has("result");
    return {
      ...originOf(document),
      file: `${name}.json`,
      ...parse(wrapped ? document.get("result") : document),
    };
  };
  const pair = (suffix: string): LadderPair => ({
    cuda: load(`ladder-cuda${suffix}`, parseLadder),
    webgpu: load(`ladder-webgpu${suffix}`, parseLadder),
  });
  return {
    ladders: [pair(""), pair("-gqa")].filter(({ cuda, webgpu }) => cuda !== null || webgpu !== null),
    peers: load("peers", parsePeers),
    peersWebgpu: load("peers-webgpu", parsePeers),
    ncu: load("ncu", parseNcu),
    roof: load("microbench", parseRoof),
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("EVIDENCE_INVALID", `${path} cannot be read: ${what}`, {
      hint: "it is a file with a JSON document; remove what is there: the documents then say that it was not measured",
      cause: error,
    });
  }
}

/** Of a file that tools/gpu/evidence.ts kept; a bare report says nothing of its origin. */
export function originOf(document: Field): Origin {
  const text = (...names: readonly string[]): string | null => {
    let field: Field = document;
    for (const name of names) {
      if (!field.has(name)) return null;
      field = field.get(name);
    }
    return field.isNull ? null : field.text();
  };
  return {
    command: text("command"),
    date: text("date"),
    commit: text("versions", "commit"),
    gpu: text("machine", "gpu"),
  };
}

/** What tools/gpu/ncu.ts compares. */
const NCU_COUNTERS: readonly string[] = [
  "global load requests",
  "global load sectors",
  "global load bytes",
  "global store requests",
  "global store sectors",
  "global store bytes",
  "shared load instructions",
  "shared store instructions",
  "shared wavefronts",
  "shared bank conflicts",
  "operations of fma, add and mul",
  "special-function instructions",
  "barriers, one a subgroup",
  "instructions",
];

const RUNGS: readonly string[] = ladder.map(({ id }) => id);

const PEER_KINDS: readonly string[] = ["rung", "point", "torch"];

/** Refuses what it has seen before. */
class Names {
  readonly #seen = new Set<string>();

  /** @param of whose name it is, where names need only differ within it */
  read(field: Field, known: readonly string[] | null, of = ""): string {
    const name = field.text();
    if (known !== null && !known.includes(name)) throw field.invalid(`one of ${known.join("; ")}`);
    const key = JSON.stringify([of, name]);
    if (this.#seen.has(key)) throw field.invalid("named once, not twice");
    this.#seen.add(key);
    return name;
  }
}

function parseLadder(report: Field): Omit<LadderEvidence, keyof Origin | "file"> {
  const kind = report.get("timeKind");
  if (kind.text() !== "measured") throw kind.invalid('"measured"');
  const rungs = new Map<string, MeasuredRung>();
  const ids = new Names();
  for (const rung of report.get("rungs").items()) {
    rungs.set(ids.read(rung.get("id"), RUNGS), {
      verified: rung.get("verified").flag(),
      timeMs: rung.get("timeMs").positive(),
      modelledTimeMs: rung.get("modelledTimeMs").positive(),
      tflops: rung.get("tflops").positive(),
      globalSectors: rung.get("counters").get("globalSectors").positive(),
    });
  }
  return {
    deviceName: report.get("deviceName").text(),
    input: report.get("input").text(),
    profile: report.get("profile").text(),
    rungs,
  };
}

function parsePeers(report: Field): Omit<PeersEvidence, keyof Origin | "file"> {
  const shapes = new Map<string, Peer[]>();
  const rungs = new Map<string, ReadonlyMap<string, Peer>>();
  const names = new Names();
  for (const shape of report.get("shapes").items()) {
    const ids = new Names();
    const entriesOf = (kind: string, known: readonly string[] | null): Peer[] =>
      shape
        .get("entries")
        .items()
        .filter((entry) => new Names().read(entry.get("kind"), PEER_KINDS) === kind)
        .map((entry) => ({
          id: ids.read(entry.get("id"), known, kind),
          timeMs: entry.get("timeMs").get("median").positive(),
          tflops: entry.get("tflops").positive(),
          verified: entry.get("verified").flag(),
        }));
    const name = names.read(shape.get("shape"), null);
    shapes.set(name, entriesOf("torch", null));
    rungs.set(name, new Map(entriesOf("rung", RUNGS).map((rung) => [rung.id, rung])));
  }
  return { shapes, rungs };
}

function parseNcu(report: Field): Omit<NcuEvidence, keyof Origin> {
  const counters = new Names();
  return {
    shape: report.get("shape").text(),
    allowed: report.get("allowed").positive(),
    rows: report
      .get("rows")
      .items()
      .map((row) => {
        const rung = new Names().read(row.get("rung"), RUNGS);
        return {
          rung,
          counter: counters.read(row.get("counter"), NCU_COUNTERS, rung),
          ncu: row.get("ncu").isNull ? null : row.get("ncu").number(),
          sim: row.get("sim").number(),
          flagged: row.get("flagged").flag(),
          note: row.has("note") && !row.get("note").isNull ? row.get("note").text() : null,
        };
      }),
  };
}

/** Figures that the roofline needs; a report of other tests has none of them. */
function parseRoof(report: Field): Omit<RoofEvidence, keyof Origin> {
  const figures = new Map(
    report
      .get("sections")
      .items()
      .flatMap((section) => section.get("figures").items())
      .map((figure) => [figure.get("id").text(), figure.get("value")] as const),
  );
  const value = (id: string): number | null => figures.get(id)?.positive() ?? null;
  return {
    peakGflops: value("fmaPeak"),
    memoryGBPerSecond: value("copyGBPerSecond"),
    cacheGBPerSecond: value("cacheGBPerSecond"),
  };
}
