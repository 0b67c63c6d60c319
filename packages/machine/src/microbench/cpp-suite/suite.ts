/**
 * The suite as one C++ program for CUDA or HIP: the same kernels, cases and checks, with a host program that measures as
 * runner.ts does. For machines that have a GPU and its compiler but no Evolver.
 */

import { EvolverError } from "@evolver/base";
import {
  cppHosts,
  emitTogether,
  MAX_INVOCATIONS,
  NATIVE_GRID,
  type CppTarget,
  type Emitted,
  type Kernel,
} from "@evolver/kernel";
import {
  MAX_MULTIPROCESSORS,
  type BufferSpec,
  type CaseSpec,
  type Count,
  type LaunchSpec,
  type Setup,
} from "../spec.ts";
import { setupOf } from "../run.ts";
import type { TestPlan, Test } from "../benchmark.ts";
import { doublesKernels, doublesTest } from "./doubles.ts";
import { hostText } from "./host.ts";

/** What `emitSuite` writes. */
export interface SuiteOptions {
  readonly target: CppTarget;
  readonly subgroup: number;
  /** The file's name without extension, for the command line in the header. */
  readonly file: string;
  /** "tiny" for processors that play a GPU; "full" if absent. */
  readonly size?: Setup["size"];
}

const BUILD = {
  cuda: (file: string) => `nvcc -O3 -std=c++17 -arch=native -o ${file} ${file}.cu && ./${file}`,
  hip: (file: string) => `hipcc -O3 -std=c++17 -o ${file} ${file}.hip && ./${file}`,
} as const;

/**
 * @throws EvolverError UNSUPPORTED_SUBGROUP for a width that the target does not have
 */
export function emitSuite(
  chosen: readonly Test[],
  { target, subgroup, file, size = "full" }: SuiteOptions,
): string {
  const setup = setupOf(
    {
      subgroupSize: subgroup,
      forwardProgress: true,
      limits: {
        subgroupSizes: [subgroup],
        maxInvocationsPerWorkgroup: MAX_INVOCATIONS,
        maxSharedBytes: cppHosts[target].staticSharedBytes,
        maxBufferBytes: 2 ** 36,
        maxWorkgroups: NATIVE_GRID.x,
      },
    },
    size,
    true,
  );
  const plans = chosen.map((test) => ({ test, plan: test.plan(setup) }));
  const kernels = new Set(
    plans
      .flatMap(({ plan }) => [...plan.fills, ...plan.cases.flatMap(launchesOf)])
      .map(({ kernel }) => kernel),
  );
  const list = [...kernels];
  const { source, kernels: emitted } = emitTogether(
    list.map((kernel) => kernel.build({ subgroup })),
    target,
  );
  const byKernel = new Map(list.map((kernel, k) => [kernel, emitted[k] as Emitted]));
  const hasDoubles = chosen.some(({ id }) => id === "arithmetic");
  const tests = plans.map(({ test, plan }) => testText(test, plan, byKernel));
  const names = plans.map(({ test }) => `test_${test.id}`);
  const header = [
    `Evolver's microbenchmarks (${chosen.map(({ id }) => id).join(", ")}) for ${cppHosts[target].vendor} GPUs. Build and run them with`,
    `    ${BUILD[target](file)}`,
    "Each line is a median of interleaved repetitions, with the spread of their middle half, and PASS if the results on the",
    "GPU were right. It exits 0 if all were, 1 if some were not, 2 where nothing could be run.",
  ];
  const text = `${header.map((line) => `// ${line}`).join("\n")}

${source}
${hasDoubles ? doublesKernels : ""}
// ---- The host program. ----

${hostText(target, subgroup, MAX_MULTIPROCESSORS)}

${tests.join("\n\n")}
${hasDoubles ? doublesTest : ""}
}  // namespace suite

