/**
 * The lab's own source of randomness: seeded, the same on every machine, never the clock. Not for secrets.
 */

/** A stream of random numbers: xoshiro128** by Blackman and Vigna, seeded through splitmix32. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** @param seed any integer; seeds that differ in one bit give unrelated streams */
  constructor(seed: number) {
    let state = seed | 0;
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0;
      return mix(state);
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next() | 1;
  }

  /** A 32-bit unsigned integer. */
  uint32(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = rotate(this.#d, 11);
    return result;
  }

  /** Uniform in [0, 1), 32 bits. */
  uniform(): number {
    return this.uint32() / 4294967296;
  }

  /** A uniform integer, 0 ≤ result < n. */
  below(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  /** Standard normal, by Box and Muller. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** A uniform element of a list that is not empty. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("pick from an empty list");
    return items[this.below(items.length)] as T;
  }

  /** An index drawn with probability in proportion to its weight; weights are ≥ 0 and not all 0. */
  weighted(weights: readonly number[]): number {
    let rest = this.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
    for (const [i, weight] of weights.entries()) {
      rest -= weight;
      if (rest < 0) return i;
    }
    return weights.length - 1;
  }

  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }
}

/** A seed for one purpose, from a seed and labels: `deriveSeed(seed, "verify", trial)`. */
export function deriveSeed(seed: number, ...labels: readonly (string | number)[]): number {
  let state = mix(seed | 0);
  for (const label of labels) {
    const text = `${typeof label}:${label};`;
    for (let i = 0; i < text.length; i++) state = mix(state ^ text.charCodeAt(i));
  }
  return state >>> 0;
}

function mix(x: number): number {
  let z = x + 0x9e3779b9;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
}

function rotate(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}
