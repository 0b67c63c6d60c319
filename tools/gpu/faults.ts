/**
 * What a GPU device says when things go wrong: memory runs out, a kernel needs too much shared memory, a kernel writes
 * outside everything, the device is lost. Each fault in a process of its own. Prints one JSON document; exits 1 unless
 * every fault gave its code.
 *
 *     node tools/gpu/faults.ts --device cuda
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";

interface Fault {
  readonly code: string;
  /** Null where the fault cannot happen on the device. */
  readonly on: readonly DeviceId[];
  provoke(device: Device): Promise<unknown>;
}

const wild = kernel(
  "wild",
  { params: { x: buffer(f32, "read_write"), far: u32 }, workgroup: [32] },
  ({ x, far }, gpu) => {
    x.set(far.add(gpu.localIndex), 1);
  },
);

async function goWild(device: Device): Promise<void> {
  const x = device.createBuffer("f32", 32);
  const program = await device.compile(wild);
  await program.run({ workgroups: 1, args: { x, far: 4_000_000_000 } });
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "a buffer larger than the device allows": {
    code: "BUFFER_TOO_LARGE",
    on: ["cuda", "webgpu"],
    provoke: async (device) => device.createBuffer("f32", Math.ceil(device.limits.maxBufferBytes / 4) + 1),
  },
  "a full GPU": {
    code: "OUT_OF_DEVICE_MEMORY",
    on: ["cuda"],
    provoke: async (device) => {
      const most = Math.floor(device.limits.maxBufferBytes / 4 / 5);
      for (let i = 0; i < 6; i++) device.createBuffer("f32", most);
    },
  },
  "a kernel that needs more shared memory than there is": {
    code: "SHARED_MEMORY_TOO_LARGE",
    on: ["cuda", "webgpu"],
    provoke: async (device) => {
      const length = device.limits.maxSharedBytes / 4 + 1;
      const greedy = kernel(
        "greedy",
        { params: { x: buffer(f32, "write") }, workgroup: [32] },
        ({ x }, gpu) => {
          const tile = gpu.shared(f32, length);
          tile.set(gpu.localIndex, 1);
          gpu.barrier();
          x.set(gpu.localIndex, tile.get(gpu.localIndex));
        },
      );
      return device.compile(greedy);
    },
  },
  "a write far outside": { code: "DEVICE_LOST", on: ["cuda"], provoke: goWild },
  "use of a device after it was lost": {
    code: "DEVICE_LOST",
    on: ["cuda"],
    provoke: async (device) => {
      await goWild(device).catch(() => undefined);
      return device.createBuffer("f32", 1);
    },
  },
};

const { values, positionals } = parseArgs({
  options: { device: { type: "string", default: "cuda" } },
  allowPositionals: true,
});
const id = values.device as DeviceId;
const [only] = positionals;

if (only !== undefined) {
  // The child: provokes one fault and says what came of it.
  try {
    await FAULTS[only]?.provoke(await openDevice(id));
    process.stdout.write(JSON.stringify({ code: null, message: "nothing was thrown" }));
  } catch (error) {
    const code = error instanceof EvolverError ? error.code : "NOT_OURS";
    process.stdout.write(
      JSON.stringify({ code, message: error instanceof Error ? error.message : String(error) }),
    );
  }
  process.exit(0);
}

const results = Object.entries(FAULTS)
  .filter(([, { on }]) => on.includes(id))
  .map(([fault, { code: expected }]) => {
    const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--device", id, fault], {
      encoding: "utf8",
    });
    const { code, message } = JSON.parse(child.stdout || '{"code":null,"message":"the process died"}') as {
      code: string | null;
      message: string;
    };
    return { fault, expected, code, right: code === expected, message };
  });
process.stdout.write(`${JSON.stringify({ device: id, results }, null, 2)}\n`);
process.exitCode = results.every(({ right }) => right) ? 0 : 1;
