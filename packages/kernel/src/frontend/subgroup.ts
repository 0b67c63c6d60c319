/** Operations among the invocations of a subgroup. Only the barrier orders memory. */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import { subgroupResults, type SubgroupOp } from "../ir/subgroup.ts";
import type { NumericType } from "../ir/types.ts";
import { note, typeMismatch, type Handle, type Recorder } from "./recorder.ts";
import { lift, wrap, type Bool, type ScalarOf, type Scalar, type U32 } from "./scalar.ts";

type Num = ScalarOf<NumericType>;

/** `gpu.subgroup`: votes, reductions and exchanges between the invocations of a subgroup. */
export class Subgroup {
  readonly #recorder: Recorder;
  /** Invocations per subgroup. */
  readonly size: number;

  readonly #invocations: number;

  /** @internal @param invocations of the workgroup */
  constructor(recorder: Recorder, size: number, invocations: number) {
    this.#recorder = recorder;
    this.size = size;
    this.#invocations = invocations;
  }

  /** All lanes of the subgroup wait for each other; what each wrote before is visible to all after. CUDA: __syncwarp(). */
  barrier(): void {
    const site = captureSite();
    this.#wantFull("barrier", site);
    this.#recorder.emit({ kind: "barrier", scope: "subgroup" }, site);
  }
  /** The sum over the active lanes, in butterfly order. */
  sum<S extends Num>(value: S): S {
    return this.#one("sum", [value]) as S;
  }
  /** The smallest value of the active lanes. */
  min<S extends Num>(value: S): S {
    return this.#one("min", [value]) as S;
  }
  /** The largest value of the active lanes. */
  max<S extends Num>(value: S): S {
    return this.#one("max", [value]) as S;
  }
  /** Whether it holds for some active lane. */
  any(condition: Bool): Bool {
    return this.#one("any", [condition]) as Bool;
  }
  /** Whether it holds for all active lanes. */
  all(condition: Bool): Bool {
    return this.#one("all", [condition]) as Bool;
  }
  /** One bit per lane: word k holds lanes 32k to 32k + 31; as many words as the width needs. */
  ballot(condition: Bool): readonly U32[] {
    return this.#record("ballot", [condition]) as U32[];
  }
  /** The value of one lane, whose index is the same for all. */
  broadcast<S extends Num>(value: S, lane: U32 | number): S {
    return this.#one("broadcast", [value, lift(this.#recorder, lane, "u32")]) as S;
  }
  /** The value of the first active lane. */
  broadcastFirst<S extends Num>(value: S): S {
    return this.#one("broadcastFirst", [value]) as S;
  }
  /** The value of the lane that each lane names. */
  shuffle<S extends Num>(value: S, lane: U32 | number): S {
    return this.#one("shuffle", [value, lift(this.#recorder, lane, "u32")]) as S;
  }
  /** The value of lane l xor mask. */
  shuffleXor<S extends Num>(value: S, mask: U32 | number): S {
    return this.#one("shuffleXor", [value, lift(this.#recorder, mask, "u32")]) as S;
  }
  /** The value of lane l − delta. */
  shuffleUp<S extends Num>(value: S, delta: U32 | number): S {
    return this.#one("shuffleUp", [value, lift(this.#recorder, delta, "u32")]) as S;
  }
  /** The value of lane l + delta. */
  shuffleDown<S extends Num>(value: S, delta: U32 | number): S {
    return this.#one("shuffleDown", [value, lift(this.#recorder, delta, "u32")]) as S;
  }
  /** The sum over lanes 0 to l. */
  inclusiveSum<S extends Num>(value: S): S {
    return this.#one("inclusiveSum", [value]) as S;
  }
  /** The sum over lanes 0 to l − 1. */
  exclusiveSum<S extends Num>(value: S): S {
    return this.#one("exclusiveSum", [value]) as S;
  }

  #one(op: SubgroupOp, operands: readonly Handle[]): Scalar {
    return this.#record(op, operands)[0] as Scalar;
  }

  #record(op: SubgroupOp, operands: readonly Handle[]): Scalar[] {
    const site = captureSite();
    this.#wantFull(op, site);
    const values = operands.map((operand) => this.#recorder.use(operand, site));
    const given = values.map((value) => value.type);
    const types = subgroupResults(op, given, this.size);
    if (types === null) throw typeMismatch(`subgroup.${op}`, operands, site);
    const results = types.map((type) => this.#recorder.define(type, site));
    this.#recorder.emit(
      {
        kind: "subgroup",
        op,
        operands: Object.freeze(values),
        results: Object.freeze(results.map((result) => result.value)),
      },
      site,
    );
    return results.map((result) => wrap(result));
  }

  #wantFull(op: string, site: Site): void {
    if (this.#invocations % this.size === 0) return;
    throw new EvolverError(
      "INVALID_WORKGROUP",
      `subgroup.${op} wants full subgroups of ${this.size}, which a workgroup of ${this.#invocations} does not have`,
      {
        where: [site.location, note(this.#recorder.site, "the kernel was defined here")],
        hint: "let the size follow the width: workgroup: ({ subgroup }) => [8 * subgroup]",
      },
    );
  }
}
