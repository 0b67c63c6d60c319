/**
 * Self-tests for CUDA and HIP: the emitted kernel, and below it a host program that runs it once on fresh inputs,
 * judges what came out, then times it by events. It exits 0 for PASS, 1 for FAIL, 2 where nothing could be run.
 */

import { assertNever } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import { elementBytes, isHalf, type BufferParam, type HalfType } from "../../ir/types.ts";
import { cppHosts, type CppTarget } from "../cpp/hosts.ts";
import { cppLiteral, cppType } from "../cpp/language.ts";
import type { Emitted } from "../core/result.ts";
import { surveyOf } from "../core/uses.ts";
import { hostText } from "./host-text.ts";
import type { Selftest, SelftestBuffer, SelftestExpected } from "./spec.ts";

const TIMED_RUNS = 21;
const NUMBERS_A_LINE = 10;

const BUILD = {
  cuda: (file: string, hasBF16: boolean) => [
    `nvcc -O3${hasBF16 ? " -arch=sm_80" : ""} -o ${file} ${file}.cu && ./${file}`,
    ...(hasBF16 ? ["The instructions of bf16 begin with sm_80."] : []),
    "-arch=native (or sm_80, sm_90a, …) makes code for one GPU; without it the driver compiles at the first start.",
    "No flag is needed for exact results: products that must not be fused are written as __fmul_rn.",
    "Never build it with --use_fast_math.",
  ],
  hip: (file: string) => [
    `hipcc -O3 -o ${file} ${file}.hip && ./${file}`,
    "No flag is needed for exact results: the file turns contraction off itself. Never build it with -ffast-math.",
  ],
} as const;

/** @param file the file's name without extension, for the command line in the header */
export function cppSelftest(
  ir: KernelIR,
  emitted: Emitted,
  api: CppTarget,
  selftest: Selftest,
  file: string,
): string {
  const buffers = ir.params.filter((param): param is BufferParam => param.kind === "buffer");
  const bufferOf = ({ name }: BufferParam): SelftestBuffer => selftest.args[name] as SelftestBuffer;
  const local = (param: BufferParam): string => `b${buffers.indexOf(param)}`;
  const data = (name: string, values: SelftestExpected["values"]): string =>
    `const unsigned ${name}[] = {\n${words(values)}};`;
  const tables = buffers.flatMap((param) => {
    const { contents, expected } = bufferOf(param);
    return [
      ...(contents.kind === "values" && contents.values.length > 0
        ? [data(`${local(param)}_before`, contents.values)]
        : []),
      ...(expected === undefined || expected.values.length === 0
        ? []
        : [data(`${local(param)}_expected`, expected.values)]),
    ];
  });
  const declarations = buffers.map((param) => {
    const { length } = bufferOf(param);
    const written = param.memory.access !== "read";
    return `Buffer<${cppType(param.memory.element)}> ${local(param)}("${param.name}", ${length}, ${written});`;
  });
  const fills = buffers.flatMap((param) => fill(local(param), bufferOf(param)));
  const restored = buffers.filter(
    (param) =>
      param.memory.access === "read_write" || (param.memory.atomic && param.memory.access !== "read"),
  );
  const checks = buffers.flatMap((param) => {
    const { expected } = bufferOf(param);
    if (expected === undefined || expected.values.length === 0) return [];
    const { relative = 0, absolute = 0 } = expected.tolerance ?? {};
    return [`pass &= compare(${local(param)}, ${local(param)}_expected, ${relative}, ${absolute});`];
  });
  if (selftest.reference !== undefined)
    checks.push(`pass &= verify(${buffers.map((param) => `${local(param)}.after.data()`).join(", ")});`);
  const bytes = buffers.reduce(
    (sum, param) => sum + elementBytes(param.memory.element) * bufferOf(param).length,
    0,
  );
  const rates = [
    ...(selftest.flops === undefined
      ? []
      : [`std::printf(", %.3f TFLOP/s", ${selftest.flops.toExponential()} / (median * 1e9));`]),
    `std::printf(", %.1f GB/s if each buffer moves once\\n", ${bytes.toExponential()} / (median * 1e6));`,
  ];
  const text = `
// ---- The self-test: a host program around the kernel above. ----

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace evolver_selftest {

${[...valueTexts(buffers), hostText(api)].join("\n\n")}

${[...tables, ...(selftest.reference === undefined ? [] : [selftest.reference.cpp.trim()])].join("\n\n")}

int run() {
  int count = 0;
  if (${api}GetDeviceCount(&count) != ${api}Success || count == 0) {
    std::printf("cannot run: there is no GPU, or its driver does not start\\n");
    return 2;
  }
  ${cppHosts[api].properties} properties;
  CHECK(${api}GetDeviceProperties(&properties, 0));
  std::printf("%s on %s\\n", ${JSON.stringify(selftest.title)}, properties.name);
  if (properties.warpSize != ${ir.subgroupSize}) {
    std::printf("cannot run: this GPU has ${cppHosts[api].subgroups} of %d lanes, the kernel is built for ${ir.subgroupSize}; emit it with --subgroup %d\\n",
                properties.warpSize, properties.warpSize);
    return 2;
  }
${indent(declarations)}
${indent(fills)}
  const auto upload = [&] { ${buffers.map((param) => `${local(param)}.upload();`).join(" ")} };
${indent(launchLines(ir, emitted, api, selftest, local))}

  // Once, on fresh inputs, for the results.
  upload();
  launch();
  CHECK(${api}GetLastError());
  CHECK(${api}DeviceSynchronize());
  bool pass = true;
${indent(buffers.map((param) => `pass &= ${local(param)}.download();`))}
${indent(checks)}

  // Again for the time: events around each launch, up to ${TIMED_RUNS} of them or half a second, and the median.
  ${api}Event_t start, end;
  CHECK(${api}EventCreate(&start));
  CHECK(${api}EventCreate(&end));
  std::vector<float> times;
  float spent = 0;
  while (times.size() < ${TIMED_RUNS} && spent < 500) {
${restored.map((param) => `    ${local(param)}.upload();\n`).join("")}    CHECK(${api}EventRecord(start, 0));
    launch();
    CHECK(${api}EventRecord(end, 0));
    CHECK(${api}EventSynchronize(end));
    float elapsed = 0;
    CHECK(${api}EventElapsedTime(&elapsed, start, end));
    times.push_back(elapsed);
    spent += elapsed;
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("time %.4f ms, the median of %zu", median, times.size());
${indent(rates)}
  std::printf("%s ${ir.name}\\n", pass ? "PASS" : "FAIL");
  return pass ? 0 : 1;
}

}  // namespace evolver_selftest

int main() { return evolver_selftest::run(); }
`;
  const [first, ...rest] = BUILD[api](file, surveyOf(ir).halfTypes.has("bf16"));
  const header = [`${selftest.title}: a self-test. Build and run it with`, `    ${first}`, ...rest];
  return `${header.map((line) => `// ${line}`).join("\n")}\n\n${emitted.source}${text}`;
}

