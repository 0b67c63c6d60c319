/** Barriers of a workgroup by its size: alone, and with what they are for, a value handed on through shared memory. */

import { valueAxis } from "@evolver/base";
import { buffer, kernel, u32 } from "@evolver/kernel";
import type { Kernel } from "@evolver/kernel";
import { fill, once, random16, report, verdictParam } from "../kernels.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import {
  bySize,
  doubling,
  latencyFigures,
  measured,
  seriesBy,
  type TestPlan,
  type Test,
} from "../benchmark.ts";
import { signalCases } from "./signals.ts";

const UNROLL = 8;
const LARGEST = 1024;

/** Barriers only; one write before them and one read of another's after them show that they held. */
const barrierKernel = (block: number): Kernel =>
  once(`barrier_b${block}`, (name) =>
    kernel(
      name,
      { params: { to: buffer(u32, "write"), iterations: u32 }, workgroup: [block] },
      ({ to, iterations }, gpu) => {
        const values = gpu.shared(u32, block, "values");
        const own = gpu.workgroupIndex.mul(block).add(gpu.localIndex);
        values.set(gpu.localIndex, random16(own));
        gpu.for({ from: 0, to: iterations }, () => {
          for (let k = 0; k < UNROLL; k++) gpu.barrier();
        });
        to.set(own, values.get(gpu.localIndex.xor(block - 1)));
      },
    ),
  );

const checkBarrier = (block: number): Kernel =>
  once(`check_barrier_b${block}`, (name) =>
    kernel(name, { params: { from: buffer(u32), ...verdictParam }, workgroup: [block] }, (params, gpu) => {
      const first = gpu.workgroupIndex.mul(block);
      const i = first.add(gpu.localIndex);
      const wanted = random16(first.add(gpu.localIndex.xor(block - 1)));
      report(gpu, params.verdict, params.from.get(i).ne(wanted), i);
    }),
  );

/** Each step hands a value to the next invocation: write, barrier, read, barrier. */
const exchangeKernel = (block: number): Kernel =>
  once(`exchange_b${block}`, (name) =>
    kernel(
      name,
      { params: { to: buffer(u32, "write"), iterations: u32 }, workgroup: [block] },
      ({ to, iterations }, gpu) => {
        const values = gpu.shared(u32, block, "values");
        const own = gpu.workgroupIndex.mul(block).add(gpu.localIndex);
        const neighbour = gpu.localIndex.add(1).and(block - 1);
        const value = gpu.var(u32, random16(own));
        gpu.for({ from: 0, to: iterations }, () => {
          values.set(gpu.localIndex, value.get());
          gpu.barrier();
          value.set(values.get(neighbour));
          gpu.barrier();
        });
        to.set(own, value.get());
      },
    ),
  );

const checkExchange = (block: number): Kernel =>
  once(`check_exchange_b${block}`, (name) =>
    kernel(
      name,
      { params: { from: buffer(u32), iterations: u32, ...verdictParam }, workgroup: [block] },
      ({ from, iterations, verdict }, gpu) => {
        const first = gpu.workgroupIndex.mul(block);
        const i = first.add(gpu.localIndex);
        const wanted = random16(first.add(gpu.localIndex.add(iterations).and(block - 1)));
        report(gpu, verdict, from.get(i).ne(wanted), i);
      },
    ),
  );

function barrierCase(kind: "barrier" | "exchange", block: number, setup: Setup): CaseSpec {
  const workgroups = bySize<Count>(setup, 1, 2, { perMultiprocessor: 1 });
  const to: BufferSpec = {
    name: "values",
    element: "u32",
    length: bySize(setup, LARGEST, 2 * LARGEST, 2 ** 19),
  };
  const isPlain = kind === "barrier";
  return {
    id: `${kind}.${block}`,
    name: `${isPlain ? "a barrier" : "an exchange (write, barrier, read, barrier)"} of ${block}`,
    unit: "ns",
    launch: { kernel: isPlain ? barrierKernel(block) : exchangeKernel(block), workgroups, args: { to } },
    before: [fill(to, 0xffffffff)],
    check: { kernel: isPlain ? checkBarrier(block) : checkExchange(block), workgroups, args: { from: to } },
    work: isPlain ? UNROLL : 1,
    // Workgroups run beside each other: each takes all of the time.
    whole: true,
    iterations: { max: 2 ** 20 },
    settings: { kind, block },
  };
}

export const barriers: Test = {
  id: "barriers",
  title: "Barriers",
  about:
    "The time of a barrier of the workgroup by its size, one workgroup on each multiprocessor; and of a step that hands a value on through shared memory, which takes two.",
  plan: (setup): TestPlan => {
    const largest = Math.min(LARGEST, setup.maxInvocations);
    const blocks = doubling(Math.max(32, setup.subgroup), largest).filter(
      (_, k) => (setup.size === "full" && !setup.quick) || k % 2 === 0,
    );
    const chosen = setup.size === "tiny" ? blocks.slice(0, 2) : blocks;
    return {
      fills: [],
      cases: (["barrier", "exchange"] as const)
        .flatMap((kind) => chosen.map((block) => barrierCase(kind, block, setup)))
        .concat(signalCases(setup)),
      read: (outcomes, context) => {
        const at256 = measured(outcomes).find(
          ({ spec: { settings } }) => settings["kind"] === "barrier" && (settings["block"] as number) >= 128,
        );
        return {
          figures: [
            ...latencyFigures(
              "barrier",
              `a barrier of ${at256?.spec.settings["block"] ?? ""}`,
              at256?.value ?? null,
              context,
            ),
            ...(["flags", "phases"] as const).flatMap((kind) =>
              latencyFigures(
                `${kind}RoundTrip`,
                `a round trip by ${kind}`,
                measured(outcomes).find(({ spec }) => spec.id === `signal.${kind}`)?.value ?? null,
                context,
              ),
            ),
          ],
          plots: [
            {
              id: "barriers",
              title: "Time of a barrier by the workgroup's size",
              x: valueAxis("invocations", null, { log: true }),
              y: valueAxis("time", "ns"),
              notes: [],
              series: seriesBy(outcomes, "block", "kind"),
            },
          ],
        };
      },
    };
  },
};
