/**
 * How host programs of CUDA and of HIP differ, one row each, for programs that are built around emitted kernels. Most calls
 * have the same name with the target's before it: cudaMalloc, hipMalloc.
 */

import type { EmitTarget } from "../targets.ts";

/** What a native grid takes on each axis. */
export const NATIVE_GRID = Object.freeze({ x: 2 ** 31 - 1, y: 65_535, z: 65_535 });

/** A launch as C++ texts. */
interface LaunchText {
  readonly entryPoint: string;
  /** Of type dim3, as is `block`. */
  readonly grid: string;
  readonly block: string;
  readonly sharedBytes: number;
  /** Comma-separated; may be empty. */
  readonly args: string;
}

interface CppHost {
  /** Whose GPUs they are. */
  readonly vendor: string;
  /** Its name for subgroups. */
  readonly subgroups: string;
  /** The structure that says what a GPU has. */
  readonly properties: string;
  /** Shared memory that a kernel may have everywhere without asking for more at run time. */
  readonly staticSharedBytes: number;
  /** An expression statement without its semicolon. */
  launch(launch: LaunchText): string;
  /** What a kernel needs before its first launch to have so much dynamic shared memory, as statements. */
  reserveShared(entryPoint: string, bytes: number): readonly string[];
}

/** How host programs of CUDA and of HIP differ, one row each. */
export const cppHosts = Object.freeze({
  cuda: {
    vendor: "NVIDIA",
    subgroups: "warps",
    properties: "cudaDeviceProp",
    staticSharedBytes: 48 * 1024,
    launch: ({ entryPoint, grid, block, sharedBytes, args }) =>
      `${entryPoint}<<<${grid}, ${block}, ${sharedBytes}>>>(${args})`,
    reserveShared: (entryPoint, bytes) =>
      bytes === 0
        ? []
        : [
            `CHECK(cudaFuncSetAttribute(${entryPoint}, cudaFuncAttributeMaxDynamicSharedMemorySize, ${bytes}));`,
          ],
  },
  hip: {
    vendor: "AMD",
    subgroups: "wavefronts",
    properties: "hipDeviceProp_t",
    staticSharedBytes: 64 * 1024,
    launch: ({ entryPoint, grid, block, sharedBytes, args }) =>
      `hipLaunchKernelGGL(${entryPoint}, ${grid}, ${block}, ${sharedBytes}, 0${args === "" ? "" : `, ${args}`})`,
    reserveShared: () => [],
  },
} as const satisfies Partial<Record<EmitTarget, CppHost>>);

/** The targets whose host programs are C++. */
export type CppTarget = keyof typeof cppHosts;

/** Whether source for the target is C++. */
export const isCppTarget = (target: EmitTarget): target is CppTarget => Object.hasOwn(cppHosts, target);

/** A macro that ends the program with exit code 2 where a call fails. */
export const checkMacro = (target: CppTarget): string =>
  String.raw`#define CHECK(call)                                                                   \
  do {                                                                                \
    const API##Error_t code = (call);                                                 \
    if (code != API##Success) {                                                       \
      std::printf("FAIL: %s gives %s\n", #call, API##GetErrorString(code));           \
      std::exit(2);                                                                   \
    }                                                                                 \
  } while (0)`.replaceAll("API##", target);
