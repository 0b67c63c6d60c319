/**
 * The race checks against a brute-force oracle: random programs of reads, writes, barriers of workgroups and of
 * subgroups, and atomic tickets, whose accesses are compared pair by pair with the definition of a race.
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
  readonly action: "read" | "write" | "barrier" | "fence" | "ticket";
  /** For each invocation of the launch: the element, or −1 where it does not take part. */
  readonly elements: readonly number[];
}

const groupOf = (invocation: number): number => Math.floor(invocation / LANES);
const subgroupOf = (invocation: number): number => Math.floor(invocation / SUBGROUP);

/**
 * Elements with two accesses of different invocations, one of them a write, that no path orders. Paths go along each
 * invocation's steps, through barriers within a workgroup or subgroup, and from each ticket to the next.
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
  drawn.sort((a, b) => (tickets[a] as number) - (tickets[b] as number));
  drawn.slice(1).forEach((event, k) => edge(drawn[k] as number, event));
  for (let middle = 0; middle < count; middle++)
    for (const row of after)
      if (row[middle] === 1)
        for (let to = 0; to < count; to++) row[to]! |= (after[middle] as Uint8Array)[to]!;

  const racy = new Set<number>();
  for (let a = 0; a < count; a++)
    for (let b = 0; b < a; b++) {
      const [i, j] = [a % INVOCATIONS, b % INVOCATIONS];
      const [first, second] = [steps[Math.floor(a / INVOCATIONS)], steps[Math.floor(b / INVOCATIONS)]] as [
        Step,
        Step,
      ];
      const element = first.elements[i] as number;
      const accesses = [first, second].every(({ action }) => action === "read" || action === "write");
      if (!accesses || element < 0 || element !== second.elements[j] || i === j) continue;
      if (first.action === "read" && second.action === "read") continue;
      if (shared && groupOf(i) !== groupOf(j)) continue;
      if (after[a]?.[b] !== 1 && after[b]?.[a] !== 1) racy.add(element);
    }
  return racy;
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
    counter: buffer(atomic(u32)),
    tickets: buffer(u32, "write"),
  };
  const program = await device.compile(
    kernel(
      "steps",
      { params, workgroup: [LANES], uniformity: "dynamic" },
      ({ table, x, counter, tickets }, gpu) => {
        const tile = gpu.shared(f32, ELEMENTS);
        if (shared) {
          gpu.for({ from: gpu.localIndex, to: ELEMENTS, step: LANES }, (i) => tile.set(i, 0));
          gpu.barrier();
        }
        if (clocks) void counter.get(1, { order: "acquire" });
        const memory = shared ? tile : x;
        steps.forEach(({ action }, step) => {
          if (action === "barrier") return gpu.barrier();
          if (action === "fence") return gpu.subgroup.barrier();
          const mine = gpu.globalId.x.add(step * INVOCATIONS);
          const element = table.get(mine);
          gpu.if(element.ge(0), () => {
            if (action === "read") void memory.get(element);
            else if (action === "write") memory.set(element, 1);
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
    counter: device.createBuffer("u32", 2),
    tickets,
  };
  const { findings } = await program.run({ workgroups: WORKGROUPS, args });
  return { findings, tickets: await tickets.read() };
}

/** Mostly each invocation's own element, so that races are rare enough to be missed. */
function stepOf(action: Step["action"], own: number, other: number): fc.Arbitrary<Step> {
  const choice = fc.oneof(
    { weight: own, arbitrary: fc.constant("own" as const) },
    { weight: other, arbitrary: fc.integer({ min: 0, max: ELEMENTS - 1 }) },
    { weight: 2, arbitrary: fc.constant(-1) },
  );
  return fc
    .array(choice, { minLength: INVOCATIONS, maxLength: INVOCATIONS })
    .map((choices) => ({ action, elements: choices.map((chosen, i) => (chosen === "own" ? i : chosen)) }));
}

const steps = (withTickets: boolean, withFences: boolean): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: stepOf("read", 20, 2) },
      { weight: 2, arbitrary: stepOf("write", 20, 2) },
      { weight: 2, arbitrary: stepOf("barrier", 1, 0) },
      { weight: withFences ? 4 : 0, arbitrary: stepOf("fence", 1, 0) },
      { weight: withTickets ? 5 : 0, arbitrary: stepOf("ticket", 20, 2) },
    ),
    { minLength: 1, maxLength: 7 },
  );

describe.each([
  ["barriers alone, by intervals", false, false, false],
  ["barriers alone, by vector clocks", true, false, false],
  ["barriers of workgroups and subgroups", false, false, true],
  ["barriers and tickets", false, true, false],
  ["all of them", false, true, true],
])("%s", (_, clocks, withTickets, withFences) => {
  test.each([
    ["shared", undefined],
    ["shared", 1],
    ["global", undefined],
    ["global", 2],
  ] as const)("%s memory, seed %s: races are found exactly where there are some", async (space, seed) => {
    const verdicts = { racy: 0, clean: 0 };
    await fc.assert(
      fc.asyncProperty(steps(withTickets, withFences), async (program) => {
        const { findings, tickets } = await run(program, space === "shared", clocks, seed);
        const expected = racyElements(program, space === "shared", tickets);
        verdicts[expected.size > 0 ? "racy" : "clean"]++;
        expect(findings.length > 0).toBe(expected.size > 0);
        for (const { kind, message } of findings) {
          expect(kind).toBe("data-race");
          expect(expected).toContain(Number(/\[(\d+)\]/.exec(message)?.[1]));
        }
      }),
      { numRuns: 60 },
    );
    // Both verdicts have to occur for the test to mean anything.
    expect(verdicts.racy).toBeGreaterThan(2);
    expect(verdicts.clean).toBeGreaterThan(2);
  });
});
