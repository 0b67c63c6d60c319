/** What `expectClean` passes, and how it fails. */

import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import { expectClean } from "@evolver/vitest";
import { describe, expect, it } from "vitest";
import { failureOf } from "./support/failure.ts";

const here = relative(process.cwd(), import.meta.filename);
const lines = readFileSync(import.meta.filename, "utf8").split("\n");
const lineOf = (code: string): number => lines.findIndex((line) => line.trim() === code) + 1;

// Types are gone when this runs: the lines that failures name are still those of this file.
interface Options {
  readonly barrier: boolean;
}

const rotated = ({ barrier }: Options) =>
  kernel(
    "rotated",
    {
      params: { x: buffer(f32), y: buffer(f32, "write") },
      workgroup: [64],
      example: { workgroups: 2, args: { x: 128, y: 128 } },
    },
    ({ x, y }, gpu) => {
      const i = gpu.globalId.x;
      const tile = gpu.shared(f32, 64);
      tile.set(gpu.localIndex, x.get(i));
      if (barrier) gpu.barrier();
      y.set(i, tile.get(gpu.localIndex.add(1).remTrunc(64)));
    },
  );

const WRITE = lineOf("tile.set(gpu.localIndex, x.get(i));");
const READ = lineOf("y.set(i, tile.get(gpu.localIndex.add(1).remTrunc(64)));");

describe("a clean kernel", () => {
  it("passes, at one width and at several, and counts as an assertion", async () => {
    expect.assertions(2);
    await expectClean(rotated({ barrier: true }));
    await expectClean(rotated({ barrier: true }), { subgroup: [4, 32, 128], schedules: 2 });
  });

  it("passes with other workgroups and arguments", async () => {
    await expectClean(rotated({ barrier: true }), { workgroups: [1, 1], args: { x: 64, y: 64 } });
  });
});

describe("a race", () => {
  it("fails with its kind, its lines and its invocations", async () => {
    const { name, message, stack } = await failureOf(() => expectClean(rotated({ barrier: false })));
    expect(name).toBe("AssertionError");
    expect(message).toContain('kernel "rotated" is not clean at subgroup width 32: 2 findings\n');
    expect(message).toContain('\n  data-race: data race on shared "tile"[1]: ');
    expect(message).toContain(`\n    read at ${here}:${READ}, invocation 0, 1, 2, `);
    expect(message).toContain(`\n    write at ${here}:${WRITE}, invocation `);
    expect(message).toMatch(/ of workgroup \[0, 0, 0\]\n/);
    expect(message).toMatch(/\n {2}launch: 2×1×1 workgroups, x=\[128\] y=\[128\]$/);
    // Vitest shows the code of the first place, then the other places, then the test's.
    const places = stack.split("\n").filter((line) => line.startsWith("    at ") && line.includes(here));
    expect(places[0]).toMatch(new RegExp(`at read \\(.*:${READ}:\\d+\\)$`));
    expect(places[1]).toMatch(new RegExp(`at write \\(.*:${WRITE}:\\d+\\)$`));
    expect(places.length).toBeGreaterThan(2);
    expect(stack).not.toContain("expect-clean.ts");
  });

  it("of some widths says at which it showed", async () => {
    const { message } = await failureOf(() =>
      expectClean(rotated({ barrier: false }), { subgroup: [32, 64, 128] }),
    );
    expect(message).toContain("is not clean at subgroup widths 32, 64 and 128: 2 findings\n");
    expect(message).toMatch(/ {2}uninitialised-shared-memory: .* \(at subgroup width 32 only\)\n/);
    expect(message).toMatch(/ {2}data-race: .* \(\d+ times\)\n/);
  });
});

const turns = kernel(
  "turns",
  {
    params: { turn: buffer(atomic(u32)), y: buffer(u32, "write") },
    workgroup: [64],
    example: { workgroups: 2, args: { turn: 1, y: 128 } },
  },
  ({ turn, y }, gpu) => y.set(gpu.globalId.x, turn.add(0, 1)),
);

it("a result that depends on the order is wrong where the test says so", async () => {
  await expectClean(turns);
  const { message } = await failureOf(() => expectClean(turns, { deterministic: true }));
  expect(message).toContain("\n  schedule-dependent-result: ");
});

