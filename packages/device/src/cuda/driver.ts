/**
 * The CUDA driver API through koffi: the functions that the device needs, and errors as data. Node only. No CUDA
 * toolkit takes part; the library is the one that comes with NVIDIA's driver.
 */

import { EvolverError } from "@evolver/kernel";
import koffi, { type LibraryHandle } from "koffi";

/** A handle or device pointer of the driver, as an address. */
export type Handle = bigint;

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"],
  win32: ["nvcuda.dll"],
};

/** Signatures in koffi's C-like form; every pointer and handle is passed as a 64-bit address or a typed array. */
const SIGNATURES = {
  cuInit: "int cuInit(unsigned int flags)",
  cuDriverGetVersion: "int cuDriverGetVersion(void *version)",
  cuDeviceGetCount: "int cuDeviceGetCount(void *count)",
  cuDeviceGet: "int cuDeviceGet(void *device, int ordinal)",
  cuDeviceGetName: "int cuDeviceGetName(void *name, int length, int device)",
  cuDeviceGetAttribute: "int cuDeviceGetAttribute(void *value, int attribute, int device)",
  cuDevicePrimaryCtxRetain: "int cuDevicePrimaryCtxRetain(void *context, int device)",
  cuDevicePrimaryCtxRelease: "int cuDevicePrimaryCtxRelease_v2(int device)",
  cuCtxSetCurrent: "int cuCtxSetCurrent(uint64_t context)",
  cuMemGetInfo: "int cuMemGetInfo_v2(void *free, void *total)",
  cuMemAlloc: "int cuMemAlloc_v2(void *pointer, size_t bytes)",
  cuMemFree: "int cuMemFree_v2(uint64_t pointer)",
  cuMemcpyHtoD: "int cuMemcpyHtoD_v2(uint64_t destination, const void *source, size_t bytes)",
  cuMemcpyDtoH: "int cuMemcpyDtoH_v2(void *destination, uint64_t source, size_t bytes)",
  cuMemsetD32: "int cuMemsetD32_v2(uint64_t pointer, unsigned int value, size_t count)",
  cuModuleLoadData: "int cuModuleLoadData(void *module, const void *image)",
  cuModuleUnload: "int cuModuleUnload(uint64_t module)",
  cuModuleGetFunction: "int cuModuleGetFunction(void *function, uint64_t module, const char *name)",
  cuFuncSetAttribute: "int cuFuncSetAttribute(uint64_t function, int attribute, int value)",
  cuFuncGetAttribute: "int cuFuncGetAttribute(void *value, int attribute, uint64_t function)",
  cuLaunchKernel:
    "int cuLaunchKernel(uint64_t function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, uint64_t stream, uint64_t params, uint64_t extra)",
  cuStreamCreate: "int cuStreamCreate(void *stream, unsigned int flags)",
  cuStreamSynchronize: "int cuStreamSynchronize(uint64_t stream)",
  cuStreamQuery: "int cuStreamQuery(uint64_t stream)",
  cuStreamDestroy: "int cuStreamDestroy_v2(uint64_t stream)",
  cuEventCreate: "int cuEventCreate(void *event, unsigned int flags)",
  cuEventRecord: "int cuEventRecord(uint64_t event, uint64_t stream)",
  cuEventElapsedTime: "int cuEventElapsedTime(void *milliseconds, uint64_t start, uint64_t end)",
  cuEventDestroy: "int cuEventDestroy_v2(uint64_t event)",
  cuGetErrorName: "int cuGetErrorName(int error, void *text)",
  cuGetErrorString: "int cuGetErrorString(int error, void *text)",
} as const;

type DriverFunction = keyof typeof SIGNATURES;

export type DriverCalls = Readonly<Record<DriverFunction, (...args: unknown[]) => number>>;

/** CUresult values that are treated apart. */
export const CUDA_ERROR = Object.freeze({
  success: 0,
  invalidValue: 1,
  outOfMemory: 2,
  noDevice: 100,
  notReady: 600,
  launchOutOfResources: 701,
});

/** Errors after which the context can do nothing more: illegal address, timeout, trap, hardware fault. */
const STICKY: ReadonlySet<number> = new Set([
  214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999,
]);

export class CudaDriver {
  readonly call: DriverCalls;
  readonly #lost: { reason: string | null } = { reason: null };

