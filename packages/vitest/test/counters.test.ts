/** What `expectCounters` passes, and how it fails. */

import { buffer, f32, kernel } from "@evolver/kernel";
import { openSim, type Counters } from "@evolver/device";
import { expectCounters } from "@evolver/vitest";
import { describe, expect, it } from "vitest";
import { failureOf } from "./support/failure.ts";

/** A transposition of 32 × 32, of which one side of the tile is all in one bank unless rows are padded. */
const transposed = (padding: number, example = true) =>
  kernel(
    "transposed",
    {
      params: { x: buffer(f32), y: buffer(f32, "write") },
      workgroup: [32, 8],
      ...(example ? { example: { workgroups: 1, args: { x: 1024, y: 1024 } } } : {}),
    },
    ({ x, y }, gpu) => {
      const tile = gpu.shared(f32, 32 * (32 + padding));
      const { x: column, y: row } = gpu.localId;
      for (let k = 0; k < 32; k += 8)
        tile.set(
          row
            .add(k)
            .mul(32 + padding)
            .add(column),
          x.get(row.add(k).mul(32).add(column)),
        );
      gpu.barrier();
      for (let k = 0; k < 32; k += 8)
        y.set(row.add(k).mul(32).add(column), tile.get(column.mul(32 + padding).add(row.add(k))));
    },
  );

describe("counters", () => {
  it("that are as wanted pass, and all are given", async () => {
    expect.assertions(2);
    const counters = await expectCounters(transposed(1)).toHave({
      sharedConflicts: 0,
      barriers: { atMost: 1 },
      globalReadBytes: { atLeast: 4096, atMost: 4096 },
      memory: { tile: { conflicts: 0, readBytes: 4096 }, x: { readSectors: 128 } },
    });
    expect(counters.workgroups).toBe(1);
  });

  it("that are not fail with what was counted and wanted", async () => {
    const { name, message, stack } = await failureOf(() =>
      expectCounters(transposed(0)).toHave({
        sharedConflicts: 0,
        barriers: { atLeast: 2, atMost: 4 },
        flops: 0,
        memory: { tile: { conflicts: { atMost: 10 } } },
      }),
    );
    expect(name).toBe("AssertionError");
    expect(message).toBe(
      [
        'kernel "transposed": 3 of 4 counters are not as wanted, at subgroup width 32',
        "  sharedConflicts: counted 992, wanted exactly 0",
        "  barriers: counted 1, wanted at least 2",
        "  memory.tile.conflicts: counted 992, wanted at most 10",
        "  launch: 1×1×1 workgroups, x=[1024] y=[1024]",
      ].join("\n"),
    );
    expect(stack).toContain("counters.test.ts");
    expect(stack).not.toContain("expect-counters.ts");
  });

  it("are those of the width that the test gives", async () => {
    const { message } = await failureOf(() =>
      expectCounters(transposed(1), { subgroup: 64 }).toHave({ barriers: 2 }),
    );
    expect(message).toContain("a counter is not as wanted, at subgroup width 64\n  barriers: counted 1, ");
  });

  it("of a kernel with findings say nothing", async () => {
    const { message } = await failureOf(() =>
      expectCounters(transposed(1), { args: { y: 1000 } }).toHave({ barriers: 1 }),
    );
    expect(message).toMatch(
      /^kernel "transposed" is not clean, so that its counters say nothing\n {2}out-of-/,
    );
  });

  it("of a launch that nobody gave are refused", async () => {
    const bare = transposed(1, false);
    await expect(expectCounters(bare).toHave({ barriers: 1 })).rejects.toMatchObject({
      code: "EXAMPLE_MISSING",
    });
    await expectCounters(bare, { workgroups: 1, args: { x: 1024, y: 1024 } }).toHave({ barriers: 1 });
  });
});

describe("what is wanted", () => {
  const expectation = expectCounters(transposed(1));

  it.each([
    ["an unknown counter", { sharedConflict: 0 }, "UNKNOWN_COUNTER", "sharedConflicts"],
    ["an inherited name", { toString: 0 }, "UNKNOWN_COUNTER", "sharedConflicts"],
    ["an unknown memory", { memory: { tiles: { conflicts: 0 } } }, "UNKNOWN_COUNTER", "x, y, tile"],
    ["an unknown counter of a memory", { memory: { tile: { bytes: 0 } } }, "UNKNOWN_COUNTER", "readBytes"],
    ["no counter", {}, "NOTHING_WANTED", "toHave({"],
    ["no number", { barriers: NaN }, "INVALID_BOUND", "atMost"],
    ["a text", { barriers: "4" }, "INVALID_BOUND", "atMost"],
    ["an unknown bound", { barriers: { below: 4 } }, "INVALID_BOUND", "atMost"],
    ["an empty bound", { barriers: {} }, "INVALID_BOUND", "atMost"],
  ])("%s is refused", async (_, wanted, code, hint) => {
    await expect(expectation.toHave(wanted as object)).rejects.toMatchObject({
      code,
      hint: expect.stringContaining(hint),
    });
  });

  it("has typed names", () => {
    const never = (): unknown[] => [
      // @ts-expect-error a counter's name is one of a few
      expectation.toHave({ sharedConflict: 0 }),
      // @ts-expect-error so is a memory's counter
      expectation.toHave({ memory: { tile: { bytes: 0 } } }),
      // @ts-expect-error a bound is at least or at most
      expectation.toHave({ barriers: { below: 4 } }),
    ];
    expect(never).toBeTypeOf("function");
  });

  it("can be every counter that there is", async () => {
    const device = openSim();
    const program = await device.compile(transposed(1));
    const [x, y] = [device.createBuffer("f32", 1024), device.createBuffer("f32", 1024)];
    await x.write(new Float32Array(1024));
    const { counters } = await program.run({ workgroups: 1, args: { x, y } });
    await expectation.toHave(counters as Counters);
    await device.close();
  });
});
