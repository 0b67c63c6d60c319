/** Writes the JavaScript of asynchronous copies: a function that starts them and a kind (CopyKind) that lets them land. */

import { elementBytes } from "@evolver/kernel";
import type { AsyncCopyNode } from "@evolver/kernel";
import { positionName } from "../runtime/counting.ts";
import { REGISTER_FILE } from "../runtime/subgroup.ts";
import { count as countField, countRequest, findRange, sectorShift } from "./accesses.ts";
import {
  checkRead,
  checkRequest,
  checkWrite,
  eachElement,
  rememberReader,
  takeData,
  takeHistory,
} from "./checks.ts";
import type { CheckOptions, NamedMemory } from "./checks.ts";
import { eachActive } from "./prelude.ts";

const upTo = (width: number): number[] => Array.from({ length: width }, (_, j) => j);

/**
 * Copies of one width to a memory.
 *
 * @param source the memory they come from where its elements are marked meanwhile, or null
 */
export interface CopyShape {
  readonly source: NamedMemory | null;
  readonly target: NamedMemory;
  readonly width: number;
}

/** The kind `name`, with the function that lands its copies. */
export function copyKind(name: string, { source, target, width }: CopyShape, options: CheckOptions): string {
  const ended = `if (copyInto[element] === accessBase + lane + 1) copyInto[element] = 0;
    writeTime[element] = now;`;
  const landedByLane = eachElement(width, "copy.to[lane]", `${ended}\nwriter[element] = accessBase + lane;`);
  const landedByActor = eachElement(
    width,
    "indices[lane]",
    `${ended}
    writer[element] = landedBy;
    copyStarter[element * 2] = base + lane;
    copyStarter[element * 2 + 1] = generation[lane];`,
  );
  const landed = `if (copy.actor < 0) {
      ${eachActive(landedByLane)}
    } else {
      const { generation } = copy, landedBy = copy.site * SITE_STRIDE + copy.actor;
      ${eachActive(landedByActor)}
    }`;
  const checks = `const { base, epochStart } = copy.subgroup, accessBase = copy.site * SITE_STRIDE + base;
    {
      ${takeHistory(target, landed)}
      ${landed}
    }
    ${source === null ? "" : endOfReading(source, width, options)}`;
  const body = `time.changes++;
  ${findRange(width)}
  ${options.counters ? countRequest(target, width, "write") : ""}
  ${options.races === "none" ? "" : `if (${target.name}.checked) {\n${checks}\n}`}
  ${eachActive(`const index = indices[lane], from = lane * ${width};
    ${upTo(width)
      .map((j) => `data[index + ${j}] = copied[from + ${j}];`)
      .join("\n")}`)}`;
  return `function ${name}_land(copy) {
  const { lanes: active, to: indices, data: copied } = copy, { mask, count } = active, first = 0;
  ${takeData(target, body)}
  ${body}
}
const ${name} = {
  memory: ${target.number},
  source: ${source?.number ?? null},
  bytes: ${width * elementBytes(target.memory.element)},
  land: ${name}_land,
  free: [],
  newData: () => new ${target.name}.data.constructor(WIDTH * ${width}),
};`;
}

/** The copies do not read their source any more. A lane that waits for its copy itself has read until now. */
function endOfReading(source: NamedMemory, width: number, options: CheckOptions): string {
  const body = `const { from } = copy, byLane = copy.actor < 0;
  ${eachActive(`const start = from[lane];
      if (start >= 0) for (let element = start; element < start + ${width}; element++) {
        copiesFrom[element]--;
        if (byLane) {
          ${rememberReader(source, options)}
        }
      }`)}`;
  return `{
      ${takeHistory(source, body)}
      ${body}
    }`;
}

/**
 * `name(subgroup, active, place)`: starts copies from the index in each lane's register at `from` to that at `to`; where
 * the register at `wanted` is 0 nothing is read (wanted < 0: everywhere something is).
 *
 * @param kind the name of their kind
 */
