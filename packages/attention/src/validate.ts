/** Makes a checked `AttentionProblem` from a user's arguments; errors name the wrong shape, stride or option. */

import { EvolverError } from "@evolver/base";
import type { AttentionProblem, AttentionShape, Mask, Strides } from "./problem.ts";
import { denseProblemStrides, extentsOf } from "./tensor.ts";
import type { Extents, TensorName } from "./tensor.ts";

/** The largest head dimension. */
export const MAX_DIM = 256;
/** Extents and strides are 32-bit arguments of the kernels; offsets made of them are not limited. */
const MAX_EXTENT = 2 ** 31 - 1;
const MAX_STRIDE = 2 ** 32 - 1;

/** Which keys a query sees (at most one of the first three), and how scores are made. */
export interface ScoreOptions {
  readonly mask?: Mask | undefined;
  /** The same as `mask: { kind: "causal" }`; bottom-right aligned. */
  readonly causal?: boolean | undefined;
  /** The same as `mask: { kind: "window", left, right }`; Infinity for a side without limit. */
  readonly window?: readonly [left: number, right: number] | undefined;
  /** 1/√dim if left out. */
  readonly scale?: number | undefined;
  /** 0, or left out, for none. */
  readonly softcap?: number | undefined;
}

/** What a problem has beside its shape. */
export interface ProblemOptions extends ScoreOptions {
  /** Of tensors that are not densely packed. */
  readonly strides?: { readonly [tensor in TensorName]?: Strides | undefined } | undefined;
}

const AXES = ["batch", "heads", "sequence", "dim"] as const;
const SHAPE_KEYS = ["batch", "headsQ", "headsKv", "seqQ", "seqK", "dim"] as const;

/**
 * The problem of a shape, with defaults filled in: full mask, scale 1/√dim rounded to float32, no softcap, dense.
 *
 *     createProblem({ batch: 1, headsQ: 32, headsKv: 8, seqQ: 256, seqK: 256, dim: 128 }, { causal: true })
 *
 * @throws ATTENTION_SHAPE, ATTENTION_STRIDES, ATTENTION_OPTION
 */
export function createProblem(shape: AttentionShape, options: ProblemOptions = {}): AttentionProblem {
  checkShape(shape);
  const dense = denseProblemStrides(shape);
  const extents = extentsOf(shape);
  const stridesOf = (tensor: TensorName): Strides => {
    const given = options.strides?.[tensor];
    return given === undefined ? dense[tensor] : checkedStrides(tensor, given);
  };
  const strides = { q: stridesOf("q"), k: stridesOf("k"), v: stridesOf("v"), o: stridesOf("o") };
  refuseOverlap(extents.o, strides.o);
  const scale = checkedScale(options.scale ?? 1 / Math.sqrt(shape.dim));
  return {
    shape,
    mask: checkedMask(options),
    scale,
    softcap: checkedSoftcap(options.softcap ?? 0, scale),
    strides,
  };
}

/** Checks that the shape of each of q, k and v is four extents, and that they belong together. */
export function shapeOfTensors(
  q: readonly number[],
  k: readonly number[],
  v: readonly number[],
): AttentionShape {
  for (const [tensor, shape] of Object.entries({ q, k, v })) {
    if (!Array.isArray(shape) || shape.length !== 4)
      throw new EvolverError(
        "ATTENTION_SHAPE",
        `${tensor} has ${Array.isArray(shape) ? `a shape of ${shape.length} extents` : "no shape"}`,
        { hint: "give [batch, heads, sequence, dim]; a missing axis is an extent of 1" },
      );
    for (const [axis, extent] of shape.entries()) checkExtent(`${tensor}'s ${AXES[axis]}`, extent);
  }
  const equal = (
    a: string,
    shapeA: readonly number[],
    b: string,
    shapeB: readonly number[],
    axis: number,
  ) => {
    if (shapeA[axis] === shapeB[axis]) return;
    throw new EvolverError(
      "ATTENTION_SHAPE",
      `${a} [${shapeA.join(", ")}] and ${b} [${shapeB.join(", ")}] differ in ${AXES[axis]} (axis ${axis}): ${shapeA[axis]} and ${shapeB[axis]}`,
      { hint: axis === 3 ? "q, k and v have one head dimension here" : undefined },
    );
  };
  equal("q", q, "k", k, 0);
  equal("q", q, "k", k, 3);
  for (const axis of AXES.keys()) equal("k", k, "v", v, axis);
  const [batch, headsQ, seqQ, dim] = q as Extents;
  return { batch, headsQ, headsKv: k[1] as number, seqQ, seqK: k[2] as number, dim };
}

