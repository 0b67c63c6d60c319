import { describe, expect, it } from "vitest";
import { emptyMemoryCounters, type Counters } from "@evolver/device";
import { MODEL_CONSTANTS, modelTime, scaleCounters, type Workload } from "@evolver/machine";
import { h200Datasheet } from "@evolver/machine";

const idle: Counters = {
  workgroups: 0,
  invocations: 0,
  globalReadBytes: 0,
  globalWriteBytes: 0,
  globalSectors: 0,
  sharedReadBytes: 0,
  sharedWriteBytes: 0,
  sharedPasses: 0,
  sharedConflicts: 0,
  barriers: 0,
  subgroupBarriers: 0,
  asyncCopies: 0,
  branches: 0,
  divergentBranches: 0,
  globalAtomics: 0,
  sharedAtomics: 0,
  flops: 0,
  specials: 0,
  issuedArithmetic: 0,
  issuedInteger: 0,
  issuedSpecial: 0,
  issuedMemory: 0,
  issuedSubgroup: 0,
  memory: {},
};

const workload = (counters: Partial<Counters>, rest: Partial<Workload> = {}): Workload => ({
  counters: { ...idle, ...counters },
  workgroups: 132 * 16,
  invocationsPerWorkgroup: 256,
  sharedBytesPerWorkgroup: 0,
  compulsoryBytes: 0,
  ...rest,
});

const launchMs = h200Datasheet.launchMicroseconds.value / 1000;