  private constructor(call: DriverCalls) {
    this.call = call;
  }

  /**
   * Loads and initialises the driver.
   * @throws EvolverError CUDA_UNAVAILABLE: no library, too old a driver, or no device
   */
  static load(): CudaDriver {
    const library = loadLibrary();
    const calls: Partial<Record<DriverFunction, (...args: unknown[]) => number>> = {};
    for (const [name, signature] of Object.entries(SIGNATURES)) {
      try {
        calls[name as DriverFunction] = library.func(signature) as (...args: unknown[]) => number;
      } catch (error) {
        throw unavailable(
          `the NVIDIA driver has no ${name}`,
          "update the NVIDIA driver to one for CUDA 12 or newer",
          error,
        );
      }
    }
    const driver = new CudaDriver(calls as DriverCalls);
    const code = driver.call.cuInit(0);
    if (code === CUDA_ERROR.noDevice)
      throw unavailable("the NVIDIA driver sees no GPU", "check `nvidia-smi`");
    if (code !== CUDA_ERROR.success) {
      throw unavailable(
        `the NVIDIA driver does not start: ${driver.errorText(code)}`,
        "check `nvidia-smi`; a driver update usually needs a restart",
      );
    }
    return driver;
  }

  /** Why the context is lost, or null. */
  get lost(): string | null {
    return this.#lost.reason;
  }

  /** Throws unless a call succeeded. Sticky errors mark the context as lost; later calls then fail at once. */
  check(code: number, doing: string): void {
    if (code === CUDA_ERROR.success) return;
    const text = this.errorText(code);
    if (STICKY.has(code)) {
      this.#lost.reason = `${doing}: ${text}`;
      throw new EvolverError("DEVICE_LOST", `the cuda device failed while ${doing}: ${text}`, {
        hint: "run the kernel on `sim`, which names the line; this process cannot use CUDA any more, start another",
      });
    }
    if (code === CUDA_ERROR.outOfMemory) {
      throw new EvolverError("OUT_OF_DEVICE_MEMORY", `the GPU has no room left for ${doing}`, {
        hint: "free buffers with destroy(), close other programs on the GPU, or use smaller shapes",
      });
    }
    throw new EvolverError("CUDA_ERROR", `${doing} failed: ${text}`);
  }

  /** Throws DEVICE_LOST after a sticky error. */
  assertUsable(): void {
    if (this.#lost.reason === null) return;
    throw new EvolverError("DEVICE_LOST", `the cuda device was lost earlier (${this.#lost.reason})`, {
      hint: "start another process; buffers of this one cannot be read any more",
    });
  }

  errorText(code: number): string {
    const pointer = new BigUint64Array(1);
    const read = (fill: (code: number, pointer: BigUint64Array) => number): string =>
      fill(code, pointer) === 0 && pointer[0] !== 0n
        ? (koffi.decode(pointer[0] as bigint, "char", -1) as string)
        : "";
    const name = read(this.call.cuGetErrorName) || `error ${code}`;
    const meaning = read(this.call.cuGetErrorString);
    return meaning === "" ? name : `${name} (${meaning})`;
  }

  /** A 64-bit out-parameter. */
  out64(fill: (slot: BigUint64Array) => number, doing: string): bigint {
    const slot = new BigUint64Array(1);
    this.check(fill(slot), doing);
    return slot[0] as bigint;
  }

  /** A 32-bit out-parameter. */
  out32(fill: (slot: Int32Array) => number, doing: string): number {
    const slot = new Int32Array(1);
    this.check(fill(slot), doing);
    return slot[0] as number;
  }
}

function loadLibrary(): LibraryHandle {
  const candidates = LIBRARIES[process.platform];
  if (candidates === undefined)
    throw unavailable(
      `CUDA does not exist on ${process.platform}`,
      "use a Linux or Windows machine with an NVIDIA GPU",
    );
  let last: unknown;
  for (const candidate of candidates) {
    try {
      return koffi.load(candidate);
    } catch (error) {
      last = error;
    }
  }
  throw unavailable(
    `there is no NVIDIA driver (${candidates[0]} is not found)`,
    "install NVIDIA's driver on a machine with an NVIDIA GPU",
    last,
  );
}

function unavailable(what: string, hint: string, cause?: unknown): EvolverError {
  return new EvolverError("CUDA_UNAVAILABLE", what, { hint, cause });
}