export function startCopyFunction(
  name: string,
  kind: string,
  node: AsyncCopyNode,
  { from, to }: { readonly from: NamedMemory; readonly to: NamedMemory },
  options: CheckOptions,
): string {
  const { width } = node;
  const bytes = width * elementBytes(from.memory.element);
  const counters = `totals[${positionName("asyncCopies")}]++;
  if (wanting.count > 0) {
    const { counts, stamps } = ${from.name};
    ${countField("readRequests", "1")}
    ${countField("readBytes", `wanting.count * ${bytes}`)}
    ${countField("readSectors", `countSectors(sources, place.from, wanting, stamps, ${sectorShift(from)})`)}
  }`;
  const tracked = options.races !== "none" && options.sources.has(from.memory);
  // Several copies may read an element at once: their number, and the last one.
  const mark = tracked ? "copiesFrom[element]++;\ncopyFrom[element] = accessBase + lane;" : "";
  const read = eachElement(
    width,
    "sources[place.from + lane]",
    `${checkRead(from, options, "copy")}\n${mark}`,
  );
  const write = eachElement(
    width,
    "targets[place.to + lane]",
    `${checkWrite(to, options, "copy", false)}\ncopyInto[element] = accessBase + lane + 1;`,
  );
  const readerLoop = `for (let lane = 0; lane < WIDTH; lane++) if (wanted[lane] !== 0) {
      ${read}
    }`;
  const fill = `const index = sources[place.from + lane];
      ${tracked ? "from[lane] = index;" : ""}
      ${upTo(width)
        .map((j) => `copied[at + ${j}] = data[index + ${j}];`)
        .join("\n")}`;
  const clear = `${tracked ? "from[lane] = -1;" : ""}
      ${upTo(width)
        .map((j) => `copied[at + ${j}] = 0;`)
        .join("\n")}`;
  const request = (target: NamedMemory, lanes: string, indices: string, first: string): string =>
    `{ subgroup, active: ${lanes}, site: place.site, action: "copy", memory: ${target.number}, indices: ${indices}, first: place.${first}, width: ${width} }`;
  return `const ${name}_wanting = { mask: new Uint8Array(WIDTH), count: 0 };
function ${name}(subgroup, active, place) {
  const { mask, count } = active, { ${REGISTER_FILE[node.fromIndex.type]}: sources } = subgroup, { ${REGISTER_FILE[node.toIndex.type]}: targets, i32 } = subgroup;
  const wanting = ${name}_wanting, wanted = wanting.mask;
  time.instruction++;
  if (place.wanted < 0) copyLanes(wanting, active);
  else {
    let some = 0;
    for (let lane = 0; lane < WIDTH; lane++) {
      wanted[lane] = mask[lane] !== 0 && i32[place.wanted + lane] !== 0 ? 1 : 0;
      some += wanted[lane];
    }
    wanting.count = some;
  }
  if (!fits(targets, place.to, active, ${width}, ${to.name}.length)) {
    const inside = findings.keepInside(${request(to, "active", "targets", "to")});
    if (inside.count > 0) ${name}(subgroup, inside, place);
    return;
  }
  if (wanting.count > 0 && !fits(sources, place.from, wanting, ${width}, ${from.name}.length)) {
    const inside = findings.keepInside(${request(from, "wanting", "sources", "from")});
    for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0 && wanted[lane] === 0) inside.add(lane);
    if (inside.count > 0) ${name}(subgroup, inside, place);
    return;
  }
  ${options.counters ? counters : ""}
  ${checkRequest(from, options.races, readerLoop)}
  ${checkRequest(to, options.races, eachActive(write))}
  const copy = copies.take(${kind}, subgroup, place.site), { lanes, to, data: copied${tracked ? ", from" : ""} } = copy, { data } = ${from.name};
  lanes.mask.set(mask);
  lanes.count = count;
  for (let lane = 0; lane < WIDTH; lane++) if (count === WIDTH || mask[lane] !== 0) {
    to[lane] = targets[place.to + lane];
    const at = lane * ${width};
    if (wanted[lane] !== 0) {
      ${fill}
    } else {
      ${clear}
    }
  }
  copies.start(copy);
}`;
}
