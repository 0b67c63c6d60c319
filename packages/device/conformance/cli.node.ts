/**
 * Runs the conformance suite on a device of this machine, prints a table, and exits 1 if a case failed.
 *
 *     node packages/device/conformance/cli.node.ts --device webgpu|cuda|hip|cpu|sim [--subgroup 8] [--filter text] [--json]
 */

import { parseArgs } from "node:util";
import { EvolverError } from "@evolver/base";
import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { runConformance, type ConformanceResult } from "./run.ts";

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "sim" },
    subgroup: { type: "string" },
    filter: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  let device: Device;
  try {
    const options = values.subgroup === undefined ? undefined : { subgroup: Number(values.subgroup) };
    device = await openDevice(values.device as DeviceId, options);
  } catch (error) {
    if (!(error instanceof EvolverError)) throw error;
    console.error(error.message);
    return 2;
  }
  const { id, name, subgroupSize } = device;
  if (!values.json) console.log(`${id}: ${name}, subgroups of ${subgroupSize}\n`);
  const start = performance.now();
  const results = await runConformance(device, {
    ...(values.filter === undefined ? {} : { filter: values.filter }),
    ...(values.json ? {} : { onResult: (result) => console.log(line(result)) }),
  });
  await device.close();
  const ms = Math.round(performance.now() - start);
  const count = (status: ConformanceResult["status"]): number =>
    results.filter((result) => result.status === status).length;
  const [passed, failed, skipped] = [count("passed"), count("failed"), count("skipped")];
  if (values.json)
    console.log(JSON.stringify({ device: id, name, subgroupSize, ms, passed, failed, skipped, results }));
  else console.log(`\n${passed} passed, ${failed} failed, ${skipped} not promised by the device, ${ms} ms`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

function line({ status, ms, name, detail }: ConformanceResult): string {
  const mark = { passed: "ok     ", failed: "FAILED ", skipped: "-      " }[status];
  const why = detail === null ? "" : `\n         ${detail.replaceAll("\n", "\n         ")}`;
  return `${mark} ${ms.toFixed(0).padStart(5)} ms  ${name}${why}`;
}