function checkShape(shape: AttentionShape): void {
  for (const key of SHAPE_KEYS) checkExtent(key, shape[key]);
  const { headsQ, headsKv, dim } = shape;
  if (dim < 1 || dim > MAX_DIM)
    throw new EvolverError("ATTENTION_SHAPE", `the head dimension (axis 3) is ${dim}`, {
      hint: `it must be from 1 to ${MAX_DIM}`,
    });
  if (headsKv === 0 ? headsQ > 0 : headsQ % headsKv !== 0)
    throw new EvolverError(
      "ATTENTION_SHAPE",
      `${headsQ} query heads cannot share ${headsKv} key heads (axis 1 of q and k)`,
      { hint: "the number of query heads must be a multiple of the number of key heads" },
    );
}

function checkExtent(what: string, extent: unknown): void {
  if (typeof extent === "number" && Number.isInteger(extent) && extent >= 0 && extent <= MAX_EXTENT) return;
  throw new EvolverError("ATTENTION_SHAPE", `${what} is ${String(extent)}`, {
    hint: "extents are whole numbers from 0 to 2^31 − 1",
  });
}

function checkedStrides(tensor: TensorName, strides: Strides): Strides {
  if (!Array.isArray(strides) || strides.length !== 4)
    throw new EvolverError("ATTENTION_STRIDES", `the strides of ${tensor} are not four numbers`, {
      hint: "give [batch, head, sequence, dim] in elements",
    });
  for (const [axis, stride] of (strides as readonly unknown[]).entries()) {
    if (typeof stride === "number" && Number.isInteger(stride) && stride >= 0 && stride <= MAX_STRIDE)
      continue;
    throw new EvolverError(
      "ATTENTION_STRIDES",
      `the stride of ${tensor} along ${AXES[axis]} (axis ${axis}) is ${String(stride)}`,
      { hint: "strides are whole numbers of elements from 0 to 2^32 − 1" },
    );
  }
  return strides;
}

/** Along each axis, in order of strides, the step must be larger than all smaller axes reach together. */
function refuseOverlap(extents: Extents, strides: Strides): void {
  if (extents.includes(0)) return;
  const axes = [0, 1, 2, 3].filter((axis) => (extents[axis] as number) > 1);
  let reach = 0;
  for (const axis of axes.toSorted((a, b) => (strides[a] as number) - (strides[b] as number))) {
    const stride = strides[axis] as number;
    if (stride <= reach)
      throw new EvolverError(
        "ATTENTION_STRIDES",
        `the stride of o along ${AXES[axis]} (axis ${axis}) is ${stride}, but the axes within it reach ${reach} elements far: elements of o would overlap`,
        { hint: "each element of the output needs a place of its own" },
      );
    reach += ((extents[axis] as number) - 1) * stride;
  }
}

function checkedMask({ mask, causal, window }: ScoreOptions): Mask {
  if (causal !== undefined && typeof causal !== "boolean")
    throw option(`causal is ${String(causal)}`, "it is true or false");
  const given = [mask !== undefined && "mask", causal === true && "causal", window !== undefined && "window"];
  const named = given.filter((name) => name !== false);
  if (named.length > 1)
    throw option(`${named.join(" and ")} are both given`, "a causal window is window: [left, 0]");
  if (causal === true) return { kind: "causal" };
  if (window !== undefined) {
    if (!Array.isArray(window) || window.length !== 2)
      throw option("window is not two numbers", "give [left, right]");
    return checkedMask({ mask: { kind: "window", left: window[0], right: window[1] } });
  }
  if (mask === undefined) return { kind: "full" };
  if (mask?.kind === "window") {
    for (const side of ["left", "right"] as const) {
      const reach = mask[side];
      if (reach >= 0 && (Number.isInteger(reach) || reach === Infinity)) continue;
      throw option(`the window's ${side} side is ${String(reach)}`, "a whole number from 0 on, or Infinity");
    }
  } else if (mask?.kind !== "full" && mask?.kind !== "causal")
    throw option(`the mask is ${JSON.stringify(mask)}`, 'its kind is "full", "causal" or "window"');
  return mask;
}

function checkedScale(scale: number): number {
  const rounded = typeof scale === "number" ? Math.fround(scale) : NaN;
  if (Number.isFinite(rounded)) return rounded;
  throw option(`scale is ${String(scale)}`, "it is a finite float32; leave it out for 1/√dim");
}

/** Where scores are less than 1 and the softcap more than this, devices take the argument of tanh for 0 and lose the score. */
const LARGEST_SOFTCAP = 2 ** 100;

function checkedSoftcap(softcap: number, scale: number): number {
  const rounded = typeof softcap === "number" ? Math.fround(softcap) : NaN;
  if (!(Number.isFinite(rounded) && rounded >= 0))
    throw option(`softcap is ${String(softcap)}`, "it is a finite float32 from 0 on; 0 means none");
  if (rounded > 0 && !Number.isFinite(Math.fround(scale / rounded)))
    throw option(`softcap is ${softcap}, and scale / softcap is not a float32 value`, "use a larger softcap");
  if (rounded > LARGEST_SOFTCAP)
    throw option(`softcap is ${softcap}, larger than 2^100`, "leave it out: so large a cap changes no score");
  return rounded;
}

function option(what: string, hint: string): EvolverError {
  return new EvolverError("ATTENTION_OPTION", what, { hint });
}
