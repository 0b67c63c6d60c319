/** The JavaScript that the simulator makes of a kernel is there to be read, and to have breakpoints set in it. */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import { expect, test } from "vitest";
import { exchange, ring, roles } from "./pipeline-programs.ts";

const params = { x: buffer(f32), y: buffer(f32, "read_write"), n: u32 };

const clamped = kernel("clamped", { params, workgroup: [64] }, ({ x, y, n }, gpu) => {
  const i = gpu.globalId.x;
  const sum = gpu.var(f32, 0);
  gpu.for({ from: 0, to: n }, (k) => sum.add(x.get(k)));
  gpu.if(i.lt(n), () => y.set(i, sum.get().min(1)));
});

/** What stands in the source from one text to another. */
function part(source: string, from: string, to: string): string {
  const start = source.indexOf(from);
  expect(start).toBeGreaterThanOrEqual(0);
  return source.slice(start, source.indexOf(to, start)).trim();
}

test("a subgroup's statements stand below the TypeScript lines that they come from", async () => {
  const program = await openSim({ checks: false }).compile(clamped);
  const source = program.source();
  expect(part(source, "function* run", "return {")).toMatchInlineSnapshot(`
    "function* run(subgroup, launch) {
      const firstX = launch.workgroupX * 64, firstY = launch.workgroupY * 1, firstZ = launch.workgroupZ * 1;
      const { all, laneSets } = subgroup;
      let budget = launch.quantum;
      body: {
        const n_0 = launch.scalars["n"];
        // source.test.ts:12
        let $sum = 0;
        laneLoop1(subgroup, firstX);
        // source.test.ts:13
        loop1: for (let i_5 = 0; ; i_5 += 1) {
          totals[BRANCHES]++;
          if (!(i_5 < n_0)) break;
          next1: {
            totals[ISSUED_MEMORY]++;
            const x_6 = loadUniform1_buffer_x(subgroup, all, place1, i_5);
            const sum_7 = $sum;
            const sum_8 = fround(sum_7+x_6);
            $sum = sum_8;
            totals[ISSUED_ARITHMETIC] += 1;
            totals[FLOPS] += all.count;
          }
          if (--budget === 0) {
            budget = launch.quantum;
            subgroup.looping = 2;
            yield PREEMPTED;
          }
        }
        laneLoop2(subgroup, n_0);
        totals[ISSUED_ARITHMETIC] += 1;
        totals[ISSUED_INTEGER] += 1;
        // source.test.ts:14
        totals[BRANCHES]++;
        const then1 = laneSets[0];
        const else1 = laneSets[1];
        splitLanes(subgroup.i32, 32, all, then1, else1);
        if (then1.count !== 0 && else1.count !== 0) totals[DIVERGENT_BRANCHES]++;
        if (then1.count !== 0) {
          block1: {
            const sum_10 = $sum;
            const smaller_12 = sum_10 < 1 || 1 !== 1 ? sum_10 : 1;
            totals[ISSUED_ARITHMETIC] += 1;
            totals[FLOPS] += then1.count;
            totals[ISSUED_MEMORY]++;
            subgroup.f32.fill(smaller_12, 64, 96);
            store1_buffer_y_by_u32(subgroup, then1, place3);
          }
        }
      }
    }"
  `);
  expect(part(source, "function laneLoop2", "\nfunction ")).toMatchInlineSnapshot(`
    "function laneLoop2(subgroup, n_0) {
      const { u32, i32 } = subgroup;
      for (let lane = 0; lane < WIDTH; lane++) {
        // source.test.ts:14
        const globalId_x_1 = u32[0 + lane];
        const condition_9 = (globalId_x_1<n_0?1:0);
        i32[32 + lane] = condition_9;
      }
    }"
  `);
  expect(part(source, "const place", "// At the start")).toMatchInlineSnapshot(`
    "const place1 = { site: 1 }; // source.test.ts:13
    const place3 = { site: 3, index: 0, value0: 64 }; // source.test.ts:14"
  `);
});

test("a load looks at bounds, counts, checks, and moves the data", async () => {
  const program = await openSim({ subgroup: 64 }).compile(clamped);
  expect(part(program.source(), "function loadUniform1_buffer_x", "\nfunction")).toMatchInlineSnapshot(`
    "function loadUniform1_buffer_x(subgroup, active, place, index) {
      const { mask, count } = active;
      const { data, length, counts } = buffer_x;
      time.instruction++;
      if (!(index >= 0 && index <= length - 1)) {
        findings.sharedIndexOutside({ subgroup, active, site: place.site, action: "read", memory: 0, width: 1 }, index);
        return 0;
      }
      counts[READ_REQUESTS] += 1;
      counts[READ_BYTES] += count * 4;
      counts[READ_SECTORS] += 1;
      if (buffer_x.checked) {
        const { base } = subgroup, accessBase = place.site * SITE_STRIDE + base;
        const { writeTime, writer, readTime, reader, otherReader, earlierReadTime, earlierReader } = buffer_x;
        const { now, launchStart, workgroupStart } = time;
        for (let element = index; element < index + 1; element++) {
          for (let lane = 0; lane < WIDTH; lane++) {
            if (readTime[element] === now && otherReader[element] !== -1 && writeTime[element] !== now && (writeTime[element] >= workgroupStart || writeTime[element] <= launchStart)) break;
            if (count === WIDTH || mask[lane] !== 0) {
              const written = writeTime[element];
              if (written >= workgroupStart) {
                if (written === now && (writer[element] & ACTOR) !== base + lane) races.report({ subgroup, lane, site: place.site, action: "read", memory: 0, element }, { action: "write", accessId: writer[element], time: written });
              } else {
                if (written > launchStart) races.report({ subgroup, lane, site: place.site, action: "read", memory: 0, element }, { action: "write", accessId: writer[element], time: written });
              }
              const read = readTime[element];
              if (read !== now) {
                if (read > launchStart && read < workgroupStart) {
                  earlierReadTime[element] = read;
                  earlierReader[element] = reader[element];
                }
                readTime[element] = now;
                reader[element] = accessBase + lane;
                otherReader[element] = -1;
              } else if (otherReader[element] === -1 && (reader[element] & ACTOR) !== base + lane) otherReader[element] = accessBase + lane;
            }
          }
        }
      }
      return data[index];
    }"
  `);
});

test("functions take five parameters at most, but for the shared values of arithmetic", async () => {
  for (const written of [clamped, ring(), roles(), exchange()]) {
    for (const options of [{}, { checks: false, counters: false }, { seed: 1, subgroup: 4 }]) {
      const device = openSim(options);
      const program = await device.compile(written.build({ subgroup: device.subgroupSize }));
      const source = program.source();
      for (const [, name, given] of source.matchAll(/function\*? (\w+)\(([^)]*)\)/g)) {
        if ((name as string).startsWith("laneLoop")) continue;
        expect((given as string).split(",").length, name).toBeLessThanOrEqual(5);
      }
    }
  }
});

test("code with comments does the same", async () => {
  const results = await Promise.all(
    [false, true].map(async (debug) => {
      const device = openSim({ debug });
      const program = await device.compile(clamped);
      const x = device.createBuffer(
        "f32",
        Float32Array.from({ length: 64 }, (_, i) => i / 100),
      );
      const y = device.createBuffer("f32", 64);
      const { counters } = await program.run({ workgroups: 1, args: { x, y, n: 10 } });
      return { counters, y: [...(await y.read())] };
    }),
  );
  expect(results[1]).toEqual(results[0]);
  expect(results[0]?.y[9]).toBeCloseTo(0.45);
  expect(results[0]?.y[10]).toBe(0);
});
