/** The `cuda` device: NVIDIA GPUs through the driver API. Node only. */

import { NATIVE_GRID, type Emitted, type KernelIR } from "@evolver/kernel";
import type { CompiledCode } from "../driver/cache.ts";
import type { NativeOptions } from "../../core/native-options.ts";
import { deviceRows } from "../../core/device-rows.ts";
import { GpuDevice } from "../driver/device.ts";
import type { Handle } from "../driver/driver.ts";
import { compileCuda } from "./compile.ts";
import { loadCudaDriver, type CudaCalls, type CudaDriver } from "./driver.ts";

/** CUdevice_attribute values. */
const ATTRIBUTE = {
  maxThreadsPerBlock: 1,
  clockRate: 13,
  multiprocessorCount: 16,
  l2CacheSize: 38,
  maxThreadsPerMultiprocessor: 39,
  computeMajor: 75,
  computeMinor: 76,
  maxSharedMemoryPerMultiprocessor: 81,
  maxSharedMemoryOptIn: 97,
  maxBlocksPerMultiprocessor: 106,
} as const;

const MAX_DYNAMIC_SHARED_BYTES = 8;
const SUBGROUP = 32;

/** Opens the GPU. @throws EvolverError CUDA_UNAVAILABLE */
export function openCuda(options: NativeOptions = {}): CudaDevice {
  return new CudaDevice(loadCudaDriver(), options.ordinal ?? 0);
}

/** A GPU of NVIDIA's, through its driver. */
export class CudaDevice extends GpuDevice {
  override readonly id = "cuda";
  override readonly forwardProgress: boolean = deviceRows.cuda.forwardProgress;
  /** "sm_90a": what kernels are compiled for. */
  readonly architecture: string;
  /** "13.0". */
  readonly driverVersion: string;
  readonly #cuda: CudaCalls;
  readonly #device: number;

  constructor({ driver, cuda }: CudaDriver, ordinal: number) {
    const device = driver.out32((slot) => cuda.cuDeviceGet(slot, ordinal), `opening GPU ${ordinal}`);
    const context = driver.out64(
      (slot) => cuda.cuDevicePrimaryCtxRetain(slot, device),
      "opening a context on the GPU",
    );
    driver.check(cuda.cuCtxSetCurrent(context), "making the context current");
    const name = new Uint8Array(256);
    driver.check(cuda.cuDeviceGetName(name, name.length, device), "reading the GPU's name");
    const attribute = (which: number): number =>
      driver.out32((slot) => cuda.cuDeviceGetAttribute(slot, which, device), "reading the GPU's limits");
    const fact = (which: number): number | null => {
      const slot = new Int32Array(1);
      return cuda.cuDeviceGetAttribute(slot, which, device) === 0 ? (slot[0] as number) || null : null;
    };
    // In kHz.
    const clockRate = fact(ATTRIBUTE.clockRate);
    super(driver, {
      name: new TextDecoder().decode(name.subarray(0, name.indexOf(0))),
      subgroupSize: SUBGROUP,
      maxInvocationsPerWorkgroup: attribute(ATTRIBUTE.maxThreadsPerBlock),
      maxSharedBytes: attribute(ATTRIBUTE.maxSharedMemoryOptIn),
      machine: {
        multiprocessors: fact(ATTRIBUTE.multiprocessorCount),
        clockGHz: clockRate === null ? null : clockRate / 1e6,
        cacheBytes: fact(ATTRIBUTE.l2CacheSize),
        maxInvocationsPerMultiprocessor: fact(ATTRIBUTE.maxThreadsPerMultiprocessor),
        maxWorkgroupsPerMultiprocessor: fact(ATTRIBUTE.maxBlocksPerMultiprocessor),
        sharedBytesPerMultiprocessor: fact(ATTRIBUTE.maxSharedMemoryPerMultiprocessor),
      },
    });
    this.#cuda = cuda;
    this.#device = device;
    const [major, minor] = [attribute(ATTRIBUTE.computeMajor), attribute(ATTRIBUTE.computeMinor)];
    this.architecture = `sm_${major}${minor}${major >= 9 ? "a" : ""}`;
    const version = driver.out32((slot) => cuda.cuDriverGetVersion(slot), "reading the driver's version");
    this.driverVersion = `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
  }

  override compileSource(ir: KernelIR, { source, compileOptions: options }: Emitted): CompiledCode {
    return compileCuda({ kernelName: ir.name, source, architecture: this.architecture, options });
  }

  override maxGridX(): number {
    return NATIVE_GRID.x;
  }

  override prepareFunction(entry: Handle, { dynamicSharedBytes: bytes }: Emitted): void {
    if (bytes === 0) return;
    const code = this.#cuda.cuFuncSetAttribute(entry, MAX_DYNAMIC_SHARED_BYTES, bytes);
    this.driver.check(code, `reserving ${bytes} bytes of shared memory`);
  }

  protected override release(): void {
    this.#cuda.cuDevicePrimaryCtxRelease(this.#device);
  }
}