it("a kernel that does not build fails with what to do", async () => {
  const wide = kernel("wide", { params: { y: buffer(f32, "write") }, workgroup: [2048] }, ({ y }, gpu) =>
    y.set(gpu.globalId.x, 1),
  );
  const { message } = await failureOf(() => expectClean(wide));
  expect(message).toContain("\n  invalid-workgroup: [2048, 1, 1] is not a workgroup size\n");
  expect(message).toContain("\n    help: ");
});

it("a run-time value as a JavaScript condition fails", async () => {
  const decided = kernel(
    "decided",
    {
      params: { x: buffer(f32), y: buffer(f32, "write") },
      workgroup: [32],
      example: { workgroups: 1, args: { x: 32, y: 32 } },
    },
    ({ x, y }, gpu) => {
      if (x.get(gpu.globalId.x)) y.set(gpu.globalId.x, 1);
    },
  );
  const { message } = await failureOf(() => expectClean(decided));
  expect(message).toContain("\n  native-use: x.get(gpu.globalId.x) is always true as the condition");
  expect(message).toContain(
    `\n    used at ${here}:${lineOf("if (x.get(gpu.globalId.x)) y.set(gpu.globalId.x, 1);")}\n`,
  );
});

describe("sizes and choices", () => {
  const copy = kernel(
    "copy",
    {
      params: { x: buffer(f32), y: buffer(f32, "write") },
      tune: { per: [1, 2] },
      sizes: { n: 1024 },
      workgroup: [32],
      example: ({ n }, { per }) => ({ workgroups: Math.ceil(n / (32 * per)), args: { x: n, y: n } }),
    },
    ({ x, y }, gpu, { per }) => {
      const first = gpu.globalId.x.mul(per);
      // Of each two, the second is taken to be there.
      gpu.if(first.lt(y.length), () => {
        for (let k = 0; k < per; k++) y.set(first.add(k), x.get(first.add(k)));
      });
    },
  );

  it("are small and ragged where the test gives none", async () => {
    await expectClean(copy);
    const { message } = await failureOf(() => expectClean(copy.at({ per: 2 })));
    expect(message).toContain("out-of-bounds");
    expect(message).toMatch(/launch: .* workgroups, x=\[\d*[13579]\] y=\[\d*[13579]\]$/);
  });

  it("that do not go together fail with what the kernel's author says", async () => {
    const strict = kernel(
      "strict",
      {
        params: { y: buffer(f32, "write") },
        tune: { tile: [8, 12] },
        sizes: { n: 64 },
        workgroup: ({ tune }) => {
          if (tune.tile === 12) throw new Error("12 is no power of two");
          return [tune.tile];
        },
        example: ({ n }) => {
          if (n === 60) throw new Error("60 is not enough");
          return { workgroups: n, args: { y: 8 * n } };
        },
      },
      ({ y }, gpu) => y.set(gpu.globalId.x, 1),
    );
    await expectClean(strict);
    const wrongTile = await failureOf(() => expectClean(strict.at({ tile: 12 })));
    expect(wrongTile.message).toContain(
      'workgroup-threw: `workgroup` of kernel "strict" threw: 12 is no power of two\n',
    );
    const line = lineOf('if (n === 60) throw new Error("60 is not enough");');
    const wrongSize = await failureOf(() => expectClean(strict, { sizes: { n: 60 } }));
    expect(wrongSize.message).toContain(
      `example-threw: \`example\` of kernel "strict" threw: 60 is not enough\n    here at ${here}:${line}\n`,
    );
  });

  it("are the test's", async () => {
    await expectClean(copy.at({ per: 2 }), { sizes: { n: 128 } });
    await expect(expectClean(copy, { sizes: { m: 1 } })).rejects.toMatchObject({ code: "INVALID_SIZE" });
  });
});

it("wrong options are refused", async () => {
  const clean = rotated({ barrier: true });
  await expect(expectClean(clean, { subgroup: 33 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
  await expect(expectClean(clean, { subgroup: [] })).rejects.toMatchObject({ code: "INVALID_OPTION" });
  // @ts-expect-error it has no such parameter
  await expect(expectClean(clean, { args: { n: 1 } })).rejects.toMatchObject({ code: "UNKNOWN_ARGUMENT" });
});
