/** The claims of the rungs hold, fail where they should, and what the rungs say was found is so. */

import {
  claimCounters,
  claimProblem,
  createProblem,
  fitPoint,
  ladder,
  planAttention,
  rungById,
  runClaims,
  type ClaimCase,
  type FlashPoint,
} from "@evolver/attention";
import { openDevice, residentWorkgroupsOf } from "@evolver/device";
import type { Counters, Device } from "@evolver/device";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** One for all, so that what one test counted another does not count again. */
let sim: Device;
beforeAll(async () => {
  sim = await openDevice("sim", { subgroup: 32 });
});
afterAll(() => sim.close());

describe("claims", () => {
  it.each(ladder)("of $id hold", async (rung) => {
    const results = await runClaims(sim, rung);
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ holds }) => !holds)).toEqual([]);
  });

  it("of k04 fail with k03's layout", async () => {
    const rung = { ...rungById("k04"), point: rungById("k03").point };
    const [first] = await runClaims(sim, rung);
    expect(first).toMatchObject({ holds: false, value: 57_344, limit: 0 });
  });

  it("of k03 fail for tiles with a single user", async () => {
    const [bytes, conflicts] = await runClaims(sim, { ...rungById("k03"), point: rungById("k02").point });
    expect(bytes).toMatchObject({ holds: false, value: 1 });
    expect(conflicts).toMatchObject({ holds: true, value: 8 });
  });

  it("of k03 fail where narrow reads make the conflicts 32-way", async () => {
    const { point } = rungById("k03");
    const results = await runClaims(sim, { ...rungById("k03"), point: { ...point, vector: 1 } });
    expect(results[1]).toMatchObject({ holds: false, value: 32, limit: 8 });
  });

  it("of k12 fail for k11's rows, without a counter, and for a causal variant that shares", async () => {
    const rung = rungById("k12");
    const [, perByte, price, bytes, , , counter] = await runClaims(sim, {
      ...rung,
      point: rungById("k11").point,
    });
    expect(perByte).toMatchObject({ holds: true });
    expect(price).toMatchObject({ holds: false, value: 1 });
    expect(bytes).toMatchObject({ holds: false, value: 1, limit: 2 });
    expect(counter).toMatchObject({ holds: false, value: 0, limit: 8 });
    const results = await runClaims(sim, { ...rung, variants: { causal: rung.point } });
    expect(results.at(-2)).toMatchObject({ holds: false, value: 64 });
    expect(results.at(-1)).toMatchObject({ holds: false, value: 1 });
  });

  it("say how the value has to stand to the limit", async () => {
    const [bytes, conflicts] = await runClaims(sim, rungById("k03"));
    expect(bytes).toMatchObject({ relation: "≤" });
    expect(conflicts).toMatchObject({ relation: "=" });
    const swizzling = (await runClaims(sim, rungById("k04"))).at(-1);
    expect(swizzling).toMatchObject({ relation: "≥" });
    for (const rung of ladder) {
      for (const { value, relation, limit, holds } of await runClaims(sim, rung))
        expect(holds).toBe(
          relation === "=" ? value === limit : relation === "≤" ? value <= limit : value >= limit,
        );
    }
  });

  it("cannot compare with a later rung", async () => {
    const rung = { ...rungById("k02"), claims: rungById("k03").claims };
    await expect(runClaims(sim, rung)).rejects.toMatchObject({ code: "UNKNOWN_RUNG" });
  });

  it("need a device that counts, at the width they are about", async () => {
    const cpu = await openDevice("cpu", { subgroup: 32 });
    const narrow = await openDevice("sim", { subgroup: 8 });
    await expect(runClaims(cpu, ladder[0]!)).rejects.toMatchObject({ code: "CLAIMS_NEED_COUNTERS" });
    await expect(runClaims(narrow, ladder[0]!)).rejects.toMatchObject({ code: "CLAIMS_NEED_COUNTERS" });
    await Promise.all([cpu.close(), narrow.close()]);
  });

  it("belong to rungs that exist", () => {
    expect(() => rungById("k00")).toThrowError(expect.objectContaining({ code: "UNKNOWN_RUNG" }));
    expect(ladder.map(({ id }) => id)).toEqual(ladder.map(({ id }) => id).toSorted());
  });
});

/** When the last of so many workgroups is done, where each takes the next item whenever it is free. */
function longestOf(workgroups: number, lengths: readonly number[]): number {
  const ends = Array.from({ length: workgroups }, () => 0);
  for (const length of lengths) {
    const first = ends.indexOf(Math.min(...ends));
    ends[first] = (ends[first] as number) + length;
  }
  return Math.max(...ends);
}

