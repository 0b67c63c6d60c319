/** Memory in WGSL: of each array, whether it holds elements of its own type or packed words. */

import { isHalf, type ElementType, type Memory } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { declaredMemories } from "../core/uses.ts";
import type { WgslMemory } from "./arrays.ts";
import { PackedMemories } from "./packed.ts";
import { VectorMemories } from "./vectors.ts";

/** @param nativeF16 whether f16 is WGSL's own */
export function wgslMemory(code: Code, nativeF16: boolean, hasReadWrite: boolean): WgslMemory {
  const lacks = (type: ElementType): boolean => isHalf(type) && !(type === "f16" && nativeF16);
  const lacking = declaredMemories(code.ir).filter(({ element }) => lacks(element));
  const packed = new PackedMemories(code, lacking);
  const vectors = new VectorMemories(code);
  const of = (memory: Memory): WgslMemory => (packed.has(memory) ? packed : vectors);
  return {
    arrayType: (memory, length) => of(memory).arrayType(memory, length),
    bytesOf: (memory) => of(memory).bytesOf(memory),
    load: (memory, index) => of(memory).load(memory, index),
    store: (memory, index, value) => of(memory).store(memory, index, value),
    loadMany: (memory, index, count) => of(memory).loadMany(memory, index, count),
    storeMany: (memory, index, values) => of(memory).storeMany(memory, index, values),
    uniformLoad(memory, index) {
      if (hasReadWrite) code.line("storageBarrier();");
      return of(memory).uniformLoad(memory, index);
    },
  };
}