int main() {
  if (!suite::open()) return 2;
${[...names, ...(hasDoubles ? ["test_doubles"] : [])].map((name) => `  suite::${name}();`).join("\n")}
  return suite::close();
}
`;
  return text.replaceAll("API##", target).replaceAll("SUBGROUP_WIDTH", `${subgroup}u`);
}

const launchesOf = ({ launch, before, check }: CaseSpec): readonly LaunchSpec[] => [launch, ...before, check];

type Emissions = ReadonlyMap<Kernel, Emitted>;

function testText({ id, title }: Test, { fills, cases }: TestPlan, emissions: Emissions): string {
  const buffers = new Map<string, BufferSpec>();
  for (const { args } of [...fills, ...cases.flatMap(launchesOf)])
    for (const value of Object.values(args)) if (typeof value === "object") buffers.set(value.name, value);
  const declarations = [...buffers.values()].map(
    ({ name, element, length }) =>
      `  auto* const ${local(name)} = memory.take<${TYPES[element]}>(${length}u);`,
  );
  const names = new Map([...buffers.keys()].map((name) => [name, local(name)]));
  const filled = fills.map((fill) => `  ${launchText(fill, emissions, names)}`);
  const items = cases.map((spec) => caseText(spec, emissions, names));
  return `void test_${id}() {
  std::printf("\\n%s\\n", ${JSON.stringify(title)});
  Memory memory;
${[...declarations, ...filled].join("\n")}
  std::vector<Case> cases;
${[...items, ...(EXTRA_CASES[id] ?? [])].join("\n")}
  run(cases);
}`;
}

/** What only the host program can do: the driver's own copy, beside which a kernel's has to stand. */
const EXTRA_CASES: Readonly<Record<string, readonly string[]>> = {
  streams: [
    `  cases.push_back({"copy by the driver, device to device", "GB/s", cases[0].work, 1u, 0u, 1u, false, false,
      [=, bytes = std::size_t(cases[0].work / 2)](unsigned, unsigned) { CHECK(API##Memcpy(z_, x_, bytes, API##MemcpyDeviceToDevice)); },
      cases[0].before,
      cases[0].check});`,
  ],
};

const TYPES = { f32: "float", u32: "unsigned" } as const;

const local = (name: string): string => `${name}_`;

function caseText(spec: CaseSpec, emissions: Emissions, names: ReadonlyMap<string, string>): string {
  const { name, unit, launch, before, check, work, iterations, batch, wall, alone, whole } = spec;
  const lambda = (launches: readonly LaunchSpec[]): string =>
    `[=](unsigned iterations, unsigned launches) { (void)iterations; (void)launches; ${launches.map((one) => launchText(one, emissions, names)).join(" ")} }`;
  const total = whole === true ? `${work}` : `${work}.0 * ${countText(launch.workgroups)}`;
  const numbers = [
    `${iterations?.min ?? 1}u`,
    `${iterations?.max ?? 0}u`,
    `${batch ?? 1}u`,
    wall === true ? "true" : "false",
    alone === true ? "true" : "false",
  ];
  return `  cases.push_back({${JSON.stringify(name)}, ${JSON.stringify(unit)}, double(${total}), ${numbers.join(", ")},
      ${lambda([launch])},
      ${lambda(before)},
      ${lambda([check])}});`;
}

const countText = (count: Count): string =>
  typeof count === "number" ? `${count}u` : `${count.perMultiprocessor}u * multiprocessors`;

function launchText(
  { kernel, workgroups, args }: LaunchSpec,
  emissions: Emissions,
  names: ReadonlyMap<string, string>,
): string {
  const emitted = emissions.get(kernel);
  if (emitted === undefined)
    throw new EvolverError("UNKNOWN_KERNEL", `kernel "${kernel.name}" was not emitted`);
  const values = emitted.kernelArguments.map((name) => {
    const value = args[name];
    if (value === undefined) return name === "verdict" ? "verdict" : name;
    if (typeof value === "object") return names.get(value.name) as string;
    const descriptor = kernel.params[name];
    return descriptor?.kind === "type" && descriptor.type === "f32" ? floatText(value) : `${value >>> 0}u`;
  });
  const { entryPoint } = emitted;
  const [x] = emitted.workgroupSize;
  return `start(in_${entryPoint}::${entryPoint}, ${countText(workgroups)}, ${x}u, ${values.join(", ")});`;
}

/** A float that C++ reads back to the bit. */
const floatText = (value: number): string => {
  const text = Math.fround(value).toPrecision(9);
  return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
};
