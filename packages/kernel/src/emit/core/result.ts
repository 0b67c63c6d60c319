/** The result of an emitter: the source text, how to launch it, and how each request was translated. */

import type { EmitTarget } from "../targets.ts";
import { EvolverError } from "@evolver/base";
import type { SourceLocation } from "@evolver/base";
import type { ElementType, WordType } from "../../ir/types.ts";

/** How `emit` writes. */
export interface EmitOptions {
  /** CUDA and HIP: put `#line N "file.ts"` before statements. False if absent; the line map is there either way. */
  readonly lineDirectives?: boolean;
  /**
   * How workgroups become the target's grid. "native": one to one on x, y and z, for launches within the target's
   * limits on each axis. "linear": the launch may have any shape of grid with at least as many workgroups as needed;
   * the true counts are passed beside the parameters. The default is "native", for WGSL "linear".
   */
  readonly grid?: "native" | "linear";
  /**
   * WGSL: "exact" (the default) spells sums out as the butterfly of the IR, so that f32 sums agree bit for bit;
   * "builtin" uses subgroupAdd and its like.
   */
  readonly subgroupSums?: "exact" | "builtin";
  /**
   * WGSL: whether the device has the feature shader-f16 (the default). Without it f16 is f32 rounded after each
   * operation, and memory of f16 is packed in words; so is bf16 always.
   */
  readonly shaderF16?: boolean;
  /** WGSL: take `subgroup_id` from the built-in of that name (the default), or compute it from the local index. */
  readonly subgroupId?: "builtin" | "computed";
}

/**
 * What an entry is about: the form in which a request is written; how exact numbers are; which accesses atomics order; who gets
 * on while invocations wait for each other. All but the first say what the target promises less than the language.
 */
export type LoweringTopic = "form" | "numbers" | "order" | "progress";

/** Makes an entry in the lowering report; the topic is "form" if absent. */
export type Note = (request: string, became: string, fallback: boolean, topic?: LoweringTopic) => void;

/** One thing that the kernel asks for, and what this target makes of it. */
export interface LoweringEntry {
  readonly topic: LoweringTopic;
  /** What the kernel asks for: "load of 4 consecutive f32 of x". */
  readonly request: string;
  /** What it became: "float4", "4 scalar loads". */
  readonly became: string;
  /** True where the target lacks what was asked for and this is slower, or weaker, than the request. */
  readonly fallback: boolean;
  /** The first line that asks for it. */
  readonly where: SourceLocation;
  /** How often the kernel's text has it. */
  readonly count: number;
}

/** What became of each request on a target, for example a copy that became an ordinary load and store. */
export interface LoweringReport {
  readonly target: EmitTarget;
  readonly entries: readonly LoweringEntry[];
}

/** A field of the WGSL uniform struct; the order is that of the struct. */
export interface UniformField {
  /** The scalar parameter, or `numWorkgroups.x|y|z`. */
  readonly name: string;
  readonly type: WordType;
  /** In bytes. */
  readonly offset: number;
}

/** A WGSL binding of group 0. */
export interface StorageBinding {
  readonly name: string;
  readonly binding: number;
  readonly element: ElementType;
  readonly readOnly: boolean;
  /** The smallest binding that WebGPU accepts: one element of the array as declared. */
  readonly minBytes: number;
}

/** A kernel as source for a target, with where each line comes from and what became of each request. */
export interface Emitted {
  readonly target: EmitTarget;
  /** A complete source file. */
  readonly source: string;
  /** The name of the kernel function in it (`run` for js). */
  readonly entryPoint: string;
  /** By line of the source, 1-based: the TypeScript that it comes from. Index 0 and lines of no origin are null. */
  readonly lineMap: readonly (SourceLocation | null)[];
  readonly lowering: LoweringReport;
  readonly workgroupSize: readonly [number, number, number];
  readonly subgroupSize: number;
  /** Shared memory of a workgroup. */
  readonly sharedBytes: number;
  /** CUDA: shared memory is beyond 48 KB, so it is declared extern and its size is an argument of the launch. */
  readonly dynamicSharedBytes: number;
  readonly grid: "native" | "linear";
  /** CUDA and HIP: what to pass to the kernel function, in order: parameters, then `numWorkgroups.x|y|z`. */
  readonly kernelArguments: readonly string[];
  /** WGSL: the bindings of group 0; the uniform struct, if there is one, comes last. */
  readonly bindings: readonly StorageBinding[];
  /** WGSL: null if the kernel needs no uniform struct. */
  readonly uniform: {
    readonly binding: number;
    readonly bytes: number;
    readonly fields: readonly UniformField[];
  } | null;
  /** What to give the target's compiler for exact results, where it needs telling. */
  readonly compileOptions: readonly string[];
}

/** What a target promises less than the language for this kernel: numbers, order, progress. */
export const weakenings = ({ entries }: LoweringReport): readonly LoweringEntry[] =>
  entries.filter(({ topic }) => topic !== "form");

/** Throws SILENT_FALLBACK unless every request got what it asked for. For tests that depend on a feature. */
export function assertNoFallback(report: LoweringReport): void {
  const fallbacks = report.entries.filter(({ fallback }) => fallback);
  if (fallbacks.length === 0) return;
  const list = fallbacks.map(({ request, became }) => `${request}: ${became}`).join("; ");
  throw new EvolverError(
    "SILENT_FALLBACK",
    `on ${report.target}, not every request got what it asked for: ${list}`,
    {
      where: fallbacks.map(({ where }) => where),
      hint: "ask for what the target has, or accept the fallback",
    },
  );
}

/** Collects lowering entries; the same request with the same outcome is one entry. */
export class LoweringLog {
  readonly #entries = new Map<string, { entry: LoweringEntry; count: number }>();

  add(entry: Omit<LoweringEntry, "count">): void {
    const key = `${entry.request}\n${entry.became}`;
    const known = this.#entries.get(key);
    if (known) known.count++;
    else this.#entries.set(key, { entry: { ...entry, count: 1 }, count: 1 });
  }

  report(target: EmitTarget): LoweringReport {
    const entries = [...this.#entries.values()].map(({ entry, count }) => Object.freeze({ ...entry, count }));
    return Object.freeze({ target, entries: Object.freeze(entries) });
  }
}
