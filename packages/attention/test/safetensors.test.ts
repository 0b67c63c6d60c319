/** Safetensors: what is written is read back, and no claim of a hostile header is believed. */

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSafetensors, writeSafetensors } from "@evolver/attention";
import { EvolverError } from "@evolver/base";

/** A file with this header text and so many bytes of tensors. */
function fileOf(header: string | object, size = 0, claimed?: bigint): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + size);
  new DataView(file.buffer).setBigUint64(0, claimed ?? BigInt(text.length), true);
  file.set(text, 8);
  return file;
}

function codeOf(action: () => unknown): unknown {
  try {
    action();
    return "none";
  } catch (error) {
    return error instanceof EvolverError ? error.code : error;
  }
}

const entry = (dtype: string, shape: readonly unknown[], begin: number, end: number) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

it.each([
  ["\x93NUMPY\x01\x00v\x00{'descr': '<f4'}", "a NumPy array"],
  ["PK\x03\x04\x14\x00\x00\x00", "a zip archive"],
  ["GGUF\x03\x00\x00\x00", "a GGUF file"],
])("names the format of %j", (start, name) => {
  const file = Uint8Array.from(start, (letter) => letter.charCodeAt(0));
  expect(() => readSafetensors(file)).toThrow(new RegExp(`^the file is ${name}`));
});

describe("round trips", () => {
  it("keeps every type, name and the metadata", () => {
    const tensors = {
      "layer.0/q": { shape: [2, 2], data: Float32Array.of(1.5, -0, NaN, Infinity) },
      'tricky "name" \\ é': { shape: [1], data: Float64Array.of(Math.PI) },
      i: { shape: [2], data: Int32Array.of(-1, 2 ** 31 - 1) },
      u: { shape: [1, 1, 2], data: Uint32Array.of(7, 0xffffffff) },
      scalar: { shape: [], data: Float32Array.of(3) },
      empty: { shape: [0, 5], data: new Float32Array() },
    };
    const file = writeSafetensors(tensors, { source: "test" });
    expect(Number(new DataView(file.buffer).getBigUint64(0, true)) % 8).toBe(0);
    const read = readSafetensors(file);
    expect(read.metadata).toEqual({ source: "test" });
    expect([...read.tensors.keys()]).toEqual(Object.keys(tensors));
    expect(Object.fromEntries(read.tensors)).toMatchObject(tensors);
  });

  it("reads from the middle of a larger buffer, as Node's Buffer does", () => {
    const file = writeSafetensors({ a: { shape: [3], data: Float32Array.of(1, 2, 3) } });
    const larger = new Uint8Array(file.length + 9).fill(0xff);
    larger.set(file, 5);
    const read = readSafetensors(Buffer.from(larger.buffer, 5, file.length));
    expect(read.tensors.get("a")!.data).toEqual(Float32Array.of(1, 2, 3));
    expect(readSafetensors(file.buffer).tensors.get("a")!.data).toEqual(Float32Array.of(1, 2, 3));
  });

  it("gives copies: the file may change afterwards", () => {
    const file = writeSafetensors({ a: { shape: [1], data: Float32Array.of(1) } });
    const { tensors } = readSafetensors(file);
    file.fill(0);
    expect(tensors.get("a")!.data[0]).toBe(1);
  });

  it("widens half precision exactly", () => {
    const halves = Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x8000, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3555);
    const brains = Uint16Array.of(0x3f80, 0xc000, 0x0001, 0x7f80, 0x7fc0);
    const file = fileOf({ h: entry("F16", [9], 0, 18), b: entry("BF16", [5], 18, 28) }, 28);
    file.set(new Uint8Array(halves.buffer), file.length - 28);
    file.set(new Uint8Array(brains.buffer), file.length - 10);
    const { tensors } = readSafetensors(file);
    const expected = [1, -2, 2 ** -24, -0, 65504, Infinity, -Infinity, NaN, 0.333251953125];
    expect(tensors.get("h")).toEqual({ dtype: "F16", shape: [9], data: Float32Array.from(expected) });
    expect([...tensors.get("b")!.data]).toEqual([1, -2, 2 ** -133, Infinity, NaN]);
  });

  it("refuses to write what does not fit together", () => {
    const data = new Float32Array(3);
    expect(() => writeSafetensors({ a: { shape: [2], data } })).toThrow(/"a" has 3 elements/);
    expect(() => writeSafetensors({ a: { shape: [-3], data } })).toThrow(/"a" has shape \[-3\]/);
    expect(() => writeSafetensors({ __metadata__: { shape: [3], data } })).toThrow(/__metadata__/);
  });
});

