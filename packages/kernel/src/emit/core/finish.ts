/** The last step: the file around a kernel's statements, the comment at its top, and the result from its lines. */

import type { KernelIR } from "../../ir/nodes.ts";
import { sharedBytesOf } from "../../ir/types.ts";
import type { Code } from "./code.ts";
import { Lines } from "./lines.ts";
import type { Emitted } from "./result.ts";
import type { EmitTarget } from "../targets.ts";
import type { Entry } from "./target.ts";

/** What the kernel is, for people; `notes` are lines of the target's own. */
export function headerComment(ir: KernelIR, notes: readonly string[] = []): string {
  const params = ir.params.map((param) => {
    if (param.kind === "scalar")
      return `  ${param.name}: ${param.type}${param.lengthOf === null ? "" : `, the number of elements of ${param.lengthOf}`}`;
    const { atomic, element, access } = param.memory;
    return `  ${param.name}: buffer of ${atomic ? "atomic " : ""}${element}, ${access}`;
  });
  const { location } = ir.site;
  const origin =
    location.line > 0
      ? [`from ${location.file.slice(location.file.lastIndexOf("/") + 1)}:${location.line}`]
      : [];
  return [
    `kernel ${ir.name}, emitted by Evolver`,
    ...origin,
    `workgroup [${ir.workgroupSize.join(", ")}], subgroup ${ir.subgroupSize}, shared memory ${sharedBytesOf(ir)} bytes`,
    ...(params.length > 0 ? ["parameters:", ...params] : []),
    ...notes,
  ]
    .map((line) => `// ${line}`)
    .join("\n");
}

/** Writes the file around a kernel's statements. */
export function finish(target: EmitTarget, code: Code, entry: Entry): Emitted {
  const { ir } = code;
  const file = new Lines();
  const launch = entry.write(file, code.out);
  const { source, lineMap } = file.finish(entry.lineDirectives);
  return Object.freeze({
    target,
    source,
    entryPoint: entry.name,
    lineMap,
    lowering: code.log.report(target),
    workgroupSize: ir.workgroupSize,
    subgroupSize: ir.subgroupSize,
    sharedBytes: sharedBytesOf(ir),
    dynamicSharedBytes: 0,
    kernelArguments: [],
    bindings: [],
    uniform: null,
    compileOptions: [],
    ...launch,
  });
}
