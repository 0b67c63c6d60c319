/**
 * The functions of a generated module beside the kernel's own. Each is written when code first calls for it, and known
 * by a name that says what it does and for which types. What the functions compute is defined where they are used.
 */

import { FunctionBuilder, ModuleBuilder, type Signature } from "./encoder.ts";
import type { WasmType } from "./opcodes.ts";

export class HelperFunctions {
  readonly module = new ModuleBuilder();
  /** Whether relaxed SIMD is there and its multiply-add rounds once. */
  readonly fusedMultiplyAdd: boolean;
  readonly #imported = new Map<string, number>();
  readonly #defined = new Map<string, number>();

  /** @param imports names of functions from f32 to f32 that the module's user brings */
  constructor(fusedMultiplyAdd: boolean, imports: readonly string[]) {
    this.fusedMultiplyAdd = fusedMultiplyAdd;
    const signature: Signature = { params: ["f32"], results: ["f32"] };
    for (const name of imports) this.#imported.set(name, this.module.importFunction(name, signature));
  }

  /** The index of an imported function. */
  imported(name: string): number {
    const index = this.#imported.get(name);
    if (index === undefined) throw new Error(`the module imports no function "${name}"`);
    return index;
  }

  /** The index of the function of a name, which `write` writes unless it is there already. */
  define(
    name: string,
    params: readonly WasmType[],
    results: readonly WasmType[],
    write: (f: FunctionBuilder) => void,
  ): number {
    const known = this.#defined.get(name);
    if (known !== undefined) return known;
    const f = new FunctionBuilder({ params, results });
    write(f);
    const index = this.module.add(f);
    this.#defined.set(name, index);
    return index;
  }

  /** A function of so many vectors with one vector as its result. */
  defineVector(name: string, operands: 1 | 2 | 3, write: (f: FunctionBuilder) => void): number {
    return this.define(name, Array<WasmType>(operands).fill("v128"), ["v128"], write);
  }
}
