/**
 * Writes the JavaScript that checks one element of an access: races, uninitialised shared memory, copies in flight.
 *
 * Time is a number that grows at every barrier and workgroup (runtime/time.ts); who accessed an element is an access id
 * (runtime/access-id.ts). For each element a memory keeps its last accesses (runtime/storage.ts).
 *
 * Where only barriers of the whole workgroup order anything, two accesses of a workgroup are unordered exactly when they
 * happen in the same interval between barriers, and those of two workgroups always ("intervals"). Two readers of the last
 * interval are enough to know whether any other reader than a writer exists.
 *
 * Elsewhere ("clocks") time also grows at each release. An earlier access is unordered when it is later than what this
 * lane knows of the other lane (runtime/happens-before.ts). All readers since the last write are kept (runtime/readers.ts),
 * in shared memory only those since the last barrier of the workgroup.
 */

import type { Memory } from "@evolver/kernel";
import { READER_ENTRY } from "../runtime/readers.ts";
import { eachActive } from "./prelude.ts";
import { takeFields } from "./text.ts";

export type RaceMode = "none" | "intervals" | "clocks";

export interface CheckOptions {
  readonly races: RaceMode;
  readonly counters: boolean;
  /** Whether several workgroups are under way at once, so that times of this one and of others alternate. */
  readonly interleaved: boolean;
  /** Whether an atomic load may return what was there before a write that nothing orders before it. */
  readonly weak: boolean;
  /** Where asynchronous copies go. */
  readonly copied: ReadonlySet<Memory>;
  /** What they read and somebody writes. */
  readonly sources: ReadonlySet<Memory>;
  /** Buffers that the kernel writes before it reads them: elements that nobody wrote may not be read. */
  readonly scratch: ReadonlySet<Memory>;
}

/** A memory of the kernel as generated code knows it: its record's name, and its number for the runtime. */
export interface NamedMemory {
  readonly memory: Memory;
  readonly name: string;
  readonly number: number;
}

/** Fields of a memory's record (runtime/storage.ts) that checks use, those that the rest uses, and those of the time. */
const CHECK_FIELDS = [
  ...["isRead", "fresh", "writeTime", "writer", "readTime", "reader", "otherReader", "earlierReadTime"],
  ...["earlierReader", "copyInto", "copyStarter", "copiesFrom", "copyFrom", "readers", "readerHeads"],
];
const DATA_FIELDS = ["data", "length", "counts", "stamps"];
const TIME_FIELDS = ["now", "launchStart", "workgroupStart", "lastBarrier"];

export const takeData = ({ name }: NamedMemory, code: string): string => takeFields(name, DATA_FIELDS, code);

/** What checks use of a memory and of the time. */
export const takeHistory = ({ name }: NamedMemory, code: string): string =>
  `${takeFields(name, CHECK_FIELDS, code)}\n${takeFields("time", TIME_FIELDS, code)}`;

/** Checks of each element that a lane accesses. */
export const eachElement = (width: number, index: string, check: string): string =>
  width === 1
    ? `const element = ${index};\n${check}`
    : `const start = ${index};
    for (let element = start; element < start + ${width}; element++) {
      ${check}
    }`;

/** The checks of one request, where its memory needs them. */
export function checkRequest(target: NamedMemory, races: RaceMode, checks: string): string {
  if (races === "none") return "";
  return `if (${target.name}.checked) {
    const { base } = subgroup, accessBase = place.site * SITE_STRIDE + base;
    ${races === "clocks" ? "const { clocks, epochStart } = subgroup;" : ""}
    ${takeHistory(target, checks)}
    ${checks}
  }`;
}

/** What the runtime is told of the access of `lane` to `element`. */
export const accessRecord = ({ number }: NamedMemory, action: string): string =>
  `{ subgroup, lane, site: place.site, action: "${action}", memory: ${number}, element }`;

const reportRace = (target: NamedMemory, action: string, earlier: string, by: string, when: string): string =>
  `races.report(${accessRecord(target, action)}, { action: "${earlier}", accessId: ${by}, time: ${when} });`;

/** A copy in flight to the element that the lane touches. */
const checkCopyInto = (target: NamedMemory, action: string, { copied }: CheckOptions): string =>
  copied.has(target.memory)
    ? `if (copyInto[element] !== 0) copyFindings.destinationTouched(${accessRecord(target, action)}, copyInto[element] - 1);`
    : "";

/** A copy in flight from the element that the lane writes. */
const checkCopyFrom = (target: NamedMemory, action: string, { sources }: CheckOptions): string =>
  sources.has(target.memory)
    ? `if (copiesFrom[element] !== 0) copyFindings.sourceWritten(${accessRecord(target, action)}, copyFrom[element]);`
    : "";

