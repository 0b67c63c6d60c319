/**
 * Writes WebAssembly modules in the binary format: one imported shared memory, imported and defined functions.
 * It knows only the format, not what the code means.
 */

import { OP, TYPE, type WasmType } from "./opcodes.ts";

export interface Signature {
  readonly params: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** A growing run of bytes with LEB128 integers. */
class ByteWriter {
  #bytes = new Uint8Array(256);
  length = 0;

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  bytes(values: ArrayLike<number>): void {
    if (this.length + values.length > this.#bytes.length) this.#grow(values.length);
    this.#bytes.set(values, this.length);
    this.length += values.length;
  }

  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  signed(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) {
        this.byte(low);
        return;
      }
      this.byte(low | 0x80);
    }
  }

  name(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.unsigned(encoded.length);
    this.bytes(encoded);
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(atLeast: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + atLeast));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }
}

/** A place that a branch can go to: the end of a block, or the start of a loop. */
export interface Label {
  readonly depth: number;
}

const scratch = new DataView(new ArrayBuffer(8));

/** One function being written: instructions, and locals that can be handed back and used again. */
export class FunctionBuilder {
  readonly signature: Signature;
  readonly #code = new ByteWriter();
  readonly #locals: WasmType[] = [];
  readonly #free: Record<WasmType, number[]> = { i32: [], f32: [], f64: [], v128: [] };
  #depth = 0;

  constructor(signature: Signature) {
    this.signature = signature;
  }

  local(type: WasmType): number {
    const reused = this.#free[type].pop();
    if (reused !== undefined) return reused;
    this.#locals.push(type);
    return this.signature.params.length + this.#locals.length - 1;
  }

  /** Lets later calls of `local` give this one out again. */
  release(local: number): void {
    const type = this.#locals[local - this.signature.params.length];
    if (type !== undefined) this.#free[type].push(local);
  }

  op(code: number): this {
    if (code < 0x10000) {
      this.#code.byte(code);
    } else {
      this.#code.byte(code >= 0x30000 ? 0xfc : code >= 0x20000 ? 0xfe : 0xfd);
      this.#code.unsigned(code & 0xffff);
    }
    return this;
  }

  get(local: number): this {
    this.#code.byte(OP.localGet);
    this.#code.unsigned(local);
    return this;
  }

  set(local: number): this {
    this.#code.byte(OP.localSet);
    this.#code.unsigned(local);
    return this;
  }

  tee(local: number): this {
    this.#code.byte(OP.localTee);
    this.#code.unsigned(local);
    return this;
  }

  i32(value: number): this {
    this.#code.byte(OP.i32Const);
    this.#code.signed(value);
    return this;
  }

  f32(value: number): this {
    this.#code.byte(OP.f32Const);
    scratch.setFloat32(0, value, true);
    for (let i = 0; i < 4; i++) this.#code.byte(scratch.getUint8(i));
    return this;
  }

  /** A vector of four 32-bit integers. */
  i32x4(lanes: readonly number[]): this {
    this.op(OP.v128Const);
    for (const lane of lanes) {
      scratch.setInt32(0, lane, true);
      for (let i = 0; i < 4; i++) this.#code.byte(scratch.getUint8(i));
    }
    return this;
  }

  f32x4(value: number): this {
    scratch.setFloat32(0, value, true);
    const bits = scratch.getInt32(0, true);
    return this.i32x4([bits, bits, bits, bits]);
  }

  /** A vector of two equal doubles. */
  f64x2(value: number): this {
    scratch.setFloat64(0, value, true);
    const low = scratch.getInt32(0, true);
    const high = scratch.getInt32(4, true);
    return this.i32x4([low, high, low, high]);
  }

  /** Picks four of the eight 32-bit lanes of the two vectors on the stack. */
  shuffle(lanes: readonly number[]): this {
    this.op(OP.i8x16Shuffle);
    for (const lane of lanes) for (let i = 0; i < 4; i++) this.#code.byte(lane * 4 + i);
    return this;
  }

  lane(code: number, lane: number): this {
    this.op(code);
    this.#code.byte(lane);
    return this;
  }

  /** A load or store at the address on the stack plus `offset` bytes; `align` is the exponent. */
  memory(code: number, offset: number, align: number): this {
    this.op(code);
    this.#code.unsigned(align);
    this.#code.unsigned(offset);
    return this;
  }

  memoryLane(code: number, offset: number, align: number, lane: number): this {
    this.memory(code, offset, align);
    this.#code.byte(lane);
    return this;
  }

