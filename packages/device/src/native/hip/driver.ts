/**
 * AMD's HIP run time through koffi: loading it, the functions that only it has, and its errors as text. Node only. The
 * library, libamdhip64, is part of ROCm; EVOLVER_HIP names another path to it.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { EvolverError } from "@evolver/base";
import type { LibraryHandle } from "koffi";
import {
  bind,
  bindCalls,
  bindGraphCalls,
  loadFirst,
  type ForeignFunction,
  type GpuCallName,
  type GraphCallName,
} from "../driver/calls.ts";
import { GPU_ERROR, GpuDriver } from "../driver/driver.ts";

const NAMES: Readonly<Record<GpuCallName, string>> = {
  memGetInfo: "hipMemGetInfo",
  memAlloc: "hipMalloc",
  memFree: "hipFree",
  memcpyHtoD: "hipMemcpyHtoD",
  memcpyDtoH: "hipMemcpyDtoH",
  memsetD32: "hipMemsetD32",
  moduleLoadData: "hipModuleLoadData",
  moduleGetFunction: "hipModuleGetFunction",
  launchKernel: "hipModuleLaunchKernel",
  streamCreate: "hipStreamCreateWithFlags",
  streamQuery: "hipStreamQuery",
  streamDestroy: "hipStreamDestroy",
  eventCreate: "hipEventCreateWithFlags",
  eventRecord: "hipEventRecord",
  eventElapsedTime: "hipEventElapsedTime",
  eventDestroy: "hipEventDestroy",
};

const GRAPH_NAMES: Readonly<Record<GraphCallName, string>> = {
  beginCapture: "hipStreamBeginCapture",
  endCapture: "hipStreamEndCapture",
  instantiate: "hipGraphInstantiateWithFlags",
  launch: "hipGraphLaunch",
  destroyGraph: "hipGraphDestroy",
  destroyExecutable: "hipGraphExecDestroy",
};

const SIGNATURES = {
  hipInit: "int hipInit(unsigned int flags)",
  hipGetDeviceCount: "int hipGetDeviceCount(void *count)",
  hipSetDevice: "int hipSetDevice(int device)",
  hipRuntimeGetVersion: "int hipRuntimeGetVersion(void *version)",
} as const;

type HipCalls = Readonly<Record<keyof typeof SIGNATURES, (...args: unknown[]) => number>>;

/** Errors after which a process can do nothing more: hardware fault, illegal address, timeout, assertion, trap. */
const STICKY: ReadonlySet<number> = new Set([214, 700, 702, 710, 719]);

export interface HipDriver {
  readonly driver: GpuDriver;
  readonly hip: HipCalls;
  /** The bytes of hipDeviceProp_t, in the layout that this library has. */
  properties(device: number): PropertyBytes;
}

export interface PropertyBytes {
  readonly bytes: Uint8Array;
  readonly layout: keyof typeof PROPERTY_OFFSETS;
}

/** Where the fields are, in bytes, that we read of hipDeviceProp_t: before ROCm 6, and since ("R0600"). */
export const PROPERTY_OFFSETS = {
  old: {
    sharedMemPerBlock: 264,
    warpSize: 276,
    maxThreadsPerBlock: 280,
    clockRate: 308,
    multiProcessorCount: 336,
  },
  R0600: {
    sharedMemPerBlock: 296,
    warpSize: 308,
    maxThreadsPerBlock: 320,
    clockRate: 348,
    multiProcessorCount: 388,
  },
} as const;

/** Larger than the structure in any version. */
const PROPERTIES_BYTES = 8192;

/**
 * Loads and initialises HIP.
 * @throws EvolverError HIP_UNAVAILABLE: no library, too old a one, or no device
 */
export function loadHipDriver(): HipDriver {
  const library = loadLibrary();
  const missing = (name: string, cause: unknown): EvolverError =>
    unavailable(`the HIP library has no ${name}`, "update ROCm to version 5.2 or newer", cause);
  const calls = bindCalls(library, NAMES, missing);
  const own = Object.entries(SIGNATURES).map(([name, signature]) => [
    name,
    bind(library, signature, missing),
  ]);
  const hip = Object.fromEntries(own) as HipCalls;
  const [name, meaning] = ["hipGetErrorName", "hipGetErrorString"].map((each) =>
    bind(library, `const char *${each}(int error)`, missing),
  ) as [ForeignFunction, ForeignFunction];
  const errorText = (code: number): string => `${String(name(code))} (${String(meaning(code))})`;
  const graphCalls = bindGraphCalls(library, GRAPH_NAMES);
  const driver = new GpuDriver({ id: "hip", calls, graphCalls, sticky: STICKY, errorText });
  const count = new Int32Array(1);
  const code = hip.hipInit(0) || hip.hipGetDeviceCount(count);
  if (code === GPU_ERROR.noDevice || (code === GPU_ERROR.success && count[0] === 0))
    throw unavailable(
      "HIP sees no AMD GPU",
      "check `rocminfo`; the user must be in the groups render and video",
    );
  if (code !== GPU_ERROR.success) {
    throw unavailable(
      `HIP does not start: ${errorText(code)}`,
      "check `rocminfo`; the kernel driver amdgpu must be loaded",
    );
  }
  const readProperties = findProperties(library, missing);
  return {
    driver,
    hip,
    properties(device) {
      const bytes = new Uint8Array(PROPERTIES_BYTES);
      driver.check(readProperties.call(bytes, device) as number, "reading the GPU's properties");
      return { bytes, layout: readProperties.layout };
    },
  };
}

function findProperties(
  library: LibraryHandle,
  missing: (name: string, cause: unknown) => EvolverError,
): { readonly call: ForeignFunction; readonly layout: keyof typeof PROPERTY_OFFSETS } {
  const signature = (name: string): string => `int ${name}(void *properties, int device)`;
  try {
    return { call: bind(library, signature("hipGetDevicePropertiesR0600"), missing), layout: "R0600" };
  } catch {
    return { call: bind(library, signature("hipGetDeviceProperties"), missing), layout: "old" };
  }
}

/** The user's choice, then the loader's path, then where ROCm's packages put it. */
export function rocmCandidates(
  variable: "EVOLVER_HIP" | "EVOLVER_HIPRTC",
  names: readonly string[],
): string[] {
  const chosen = process.env[variable];
  if (chosen) return [chosen];
  const roots = [process.env["ROCM_PATH"], process.env["HIP_PATH"], "/opt/rocm"];
  const folders = roots.flatMap((root) => (root ? [join(root, "lib")] : []));
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [...names, ...files.filter((path) => existsSync(path))];
}

function loadLibrary(): LibraryHandle {
  if (process.platform !== "linux" && process.platform !== "win32") {
    throw unavailable(`HIP does not exist on ${process.platform}`, "use a Linux machine with an AMD GPU");
  }
  const names =
    process.platform === "win32"
      ? ["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"]
      : ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];
  const library = loadFirst(rocmCandidates("EVOLVER_HIP", names));
  if (!("error" in library)) return library;
  const what = process.env["EVOLVER_HIP"] ?? names[0];
  throw unavailable(
    `there is no HIP run time (${what} is not found)`,
    "install ROCm's HIP (apt-get install libamdhip64-5, or ROCm from AMD) on a machine with an AMD GPU",
    library.error,
  );
}

export function unavailable(what: string, hint: string, cause?: unknown): EvolverError {
  return new EvolverError("HIP_UNAVAILABLE", what, { hint, cause });
}
