/**
 * Microseconds per launch: through our API from Node, and by a bare loop of cuLaunchKernel in C on the same machine, of
 * the same kernel. Prints one JSON document. Needs an NVIDIA GPU and nvcc.
 *
 *     node packages/device/bench/launch.ts
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "@evolver/base";
import { buffer, f32, kernel } from "@evolver/kernel";
import { openCuda } from "@evolver/device/cuda";

const LAUNCHES = 20_000;
const ROUNDS = 9;

const tiny = kernel("tiny", { params: { x: buffer(f32, "read_write") }, workgroup: [32] }, ({ x }, gpu) => {
  x.set(gpu.localIndex, 1);
});

const C_LOOP = `
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e6 + t.tv_nsec / 1e3; }
#define CHECK(call) do { CUresult r = (call); if (r) { fprintf(stderr, "%s: %d\\n", #call, r); exit(1); } } while (0)
int main(int argc, char **argv) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction function; CUstream stream; CUdeviceptr x;
  CHECK(cuInit(0)); CHECK(cuDeviceGet(&device, 0)); CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, argv[1])); CHECK(cuModuleGetFunction(&function, module, argv[2]));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); CHECK(cuMemAlloc(&x, 128));
  void *params[] = { &x };
  for (int round = 0; round < ${ROUNDS}; round++) {
    CHECK(cuStreamSynchronize(stream));
    double start = now();
    for (int i = 0; i < ${LAUNCHES}; i++) CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    double enqueued = now();
    CHECK(cuStreamSynchronize(stream));
    printf("%f %f\\n", (enqueued - start) / ${LAUNCHES}, (now() - start) / ${LAUNCHES});
  }
  return 0;
}`;

interface Timing {
  /** Microseconds until the call returns, and until the work is done, a launch; medians. */
  readonly enqueueMicroseconds: number;
  readonly totalMicroseconds: number;
}

async function throughApi(device: ReturnType<typeof openCuda>): Promise<Timing> {
  const x = device.createBuffer("f32", 32);
  const program = await device.compile(tiny);
  const enqueue = program.prepare({ workgroups: 1, args: { x } });
  if (enqueue === null) throw new Error("nothing to launch");
  const [enqueued, total]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await device.synchronize();
    const start = performance.now();
    for (let i = 0; i < LAUNCHES; i++) enqueue();
    const end = performance.now();
    await device.synchronize();
    enqueued.push(((end - start) * 1000) / LAUNCHES);
    total.push(((performance.now() - start) * 1000) / LAUNCHES);
  }
  return { enqueueMicroseconds: median(enqueued), totalMicroseconds: median(total) };
}

function throughC(cubin: Uint8Array, entryPoint: string): Timing {
  const folder = mkdtempSync(join(tmpdir(), "evolver-launch-"));
  try {
    const [source, program, image] = [
      join(folder, "launch.c"),
      join(folder, "launch"),
      join(folder, "tiny.cubin"),
    ];
    writeFileSync(source, C_LOOP);
    writeFileSync(image, cubin);
    execFileSync("nvcc", ["-O2", "-o", program, source, "-lcuda"]);
    const lines = execFileSync(program, [image, entryPoint], { encoding: "utf8" }).trim().split("\n");
    const columns = lines.map((line) => line.split(" ").map(Number));
    return {
      enqueueMicroseconds: median(columns.map(([a]) => a as number)),
      totalMicroseconds: median(columns.map(([, b]) => b as number)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const device = openCuda();
const program = await device.compile(tiny);
const bare = throughC(program.code, program.emitted.entryPoint);
const ours = await throughApi(device);
const document = {
  what: "microseconds per launch of a kernel that does nothing",
  device: device.name,
  driver: device.driverVersion,
  date: new Date().toISOString().slice(0, 10),
  launches: LAUNCHES,
  rounds: ROUNDS,
  cuLaunchKernelInC: bare,
  evolver: ours,
  differenceMicroseconds: ours.enqueueMicroseconds - bare.enqueueMicroseconds,
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
await device.close();
