/**
 * The race checks against a brute-force oracle: random programs of reads, writes, asynchronous copies, barriers of
 * workgroups and of subgroups, phase barriers and atomic tickets, whose accesses are compared pair by pair with the
 * definition of a race.
 */

import { atomic, buffer, f32, i32, kernel, u32 } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const LANES = 8;
const SUBGROUP = 4;
const WORKGROUPS = 2;
const INVOCATIONS = LANES * WORKGROUPS;
const ELEMENTS = 40;

interface Step {
  readonly action:
    | "read"
    | "write"
    | "barrier"
    | "fence"
    | "ticket"
    | "copy"
    | "commit"
    | "await0"
    | "await1"
    | "arrive"
    | "arriveAfterCopies"
    | "wait";
  /** For each invocation of the launch: the element, or −1 where it does not take part. */
  readonly elements: readonly number[];
  /** Which of the arrivals before a wait is for. */
  readonly pick?: number;
}

const takesPart = ({ elements }: Step, invocation: number): boolean => (elements[invocation] as number) >= 0;

const isArrival = (step: Step): boolean => step.action === "arrive" || step.action === "arriveAfterCopies";

/** The step of the arrivals that step k, a wait, waits for; −1 for none. */
function arrivalFor(steps: readonly Step[], k: number): number {
  const arrivals = steps.flatMap((step, j) => (j < k && isArrival(step) ? [j] : []));
  const { pick = 0 } = steps[k] as Step;
  return arrivals.length === 0 ? -1 : (arrivals[pick % arrivals.length] as number);
}

const groupOf = (invocation: number): number => Math.floor(invocation / LANES);
const subgroupOf = (invocation: number): number => Math.floor(invocation / SUBGROUP);

/**
 * Elements with two accesses of different invocations, one of them a write, that no path orders. Paths go along each
 * invocation's steps, through barriers within a workgroup or subgroup, from arrivals to waits for them, and from each
 * ticket to the next.
 *
 * @param tickets by step and invocation: what the atomic addition (acquire and release) returned
 */
function racyElements(steps: readonly Step[], shared: boolean, tickets: Uint32Array): Set<number> {
  const count = steps.length * INVOCATIONS;
  const after = Array.from({ length: count }, () => new Uint8Array(count));
  const edge = (from: number, to: number): void => void ((after[from] as Uint8Array)[to] = 1);
  const drawn: number[] = [];
  steps.forEach(({ action, elements }, step) => {
    for (let i = 0; i < INVOCATIONS; i++) {
      const event = step * INVOCATIONS + i;
      if (action === "ticket" && (elements[i] as number) >= 0) drawn.push(event);
      if (step === 0) continue;
      const before = (step - 1) * INVOCATIONS;
      const together = action === "barrier" ? groupOf : action === "fence" ? subgroupOf : null;
      if (together === null) edge(before + i, event);
      else for (let j = 0; j < INVOCATIONS; j++) if (together(i) === together(j)) edge(before + j, event);
    }
  });
  for (const [step, { action }] of steps.entries()) {
    const arrival = action === "wait" ? arrivalFor(steps, step) : -1;
    if (arrival < 0) continue;
    for (let i = 0; i < INVOCATIONS; i++)
      for (let j = 0; j < INVOCATIONS; j++)
        if (
          groupOf(i) === groupOf(j) &&
          takesPart(steps[arrival] as Step, i) &&
          takesPart(steps[step] as Step, j)
        )
          edge(arrival * INVOCATIONS + i, step * INVOCATIONS + j);
  }
  drawn.sort((a, b) => (tickets[a] as number) - (tickets[b] as number));
  drawn.slice(1).forEach((event, k) => edge(drawn[k] as number, event));
  for (let middle = 0; middle < count; middle++)
    for (const row of after)
      if (row[middle] === 1)
        for (let to = 0; to < count; to++) row[to]! |= (after[middle] as Uint8Array)[to]!;

  const accesses = accessesOf(steps);
  const isBefore = (a: Access, b: Access): boolean => a.ends.some((end) => after[end]?.[b.from] === 1);
  const racy = new Set<number>(
    accesses.filter(({ ends }) => ends.length === 0).map(({ element }) => element),
  );
  for (const [k, a] of accesses.entries())
    for (const b of accesses.slice(0, k)) {
      const [i, j] = [a.from % INVOCATIONS, b.from % INVOCATIONS];
      if (a.element !== b.element || (a.action === "read" && b.action === "read")) continue;
      if (shared && groupOf(i) !== groupOf(j)) continue;
      if (!isBefore(a, b) && !isBefore(b, a)) racy.add(a.element);
    }
  return racy;
}

/** An access: the event at which it begins, and those that it is over before; a copy that nobody waits for has none. */
interface Access {
  readonly action: Step["action"];
  readonly element: number;
  readonly from: number;
  readonly ends: number[];
}

