/**
 * The problem: each row of a matrix is made to sum up to 1 (softmax), or to have mean 0 and variance 1 (layer norm).
 * Matrices are dense, f32, row after row.
 */

/** With one row each in the reference, in the kernel and in the self-tests. */
export const rowOperations = ["softmax", "layerNorm"] as const;

/** What is done with each row. */
export type RowOperation = (typeof rowOperations)[number];

/** A matrix, rows one after another, and what is done with each row. */
export interface RowProblem {
  readonly operation: RowOperation;
  readonly rows: number;
  readonly columns: number;
}

/** What layer norm adds to the variance, so that a row of equal values can be divided by its root. */
export const EPSILON = Math.fround(1e-5);

/** Subtract, exponential, sum, multiply; difference, sum, square and its sum, multiply: for each element. */
const FLOPS_PER_ELEMENT: Readonly<Record<RowOperation, number>> = { softmax: 4, layerNorm: 6 };

/** Floating-point operations of the problem, whichever kernel solves it. */
export const rowFlops = ({ operation, rows, columns }: RowProblem): number =>
  FLOPS_PER_ELEMENT[operation] * rows * columns;
