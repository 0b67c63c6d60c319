/** The `hip` device: AMD GPUs through HIP's run time. Node only. */

import { NATIVE_GRID, type Emitted, type KernelIR } from "@evolver/kernel";
import type { CompiledCode } from "../driver/cache.ts";
import type { NativeOptions } from "../../core/native-options.ts";
import { deviceRows } from "../../core/device-rows.ts";
import { GpuDevice } from "../driver/device.ts";
import { compileHip } from "./compile.ts";
import {
  loadHipDriver,
  PROPERTY_OFFSETS,
  unavailable,
  type HipDriver,
  type PropertyBytes,
} from "./driver.ts";

/** Work-items of a launch on one axis: AMD's packets count them in 32 bits. */
const MAX_WORK_ITEMS = 2 ** 32 - 1;

/** Opens the GPU. @throws EvolverError HIP_UNAVAILABLE */
export function openHip(options: NativeOptions = {}): HipDevice {
  return new HipDevice(loadHipDriver(), options.ordinal ?? 0);
}

/** A GPU of AMD's, through its driver. */
export class HipDevice extends GpuDevice {
  override readonly id = "hip";
  override readonly forwardProgress: boolean = deviceRows.hip.forwardProgress;
  /** "gfx942:sramecc+:xnack-": what kernels are compiled for. */
  readonly architecture: string;
  /** Of the run time: "6.2". */
  readonly driverVersion: string;

  constructor({ driver, hip, properties }: HipDriver, ordinal: number) {
    driver.check(hip.hipSetDevice(ordinal), `opening GPU ${ordinal}`);
    const facts = readProperties(properties(ordinal));
    super(driver, facts);
    this.architecture = facts.architecture;
    const version = driver.out32((slot) => hip.hipRuntimeGetVersion(slot), "reading HIP's version");
    this.driverVersion = `${Math.floor(version / 10_000_000)}.${Math.floor((version % 10_000_000) / 100_000)}`;
  }

  override compileSource(ir: KernelIR, { source, compileOptions: options }: Emitted): CompiledCode {
    return compileHip({ kernelName: ir.name, source, architecture: this.architecture, options });
  }

  override maxGridX({ workgroupSize: [x] }: KernelIR): number {
    return Math.min(NATIVE_GRID.x, Math.floor(MAX_WORK_ITEMS / x));
  }
}

/** @throws EvolverError HIP_UNAVAILABLE where the bytes are not those of a GPU that we know how to use */
function readProperties({ bytes, layout }: PropertyBytes) {
  const text = new TextDecoder("latin1").decode(bytes);
  const name = text.slice(0, text.indexOf("\0"));
  // The name of the architecture has moved between versions; nothing else in the structure looks like it.
  const architecture = /gfx[0-9a-f]{3,5}(?::[a-z]+[+-])*(?=\0)/.exec(text.slice(256))?.[0];
  const view = new DataView(bytes.buffer);
  const offsets = PROPERTY_OFFSETS[layout];
  const subgroupSize = view.getInt32(offsets.warpSize, true);
  if (architecture === undefined || (subgroupSize !== 32 && subgroupSize !== 64)) {
    throw unavailable(
      `HIP describes the GPU "${name}" in a way that is not known here`,
      "ROCm 5.2 to 7 are; please report this version",
    );
  }
  return {
    name: name || architecture,
    architecture,
    subgroupSize,
    maxInvocationsPerWorkgroup: view.getInt32(offsets.maxThreadsPerBlock, true),
    maxSharedBytes: Number(view.getBigUint64(offsets.sharedMemPerBlock, true)),
    machine: {
      multiprocessors: view.getInt32(offsets.multiProcessorCount, true) || null,
      // In kHz.
      clockGHz: view.getInt32(offsets.clockRate, true) / 1e6 || null,
      cacheBytes: null,
      maxInvocationsPerMultiprocessor: null,
      maxWorkgroupsPerMultiprocessor: null,
      sharedBytesPerMultiprocessor: null,
    },
  };
}