function accessesOf(steps: readonly Step[]): Access[] {
  const accesses: Access[] = [];
  for (let i = 0; i < INVOCATIONS; i++) {
    // The copies of each group, the last group being open, and those since the last arrival after copies.
    let groups: Access[][] = [[]];
    let loose: Access[] = [];
    for (const [k, step] of steps.entries()) {
      const { action } = step;
      const event = k * INVOCATIONS + i;
      if (action === "commit") groups.push([]);
      if (action === "await0" || action === "await1") {
        // All copies, those of no group too, or all but the last group's.
        const kept = action === "await0" ? [[]] : groups.slice(-2);
        const due = action === "await0" ? groups : groups.slice(0, -2);
        for (const copy of due.flat()) copy.ends.push(event);
        groups = kept;
      }
      if (action === "arriveAfterCopies" && takesPart(step, i)) {
        for (const copy of loose) copy.ends.push(...waitsFor(steps, k, groupOf(i)));
        loose = [];
      }
      if ((action !== "read" && action !== "write" && action !== "copy") || !takesPart(step, i)) continue;
      const isCopy = action === "copy";
      const access = {
        action,
        element: step.elements[i] as number,
        from: event,
        ends: isCopy ? [] : [event],
      };
      accesses.push(access);
      if (!isCopy) continue;
      (groups.at(-1) as Access[]).push(access);
      loose.push(access);
    }
  }
  return accesses;
}

/** The events of a workgroup that wait for the arrivals of a step. */
function waitsFor(steps: readonly Step[], arrival: number, workgroup: number): number[] {
  return steps.flatMap((step, k) =>
    step.action !== "wait" || arrivalFor(steps, k) !== arrival
      ? []
      : Array.from({ length: LANES }, (_, l) => workgroup * LANES + l)
          .filter((i) => takesPart(step, i))
          .map((i) => k * INVOCATIONS + i),
  );
}

/** @param clocks adds an acquiring load that orders nothing, so that vector clocks are used in any case */
async function run(steps: readonly Step[], shared: boolean, clocks: boolean, seed: number | undefined) {
  const device = openSim({
    subgroup: SUBGROUP,
    onFinding: "collect",
    ...(seed === undefined ? {} : { seed }),
  });
  const params = {
    table: buffer(i32),
    x: buffer(f32, "read_write"),
    source: buffer(f32),
    counter: buffer(atomic(u32)),
    tickets: buffer(u32, "write"),
  };
  const program = await device.compile(
    kernel(
      "steps",
      { params, workgroup: [LANES], uniformity: "dynamic" },
      ({ table, x, source, counter, tickets }, gpu) => {
        const tile = gpu.shared(f32, ELEMENTS);
        if (shared) {
          gpu.for({ from: gpu.localIndex, to: ELEMENTS, step: LANES }, (i) => tile.set(i, 0));
          gpu.barrier();
        }
        if (clocks) void counter.get(1, { order: "acquire" });
        const memory = shared ? tile : x;
        const phases = steps.map((step) => {
          const arrivals = isArrival(step) ? arrivingLanes(step) : 0;
          return arrivals > 0 ? gpu.phaseBarriers({ count: 1, arrivals }) : null;
        });
        steps.forEach(({ action }, step) => {
          if (action === "barrier") return gpu.barrier();
          if (action === "fence") return gpu.subgroup.barrier();
          if (action === "commit") return gpu.copies.commit();
          if (action === "await0") return gpu.copies.await();
          if (action === "await1") return gpu.copies.await(1);
          const mine = gpu.globalId.x.add(step * INVOCATIONS);
          const element = table.get(mine);
          gpu.if(element.ge(0), () => {
            if (action === "read") void memory.get(element);
            else if (action === "write") memory.set(element, 1);
            else if (action === "copy")
              gpu.copies.start({ to: tile, at: [element], from: source, index: [element], width: 1 });
            else if (action === "arrive") phases[step]?.arrive(0);
            else if (action === "arriveAfterCopies") phases[step]?.arriveAfterCopies(0);
            else if (action === "wait") phases[arrivalFor(steps, step)]?.wait(0, 0);
            else tickets.set(mine, counter.add(0, 1, { order: "acq_rel" }));
          });
        });
      },
    ),
  );
  const tickets = device.createBuffer("u32", steps.length * INVOCATIONS);
  const args = {
    table: device.createBuffer("i32", Int32Array.from(steps.flatMap(({ elements }) => elements))),
    x: device.createBuffer("f32", ELEMENTS),
    source: device.createBuffer("f32", ELEMENTS),
    counter: device.createBuffer("u32", 2),
    tickets,
  };
  const { findings } = await program.run({ workgroups: WORKGROUPS, args });
  return { findings, tickets: await tickets.read() };
}

/** How many invocations of a workgroup take part: as many in each. */
const arrivingLanes = (step: Step): number =>
  Array.from({ length: LANES }, (_, i) => i).filter((i) => takesPart(step, i)).length;

/**
 * Which element each invocation takes: its own, that of a neighbour in its subgroup or in the other one, one for all of the
 * workgroup (to read), or any. Mostly in order, so that what orders them matters.
 */
