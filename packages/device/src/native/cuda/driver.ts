/**
 * NVIDIA's driver through koffi: loading it, the functions that only it has, and its errors as text. Node only. No CUDA
 * toolkit takes part; the library is the one that comes with the driver.
 */

import { EvolverError } from "@evolver/base";
import koffi, { type LibraryHandle } from "koffi";
import {
  bind,
  bindCalls,
  bindGraphCalls,
  loadFirst,
  type GpuCallName,
  type GraphCallName,
} from "../driver/calls.ts";
import { GPU_ERROR, GpuDriver } from "../driver/driver.ts";

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"],
  win32: ["nvcuda.dll"],
};

const NAMES: Readonly<Record<GpuCallName, string>> = {
  memGetInfo: "cuMemGetInfo_v2",
  memAlloc: "cuMemAlloc_v2",
  memFree: "cuMemFree_v2",
  memcpyHtoD: "cuMemcpyHtoD_v2",
  memcpyDtoH: "cuMemcpyDtoH_v2",
  memsetD32: "cuMemsetD32_v2",
  moduleLoadData: "cuModuleLoadData",
  moduleGetFunction: "cuModuleGetFunction",
  launchKernel: "cuLaunchKernel",
  streamCreate: "cuStreamCreate",
  streamQuery: "cuStreamQuery",
  streamDestroy: "cuStreamDestroy_v2",
  eventCreate: "cuEventCreate",
  eventRecord: "cuEventRecord",
  eventElapsedTime: "cuEventElapsedTime",
  eventDestroy: "cuEventDestroy_v2",
};

const GRAPH_NAMES: Readonly<Record<GraphCallName, string>> = {
  beginCapture: "cuStreamBeginCapture_v2",
  endCapture: "cuStreamEndCapture",
  instantiate: "cuGraphInstantiateWithFlags",
  launch: "cuGraphLaunch",
  destroyGraph: "cuGraphDestroy",
  destroyExecutable: "cuGraphExecDestroy",
};

/** Signatures of what only CUDA has, or has in this form. */
const SIGNATURES = {
  cuInit: "int cuInit(unsigned int flags)",
  cuDriverGetVersion: "int cuDriverGetVersion(void *version)",
  cuDeviceGet: "int cuDeviceGet(void *device, int ordinal)",
  cuDeviceGetName: "int cuDeviceGetName(void *name, int length, int device)",
  cuDeviceGetAttribute: "int cuDeviceGetAttribute(void *value, int attribute, int device)",
  cuDevicePrimaryCtxRetain: "int cuDevicePrimaryCtxRetain(void *context, int device)",
  cuDevicePrimaryCtxRelease: "int cuDevicePrimaryCtxRelease_v2(int device)",
  cuCtxSetCurrent: "int cuCtxSetCurrent(uint64_t context)",
  cuFuncSetAttribute: "int cuFuncSetAttribute(uint64_t function, int attribute, int value)",
  cuGetErrorName: "int cuGetErrorName(int error, void *text)",
  cuGetErrorString: "int cuGetErrorString(int error, void *text)",
} as const;

export type CudaCalls = Readonly<Record<keyof typeof SIGNATURES, (...args: unknown[]) => number>>;

/** Errors after which the context can do nothing more: illegal address, timeout, trap, hardware fault. */
const STICKY: ReadonlySet<number> = new Set([
  214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999,
]);

export interface CudaDriver {
  readonly driver: GpuDriver;
  readonly cuda: CudaCalls;
}

/**
 * Loads and initialises the driver.
 * @throws EvolverError CUDA_UNAVAILABLE: no library, too old a driver, or no device
 */
export function loadCudaDriver(): CudaDriver {
  const library = loadLibrary();
  const missing = (name: string, cause: unknown): EvolverError =>
    unavailable(
      `the NVIDIA driver has no ${name}`,
      "update the NVIDIA driver to one for CUDA 12 or newer",
      cause,
    );
  const calls = bindCalls(library, NAMES, missing);
  const own = Object.entries(SIGNATURES).map(([name, signature]) => [
    name,
    bind(library, signature, missing),
  ]);
  const cuda = Object.fromEntries(own) as CudaCalls;
  const errorText = (code: number): string => describeError(cuda, code);
  const graphCalls = bindGraphCalls(library, GRAPH_NAMES);
  const driver = new GpuDriver({ id: "cuda", calls, graphCalls, sticky: STICKY, errorText });
  const code = cuda.cuInit(0);
  if (code === GPU_ERROR.noDevice) throw unavailable("the NVIDIA driver sees no GPU", "check `nvidia-smi`");
  if (code !== GPU_ERROR.success) {
    throw unavailable(
      `the NVIDIA driver does not start: ${errorText(code)}`,
      "check `nvidia-smi`; a driver update usually needs a restart",
    );
  }
  return { driver, cuda };
}

function describeError({ cuGetErrorName, cuGetErrorString }: CudaCalls, code: number): string {
  const pointer = new BigUint64Array(1);
  const read = (fill: (code: number, pointer: BigUint64Array) => number): string =>
    fill(code, pointer) === 0 && pointer[0] !== 0n
      ? (koffi.decode(pointer[0] as bigint, "char", -1) as string)
      : "";
  const name = read(cuGetErrorName) || `error ${code}`;
  const meaning = read(cuGetErrorString);
  return meaning === "" ? name : `${name} (${meaning})`;
}

function loadLibrary(): LibraryHandle {
  const candidates = LIBRARIES[process.platform];
  if (candidates === undefined)
    throw unavailable(
      `CUDA does not exist on ${process.platform}`,
      "use a Linux or Windows machine with an NVIDIA GPU",
    );
  const library = loadFirst(candidates);
  if (!("error" in library)) return library;
  throw unavailable(
    `there is no NVIDIA driver (${candidates[0]} is not found)`,
    "install NVIDIA's driver on a machine with an NVIDIA GPU",
    library.error,
  );
}

function unavailable(what: string, hint: string, cause?: unknown): EvolverError {
  return new EvolverError("CUDA_UNAVAILABLE", what, { hint, cause });
}
