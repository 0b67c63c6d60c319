/**
 * Self-tests for JavaScript: the emitted module, and below it a program that runs it on fresh inputs and judges what came
 * out. Under Node it exits 0 for PASS and 1 for FAIL.
 */

import { assertNever } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import type { BufferParam } from "../../ir/types.ts";
import type { Emitted } from "../core/result.ts";
import { typedArray } from "../js/language.ts";
import type { Selftest, SelftestBuffer, SelftestExpected } from "./spec.ts";

const HOST = String.raw`
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

export function jsSelftest(ir: KernelIR, emitted: Emitted, selftest: Selftest, file: string): string {
  const buffers = ir.params.filter((param): param is BufferParam => param.kind === "buffer");
  const bufferOf = ({ name }: BufferParam): SelftestBuffer => selftest.args[name] as SelftestBuffer;
  const args = ir.params.map((param) => {
    const key = JSON.stringify(param.name);
    if (param.kind === "scalar") return `  ${key}: ${number(selftest.args[param.name] as number)},`;
    return `  ${key}: ${contents(param, bufferOf(param))},`;
  });
  const at = ({ name }: BufferParam): string => `selftestArgs[${JSON.stringify(name)}]`;
  const checks = buffers.flatMap((param) => {
    const { expected } = bufferOf(param);
    if (expected === undefined) return [];
    const { relative = 0, absolute = 0 } = expected.tolerance ?? {};
    const values = fromBits(typedArray(param.memory.element), expected.values);
    return [`compare(${JSON.stringify(param.name)}, ${at(param)}, ${values}, ${relative}, ${absolute})`];
  });
  if (selftest.reference !== undefined) checks.push(`verify(${buffers.map(at).join(", ")})`);
  return `// ${selftest.title}: a self-test. Run it with
//     node ${file}.mjs

${emitted.source}
// ---- The self-test: a program around the kernel above. ----

${[HOST, ...(selftest.reference === undefined ? [] : [selftest.reference.js.trim()])].join("\n\n")}

const selftestArgs = {
${args.join("\n")}
};
console.log(${JSON.stringify(selftest.title)});
const began = performance.now();
${emitted.entryPoint}({ workgroups: [${selftest.workgroups.join(", ")}], args: selftestArgs });
const elapsed = performance.now() - began;
const pass = [
${checks.map((check) => `  ${check},`).join("\n")}
].every((right) => right);
console.log("time " + elapsed.toFixed(1) + " ms, one run in JavaScript");
console.log((pass ? "PASS " : "FAIL ") + ${JSON.stringify(ir.name)});
if (typeof process !== "undefined") process.exitCode = pass ? 0 : 1;
`;
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
