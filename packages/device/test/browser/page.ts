/** What the page of conformance.test.ts runs: the suite, on a device that the browser has. */

import { cases } from "../../conformance/cases/index.ts";
import { checkClose } from "../../conformance/cases/device.ts";
import { runConformance, type ConformanceResult } from "../../conformance/run.ts";
import { openDevice, type DeviceId } from "@evolver/device";

export interface PageReport {
  readonly name: string;
  readonly subgroupSize: number;
  /** Whether the page may share memory with its workers. */
  readonly isolated: boolean;
  readonly cases: number;
  readonly results: readonly ConformanceResult[];
}

async function conformance(id: DeviceId, subgroup?: number): Promise<PageReport> {
  const open = () => openDevice(id, subgroup === undefined ? undefined : { subgroup });
  const device = await open();
  const { name, subgroupSize } = device;
  const results = await runConformance(device);
  await device.close();
  await checkClose(await open());
  return { name, subgroupSize, isolated: crossOriginIsolated, cases: cases.length, results };
}

declare global {
  var conformance: ((id: DeviceId, subgroup?: number) => Promise<PageReport>) | undefined;
}

globalThis.conformance = conformance;
