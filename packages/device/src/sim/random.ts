/** A small deterministic generator (xorshift) for schedules; not for data. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Spread nearby seeds; the state must not be 0.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 1;
  }

  /** An integer from 0 to n − 1. */
  below(n: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return (x >>> 0) % n;
  }
}