  call(index: number): this {
    this.#code.byte(OP.call);
    this.#code.unsigned(index);
    return this;
  }

  block(): Label {
    return this.#open(OP.block);
  }

  loop(): Label {
    return this.#open(OP.loop);
  }

  /** Takes the condition from the stack. */
  if(): Label {
    return this.#open(OP.if);
  }

  else(): void {
    this.#code.byte(OP.else);
  }

  end(): void {
    this.#depth--;
    this.#code.byte(OP.end);
  }

  br(label: Label): void {
    this.#code.byte(OP.br);
    this.#code.unsigned(this.#depth - label.depth);
  }

  brIf(label: Label): void {
    this.#code.byte(OP.brIf);
    this.#code.unsigned(this.#depth - label.depth);
  }

  /** The function's entry in the code section. */
  encode(): Uint8Array {
    const head = new ByteWriter();
    const groups: [WasmType, number][] = [];
    for (const type of this.#locals) {
      const last = groups.at(-1);
      if (last?.[0] === type) last[1]++;
      else groups.push([type, 1]);
    }
    head.unsigned(groups.length);
    for (const [type, count] of groups) {
      head.unsigned(count);
      head.byte(TYPE[type]);
    }
    const body = new ByteWriter();
    body.unsigned(head.length + this.#code.length + 1);
    body.bytes(head.view());
    body.bytes(this.#code.view());
    body.byte(OP.end);
    return body.view();
  }

  #open(code: number): Label {
    this.#code.byte(code);
    this.#code.byte(TYPE.none);
    this.#depth++;
    return { depth: this.#depth };
  }
}

interface ImportedFunction {
  readonly name: string;
  readonly signature: Signature;
}

/** A module: imports `env.memory` (shared) and functions from `env`, exports functions by name. */
export class ModuleBuilder {
  readonly #imports: ImportedFunction[] = [];
  readonly #functions: FunctionBuilder[] = [];
  readonly #exports: { name: string; index: number }[] = [];

  /** All imports come before the first function. */
  importFunction(name: string, signature: Signature): number {
    this.#imports.push({ name, signature });
    return this.#imports.length - 1;
  }

  add(fn: FunctionBuilder, exportName?: string): number {
    const index = this.#imports.length + this.#functions.length;
    this.#functions.push(fn);
    if (exportName !== undefined) this.#exports.push({ name: exportName, index });
    return index;
  }

  encode(maximumPages: number): Uint8Array<ArrayBuffer> {
    const signatures: Signature[] = [];
    const typeOf = (signature: Signature): number => {
      const same = (a: Signature): boolean =>
        a.params.join() === signature.params.join() && a.results.join() === signature.results.join();
      const found = signatures.findIndex(same);
      return found >= 0 ? found : signatures.push(signature) - 1;
    };
    const importTypes = this.#imports.map((entry) => typeOf(entry.signature));
    const functionTypes = this.#functions.map((fn) => typeOf(fn.signature));

    const out = new ByteWriter();
    out.bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    section(out, 1, (s) => {
      s.unsigned(signatures.length);
      for (const { params, results } of signatures) {
        s.byte(0x60);
        for (const types of [params, results]) {
          s.unsigned(types.length);
          for (const type of types) s.byte(TYPE[type]);
        }
      }
    });
    section(out, 2, (s) => {
      s.unsigned(this.#imports.length + 1);
      s.name("env");
      s.name("memory");
      s.bytes([2, 3]);
      s.unsigned(1);
      s.unsigned(maximumPages);
      this.#imports.forEach(({ name }, i) => {
        s.name("env");
        s.name(name);
        s.byte(0);
        s.unsigned(importTypes[i] as number);
      });
    });
    section(out, 3, (s) => {
      s.unsigned(functionTypes.length);
      for (const type of functionTypes) s.unsigned(type);
    });
    section(out, 7, (s) => {
      s.unsigned(this.#exports.length);
      for (const { name, index } of this.#exports) {
        s.name(name);
        s.byte(0);
        s.unsigned(index);
      }
    });
    section(out, 10, (s) => {
      s.unsigned(this.#functions.length);
      for (const fn of this.#functions) s.bytes(fn.encode());
    });
    return new Uint8Array(out.view());
  }
}

function section(out: ByteWriter, id: number, write: (section: ByteWriter) => void): void {
  const content = new ByteWriter();
  write(content);
  out.byte(id);
  out.unsigned(content.length);
  out.bytes(content.view());
}
