/**
 * Random numbers from a seed: the same on every machine, never from the clock. Not for secrets, and not for emitted programs,
 * which compute their data from the index.
 */

import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";
import { EvolverError } from "./errors.ts";
import { sha256Bytes } from "./hash.ts";

/** A stream of random numbers, xoroshiro128+. Its state is a hash of the seed, so that streams of near seeds have nothing in common. */
export class Random {
  readonly seed: number;
  readonly #generator: ReturnType<typeof xoroshiro128plusFromState>;
  /** The second half of the last pair of normal values. */
  #spare: number | null = null;

  /**
   * @param seed any integer of at most 53 bits
   * @throws EvolverError INVALID_SEED
   */
  constructor(seed: number) {
    this.seed = seed;
    const state = words(hashOf(seed, []));
    this.#generator = xoroshiro128plusFromState([0, 1, 2, 3].map((i) => state.getInt32(4 * i)));
  }

  /** A 32-bit unsigned integer. */
  uint32(): number {
    return this.#generator.next() >>> 0;
  }

  /** Uniform in [0, 1), a multiple of 2^−32. */
  uniform(): number {
    return (this.#generator.next() >>> 0) / 2 ** 32;
  }

  /** A uniform integer from 0 to n − 1. */
  below(n: number): number {
    return this.integer(0, n - 1);
  }

  /** A uniform integer, both ends included; the range may have 53 bits. */
  integer(from: number, to: number): number {
    if (!(from <= to)) throw new RangeError(`there is no integer from ${from} to ${to}`);
    return uniformInt(this.#generator, from, to);
  }

  /** Normal with mean 0 and variance 1, by Box and Muller's transform. */
  normal(): number {
    if (this.#spare !== null) {
      const value = this.#spare;
      this.#spare = null;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
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

  /** A shuffled copy, by Fisher and Yates. */
  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }

  /** A stream of its own for one purpose. It depends on the seed and the labels, not on what was drawn before. */
  fork(...labels: readonly (string | number)[]): Random {
    return new Random(deriveSeed(this.seed, ...labels));
  }
}

/**
 * A seed of 32 bits for one purpose, from a seed and labels: `deriveSeed(seed, "verify", trial)`.
 * @throws EvolverError INVALID_SEED
 */
export function deriveSeed(seed: number, ...labels: readonly (string | number)[]): number {
  return words(hashOf(seed, labels)).getUint32(0);
}

function hashOf(seed: number, labels: readonly (string | number)[]): Uint8Array {
  if (!Number.isSafeInteger(seed)) {
    throw new EvolverError("INVALID_SEED", `${seed} is not a seed`, {
      hint: "give a whole number of at most 53 bits",
    });
  }
  return sha256Bytes(JSON.stringify([seed, ...labels]));
}

const words = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset);