/** Numbers in the rungs' `found`. */
describe("what was found", () => {
  type Found = Partial<Record<keyof Counters | "conflictsOfK" | "sharedBytes", number>>;

  /** On the problem of the rung's claims; `name` is a rung, or a variant by "id name". */
  async function found(name: string, on: ClaimCase = { problem: claimProblem }): Promise<Found> {
    const [id = "", ...variant] = name.split(" ");
    const rung = rungById(id);
    const point = variant.length === 0 ? rung.point : (rung.variants[variant.join(" ")] as FlashPoint);
    const { memory, ...counters } = await claimCounters(sim, point, on);
    const { sharedBytes } = planAttention(point, on.problem, { subgroup: 32, writeLse: false });
    return { ...counters, conflictsOfK: memory["k_tile"]?.conflicts ?? 0, sharedBytes };
  }

  it.each<[string, Found]>([
    ["k01", { globalReadBytes: 2_113_536, globalSectors: 99_328, sharedPasses: 4224, sharedConflicts: 0 }],
    ["k01", { issuedArithmetic: 72_256 }],
    ["k02", { globalReadBytes: 2_113_536, globalSectors: 66_560, sharedPasses: 94_336 }],
    ["k02", { sharedConflicts: 57_344, issuedArithmetic: 80_128 }],
    ["k03", { globalReadBytes: 278_528, issuedArithmetic: 44_800, sharedPasses: 80_000 }],
    ["k03", { sharedConflicts: 57_344, conflictsOfK: 57_344 }],
    ["k04", { sharedPasses: 22_656, issuedArithmetic: 44_800, issuedMemory: 9344 }],
    ["k04 swizzled", { sharedPasses: 22_656, issuedArithmetic: 51_712 }],
    ["k05", { issuedArithmetic: 58_624 }],
    ["k06", { issuedMemory: 8960, issuedArithmetic: 53_440 }],
    ["k07", { issuedArithmetic: 58_033, workgroups: 11 }],
  ])("%s: %o", async (name, numbers) => expect(await found(name)).toMatchObject(numbers));

  it("k01: K and V are asked for equally, K costs twice the sectors", async () => {
    const { memory } = await claimCounters(sim, rungById("k01").point);
    expect([memory["k"]!.readBytes, memory["v"]!.readBytes]).toEqual([1_048_576, 1_048_576]);
    expect([memory["k"]!.readSectors, memory["v"]!.readSectors]).toEqual([65_536, 32_768]);
  });

  it("k04 issues what k03 issues", async () => {
    const [before, after] = [await found("k03"), await found("k04")];
    for (const name of ["issuedArithmetic", "issuedSpecial", "issuedMemory", "issuedSubgroup"] as const)
      expect(after[name]).toBe(before[name]);
  });

  it("k05 needs twice the tiles; by shared memory and threads 6 workgroups fit instead of 8", async () => {
    const [before, after] = [await found("k04"), await found("k05")];
    const query = 8 * 64 * 4;
    expect((after.sharedBytes! - query) / (before.sharedBytes! - query)).toBe(2);
    // A multiprocessor of compute capability 9.0.
    const capacity = {
      maxInvocationsPerMultiprocessor: 2048,
      maxWorkgroupsPerMultiprocessor: 32,
      sharedBytesPerMultiprocessor: 228 * 1024,
    };
    const fit = ({ sharedBytes }: Found): number | null =>
      residentWorkgroupsOf(capacity, { invocationsPerWorkgroup: 256, sharedBytesPerWorkgroup: sharedBytes! });
    expect([fit(before), fit(after)]).toEqual([8, 6]);
  });

  it("k06: every slot takes 16,896 bytes", async () => {
    const bytes = async (depth: number): Promise<number> =>
      (await found(depth === 2 ? "k06" : `k06 depth ${depth}`)).sharedBytes!;
    for (const depth of [1, 2, 3]) expect((await bytes(depth + 1)) - (await bytes(depth))).toBe(16_896);
  });

  it("k11: 5.8 times the operations per byte, and 89,168 instructions instead of 226,304", async () => {
    const on = rungById("k11").claimCase!;
    const [before, after] = [await found("k04", on), await found("k11", on)];
    const perByte = ({ flops, sharedReadBytes }: Found): number => flops! / sharedReadBytes!;
    expect((perByte(after) / perByte(before)).toFixed(1)).toBe("5.8");
    const issued = (counters: Found): number =>
      counters.issuedArithmetic! +
      counters.issuedSpecial! +
      counters.issuedMemory! +
      counters.issuedSubgroup!;
    expect([issued(after), issued(before)]).toEqual([89_168, 226_304]);
    expect(after.workgroups).toBe(1);
  });

  it("k11's lesson: masked, k04 issues 1,496,640 arithmetic instructions and k11 783,072", async () => {
    const shape = { ...claimProblem.shape, seqQ: 512, seqK: 512 };
    const on = { problem: createProblem(shape, { causal: true }) };
    const counts = [await found("k04", on), await found("k11", on)];
    expect(counts.map(({ issuedArithmetic }) => issuedArithmetic)).toEqual([1_496_640, 783_072]);
  });

  it.each([
    ["k04", 7936],
    ["k11", 32_512],
  ])("k11's lesson: masked, the tiles of %s have %i keys that rows do not see", (id, expected) => {
    const { queryRows, keyRows } = rungById(id).point;
    const unseen = Array.from({ length: 512 }, (_, query) => {
      const past = (Math.floor(query / queryRows) + 1) * queryRows;
      return Math.ceil(past / keyRows) * keyRows - (query + 1);
    });
    expect(unseen.reduce((sum, keys) => sum + keys, 0)).toBe(expected);
  });

  it("k12: 69,636 bytes instead of 105,472; shuffles cost 276,464 arithmetic instructions instead of 166,656", async () => {
    const on = rungById("k12").claimCase!;
    const [before, after, causal] = [
      await found("k11", on),
      await found("k12", on),
      await found("k12 causal", on),
    ];
    expect([after.sharedBytes, before.sharedBytes]).toEqual([69_636, 105_472]);
    expect([causal.issuedArithmetic, before.issuedArithmetic]).toEqual([276_464, 166_656]);
    // An H200's multiprocessor has 228 KiB, and keeps 1 of them for itself for each workgroup.
    const fit = ({ sharedBytes }: Found): number => Math.floor((228 * 1024) / (sharedBytes! + 1024));
    expect([fit(after), fit(before)]).toEqual([3, 2]);
  });

  it("k12: causal tiles of Llama's heads end after 28 tiles of keys in order, after 18 with the longest first", () => {
    const { queryRows, keyRows } = rungById("k12").variants["causal"] as FlashPoint;
    const heads = Array.from({ length: 32 }, (_, head) => head);
    const lengths = Array.from({ length: 1024 / queryRows }, (_, tile) => ((tile + 1) * queryRows) / keyRows);
    expect(
      longestOf(
        132,
        heads.flatMap(() => lengths),
      ),
    ).toBe(28);
    expect(
      longestOf(
        132,
        lengths.toReversed().flatMap((length) => heads.map(() => length)),
      ),
    ).toBe(18);
  });

  it("k12 at 64 columns needs half as many rows per subgroup as k11, which at 128 columns has as few", () => {
    const wide = createProblem({ batch: 1, headsQ: 8, headsKv: 8, seqQ: 1024, seqK: 1024, dim: 128 });
    expect(fitPoint(rungById("k11").point, wide, 32).rowsPerSubgroup).toBe(16);
    expect(rungById("k12").point.rowsPerSubgroup).toBe(16);
  });

  it.each([
    { dim: 80, rowMajor: 30_720, swizzled: 10_240 },
    { dim: 40, rowMajor: 5120, swizzled: 5120 },
    { dim: 59, rowMajor: 0, swizzled: 0 },
  ])("padding removes all conflicts at $dim columns, swizzling not", async ({ dim, rowMajor, swizzled }) => {
    const { point } = rungById("k03");
    const problem = createProblem({ ...claimProblem.shape, dim });
    const conflicts = async (layout: FlashPoint["layout"]): Promise<number> =>
      (await claimCounters(sim, { ...point, layout }, { problem })).sharedConflicts;
    expect([await conflicts("row-major"), await conflicts("swizzled"), await conflicts("padded")]).toEqual([
      rowMajor,
      swizzled,
      0,
    ]);
  });

  it("padding costs 512 bytes, swizzling none", async () => {
    const before = (await found("k03")).sharedBytes!;
    expect((await found("k04")).sharedBytes! - before).toBe(512);
    expect((await found("k04 swizzled")).sharedBytes! - before).toBe(0);
  });
});