function stepOf(action: Step["action"]): fc.Arbitrary<Step> {
  const any = fc.integer({ min: 0, max: ELEMENTS - 1 });
  const ways = ["own", "own", "own", "neighbour", "neighbour", "across", "across", "one", "any"] as const;
  return fc
    .record({
      way: fc.constantFrom(...ways),
      idle: fc.oneof(fc.constant(0), fc.nat({ max: 0xffff })),
      others: fc.array(any, { minLength: INVOCATIONS, maxLength: INVOCATIONS }),
      pick: fc.nat({ max: 99 }),
    })
    .map(({ way, idle, others, pick }) => ({
      ...{ action, pick },
      elements: others.map((other, i) => {
        if (((idle >> i) & 1) === 1) return -1;
        if (way === "neighbour") return i ^ 1;
        if (way === "across") return i ^ SUBGROUP;
        if (way === "one" && action === "read") return groupOf(i) * LANES + (pick % LANES);
        return way === "any" && i % 4 === 0 ? other : i;
      }),
    }));
}

interface Ingredients {
  readonly clocks?: boolean;
  readonly tickets?: boolean;
  readonly fences?: boolean;
  readonly copies?: boolean;
  readonly phases?: boolean;
}

function stepsWith({ tickets, fences, copies, phases }: Ingredients): fc.Arbitrary<readonly Step[]> {
  const of = (action: Step["action"], weight: number): fc.MaybeWeightedArbitrary<Step> => ({
    ...{ weight, arbitrary: stepOf(action) },
  });
  const together = (action: Step["action"], weight: number): fc.MaybeWeightedArbitrary<Step> => ({
    ...{ weight, arbitrary: samePartIn(stepOf(action)) },
  });
  const step = fc.oneof(
    of("read", 5),
    of("write", 3),
    of("barrier", phases ? 1 : 2),
    of("fence", fences ? 4 : 0),
    of("ticket", tickets ? 5 : 0),
    of("copy", copies || phases ? 4 : 0),
    ...(copies ? [of("commit", 5), of("await0", 4), of("await1", 3)] : []),
    ...(phases ? [together("arrive", 3), together("arriveAfterCopies", 4), of("wait", 9)] : []),
  );
  const list = fc.array(step, { minLength: 1, maxLength: copies || phases ? 9 : 7 });
  if (phases) return list.map(withWaits);
  return copies ? list.map((some) => [...some, byAll("commit"), byAll("await0")]) : list;
}

/** The same lanes take part in each workgroup. */
const samePartIn = (step: fc.Arbitrary<Step>): fc.Arbitrary<Step> =>
  step.map(({ action, elements }) => ({
    action,
    elements: elements.map((_, i) => elements[i % LANES] as number),
  }));

const byAll = (action: Step["action"], pick = 0): Step => ({
  ...{ action, pick },
  elements: new Array<number>(INVOCATIONS).fill(0),
});

/** Everybody waits for all copies in the end. */
function withWaits(some: readonly Step[]): readonly Step[] {
  const steps = [...some, byAll("arriveAfterCopies")];
  return [...steps, ...steps.filter(isArrival).map((_, pick) => byAll("wait", pick))];
}

describe.each<[string, Ingredients]>([
  ["barriers alone, by intervals", {}],
  ["barriers alone, by vector clocks", { clocks: true }],
  ["barriers of workgroups and subgroups", { fences: true }],
  ["barriers and tickets", { tickets: true }],
  ["barriers of both kinds and tickets", { tickets: true, fences: true }],
  ["copies, by intervals", { copies: true }],
  ["copies, by vector clocks", { copies: true, fences: true }],
  ["copies and phases", { phases: true }],
  ["copies, phases and barriers of subgroups", { phases: true, fences: true }],
  ["copies that phases and invocations themselves wait for", { copies: true, phases: true }],
])("%s", (_, ingredients) => {
  test.each([
    ["shared", undefined],
    ["shared", 1],
    ...(ingredients.copies || ingredients.phases
      ? []
      : ([
          ["global", undefined],
          ["global", 2],
        ] as const)),
  ] as const)("%s memory, seed %s: races are found exactly where there are some", async (space, seed) => {
    const verdicts = { racy: 0, clean: 0 };
    const check = async (program: readonly Step[]): Promise<void> => {
      const { findings, tickets } = await run(program, space === "shared", ingredients.clocks === true, seed);
      const expected = racyElements(program, space === "shared", tickets);
      verdicts[expected.size > 0 ? "racy" : "clean"]++;
      expect(findings.length > 0).toBe(expected.size > 0);
      for (const { kind, message } of findings) {
        expect(
          ingredients.copies || ingredients.phases ? ["data-race", "copy-in-flight"] : ["data-race"],
        ).toContain(kind);
        expect(expected).toContain(Number(/\[(\d+)\]/.exec(message)?.[1]));
      }
    };
    await fc.assert(fc.asyncProperty(stepsWith(ingredients), check), { numRuns: 60 });
    // Both verdicts have to occur for the test to mean anything.
    expect(verdicts.racy).toBeGreaterThan(1);
    expect(verdicts.clean).toBeGreaterThan(1);
  });
});
