/** What takes part in the comparison of attention on processors, and the data that all of them get. */

/** Float32, dense, [heads, length, dim] each. */
export interface Heads {
  readonly heads: number;
  readonly length: number;
  readonly dim: number;
  readonly scale: number;
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

export interface Contender {
  readonly name: string;
  readonly threads: number;
  /** Computes the whole output, [heads, length, dim]; nothing of it is kept from earlier calls. */
  run(): Promise<Float32Array>;
  close(): Promise<void>;
}
