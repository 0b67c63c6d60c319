/** What `evolver check` makes of buffers of integers whose contents it has to make up. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evolver } from "./support/command.ts";

const source = `import { buffer, f32, kernel, u32 } from "@evolver/kernel";

const params = { at: buffer(u32), x: buffer(f32), y: buffer(f32, "read_write"), n: u32 };
const workgroup: [number] = [64];

export const scatter = kernel("scatter", { params, workgroup }, ({ at, x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(n), () => y.set(at.get(i), x.get(i)));
});
export const histogram = kernel("histogram", { params, workgroup }, ({ at, x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(n), () => {
    const bin = at.get(i);
    y.set(bin, y.get(bin).add(x.get(i)));
  });
});
export const rows = kernel("rows", { params, workgroup }, ({ at, x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(n), () => y.set(i, x.get(at.get(i).mul(16))));
});
export const shifted = kernel("shifted", { params, workgroup }, ({ at, x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  const tile = gpu.shared(f32, 64);
  gpu.if(i.lt(n), () => {
    tile.set(gpu.localIndex, x.get(i));
    y.set(i, tile.get(at.get(i).remTrunc(64)));
  });
});
export const lists = kernel("lists", { params, workgroup }, ({ at, x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(n), () =>
    gpu.for({ from: at.get(i), to: at.get(i.add(1)) }, (j) => y.set(i, x.get(j))));
});
export const given = kernel(
  "given",
  { params, workgroup, example: { workgroups: 1, args: { at: new Uint32Array(64).fill(7), x: 64, y: 64, n: 64 } } },
  ({ at, x, y }, gpu) => y.set(at.get(gpu.globalId.x), x.get(gpu.globalId.x)),
);
`;

interface Told {
  readonly kind: string;
  readonly message: string;
}

interface Report {
  readonly kernel: string;
  readonly findings: readonly Told[];
  readonly conditional: readonly Told[];
  readonly launch: { readonly madeUp: readonly string[] };
}

describe("made-up integers", () => {
  let folder: string;
  let text: string;
  let reports: Map<string, Report>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "evolver-made-up-"));
    writeFileSync(join(folder, "kernels.ts"), source);
    const [shown, data] = await Promise.all([
      evolver(["check", "kernels.ts"], folder),
      evolver(["check", "kernels.ts", "--json"], folder),
    ]);
    text = shown.stdout;
    reports = new Map((JSON.parse(data.stdout) as Report[]).map((report) => [report.kernel, report]));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const of = (name: string): Report => reports.get(name) as Report;
  const kinds = (told: readonly Told[]): string[] => [...new Set(told.map(({ kind }) => kind))];

  it("have one more than rows where they are the rows' offsets", () => {
    expect(of("lists").findings).toEqual([]);
    expect(of("lists").conditional).toEqual([]);
  });

  it("do not condemn a scatter, which is right where no index comes twice", () => {
    expect(of("scatter").findings).toEqual([]);
    expect(kinds(of("scatter").conditional)).toEqual(["data-race"]);
    expect(of("scatter").conditional[0]?.message).toMatch(/\(where at holds zeros\)$/);
    expect(text).toContain("scatter: clean at subgroup width 32");
    expect(text).toContain("  made up: at (each whole number below the length once, in mixed order");
  });

  it("show that sums into bins race where two invocations meet", () => {
    expect(kinds(of("histogram").findings)).toEqual(["data-race"]);
    expect(of("histogram").findings[0]?.message).toMatch(/\(where at holds zeros\)$/);
  });

  it("say that an index may lie outside, without calling it a fault", () => {
    expect(of("rows").findings).toEqual([]);
    expect(of("rows").conditional).toMatchObject([
      { kind: "out-of-bounds", message: expect.stringMatching(/ \(where at holds different numbers\)$/) },
    ]);
    expect(text).toContain(
      "  with other contents of at, which check made up (give them in the example to know):",
    );
  });

  it("reach other lanes' elements, so that a missing barrier shows", () => {
    expect(kinds(of("shifted").findings)).toContain("data-race");
  });

  it("are none where the example gives the contents", () => {
    expect(of("given").launch.madeUp).toEqual([]);
    expect(kinds(of("given").findings)).toEqual(["data-race"]);
    expect(of("given").conditional).toEqual([]);
  });
});
