/** The pages of the reference: which package each has, and by what topics its entries stand there. */

interface Topic {
  readonly title: string;
  /** Files below the package's src, or folders, which end in a slash. The first topic that has a file takes it. */
  readonly places: readonly string[];
  /** The generated block of docs/host-api.md that lists the topic. */
  readonly block?: string;
}

export interface Page {
  /** docs/api/<file>.md */
  readonly file: string;
  /** Below packages/. */
  readonly folder: string;
  readonly says: string;
  /** The names that most readers want. */
  readonly first?: readonly string[];
  /** What is in none of them gets a topic per file, or, on a page that is not the package's last one, the next page. */
  readonly topics: readonly Topic[];
}

/** In the order of the list of pages. A package's last page takes what its other pages do not have. */
export const PAGES: readonly Page[] = [
  {
    file: "kernel",
    folder: "kernel",
    says: "kernels with their parameters, choices and references, and what a body is given",
    first: ["kernel", "buffer", "Gpu", "KernelOptions"],
    topics: [
      {
        title: "A kernel and its parameters",
        places: ["frontend/kernel.ts", "frontend/params.ts", "frontend/descriptors.ts", "frontend/struct.ts"],
      },
      { title: "Choices, sizes, examples and references", places: ["frontend/tune/"] },
      {
        title: "In a body: indices, control flow, synchronisation",
        places: [
          "frontend/gpu.ts",
          "frontend/subgroup.ts",
          "frontend/indices.ts",
          "frontend/loop.ts",
          "frontend/roles.ts",
          "frontend/trace.ts",
        ],
      },
    ],
  },
  {
    file: "kernel-values",
    folder: "kernel",
    says: "what a body computes with: values, functions of them, memory, copies",
    first: ["F32", "Var", "SharedArray", "select"],
    topics: [
      { title: "Values", places: ["frontend/scalar.ts", "frontend/vector.ts", "frontend/arithmetic.ts"] },
      {
        title: "Functions of values",
        places: ["frontend/functions.ts", "frontend/spelling.ts", "ir/mathematics.ts"],
      },
      {
        title: "Memory: variables, buffers, shared memory, atomics",
        places: [
          "frontend/variable.ts",
          "frontend/memory.ts",
          "frontend/layout.ts",
          "frontend/atomic-array.ts",
          "frontend/struct-buffer.ts",
        ],
      },
      {
        title: "Asynchronous copies and pipelines",
        places: ["frontend/copies.ts", "frontend/pipeline.ts", "frontend/phase-barriers.ts"],
      },
      { title: "Other parts of the language", places: ["frontend/"] },
    ],
  },
  {
    file: "kernel-emit",
    folder: "kernel",
    says: "emitters: a kernel as CUDA, HIP, WGSL or JavaScript, with its self-test; and lint rules for kernels",
    first: ["emit", "emitSelftest"],
    topics: [
      { title: "Emit a kernel", places: ["emit/emit.ts", "emit/emit-wgsl.ts", "emit/core/"] },
      { title: "Targets", places: ["emit/targets.ts", "emit/cpp/"] },
      { title: "Self-tests", places: ["emit/selftest/"] },
      { title: "Numeric bounds", places: ["emit/bounds.ts"] },
      { title: "Lint", places: ["lint/"] },
    ],
  },
  {
    file: "kernel-ir",
    folder: "kernel",
    says: "the intermediate representation that a kernel is built into, and what is known about it",
    first: ["KernelIR", "Node", "print"],
    topics: [
      { title: "Errors and places in the source", places: ["../../base/src/", "ir/site.ts"] },
      { title: "Types", places: ["ir/types.ts", "ir/limits.ts"] },
      { title: "Nodes", places: ["ir/nodes.ts", "ir/schema.ts"] },
      {
        title: "Tables of operations",
        places: ["ir/ops.ts", "ir/atomics.ts", "ir/subgroup.ts", "ir/builtins.ts"],
      },
      {
        title: "Walk, print, store and compare kernels",
        places: [
          "ir/walk.ts",
          "ir/print.ts",
          "ir/codec.ts",
          "ir/hash.ts",
          "ir/traces.ts",
          "analysis/deserialise.ts",
        ],
      },
      { title: "Analyses", places: ["analysis/"] },
    ],
  },
  {
    file: "device",
    folder: "device",
    says: "devices, programs and buffers, the simulator's checks and counters",
    first: ["openDevice", "Device", "Program", "explore", "Counters"],
    topics: [
      {
        title: "Open a device",
        places: ["open.ts", "cpu/", "webgpu/", "native/", "core/native-options.ts", "core/device-rows.ts"],
        block: "api-open",
      },
      { title: "Compile and run", places: ["core/device.ts", "core/buffer.ts"], block: "api-run" },
      {
        title: "Find mistakes",
        places: ["sim/", "core/findings.ts", "core/traces.ts", "check/"],
        block: "api-check",
      },
      { title: "Count", places: ["core/counters.ts"], block: "api-counters" },
      { title: "16-bit floats", places: ["core/half.ts"], block: "api-half" },
    ],
  },
  {
    file: "device-plans",
    folder: "device",
    says: "plans of several launches, kernels and plans with choices, rungs and claims",
    first: ["tunable", "buildPlan", "bindPlan"],
    topics: [
      {
        title: "Kernels with choices",
        places: ["plan/tunable.ts", "plan/tunable-kernel.ts"],
        block: "api-tunable",
      },
      {
        title: "Rungs and claims",
        places: ["core/claims.ts", "plan/rungs.ts", "core/residency.ts"],
        block: "api-ladder",
      },
      { title: "Plans", places: ["plan/"], block: "api-plans" },
    ],
  },
  {
    file: "vitest",
    folder: "vitest",
    says: "expectations about kernels for tests",
    first: ["expectClean", "expectCounters"],
    topics: [],
  },
  {
    file: "lab",
    folder: "lab",
    says: "evolve and compare, the judge, samplers and the workspace that keeps the records",
    first: ["evolve", "compareSamplers", "Workspace"],
    topics: [
      { title: "Evolve and compare", places: ["cycle/"] },
      { title: "Kernels in files of their own", places: ["tunable/", "load-kernel.ts", "own-packages.ts"] },
      { title: "The judge", places: ["judge/"] },
      { title: "Samplers", places: ["sampler/"] },
      { title: "The workspace", places: ["workspace/"] },
    ],
  },
  {
    file: "lab-studies",
    folder: "lab",
    says: "what a study is made of, and how candidates are measured, modelled and explained",
    first: ["Study", "Space", "Case"],
    topics: [
      {
        title: "What a study is",
        places: [
          "study/study.ts",
          "study/open-study.ts",
          "study/case.ts",
          "study/point.ts",
          "study/space.ts",
          "study/option.ts",
          "study/report.ts",
          "study/sources.ts",
          "study/target.ts",
          "study/read-input.ts",
        ],
      },
      { title: "Measure, model, explain", places: ["study/"] },
    ],
  },
  {
    file: "attention",
    folder: "attention",
    says: "attention as a function, its problem, float64 reference and kernels",
    first: ["attention", "prepareAttention", "attentionPlan"],
    topics: [
      { title: "Run attention", places: ["attention.ts", "attention-plan.ts", "prepare.ts"] },
      { title: "The problem", places: ["problem.ts", "limits.ts", "validate.ts"] },
      {
        title: "Tensors and inputs",
        places: ["tensor.ts", "inputs.ts", "safetensors.ts", "../../base/src/"],
      },
      { title: "Reference and tolerance", places: ["reference.ts", "tolerance.ts"] },
      { title: "Kernels", places: ["flash/"] },
      { title: "The ladder", places: ["rungs/"] },
      { title: "The study", places: ["study/"] },
    ],
  },
  {
    file: "softmax",
    folder: "softmax",
    says: "row softmax and layer norm: problem, reference, kernels and their ladder",
    topics: [],
  },
  {
    file: "tasks",
    folder: "tasks",
    says: "the task suite: one kernel per file",
    topics: [
      { title: "The suite", places: ["tasks.ts"] },
      { title: "Run and report", places: ["study/"] },
      { title: "The kernels", places: [""] },
    ],
  },
  {
    file: "machine",
    folder: "machine",
    says: "microbenchmarks, machine profiles, the cost model",
    first: ["modelTime", "runMicrobench", "MachineProfile"],
    topics: [
      { title: "Cost model", places: ["cost-model/"] },
      { title: "Microbenchmarks", places: ["microbench/"] },
      { title: "Machine profiles", places: ["profile/"] },
    ],
  },
  {
    file: "guide",
    folder: "guide",
    says: "evidence, tables, charts and lessons: what documents are made of",
    topics: [
      { title: "Collect evidence", places: ["collect/"] },
      { title: "Read evidence", places: ["evidence/"] },
      { title: "Lessons", places: ["lessons/"] },
      { title: "Tables and text", places: ["tables/", "markdown.ts"] },
      { title: "Pictures and charts", places: ["pictures/", "plots/", "charts/"] },
    ],
  },
  { file: "studies", folder: "studies", says: "the registry of studies", topics: [] },
  {
    file: "base",
    folder: "base",
    says: "errors, random numbers, statistics, JSON, schemas, formats",
    first: ["EvolverError", "Random"],
    topics: [],
  },
  { file: "evolver", folder: "cli", says: "the command line as a function", topics: [] },
];
