/** Operations among the invocations of a subgroup. They order no memory. */

import type { SubgroupOp } from "../ir/nodes.ts";
import { captureSite } from "../ir/site.ts";
import type { NumericType, ScalarType } from "../ir/types.ts";
import type { Recorder } from "./recorder.ts";
import { lift, wrap, type Bool, type ScalarOf, type Scalar, type U32 } from "./scalar.ts";

type Num = ScalarOf<NumericType>;

export class Subgroup {
  readonly #recorder: Recorder;
  /** Invocations a subgroup. */
  readonly size: number;

  constructor(recorder: Recorder, size: number) {
    this.#recorder = recorder;
    this.size = size;
  }

  /** The sum over the active lanes, in butterfly order. */
  sum<S extends Num>(value: S): S {
    return this.#one("sum", [value], value.type) as S;
  }
  min<S extends Num>(value: S): S {
    return this.#one("min", [value], value.type) as S;
  }
  max<S extends Num>(value: S): S {
    return this.#one("max", [value], value.type) as S;
  }
  /** Whether it holds for some active lane. */
  any(condition: Bool): Bool {
    return this.#one("any", [condition], "bool") as Bool;
  }
  /** Whether it holds for all active lanes. */
  all(condition: Bool): Bool {
    return this.#one("all", [condition], "bool") as Bool;
  }
  /** One bit a lane: word k holds lanes 32k to 32k + 31; as many words as the width needs. */
  ballot(condition: Bool): readonly U32[] {
    const types = Array.from({ length: Math.ceil(this.size / 32) }, () => "u32" as const);
    return this.#record("ballot", [condition], types) as U32[];
  }
  /** The value of one lane, the same index for all. */
  broadcast<S extends Scalar>(value: S, lane: U32 | number): S {
    return this.#one("broadcast", [value, lift(this.#recorder, lane, "u32")], value.type) as S;
  }
  /** The value of the first active lane. */
  broadcastFirst<S extends Scalar>(value: S): S {
    return this.#one("broadcastFirst", [value], value.type) as S;
  }
  /** The value of the lane that each lane names. */
  shuffle<S extends Scalar>(value: S, lane: U32 | number): S {
    return this.#one("shuffle", [value, lift(this.#recorder, lane, "u32")], value.type) as S;
  }
  /** The value of lane l xor mask. */
  shuffleXor<S extends Scalar>(value: S, mask: U32 | number): S {
    return this.#one("shuffleXor", [value, lift(this.#recorder, mask, "u32")], value.type) as S;
  }
  /** The value of lane l − delta. */
  shuffleUp<S extends Scalar>(value: S, delta: U32 | number): S {
    return this.#one("shuffleUp", [value, lift(this.#recorder, delta, "u32")], value.type) as S;
  }
  /** The value of lane l + delta. */
  shuffleDown<S extends Scalar>(value: S, delta: U32 | number): S {
    return this.#one("shuffleDown", [value, lift(this.#recorder, delta, "u32")], value.type) as S;
  }
  /** The sum over lanes 0 to l. */
  inclusiveSum<S extends Num>(value: S): S {
    return this.#one("inclusiveSum", [value], value.type) as S;
  }
  /** The sum over lanes 0 to l − 1. */
  exclusiveSum<S extends Num>(value: S): S {
    return this.#one("exclusiveSum", [value], value.type) as S;
  }

  #one(op: SubgroupOp, operands: readonly Parameters<Recorder["use"]>[0][], type: ScalarType): Scalar {
    return this.#record(op, operands, [type])[0] as Scalar;
  }

  #record(
    op: SubgroupOp,
    operands: readonly Parameters<Recorder["use"]>[0][],
    types: readonly ScalarType[],
  ): Scalar[] {
    const site = captureSite();
    const values = operands.map((operand) => this.#recorder.use(operand, site));
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
}
