/**
 * Two subgroups of a workgroup pass a token to each other and back, by flags in shared memory and by phase barriers. The time
 * of a round trip is the cost of synchronising two roles of a pipeline. Only for devices whose subgroups can wait for each other.
 */

import { atomic, buffer, kernel, u32 } from "@evolver/kernel";
import type { Gpu, Kernel, SharedArray, U32 } from "@evolver/kernel";
import { fill, once, random16, report, verdictParam } from "../kernels.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import { bySize } from "../benchmark.ts";

const params = { to: buffer(u32, "write"), iterations: u32 };
const workgroup = ({ subgroup }: { readonly subgroup: number }): readonly [number] => [2 * subgroup];

const start = (gpu: Gpu): U32 => random16(gpu.workgroupIndex);

/** Lane 0 changes the token, in a way that depends on the order. */
function touch(gpu: Gpu, token: SharedArray<"u32">, change: (value: U32) => U32): void {
  gpu.if(gpu.lane.eq(0), () => token.set(0, change(token.get(0))));
}

const ping = (value: U32): U32 => value.mul(3);
const pong = (value: U32): U32 => value.add(1);

function twoRoles(gpu: Gpu, iterations: U32, first: (n: U32) => void, second: (n: U32) => void): void {
  gpu.roles([
    { name: "ping", subgroups: 1, body: () => gpu.for({ from: 0, to: iterations }, first) },
    { name: "pong", subgroups: 1, body: () => gpu.for({ from: 0, to: iterations }, second) },
  ]);
}

function finish(gpu: Gpu, token: SharedArray<"u32">, store: (at: U32, value: U32) => void): void {
  gpu.barrier();
  gpu.if(gpu.localIndex.eq(0), () => store(gpu.workgroupIndex, token.get(0)));
}

function makeToken(gpu: Gpu): SharedArray<"u32"> {
  const shared = gpu.shared(u32, 1, "token");
  gpu.if(gpu.localIndex.eq(0), () => shared.set(0, start(gpu)));
  return shared;
}

const flagKernel = (): Kernel =>
  once("signal_flags", (name) =>
    kernel(name, { params, workgroup }, ({ to, iterations }, gpu) => {
      const shared = makeToken(gpu);
      const flags = gpu.shared(atomic(u32), 2, "flags");
      gpu.if(gpu.localIndex.lt(2), () => flags.set(gpu.localIndex, 0));
      gpu.barrier();
      const alone = (body: () => void): void => gpu.if(gpu.lane.eq(0), body);
      const raise = (which: number, n: U32): void => flags.set(which, n.add(1), { order: "release" });
      const wait = (which: number, n: U32): void =>
        gpu.while(
          () => flags.get(which, { order: "acquire" }).le(n),
          () => {},
        );
      twoRoles(
        gpu,
        iterations,
        (n) =>
          alone(() => {
            shared.set(0, ping(shared.get(0)));
            raise(0, n);
            wait(1, n);
          }),
        (n) =>
          alone(() => {
            wait(0, n);
            shared.set(0, pong(shared.get(0)));
            raise(1, n);
          }),
      );
      finish(gpu, shared, (at, value) => to.set(at, value));
    }),
  );

const phaseKernel = (): Kernel =>
  once("signal_phases", (name) =>
    kernel(name, { params, workgroup }, ({ to, iterations }, gpu) => {
      const shared = makeToken(gpu);
      const phases = gpu.phaseBarriers({ count: 2, arrivals: 1 });
      gpu.barrier();
      const arrive = (which: number): void => gpu.if(gpu.lane.eq(0), () => phases.arrive(which));
      twoRoles(
        gpu,
        iterations,
        (n) => {
          touch(gpu, shared, ping);
          arrive(0);
          phases.wait(1, n.and(1));
        },
        (n) => {
          phases.wait(0, n.and(1));
          touch(gpu, shared, pong);
          arrive(1);
        },
      );
      finish(gpu, shared, (at, value) => to.set(at, value));
    }),
  );

const checkKernel = (): Kernel =>
  once("check_signals", (name) =>
    kernel(
      name,
      { params: { from: buffer(u32), iterations: u32, ...verdictParam }, workgroup: [1] },
      ({ from, iterations, verdict }, gpu) => {
        const value = gpu.var(u32, start(gpu));
        gpu.for({ from: 0, to: iterations }, () => value.set(pong(ping(value.get()))));
        report(gpu, verdict, from.get(gpu.workgroupIndex).ne(value.get()), gpu.workgroupIndex);
      },
    ),
  );

export function signalCases(setup: Setup): CaseSpec[] {
  if (!setup.forwardProgress) return [];
  const workgroups = bySize<Count>(setup, 1, 2, { perMultiprocessor: 1 });
  const to: BufferSpec = { name: "tokens", element: "u32", length: 1024 };
  return (
    [
      ["flags", "flags (release, acquire)", flagKernel],
      ["phases", "phase barriers", phaseKernel],
    ] as const
  ).map(([kind, title, make]) => ({
    id: `signal.${kind}`,
    name: `a round trip between two subgroups by ${title}`,
    unit: "ns",
    launch: { kernel: make(), workgroups, args: { to } },
    before: [fill(to, 0xffffffff)],
    check: { kernel: checkKernel(), workgroups, args: { from: to } },
    work: 1,
    whole: true,
    iterations: { max: 2 ** 16 },
    settings: { kind: `signal by ${kind}` },
  }));
}
