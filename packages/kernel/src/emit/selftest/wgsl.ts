/**
 * Self-tests for WGSL: a program that launches the shader by the WebGPU API alone, in a browser or in Node with the npm package
 * `webgpu`, and judges what came out. It shows what a host has to do: bindings, the uniform struct, features and limits.
 */

import type { KernelIR } from "../../ir/nodes.ts";
import type { Emitted } from "../core/result.ts";
import { wgslSharedBytes } from "../wgsl/entry.ts";
import { argumentsText, checksText, SCRIPT_HOST } from "./script.ts";
import type { Selftest } from "./spec.ts";

const HOST = String.raw`
/** The browser's WebGPU, or in Node that of the npm package webgpu. */
async function openGpu() {
  if (globalThis.navigator?.gpu) return navigator.gpu;
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  return create([]);
}

async function openDevice(gpu) {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Error("there is no WebGPU adapter here");
  for (const feature of features)
    if (!adapter.features.has(feature)) throw new Error("the adapter has no " + feature);
  for (const [limit, value] of Object.entries(requiredLimits))
    if (adapter.limits[limit] < value) throw new Error("the adapter's " + limit + " is " + adapter.limits[limit] + ", and " + value + " is needed");
  const { subgroupMinSize: least, subgroupMaxSize: most } = adapter.info;
  if (features.includes("subgroups") && (least > subgroupSize || most < subgroupSize))
    throw new Error("the adapter's subgroups have " + least + " to " + most + " invocations, and the kernel is built for " + subgroupSize);
  return adapter.requestDevice({ requiredFeatures: features, requiredLimits });
}

/** The uniform struct: scalars, lengths of buffers, and how many workgroups there are, each at its offset. */
function uniformBytes() {
  const view = new DataView(new ArrayBuffer(uniform.bytes));
  const counts = { "numWorkgroups.x": workgroups[0], "numWorkgroups.y": workgroups[1], "numWorkgroups.z": workgroups[2] };
  const write = { u32: "setUint32", i32: "setInt32", f32: "setFloat32" };
  for (const { name, type, offset } of uniform.fields)
    view[write[type]](offset, counts[name] ?? selftestArgs[name], true);
  return view.buffer;
}

async function launch(device) {
  const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const make = (bytes, usage) => device.createBuffer({ size: bytes, usage });
  const buffers = bindings.map(({ name, minBytes }) => {
    const data = selftestArgs[name];
    const unit = Math.max(4, minBytes);
    const buffer = make(Math.max(unit, Math.ceil(data.byteLength / unit) * unit), STORAGE | COPY_SRC | COPY_DST);
    const bytes = new Uint8Array(Math.ceil(data.byteLength / 4) * 4);
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    device.queue.writeBuffer(buffer, 0, bytes);
    return buffer;
  });
  const entries = bindings.map(({ binding }, i) => ({ binding, resource: { buffer: buffers[i] } }));
  if (uniform !== null) {
    const buffer = make(uniform.bytes, UNIFORM | COPY_DST);
    device.queue.writeBuffer(buffer, 0, uniformBytes());
    entries.push({ binding: uniform.binding, resource: { buffer } });
  }
  const module = device.createShaderModule({ code: shader });
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint } });
  const bindGroup = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, bindGroup);
  // In one row, or in rows of 65,535: the kernel numbers them itself.
  const count = workgroups[0] * workgroups[1] * workgroups[2];
  pass.dispatchWorkgroups(Math.min(count, 65535), Math.ceil(count / 65535));
  pass.end();
  const read = bindings.flatMap(({ name, readOnly }, i) => {
    if (readOnly) return [];
    const copy = make(buffers[i].size, COPY_DST | MAP_READ);
    encoder.copyBufferToBuffer(buffers[i], 0, copy, 0, copy.size);
    return [{ name, copy }];
  });
  device.queue.submit([encoder.finish()]);
  for (const { name, copy } of read) {
    await copy.mapAsync(GPUMapMode.READ);
    const data = selftestArgs[name];
    data.set(new data.constructor(copy.getMappedRange().slice(0, data.byteLength)));
  }
}
`.trim();

export function wgslSelftest(ir: KernelIR, emitted: Emitted, selftest: Selftest, file: string): string {
  const { source, bindings, uniform, entryPoint, subgroupSize } = emitted;
  const features = [
    ...(source.includes("enable f16;") ? ["shader-f16"] : []),
    ...(source.includes("enable subgroups;") ? ["subgroups"] : []),
  ];
  const [x, y, z] = ir.workgroupSize;
  const limits = {
    maxComputeInvocationsPerWorkgroup: x * y * z,
    maxComputeWorkgroupSizeX: x,
    maxComputeWorkgroupSizeY: y,
    maxComputeWorkgroupSizeZ: z,
    maxComputeWorkgroupStorageSize: wgslSharedBytes(ir),
    maxStorageBuffersPerShaderStage: bindings.length,
  };
  const constants = {
    features,
    requiredLimits: limits,
    subgroupSize,
    entryPoint,
    workgroups: selftest.workgroups,
    bindings,
    uniform,
  };
  return `// ${selftest.title}: a self-test. Run it in a page,
//     <script type="module" src="${file}.mjs"></script>    and look at the browser's console,
// or in Node, after npm install webgpu:
//     node ${file}.mjs

const shader = ${templateOf(source)};

// ---- The self-test: a program around the shader above. ----

${Object.entries(constants)
  .map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`)
  .join("\n")}

${[SCRIPT_HOST, HOST, ...(selftest.reference === undefined ? [] : [selftest.reference.js.trim()])].join("\n\n")}

${argumentsText(ir, selftest)}
function isRight() {
  ${checksText(ir, selftest)}
  return pass;
}

console.log(${JSON.stringify(selftest.title)});
// Kept as long as the program: a device that nothing refers to may go.
let gpu, pass = false;
try {
  gpu = await openGpu();
  const device = await openDevice(gpu);
  device.addEventListener("uncapturederror", ({ error }) => console.log(error.message));
  const began = performance.now();
  await launch(device);
  const elapsed = performance.now() - began;
  pass = isRight();
  console.log("time " + elapsed.toFixed(1) + " ms, with compiling and copying");
  device.destroy();
} catch (error) {
  console.log(error.message);
}
console.log((pass ? "PASS " : "FAIL ") + ${JSON.stringify(ir.name)});
if (typeof process !== "undefined") process.exitCode = pass ? 0 : 1;
`;
}

/** The text as a literal that can be read, where nothing in it has a meaning there. */
const templateOf = (text: string): string =>
  /[`\\]|\$\{/.test(text) ? JSON.stringify(text) : `\`\n${text.trim()}\n\``;
