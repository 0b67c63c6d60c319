/** `gpu.trace`: values that the simulator shows. */

import { EvolverError } from "@evolver/base";
import { captureSite } from "../ir/site.ts";
import { scalarTypes, type NumericType, type ScalarType, type VariableType } from "../ir/types.ts";
import { kindOf } from "./given.ts";
import type { Recorder } from "./recorder.ts";
import { lift, Scalar } from "./scalar.ts";
import { Var } from "./variable.ts";
import { Vec, type VecWidth } from "./vector.ts";

/** What can be shown: values, what a variable holds now, and numbers of the build. */
export type Traceable = Scalar | Var<VariableType> | Vec<NumericType, VecWidth> | number | boolean;

export function recordTrace(recorder: Recorder, label: string, values: readonly Traceable[]): void {
  const site = captureSite();
  if (typeof label !== "string")
    throw new EvolverError("INVALID_TRACE", `gpu.trace takes a label first, not ${kindOf(label)}`, {
      where: [site.location],
      hint: 'write gpu.trace("total", total)',
    });
  recorder.within(site, () => {
    const scalars = values.flatMap((value): readonly (Scalar | number | boolean)[] => {
      if (value instanceof Vec) return value.components;
      return [value instanceof Var ? value.get() : value];
    });
    const shown = scalars.map((value) => recorder.use(lift(recorder, value, typeOf(value)), site));
    recorder.emit({ kind: "trace", label, values: Object.freeze(shown) }, site);
  });
}

/** The type that holds a number of the build. */
function typeOf(value: Scalar | number | boolean): ScalarType {
  if (value instanceof Scalar) return value.type;
  if (typeof value === "boolean") return "bool";
  if (scalarTypes.i32.literal(value) !== null) return "i32";
  return scalarTypes.u32.literal(value) === null ? "f32" : "u32";
}