describe("the cost model", () => {
  it("reaches the datasheet's f32 peak on pure fma", () => {
    // 66.9 TFLOP/s is 132 multiprocessors · 128 lanes · 2 FLOP · 1.98 GHz: 669 GFLOP take 10 ms.
    const instructions = 669e9 / 2 / 32;
    const modelled = modelTime(h200Datasheet, workload({ issuedArithmetic: instructions }));
    expect(modelled.timeMs - launchMs).toBeGreaterThan(10 * 0.999);
    // A little is left of the latency that other workgroups hide.
    expect(modelled.timeMs - launchMs).toBeLessThan(10 * 1.015);
    expect(["arithmetic", "instruction issue"]).toContain(modelled.bottleneck);
  });

  it("reaches the datasheet's bandwidth on pure streaming", () => {
    const modelled = modelTime(h200Datasheet, workload({}, { compulsoryBytes: 48e9 }));
    expect(modelled.timeMs - launchMs).toBeCloseTo(10, 6);
    expect(modelled.bottleneck).toBe("device memory");
  });

  it("charges bank conflicts by the pass", () => {
    const clean = modelTime(h200Datasheet, workload({ sharedPasses: 1e9 }));
    const conflicted = modelTime(h200Datasheet, workload({ sharedPasses: 8e9 }));
    expect(conflicted.timeMs - launchMs).toBeCloseTo(8 * (clean.timeMs - launchMs), 6);
    expect(conflicted.bottleneck).toBe("shared memory");
  });

  it("charges atomic operations on global memory the second-level cache, those on shared memory not", () => {
    const atomics = { ...emptyMemoryCounters(), atomicRequests: 1e8, atomicBytes: 128e8 };
    const ofCache = (memory: Counters["memory"], globalSectors: number): number => {
      const { terms } = modelTime(h200Datasheet, workload({ memory, globalSectors }));
      return terms.find(({ name }) => name === "second-level cache")?.timeMs ?? NaN;
    };
    // 32 neighbouring elements are four sectors.
    const bins = { ...atomics, atomicSectors: 4e8 };
    const expected = 128e8 / (h200Datasheet.cacheGBPerSecond.value * 1e6);
    expect(ofCache({ bins }, 4e8)).toBeCloseTo(expected, 6);
    expect(ofCache({ bins: { ...atomics, passes: 1e8 } }, 0)).toBe(0);
  });

  it("makes a partial wave cost a whole one", () => {
    // One workgroup at a time on each multiprocessor.
    const of = (workgroups: number) =>
      modelTime(
        h200Datasheet,
        workload({ issuedSpecial: workgroups * 1e6 }, { workgroups, sharedBytesPerWorkgroup: 200_000 }),
      );
    const [full, partial] = [of(132), of(133)];
    expect((partial.timeMs - launchMs) / (full.timeMs - launchMs)).toBeCloseTo(2, 6);
  });

  it("holds fewer workgroups at a time when they take much shared memory", () => {
    const small = modelTime(h200Datasheet, workload({}, { sharedBytesPerWorkgroup: 1024 }));
    const large = modelTime(h200Datasheet, workload({}, { sharedBytesPerWorkgroup: 100_000 }));
    expect(small.residentWorkgroups).toBe(8);
    expect(large.residentWorkgroups).toBe(2);
  });

  it("is bound by latency when one workgroup waits for memory", () => {
    const memory = { x: { ...emptyMemoryCounters(), readRequests: 8000 } };
    const modelled = modelTime(h200Datasheet, workload({ memory, issuedMemory: 8000 }, { workgroups: 1 }));
    // 8 subgroups with 1000 requests each, 270 clocks each, 3 in flight; and 1000 instructions.
    const clocks = (1000 * 270) / MODEL_CONSTANTS.readsInFlight + 1000 * MODEL_CONSTANTS.loneClocks;
    expect(modelled.terms[0]).toEqual({ name: "latency", timeMs: expect.closeTo(clocks / 1.98e6, 9) });
    expect(modelled.timeMs - launchMs).toBeCloseTo(clocks / 1.98e6, 3);
    expect(modelled.bottleneck).toBe("latency");
  });

  it("does not wait for asynchronous copies", () => {
    const memory = { x: { ...emptyMemoryCounters(), readRequests: 8000 } };
    const waiting = modelTime(h200Datasheet, workload({ memory }, { workgroups: 1 }));
    const copying = modelTime(h200Datasheet, workload({ memory, asyncCopies: 8000 }, { workgroups: 1 }));
    expect(waiting.timeMs - launchMs).toBeGreaterThan(0);
    expect(copying.timeMs - launchMs).toBe(0);
  });

  it("takes longer than its busiest part, and less than the sum, where two are busy", () => {
    const counters = { issuedArithmetic: 4e9, sharedPasses: 1e9 };
    const [arithmetic, shared, both] = [
      workload({ issuedArithmetic: 4e9 }),
      workload({ sharedPasses: 1e9 }),
      workload(counters),
    ].map((each) => modelTime(h200Datasheet, each).timeMs - launchMs) as [number, number, number];
    expect(both).toBeGreaterThan(1.1 * Math.max(arithmetic, shared));
    expect(both).toBeLessThan(0.95 * (arithmetic + shared));
  });

  it("counts a share of integer instructions, of which compilers fold many away", () => {
    const of = (float: number, integer: number) =>
      modelTime(h200Datasheet, workload({ issuedArithmetic: float + integer, issuedInteger: integer }))
        .timeMs;
    expect(of(1e9, 2e9)).toBeCloseTo(of(1e9 + 2e9 * MODEL_CONSTANTS.integerShare, 0), 9);
    expect(of(1e9, 2e9)).toBeLessThan(of(3e9, 0));
  });

  it("hides latency behind other workgroups as far as registers let them in", () => {
    const counters = { issuedArithmetic: 1e8, issuedSubgroup: 1e8 };
    const times = [32, 128, 255].map((registersPerInvocation) =>
      modelTime(h200Datasheet, workload(counters, { registersPerInvocation })),
    );
    expect(times.map(({ residentWorkgroups }) => residentWorkgroups)).toEqual([8, 2, 1]);
    expect(times[1]?.timeMs).toBeGreaterThan(times[0]?.timeMs as number);
    expect(times[2]?.timeMs).toBeGreaterThan(times[1]?.timeMs as number);
  });

  it("lets schedulers stand idle where subgroups cannot be dealt out evenly", () => {
    const of = (subgroups: number) =>
      modelTime(
        h200Datasheet,
        workload(
          { issuedArithmetic: 132 * subgroups * 1e6 },
          { workgroups: 132, invocationsPerWorkgroup: 32 * subgroups },
        ),
      ).timeMs;
    // One scheduler has two of five subgroups, as each of four has of eight.
    expect(of(5)).toBeCloseTo(of(8), 6);
    expect(of(4)).toBeLessThan(0.8 * of(8));
  });

  it("takes a launch's latency for a launch of nothing", () => {
    expect(modelTime(h200Datasheet, workload({}, { workgroups: 0 })).timeMs).toBe(launchMs);
  });
});

describe("scaleCounters", () => {
  it("multiplies every count, those of each memory too, and leaves its input alone", () => {
    const counters = { ...idle, flops: 3, memory: { x: { ...emptyMemoryCounters(), readBytes: 5 } } };
    const scaled = scaleCounters(counters, 4);
    expect(scaled.flops).toBe(12);
    expect(scaled.memory["x"]?.readBytes).toBe(20);
    expect(counters.memory.x.readBytes).toBe(5);
  });
});
