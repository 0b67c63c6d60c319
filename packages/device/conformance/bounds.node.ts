/**
 * Measures how far functions are off on devices of this machine, beside what their targets state:
 *
 *     node packages/device/conformance/bounds.node.ts [sim,cpu,webgpu,cuda,hip] [--points 64] [--save evidence/FILE.json]
 *
 * Exits 1 where one is off by more than its bound. `--save` writes what was measured, one entry per device, beside what the file
 * has already.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { EvolverError } from "@evolver/base";
import { deviceRows, openDevice, type Device, type DeviceId } from "@evolver/device";
import { describeBound, numericBounds, ulpsAt } from "@evolver/kernel";
import { measureBounds, type MeasuredBound } from "./bounds.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { points: { type: "string", default: "64" }, save: { type: "string" } },
});

const ids = (positionals[0] ?? "sim,cpu,webgpu").split(",") as DeviceId[];
const found: Record<string, { readonly device: DeviceId; readonly bounds: readonly MeasuredBound[] }> = {};
for (const id of ids) {
  const device = await open(id);
  if (device === null) continue;
  console.log(`${id}: ${device.name}`);
  const bounds = await measureBounds(device, Number(values.points));
  await device.close();
  for (const { op, ulps, at, absolute, wrongAtEnds } of bounds) {
    const bound = numericBounds[op][deviceRows[id].target ?? "js"];
    const within = ulps <= ulpsAt(bound, at);
    if (!within || wrongAtEnds.length > 0) process.exitCode = 1;
    const ends = wrongAtEnds.length === 0 ? "" : `, wrong at ${wrongAtEnds.slice(0, 6).join(", ")}`;
    console.log(
      `  ${within ? "ok    " : "BEYOND"} ${op.padEnd(12)} ${ulps.toFixed(2).padStart(10)} ulp at ${at}, ${absolute.toExponential(1)} absolutely; stated: ${describeBound(bound)}${ends}`,
    );
  }
  found[`${id}: ${device.name}`] = { device: id, bounds };
}
if (values.save !== undefined) {
  const before = existsSync(values.save) ? (JSON.parse(readFileSync(values.save, "utf8")) as object) : {};
  writeFileSync(values.save, `${JSON.stringify({ ...before, ...found }, null, 2)}\n`);
}

async function open(id: DeviceId): Promise<Device | null> {
  try {
    return await openDevice(id);
  } catch (error) {
    if (!(error instanceof EvolverError)) throw error;
    console.log(`${id}: ${error.message.split("\n")[0]}`);
    return null;
  }
}
