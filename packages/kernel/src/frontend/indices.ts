/** Built-in indices with a component per axis, read from the target when a kernel asks for them. */

import type { BuiltinName } from "../ir/builtins.ts";
import type { Recorder } from "./recorder.ts";
import { wrap, type U32 } from "./scalar.ts";

/** An index or a count along each axis. */
export interface Xyz {
  readonly x: U32;
  readonly y: U32;
  readonly z: U32;
}

/** The built-in of a name; only the components that are touched are recorded. */
export function xyz(recorder: Recorder, name: "workgroupId" | "localId" | "globalId" | "numWorkgroups"): Xyz {
  const component = (axis: "x" | "y" | "z"): U32 =>
    wrap(recorder.builtin(`${name}.${axis}` satisfies BuiltinName));
  return {
    get x() {
      return component("x");
    },
    get y() {
      return component("y");
    },
    get z() {
      return component("z");
    },
  };
}
