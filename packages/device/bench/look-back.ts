/**
 * Decoupled look-back over many workgroups on the simulator: each waits with an acquire for what its predecessor released.
 * Prints seconds, and the growth of the process's memory, for a fixed order and for a seeded one.
 * Run: node packages/device/bench/look-back.ts [WORKGROUPS…]
 */

import { openSim } from "@evolver/device";
import { atomic, buffer, kernel, u32 } from "@evolver/kernel";

const THREADS = 32;
const SEED = 5;

/** Prefix sums of one number per workgroup. */
const lookBack = kernel(
  "lookBack",
  {
    params: { values: buffer(u32), sums: buffer(u32, "read_write"), ready: buffer(atomic(u32)) },
    workgroup: [THREADS],
  },
  ({ values, sums, ready }, gpu) => {
    const own = gpu.workgroupIndex;
    gpu.if(gpu.localIndex.eq(0), () => {
      const before = gpu.var(u32, 0);
      gpu.if(own.gt(0), () => {
        const previous = own.sub(1);
        gpu.while(
          () => ready.get(previous, { order: "acquire" }).eq(0),
          () => {},
        );
        before.set(sums.get(previous));
      });
      sums.set(own, before.get().add(values.get(own)));
      ready.set(own, 1, { order: "release" });
    });
  },
);

const counts = process.argv.slice(2).map(Number);
for (const workgroups of counts.length > 0 ? counts : [16_384, 65_536])
  for (const seed of [undefined, SEED]) {
    const memory = process.memoryUsage().rss;
    const start = performance.now();
    const last = await run(workgroups, seed);
    const seconds = (performance.now() - start) / 1000;
    const grown = Math.max(0, process.memoryUsage().rss - memory) / 2 ** 20;
    if (last !== ((workgroups * (workgroups + 1)) / 2) % 2 ** 32) throw new Error(`wrong sum ${last}`);
    const order = seed === undefined ? "fixed order" : "seeded order";
    console.log(
      `${String(workgroups).padStart(6)} workgroups, ${order.padEnd(12)} ${seconds.toFixed(2).padStart(6)} s, ${grown.toFixed(0).padStart(4)} MiB more`,
    );
  }

async function run(workgroups: number, seed: number | undefined): Promise<number> {
  const device = openSim(seed === undefined ? {} : { seed });
  try {
    const program = await device.compile(lookBack);
    const values = device.createBuffer(
      "u32",
      Uint32Array.from({ length: workgroups }, (_, i) => i + 1),
    );
    const sums = device.createBuffer("u32", workgroups);
    const ready = device.createBuffer("u32", new Uint32Array(workgroups));
    await program.run({ workgroups, args: { values, sums, ready } });
    return (await sums.read())[workgroups - 1] ?? -1;
  } finally {
    await device.close();
  }
}
