/**
 * Writes the JavaScript of loads and stores: one function for each memory, width and kind of access of a kernel, so
 * that each sees arrays of one type only. A function handles one request (an instruction of one subgroup): bounds,
 * counters, races, then the data.
 */

import { elementBytes, scalarTypes } from "@evolver/kernel";
import { positionName } from "../runtime/counting.ts";
import type { FieldName } from "../runtime/counting.ts";
import { REGISTER_FILE } from "../runtime/subgroup.ts";
import type { RegisterFile } from "../runtime/subgroup.ts";
import { checkRead, checkRequest, checkSharedRead, checkWrite, eachElement, takeData } from "./checks.ts";
import type { CheckOptions, NamedMemory } from "./checks.ts";
import { accessShape, eachActive, isEncoded } from "./prelude.ts";

/** A width of access to a memory; `indexFile` holds the indices. */
export interface AccessKind {
  readonly target: NamedMemory;
  readonly width: number;
  readonly indexFile: RegisterFile;
}

const upTo = (width: number): number[] => Array.from({ length: width }, (_, j) => j);

/** The element's index shifted by this is that of its 32-byte sector. */
export const sectorShift = ({ memory }: NamedMemory): number => (elementBytes(memory.element) === 2 ? 4 : 3);
/** The element's index shifted by this is that of its 4-byte word. */
const wordShift = ({ memory }: NamedMemory): number => (elementBytes(memory.element) === 2 ? 1 : 0);
/** The words that an access of `width` elements touches. */
const wordsOf = (target: NamedMemory, width: number): number => Math.max(1, width >> wordShift(target));
/** The width that counts where all lanes want one address: twice as many lanes as else fit in a pass. */
const wordsOfOneAddress = (words: number): number => Math.max(1, words / 2);

/** An element of the array as registers hold it, and back. */
const decode = ({ memory }: NamedMemory, held: string): string =>
  isEncoded(memory.element) ? `decode${scalarTypes[memory.element].suffix}(${held})` : held;
const encode = ({ memory }: NamedMemory, value: string): string =>
  isEncoded(memory.element) ? `encode${scalarTypes[memory.element].suffix}(${value})` : value;

export const count = (field: FieldName, amount: string): string =>
  `counts[${positionName(field)}] += ${amount};`;

/**
 * Finds the lowest and highest index, whether all lanes access consecutive elements, and the bits of all indices where
 * they must be multiples.
 */
export function findRange(width: number): string {
  const look = `const index = indices[first + lane];
    if (index < lowest) lowest = index;
    if (index > highest) highest = index;
    ${width > 1 ? "indexBits |= index;" : ""}`;
  return `let lowest = Infinity, highest = -Infinity, indexBits = 0, consecutive = false;
  if (count === WIDTH) {
    let next = indices[first];
    consecutive = true;
    for (let lane = 0; lane < WIDTH; lane++) {
      ${look}
      if (index !== next) consecutive = false;
      next += ${width};
    }
  } else for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0) {
    ${look}
  }`;
}

const outside = (lowest: string, highest: string, bits: string, width: number): string =>
  `!(${lowest} >= 0 && ${highest} <= length - ${width})${width > 1 ? ` || (${bits} & ${width - 1}) !== 0` : ""}`;

/** Counts a request, where findRange() stands before. */
export function countRequest(target: NamedMemory, width: number, way: "read" | "write"): string {
  const words = wordsOf(target, width);
  const head = `${count(`${way}Requests`, "1")}
  ${count(`${way}Bytes`, `count * ${elementBytes(target.memory.element) * width}`)}`;
  if (target.memory.space === "global") {
    const shift = sectorShift(target);
    const sectors = `lowest === highest ? 1 : consecutive ? ((highest + ${width - 1}) >>> ${shift}) - (lowest >>> ${shift}) + 1 : countSectors(indices, first, active, stamps, ${shift})`;
    return `${head}\n${count(`${way}Sectors`, sectors)}`;
  }
  const { name } = accessShape(words, wordShift(target));
  const groups = `countGroups(active, lowest === highest ? ${wordsOfOneAddress(words)} : ${words})`;
  return `${head}
  if (lowest === highest || consecutive) ${count("passes", groups)}
  else countBanks(indices, first, active, ${name}, ${target.name});`;
}

/** What countRequest() needs declared for a memory and width. */
export function countDeclaration(
  target: NamedMemory,
  width: number,
): { name: string; declaration: string } | null {
  if (target.memory.space === "global") return null;
  return accessShape(wordsOf(target, width), wordShift(target));
}

/** How a word of a memory is accessed by each lane. */
export const wordShape = (target: NamedMemory): { name: string; declaration: string } =>
  accessShape(1, wordShift(target));

/** A request whose indices are in registers at the place's `index`. */
function requestFunction(name: string, { target, indexFile }: AccessKind, body: string): string {
  return `function ${name}(subgroup, active, place) {
  const { mask, count } = active, { ${indexFile}: indices } = subgroup, first = place.index;
  ${takeData(target, body)}
  ${body}
}`;
}