describe("hostile files", () => {
  const good = entry("F32", [2], 0, 8);
  it.each<[string, Uint8Array<ArrayBuffer>, RegExp]>([
    ["nothing", new Uint8Array(), /0 bytes/],
    ["half a length", new Uint8Array(7), /7 bytes/],
    ["a length beyond the file", fileOf({ a: good }, 8, 4096n), /claims 4096 bytes/],
    ["a length of 2^63", fileOf({ a: good }, 8, 1n << 63n), /claims/],
    ["no JSON", fileOf("{a:1}"), /not JSON/],
    ["no UTF-8", Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0xff), /not JSON in UTF-8/],
    ["an array", fileOf("[]"), /not a JSON object/],
    ["null", fileOf("null"), /not a JSON object/],
    ["a tensor that is a number", fileOf({ a: 1 }), /"a" is not described/],
    ["an unknown dtype", fileOf({ a: entry("I64", [1], 0, 8) }, 8), /"a" has dtype "I64"/],
    ["a dtype from the prototype", fileOf({ a: entry("toString", [1], 0, 8) }, 8), /"a" has dtype/],
    ["no dtype", fileOf({ a: { shape: [1], data_offsets: [0, 4] } }, 4), /"a" has dtype undefined/],
    ["no shape", fileOf({ a: { dtype: "F32", data_offsets: [0, 4] } }, 4), /"a" has no shape/],
    ["a negative extent", fileOf({ a: entry("F32", [-1], 0, 4) }, 4), /"a" has shape \[-1\]/],
    ["two negative extents", fileOf({ a: entry("F32", [-1, -1], 0, 4) }, 4), /"a" has shape/],
    ["a fractional extent", fileOf({ a: entry("F32", [0.5, 2], 0, 4) }, 4), /"a" has shape/],
    ["an extent that is a string", fileOf({ a: entry("F32", ["1"], 0, 4) }, 4), /"a" has shape/],
    ["a size beyond all integers", fileOf({ a: entry("F32", [2 ** 40, 2 ** 40], 0, 4) }, 4), /"a" has shape/],
    ["a shape that is too large", fileOf({ a: entry("F32", [3], 0, 8) }, 8), /"a" lies at bytes 0 to 8/],
    ["a shape that is too small", fileOf({ a: entry("F32", [1], 0, 8) }, 8), /takes 4/],
    ["offsets the wrong way round", fileOf({ a: entry("F32", [2], 8, 0) }, 8), /"a" lies at bytes 8 to 0/],
    ["offsets beyond the file", fileOf({ a: entry("F32", [4], 0, 16) }, 8), /"a" lies at bytes 0 to 16/],
    ["a negative offset", fileOf({ a: entry("F32", [2], -8, 0) }, 8), /"a" has data_offsets \[-8,0\]/],
    ["one offset", fileOf({ a: { ...good, data_offsets: [0] } }, 8), /"a" has data_offsets \[0\]/],
    ["overlapping tensors", fileOf({ a: good, b: entry("F32", [2], 4, 12) }, 12), /"b" begins at byte 4/],
    ["the same bytes twice", fileOf({ a: good, b: good }, 8), /"b" begins at byte 0/],
    ["a gap", fileOf({ a: good, b: entry("F32", [1], 12, 16) }, 16), /"b" begins at byte 12, behind a gap/],
    ["bytes behind the last tensor", fileOf({ a: good }, 12), /end at byte 8 of 12/],
    ["a file cut short", fileOf({ a: good }, 7), /"a" lies at bytes 0 to 8; the file has 7/],
    [
      "a name twice",
      fileOf(`{"a":${JSON.stringify(good)},"\\u0061":${JSON.stringify(good)}}`, 8),
      /"a" is in the header twice/,
    ],
    ["metadata of numbers", fileOf({ __metadata__: { a: 1 } }), /__metadata__/],
  ])("%s", (_, file, message) => {
    expect(() => readSafetensors(file)).toThrow(expect.objectContaining({ code: "INVALID_SAFETENSORS" }));
    expect(() => readSafetensors(file)).toThrow(message);
  });

  it("does not take inner names for tensors' names", () => {
    const nested = `{"__metadata__":{"a":"{\\"a\\":","b":"x"},"a":${JSON.stringify(good)}}`;
    expect(readSafetensors(fileOf(nested, 8)).metadata).toEqual({ a: '{"a":', b: "x" });
  });

  it("throws nothing but INVALID_SAFETENSORS on damaged files", () => {
    const whole = writeSafetensors({
      a: { shape: [2], data: Float32Array.of(1, 2) },
      b: { shape: [1, 2], data: Float64Array.of(3, 4) },
    });
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(damage, fc.nat(whole.length), (changes, length) => {
        const file = whole.slice(0, length % 3 === 0 ? length : whole.length);
        for (const [position, value] of changes) if (position < file.length) file[position] = value;
        expect(codeOf(() => readSafetensors(file))).toBeOneOf(["none", "INVALID_SAFETENSORS"]);
      }),
      { numRuns: 500 },
    );
  });
});