/** A lambda that enqueues the launch. */
function launchLines(
  ir: KernelIR,
  emitted: Emitted,
  api: CppTarget,
  { args, workgroups }: Selftest,
  local: (param: BufferParam) => string,
): string[] {
  const values = emitted.kernelArguments.map((name) => {
    const axis = ["numWorkgroups.x", "numWorkgroups.y", "numWorkgroups.z"].indexOf(name);
    if (axis >= 0) return `${workgroups[axis]}u`;
    const param = ir.params.find((candidate) => candidate.name === name);
    if (param?.kind === "buffer") return `${local(param)}.device`;
    return cppLiteral(param?.type ?? "u32", args[name] as number).text;
  });
  const [x, y, z] = workgroups;
  const grid = emitted.grid === "linear" ? `dim3(${x * y * z})` : `dim3(${x}, ${y}, ${z})`;
  const block = `dim3(${ir.workgroupSize.join(", ")})`;
  const { entryPoint, dynamicSharedBytes: sharedBytes } = emitted;
  const host = cppHosts[api];
  const launch = host.launch({ entryPoint, grid, block, sharedBytes, args: values.join(", ") });
  return [...host.reserveShared(entryPoint, sharedBytes), `const auto launch = [&] { ${launch}; };`];
}

function fill(local: string, { contents, length }: SelftestBuffer): string[] {
  if (length === 0) return [];
  switch (contents.kind) {
    case "uniform":
    case "normal":
      return [`${local}.${contents.kind}(${contents.seed});`];
    case "values":
      return [`${local}.bits(${local}_before);`];
    case "unset":
      return [`${local}.unset();`];
    case "zeros":
      return [];
    default:
      return assertNever(contents, "kind of contents");
  }
}

/** The bits of an array as C's hexadecimal words: exact, infinities and NaN included. */
function words(values: SelftestExpected["values"]): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const bits = new Uint32Array(Math.ceil(bytes.length / 4));
  new Uint8Array(bits.buffer).set(bytes);
  let text = "";
  for (let i = 0; i < bits.length; i += NUMBERS_A_LINE) {
    const line = [...bits.subarray(i, i + NUMBERS_A_LINE)].map((word) => `0x${word.toString(16)}`);
    text += `    ${line.join(", ")},\n`;
  }
  return text;
}

/** What the host makes of two-byte elements; the classes themselves are for the GPU. */
const VALUE_OF: Readonly<Record<HalfType, string>> = {
  f16: `inline double valueOf(f16 x) {
  const int exponent = x.bits >> 10 & 31, significand = x.bits & 0x3ff;
  const double magnitude = exponent == 31  ? (significand == 0 ? INFINITY : NAN)
                           : exponent == 0 ? std::ldexp(significand, -24)
                                           : std::ldexp(significand + 1024, exponent - 25);
  return (x.bits & 0x8000) != 0 ? -magnitude : magnitude;
}`,
  bf16: `inline double valueOf(bf16 x) {
  const std::uint32_t full = std::uint32_t(x.bits) << 16;
  float value;
  std::memcpy(&value, &full, sizeof value);
  return value;
}`,
};

function valueTexts(buffers: readonly BufferParam[]): string[] {
  const types = new Set(buffers.map(({ memory }) => memory.element).filter(isHalf));
  return [...types].map((type) => VALUE_OF[type]);
}

const indent = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join("\n");