/** The request that keepInside() looks at. */
const requestRecord = (target: NamedMemory, action: string, width: number): string =>
  `{ subgroup, active, site: place.site, action: "${action}", memory: ${target.number}, indices, first, width: ${width} }`;

/** `name(subgroup, active, place)`: loads from the index in each lane's register, to registers at `result0` and on. */
export function loadFunction(name: string, kind: AccessKind, options: CheckOptions): string {
  const { target, width } = kind;
  const results = upTo(width).map((j) => `result${j}`);
  const move = results
    .map((at, j) => `registers[${at} + lane] = ${decode(target, `data[index${j > 0 ? ` + ${j}` : ""}]`)};`)
    .join("\n");
  const checks = `if (lowest === highest) {
      ${checkSharedRead(target, width, "lowest", options)}
    } else ${eachActive(eachElement(width, "indices[first + lane]", checkRead(target, options))).trim()}`;
  return requestFunction(
    name,
    kind,
    `const { ${REGISTER_FILE[target.memory.element]}: registers } = subgroup, { ${results.join(", ")} } = place;
  time.instruction++;
  ${findRange(width)}
  if (${outside("lowest", "highest", "indexBits", width)}) {
    const inside = findings.keepInside(${requestRecord(target, "read", width)});
    for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0 && inside.mask[lane] === 0) {
      ${results.map((at) => `registers[${at} + lane] = 0;`).join("\n")}
    }
    if (inside.count > 0) ${name}(subgroup, inside, place);
    return;
  }
  ${options.counters ? countRequest(target, width, "read") : ""}
  ${checkRequest(target, options.races, checks)}
  ${eachActiveLane(move)}`,
  );
}

/**
 * `name(subgroup, active, place, index)`: all lanes read at one index; returns the first element, the others are in loaded1
 * to loaded7.
 */
export function uniformLoadFunction(
  name: string,
  target: NamedMemory,
  width: number,
  options: CheckOptions,
): string {
  const others = upTo(width).slice(1);
  const { memory, number } = target;
  const serve =
    memory.space === "global"
      ? count("readSectors", "1")
      : count("passes", `countGroups(active, ${wordsOfOneAddress(wordsOf(target, width))})`);
  const counters = `${count("readRequests", "1")}
  ${count("readBytes", `count * ${elementBytes(memory.element) * width}`)}
  ${serve}`;
  const request = `{ subgroup, active, site: place.site, action: "read", memory: ${number}, width: ${width} }`;
  const body = `time.instruction++;
  if (${outside("index", "index", "index", width)}) {
    findings.sharedIndexOutside(${request}, index);
    ${others.map((j) => `loaded${j} = 0;`).join("\n")}
    return 0;
  }
  ${options.counters ? counters : ""}
  ${checkRequest(target, options.races, checkSharedRead(target, width, "index", options))}
  ${others.map((j) => `loaded${j} = ${decode(target, `data[index + ${j}]`)};`).join("\n")}
  return ${decode(target, "data[index]")};`;
  return `function ${name}(subgroup, active, place, index) {
  const { mask, count } = active;
  ${takeData(target, body)}
  ${body}
}`;
}

/**
 * `name(subgroup, active, place)`: stores registers at `value0` and on to the index in each lane's register; of lanes that
 * write one element, the last wins.
 */
export function storeFunction(name: string, kind: AccessKind, options: CheckOptions): string {
  const { target, width } = kind;
  const values = upTo(width).map((j) => `value${j}`);
  const move = values
    .map((at, j) => `data[index${j > 0 ? ` + ${j}` : ""}] = ${encode(target, `registers[${at} + lane]`)};`)
    .join("\n");
  const checks = eachActive(eachElement(width, "indices[first + lane]", checkWrite(target, options)));
  return requestFunction(
    name,
    kind,
    `const { ${REGISTER_FILE[target.memory.element]}: registers } = subgroup, { ${values.join(", ")} } = place;
  time.instruction++;
  time.changes++;
  ${findRange(width)}
  if (${outside("lowest", "highest", "indexBits", width)}) {
    const inside = findings.keepInside(${requestRecord(target, "write", width)});
    if (inside.count > 0) ${name}(subgroup, inside, place);
    return;
  }
  ${options.counters ? countRequest(target, width, "write") : ""}
  ${checkRequest(target, options.races, checks)}
  ${eachActiveLane(move)}`,
  );
}

/** Moves the elements of every active lane; where all are active, without looking at the mask. */
const eachActiveLane = (move: string): string =>
  `if (count === WIDTH) for (let lane = 0; lane < WIDTH; lane++) {
    const index = indices[first + lane];
    ${move}
  } else for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0) {
    const index = indices[first + lane];
    ${move}
  }`;