/** An element of a buffer that nobody has ever written. */
const checkUnwritten = (target: NamedMemory, action: string, { scratch }: CheckOptions): string =>
  scratch.has(target.memory)
    ? `if (fresh && written === 0) findings.uninitialised(${accessRecord(target, action)});`
    : "";

/** Checks that the lane may read the element, and remembers that it has. */
export function checkRead(target: NamedMemory, options: CheckOptions, action = "read"): string {
  const shared = target.memory.space === "shared";
  const uninitialised = `findings.uninitialised(${accessRecord(target, action)});`;
  const race = reportRace(target, action, "write", "writer[element]", "written");
  if (options.races === "clocks") {
    const byOtherWorkgroup = `if (written > launchStart && !races.knowsOther(clocks[lane], writer[element], written)) ${race}`;
    return `${checkCopyInto(target, action, options)}
    const written = writeTime[element];
    if (${isSinceBarrier(target, options)}) {
      const by = writer[element] & ACTOR;
      if (by !== base + lane && written > clocks[lane].times[by]) ${race}
    } else if (!${isHere(target, options, "written")}) {
      ${shared ? uninitialised : `${byOtherWorkgroup}\n${checkUnwritten(target, action, options)}`}
    }
    ${rememberReader(target, options)}`;
  }
  return `${checkCopyInto(target, action, options)}
    const written = writeTime[element];
    if (written >= workgroupStart) {
      if (written === now && (writer[element] & ACTOR) !== base + lane) ${race}
    } else {
      ${shared ? uninitialised : `if (written > launchStart) ${race}\n${checkUnwritten(target, action, options)}`}
    }
    ${rememberReader(target, options)}`;
}

/** Whether a time is one of the present workgroup. */
const isHere = ({ memory }: NamedMemory, { interleaved }: CheckOptions, when: string): string =>
  interleaved && memory.space === "global" ? `time.isHere(${when})` : `(${when} >= workgroupStart)`;

/** Whether the last write is one of the present workgroup since it last met at a barrier. */
const isSinceBarrier = ({ memory }: NamedMemory, { interleaved }: CheckOptions): string =>
  interleaved && memory.space === "global"
    ? "written >= lastBarrier && time.isHere(written)"
    : "written >= lastBarrier";

/** Remembers the lane as a reader of the element. */
export function rememberReader(target: NamedMemory, options: CheckOptions): string {
  if (options.races === "clocks") return rememberReaders(target, "(lane & -32)", "(1 << lane)");
  const earlier =
    target.memory.space === "shared"
      ? ""
      : `if (read > launchStart && read < workgroupStart) {
        earlierReadTime[element] = read;
        earlierReader[element] = reader[element];
      }`;
  return `const read = readTime[element];
    if (read !== now) {
      ${earlier}
      readTime[element] = now;
      reader[element] = accessBase + lane;
      otherReader[element] = -1;
    } else if (otherReader[element] === -1 && (reader[element] & ACTOR) !== base + lane) otherReader[element] = accessBase + lane;`;
}

/** With clocks: remembers lanes as readers of the element, as bits of the chunk that begins at lane `first`. */
function rememberReaders(target: NamedMemory, first: string, bits: string): string {
  const stale = target.memory.space === "shared" ? "< lastBarrier" : "<= launchStart";
  return `const head = element * ${READER_ENTRY};
    if (readerHeads[head] >= epochStart && (readerHeads[head + 2] & ACTOR) === base + ${first}) readerHeads[head + 1] |= ${bits};
    else if (readerHeads[head] ${stale}) {
      readerHeads[head] = now;
      readerHeads[head + 1] = ${bits};
      readerHeads[head + 2] = accessBase + ${first};
      readerHeads[head + 3] = 0;
    } else {
      reading.accessId = accessBase + ${first};
      reading.bits = ${bits};
      reading.epochStart = epochStart;
      readers.add(element, reading, time);
    }`;
}

/**
 * Checks that the lane may write the element.
 *
 * @param lands false for a copy that starts: it may not touch what others still use, and has not written yet
 */
export function checkWrite(
  target: NamedMemory,
  options: CheckOptions,
  action = "write",
  lands = true,
): string {
  const copies = `${checkCopyInto(target, action, options)}\n${checkCopyFrom(target, action, options)}`;
  const remember = lands ? "writeTime[element] = now;\nwriter[element] = accessBase + lane;" : "";
  const races =
    options.races === "clocks"
      ? checkWriteWithClocks(target, action, options)
      : checkWriteByIntervals(target, action);
  return `${copies}\n${races}\n${remember}`;
}

