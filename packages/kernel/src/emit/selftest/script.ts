/** What self-tests that are ES modules have in common: data, and how results are judged. */

import { assertNever } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import type { BufferParam } from "../../ir/types.ts";
import { typedArray } from "../js/language.ts";
import type { Selftest, SelftestBuffer, SelftestExpected } from "./spec.ts";

/** Random data, and comparing. */
export const SCRIPT_HOST = String.raw`
/** Mulberry32, a small generator: the same seed gives the same numbers everywhere. */
const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};
const drawUniform = (length, seed) => {
  const next = random(seed);
  return Float32Array.from({ length }, () => next() * 2 - 1);
};
const drawNormal = (length, seed) => {
  const next = random(seed);
  return Float32Array.from({ length }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    return radius * Math.cos(2 * Math.PI * next());
  });
};
const fromBits = (ArrayType, bits) => new ArrayType(Uint32Array.from(bits).buffer);
const unset = (ArrayType, length) => new ArrayType(new Uint8Array(length * ArrayType.BYTES_PER_ELEMENT).fill(0xff).buffer);

function compare(name, actual, expected, relative, absolute) {
  const wrong = [...expected.keys()].filter((i) => {
    const [got, want] = [actual[i], expected[i]];
    if (got === want || (got !== got && want !== want)) return false;
    return !(Math.abs(got - want) <= relative * Math.abs(want) + absolute);
  });
  if (wrong.length === 0) console.log(name + ": " + expected.length + " elements as expected");
  else console.log(name + "[" + wrong[0] + "] is " + actual[wrong[0]] + ", not " + expected[wrong[0]] + "; " + wrong.length + " of " + expected.length + " are wrong");
  return wrong.length === 0;
}
`.trim();

const buffersOf = (ir: KernelIR): BufferParam[] =>
  ir.params.filter((param): param is BufferParam => param.kind === "buffer");

/** The object `selftestArgs`: numbers and typed arrays by name. */
export function argumentsText(ir: KernelIR, { args }: Selftest): string {
  const entries = ir.params.map((param) => {
    const key = JSON.stringify(param.name);
    if (param.kind === "scalar") return `  ${key}: ${number(args[param.name] as number)},`;
    return `  ${key}: ${contents(param, args[param.name] as SelftestBuffer)},`;
  });
  return `const selftestArgs = {\n${entries.join("\n")}\n};`;
}

/** Calls that compare what is in `selftestArgs` afterwards, each true or false. */
export function checksText(ir: KernelIR, { args, reference }: Selftest): string {
  const at = ({ name }: BufferParam): string => `selftestArgs[${JSON.stringify(name)}]`;
  const checks = buffersOf(ir).flatMap((param) => {
    const { expected } = args[param.name] as SelftestBuffer;
    if (expected === undefined) return [];
    const { relative = 0, absolute = 0 } = expected.tolerance ?? {};
    const values = fromBits(typedArray(param.memory.element), expected.values);
    return [`compare(${JSON.stringify(param.name)}, ${at(param)}, ${values}, ${relative}, ${absolute})`];
  });
  if (reference !== undefined) checks.push(`verify(${buffersOf(ir).map(at).join(", ")})`);
  return `const pass = [\n${checks.map((check) => `  ${check},`).join("\n")}\n].every((right) => right);`;
}

function contents({ memory }: BufferParam, { length, contents: initial }: SelftestBuffer): string {
  const type = typedArray(memory.element);
  switch (initial.kind) {
    case "uniform":
      return `drawUniform(${length}, ${initial.seed})`;
    case "normal":
      return `drawNormal(${length}, ${initial.seed})`;
    case "values":
      return fromBits(type, initial.values);
    case "unset":
      return `unset(${type}, ${length})`;
    case "zeros":
      return `new ${type}(${length})`;
    default:
      return assertNever(initial, "kind of contents");
  }
}

function fromBits(type: string, values: SelftestExpected["values"]): string {
  if (values instanceof Uint16Array)
    return `Uint16Array.of(${[...values].map((bits) => `0x${bits.toString(16)}`).join(", ")})`;
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return `fromBits(${type}, [${[...bits].map((word) => `0x${word.toString(16)}`).join(", ")}])`;
}

const number = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));
