/**
 * What is asked of an attention kernel: shapes, strides, mask and scores. Nothing here says how it is computed.
 *
 * Scores are s = scale · q·k; with a softcap, s = softcap · tanh(s / softcap); then the mask; then softmax.
 */

/** Extents of the tensors: q and o are [batch, headsQ, seqQ, dim], k and v [batch, headsKv, seqK, dim]. */
export interface AttentionShape {
  readonly batch: number;
  readonly headsQ: number;
  /** Divides headsQ; query head h reads key head ⌊h / (headsQ / headsKv)⌋. */
  readonly headsKv: number;
  readonly seqQ: number;
  readonly seqK: number;
  readonly dim: number;
}

/**
 * Which keys a query sees. With p = i + seqK − seqQ for query row i (bottom-right alignment): `causal` sees key j
 * when j ≤ p; `window` when p − left ≤ j ≤ p + right.
 */
export type Mask =
  | { readonly kind: "full" }
  | { readonly kind: "causal" }
  | { readonly kind: "window"; readonly left: number; readonly right: number };

/** Elements between neighbours along batch, head, sequence and dim. */
export type Strides = readonly [batch: number, head: number, sequence: number, dim: number];

/** Attention to be computed: o = softmax(scale · q·kᵀ + mask) · v, with the shape and the strides of its tensors. */
export interface AttentionProblem {
  readonly shape: AttentionShape;
  readonly mask: Mask;
  /** Multiplies q·k; an f32 value. */
  readonly scale: number;
  /** 0 for none. */
  readonly softcap: number;
  readonly strides: { readonly q: Strides; readonly k: Strides; readonly v: Strides; readonly o: Strides };
}

/** Strides of a densely packed [batch, heads, seq, dim] tensor. */
export function denseStrides(heads: number, seq: number, dim: number): Strides {
  return [heads * seq * dim, seq * dim, dim, 1];
}

/** FLOPs of the forward pass by the usual rule: 4·B·H·Sq·Sk·D, halved when causal. */
export function forwardFlops(problem: AttentionProblem): number {
  const { batch, headsQ, seqQ, seqK, dim } = problem.shape;
  return (4 * batch * headsQ * seqQ * seqK * dim) / (problem.mask.kind === "causal" ? 2 : 1);
}
