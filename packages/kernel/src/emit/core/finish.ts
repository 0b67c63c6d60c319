/** The last step of every emitter: the comment at the top of the file, and the result from the lines. */

import type { KernelIR } from "../../ir/nodes.ts";
import { sharedBytesOf } from "../../ir/types.ts";
import type { Lines } from "./lines.ts";
import type { Emitted, EmitTarget, LoweringLog } from "./result.ts";

/** What the kernel is, for people; `notes` are lines of the target's own. */
export function headerComment(ir: KernelIR, notes: readonly string[] = []): string {
  const params = ir.params.map((param) => {
    if (param.kind === "scalar") return `  ${param.name}: ${param.type}`;
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

export function finish(
  ir: KernelIR,
  target: EmitTarget,
  entryPoint: string,
  lines: Lines,
  log: LoweringLog,
  rest: Partial<Emitted> & Pick<Emitted, "grid">,
  directives = false,
): Emitted {
  const { source, lineMap } = lines.finish(directives);
  return Object.freeze({
    target,
    source,
    entryPoint,
    lineMap,
    lowering: log.report(target),
    workgroupSize: ir.workgroupSize,
    subgroupSize: ir.subgroupSize,
    sharedBytes: sharedBytesOf(ir),
    dynamicSharedBytes: 0,
    kernelArguments: [],
    bindings: [],
    uniform: null,
    compileOptions: [],
    ...rest,
  });
}