function checkWriteWithClocks(target: NamedMemory, action: string, options: CheckOptions): string {
  const shared = target.memory.space === "shared";
  const race = reportRace(target, action, "write", "writer[element]", "written");
  const byOtherWorkgroup = `else if (written > launchStart && !${isHere(target, options, "written")} && !races.knowsOther(clock, writer[element], written)) ${race}`;
  const readHere = shared ? "" : `${isHere(target, options, "read")} && `;
  return `const written = writeTime[element], clock = clocks[lane];
    if (${isSinceBarrier(target, options)}) {
      const by = writer[element] & ACTOR;
      if (by !== base + lane && written > clock.times[by]) ${race}
    }
    ${shared ? "" : byOtherWorkgroup}
    if (isRead) {
      const head = element * ${READER_ENTRY}, read = readerHeads[head];
      if (read ${shared ? ">= lastBarrier" : "> launchStart"}) {
        const first = readerHeads[head + 2] & ACTOR;
        // One entry only, of lanes that the writer knows up to then or of itself.
        if (${readHere}readerHeads[head + 3] === 0 && (read <= clock.least[first >>> CHUNK_SHIFT] || first === base + (lane & -32) && readerHeads[head + 1] === 1 << lane)) readerHeads[head] = 0;
        else if (!readers.settle(element, clock.least, CHUNK_SHIFT, ${shared ? "lastBarrier" : "workgroupStart"}, time)) races.clearReaders(${accessRecord(target, action)});
      }
    }`;
}

function checkWriteByIntervals(target: NamedMemory, action: string): string {
  const shared = target.memory.space === "shared";
  const race = reportRace(target, action, "write", "writer[element]", "written");
  const reader = (by: string, when: string): string => reportRace(target, action, "read", by, when);
  const byEarlierWorkgroup = (when: string): string => `${when} > launchStart && ${when} < workgroupStart`;
  return `const written = writeTime[element];
    if (written === now) {
      if ((writer[element] & ACTOR) !== base + lane) ${race}
    }
    ${shared ? "" : `else if (${byEarlierWorkgroup("written")}) ${race}`}
    if (isRead) {
      const read = readTime[element];
      if (read === now) {
        if ((reader[element] & ACTOR) !== base + lane) ${reader("reader[element]", "read")}
        else if (otherReader[element] !== -1) ${reader("otherReader[element]", "read")}
      }
      ${
        shared
          ? ""
          : `else if (${byEarlierWorkgroup("read")}) ${reader("reader[element]", "read")}
      if (${byEarlierWorkgroup("earlierReadTime[element]")}) ${reader("earlierReader[element]", "earlierReadTime[element]")}`
      }
    }`;
}

/** Checks reads of the same elements by all active lanes, where most of it need not be done for each. */
export function checkSharedRead(
  target: NamedMemory,
  width: number,
  index: string,
  options: CheckOptions,
): string {
  const shared = target.memory.space === "shared";
  const eachOf = (
    body: string,
  ): string => `for (let element = ${index}; element < ${index} + ${width}; element++) {
      ${body}
    }`;
  if (options.races !== "clocks") {
    // Once two lanes are known to read an element that nobody writes now, further readers change nothing.
    const known = shared ? "" : " || writeTime[element] <= launchStart";
    const landed = options.copied.has(target.memory) ? " && copyInto[element] === 0" : "";
    const settled =
      options.races === "intervals"
        ? `if (readTime[element] === now && otherReader[element] !== -1 && writeTime[element] !== now && (writeTime[element] >= workgroupStart${known})${landed}) break;`
        : "";
    return eachOf(`for (let lane = 0; lane < WIDTH; lane++) {
      ${settled}
      if (count === WIDTH || mask[lane] !== 0) {
        ${checkRead(target, options)}
      }
    }`);
  }
  const race = reportRace(target, "read", "write", "writer[element]", "written");
  const unwritten = checkUnwritten(target, "read", options);
  const byOtherWorkgroup = shared
    ? eachActive(`findings.uninitialised(${accessRecord(target, "read")});`)
    : `if (written > launchStart) {
      ${eachActive(`if (!races.knowsOther(clocks[lane], writer[element], written)) ${race}`)}
    }
    ${unwritten && eachActive(unwritten)}`;
  const copy = checkCopyInto(target, "read", options);
  return `const common = subgroup.commonClock, allBits = laneBits(active, 0);
    ${eachOf(`
      ${copy && eachActive(copy)}
      const written = writeTime[element], by = writer[element] & ACTOR;
      if (${isSinceBarrier(target, options)}) {
        if (common === null || written > common.times[by]) {
          ${eachActive(`if (by !== base + lane && written > clocks[lane].times[by]) ${race}`)}
        }
      } else if (!${isHere(target, options, "written")}) {
        ${byOtherWorkgroup}
      }
      for (let chunk = 0; chunk < WIDTH; chunk += 32) {
        const bits = chunk === 0 ? allBits : laneBits(active, chunk);
        if (bits !== 0) {
          ${rememberReaders(target, "chunk", "bits")}
        }
      }`)}`;
}
