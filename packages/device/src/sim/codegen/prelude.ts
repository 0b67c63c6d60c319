/**
 * What the generated code of all kernels begins with: what it is given, constants, and functions over lanes. The
 * functions are text, not modules, because the width of a subgroup is a constant in them and the engine then knows it too.
 */

import { scalarTypes } from "@evolver/kernel";
import type { ElementType } from "@evolver/kernel";
import { SITE_STRIDE } from "../runtime/access-id.ts";
import { positionName, positions } from "../runtime/counting.ts";
import { STOPS } from "../runtime/subgroup.ts";
import { chunkLanes } from "../runtime/vector-clock.ts";

/** A loop over the active lanes of a set whose `mask` and `count` are at hand. */
export const eachActive = (body: string): string => `
  for (let lane = 0; lane < WIDTH; lane++) if (count === WIDTH || mask[lane] !== 0) {
    ${body}
  }`;

const record = (fields: Readonly<Record<string, number>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");

const elementTypes = (Object.keys(scalarTypes) as (keyof typeof scalarTypes)[]).filter(
  (type): type is ElementType => scalarTypes[type].element,
);

/** Types that arrays hold in another form than registers do. */
export const isEncoded = (type: ElementType): boolean => scalarTypes[type].bytes === 2;

const codecs = elementTypes
  .filter(isEncoded)
  .map((type) => {
    const { suffix } = scalarTypes[type];
    return `const { encode: encode${suffix}, decode: decode${suffix} } = scalarTypes.${type};`;
  })
  .join("\n");

/** @param kernel its name */
export const prelude = (kernel: string, width: number): string => `
"use strict";
// Kernel "${kernel.replaceAll("\n", " ")}" as the simulator runs it: the generator run() at the end executes one subgroup of ${width} lanes.
// It stops (yield) where the scheduler may let another subgroup go on.
//
// A value that all lanes share is a JavaScript number, named after where it comes from and numbered as in the IR. Values that
// differ by lane lie in registers: lane 0's at a position in subgroup.f32, i32, u32 or f64, the others' behind it. Runs of
// arithmetic on them are functions of their own (laneLoop), which take the shared values they use. $name is a variable.
// "active" is the set of lanes that execute: { mask, count }. A place is what an instruction's function must know of it:
// its site number, for findings, and the positions of its registers. x_product, x_sum, x_rounded and x_rest compute an fma x
// in double precision, which rounds right unless the sum lies halfway between two numbers.
const { m, scalarTypes, subgroupOperations, totals, time, ran, returned, returnedTo } = environment;
const fround = Math.fround;
${codecs}
const WIDTH = ${width};
const ${record(STOPS)};
// An access id is site * SITE_STRIDE + actor; the actor is the invocation, or a phase barrier that lands copies.
const SITE_STRIDE = ${SITE_STRIDE}, ACTOR = ${SITE_STRIDE - 1};
const CHUNK_SHIFT = ${31 - Math.clz32(chunkLanes(width))};
// Positions of counters in totals, and in the counts of a memory.
const ${record(Object.fromEntries(positions()))};
// The parts of the launch's runtime.
let races, findings, copyFindings, copies, phases, order, weak, shadows, reach, traces, runtime;
// What a uniform load of several elements returns beside the first.
let loaded1 = 0, loaded2 = 0, loaded3 = 0, loaded4 = 0, loaded5 = 0, loaded6 = 0, loaded7 = 0;
`;

/** Functions over sets of lanes. */
export const laneFunctions = `
// Parts active lanes by a condition in registers.
function splitLanes(registers, condition, active, then, otherwise) {
  let count = 0;
  for (let lane = 0; lane < WIDTH; lane++) {
    const holds = active.mask[lane] !== 0 && registers[condition + lane] !== 0 ? 1 : 0;
    then.mask[lane] = holds;
    otherwise.mask[lane] = active.mask[lane] - holds;
    count += holds;
  }
  then.count = count;
  otherwise.count = active.count - count;
}

// Lanes for which the condition does not hold leave the set.
function keepWhere(registers, condition, lanes) {
  const { mask } = lanes;
  let count = 0;
  for (let lane = 0; lane < WIDTH; lane++) if (mask[lane] !== 0) {
    if (registers[condition + lane] !== 0) count++;
    else mask[lane] = 0;
  }
  lanes.count = count;
}

// Lanes that are not in the iteration any more leave the set.
function keepIterating(lanes, iteration) {
  const { mask } = lanes;
  let count = 0;
  for (let lane = 0; lane < WIDTH; lane++) {
    if (iteration.mask[lane] === 0) mask[lane] = 0;
    count += mask[lane];
  }
  lanes.count = count;
}

// Active lanes break out of a loop. Who needs the numbers of those left counts them.
function breakLanes(active, staying, iteration) {
  for (let lane = 0; lane < WIDTH; lane++) if (active.mask[lane] !== 0) {
    staying.mask[lane] = 0;
    iteration.mask[lane] = 0;
  }
}

// Active lanes continue with the next iteration.
function continueLanes(active, iteration) {
  for (let lane = 0; lane < WIDTH; lane++) if (active.mask[lane] !== 0) iteration.mask[lane] = 0;
}

function recount(lanes) {
  let count = 0;
  for (let lane = 0; lane < WIDTH; lane++) count += lanes.mask[lane];
  lanes.count = count;
}

function copyLanes(to, from) {
  to.mask.set(from.mask);
  to.count = from.count;
}

// Remembers which lanes have set a variable that was declared without a value.
function markSet(set, active) {
  for (let lane = 0; lane < WIDTH; lane++) if (active.mask[lane] !== 0) set.mask[lane] = 1;
}

function anyUnset(set, active) {
  for (let lane = 0; lane < WIDTH; lane++) if (active.mask[lane] !== 0 && set.mask[lane] === 0) return true;
  return false;
}

// Whether an index of an active lane is not from 0 to a limit.
function exceeds(registers, first, active, most) {
  const { mask, count } = active;
  for (let lane = 0; lane < WIDTH; lane++) {
    const index = registers[first + lane];
    if (!(index >= 0 && index <= most) && (count === WIDTH || mask[lane] !== 0)) return true;
  }
  return false;
}

// Mixes what a loop carries on into one number, to compare two iterations by.
const number = new Float64Array(1), numberBits = new Int32Array(number.buffer);
function mixNumber(state, value) {
  number[0] = value;
  return Math.imul(Math.imul(state ^ numberBits[0], 0x01000193) ^ numberBits[1], 0x01000193);
}

function mixLanes(state, registers, first) {
  let mixed = state;
  for (let lane = 0; lane < WIDTH; lane++) mixed = Math.imul(mixed ^ registers[first + lane], 0x01000193);
  return mixed;
}

// Compares the iterations of a loop.
class LoopWatch {
  iterations = 0;
  state = 0; changes = -1;
  // Iterations since the one that is compared with, how many are compared with it, and in which one they first agreed.
  turn = 0; lap = 2; first = 0;
  sees(state, changes) {
    if (changes !== this.changes || this.turn === this.lap) {
      this.lap = changes === this.changes ? this.lap * 2 : 2;
      this.changes = changes;
      this.state = state;
      this.turn = this.first = 0;
      return false;
    }
    this.turn++;
    if (state !== this.state) return false;
    if (this.first === 0) this.first = this.turn;
    return this.turn === 2 * this.first;
  }
}

function anyZero(registers, first, active) {
  for (let lane = 0; lane < WIDTH; lane++) if (active.mask[lane] !== 0 && registers[first + lane] === 0) return true;
  return false;
}`;

/** Functions that check and count requests to memory. */
export const memoryFunctions = `
// Whether accesses of width elements are inside the memory and aligned.
function fits(indices, first, active, width, length) {
  const { mask, count } = active;
  ${eachActive(`
    const index = indices[first + lane];
    if (!(index >= 0 && index <= length - width) || index % width !== 0) return false;`)}
  return true;
}

// How many additions the active lanes make in a scan: lane l one for each distance 1, 2, 4, … up to l.
function scanSteps(active) {
  const { mask, count } = active;
  let steps = 0;
  ${eachActive(`steps += 32 - Math.clz32(lane);`)}
  return steps;
}

// The active lanes of a chunk of 32, as bits.
function laneBits(active, chunk) {
  const { mask, count } = active;
  if (count === WIDTH && WIDTH >= 32) return -1;
  const end = chunk + 32 < WIDTH ? chunk + 32 : WIDTH;
  let bits = 0;
  for (let lane = chunk; lane < end; lane++) if (count === WIDTH || mask[lane] !== 0) bits |= 1 << lane;
  return bits;
}

// A reading to remember (readers.ts).
const reading = { accessId: 0, bits: 0, epochStart: 0 };

// The number of 32-byte sectors that a request touches.
function countSectors(indices, first, active, stamps, shift) {
  const { mask, count } = active;
  const stamp = (time.stamp = (time.stamp + 1) | 0);
  let sectors = 0;
  ${eachActive(`
    const sector = indices[first + lane] >>> shift;
    if (stamps[sector] !== stamp) {
      stamps[sector] = stamp;
      sectors++;
    }`)}
  return sectors;
}

// Shared memory serves a request in passes. An access is { words, shift, from, to }: the 4-byte words that each lane wants,
// the shift from an element's index to its word's, and the lanes that are served together.
const bankStamp = new Int32Array(32), bankLoad = new Int32Array(32);

// Whether lanes, and those at a distance from them, want the same address.
function wantSame(indices, first, active, access, distance) {
  const { mask, count } = active, { from, to } = access;
  for (let lane = from; lane < to; lane++) {
    const other = lane ^ distance;
    if (other > lane && other < to && (count === WIDTH || mask[lane] !== 0 && mask[other] !== 0) && indices[first + lane] !== indices[first + other]) return false;
  }
  return true;
}

// Counts as many passes as the most loaded bank has distinct words.
function countPasses(indices, first, active, access, memory) {
  const { mask, count } = active, { words, shift, from, to } = access, { stamps, counts } = memory;
  const stamp = (time.stamp = (time.stamp + 1) | 0);
  let most = 0;
  for (let lane = from; lane < to; lane++) if (count === WIDTH || mask[lane] !== 0) {
    const start = indices[first + lane] >>> shift;
    for (let word = start; word < start + words; word++) if (stamps[word] !== stamp) {
      stamps[word] = stamp;
      const bank = word & 31;
      if (bankStamp[bank] !== stamp) {
        bankStamp[bank] = stamp;
        bankLoad[bank] = 0;
      }
      const load = ++bankLoad[bank];
      if (load > most) most = load;
    }
  }
  if (most > 0) {
    counts[${positionName("passes")}] += most;
    counts[${positionName("conflicts")}] += most - 1;
  }
}

// Counts passes, group after group of lanes that are served together.
function countBanks(indices, first, active, access, memory) {
  const { words } = access;
  const few = 32 / words, many = words === 1 ? 32 : 2 * few;
  for (let group = 0; group < WIDTH; group += many) {
    const end = group + many < WIDTH ? group + many : WIDTH;
    access.from = group;
    access.to = end;
    if (words === 1 || wantSame(indices, first, active, access, 1) || wantSame(indices, first, active, access, 2)) countPasses(indices, first, active, access, memory);
    else for (let half = group; half < end; half += few) {
      access.from = half;
      access.to = half + few < end ? half + few : end;
      countPasses(indices, first, active, access, memory);
    }
  }
}

// Groups of lanes that are served together and in which somebody is active, where each takes one pass.
function countGroups(active, words) {
  const { mask, count } = active;
  if (count === WIDTH) return WIDTH * words > 32 ? WIDTH * words / 32 : 1;
  const lanes = 32 / words;
  let groups = 0;
  for (let group = 0; group < WIDTH; group += lanes) {
    const end = group + lanes < WIDTH ? group + lanes : WIDTH;
    for (let lane = group; lane < end; lane++) if (mask[lane] !== 0) {
      groups++;
      break;
    }
  }
  return groups;
}`;

/** The declarations of a width of access (see countBanks), and its name. */
export const accessShape = (words: number, shift: number): { name: string; declaration: string } => ({
  name: `access_${words}_words_shift_${shift}`,
  declaration: `const access_${words}_words_shift_${shift} = { words: ${words}, shift: ${shift}, from: 0, to: 0 };`,
});
