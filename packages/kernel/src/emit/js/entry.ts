/** The file of a kernel in JavaScript: the module's `run` with its loops over workgroups and invocations. */

import { assertNever } from "@evolver/base";
import type { BuiltinName } from "../../ir/builtins.ts";
import type { KernelIR } from "../../ir/nodes.ts";
import type { ScalarParam } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { headerComment } from "../core/finish.ts";
import type { Lines } from "../core/lines.ts";
import { builtinName } from "../core/names.ts";
import type { Entry } from "../core/target.ts";
import { typedArray } from "./language.ts";

/**
 * @param suspends whether an invocation suspends anywhere: then each is a generator that the scheduler resumes; otherwise they
 *   are a loop
 */
export function jsEntry(code: Code, suspends: boolean): Entry {
  const notes = [
    "run({ workgroups: 4 or [x, y, z], args: { name: number or typed array } })",
    'an ES module: name the file .mjs, or say "type": "module" in package.json',
  ];
  return {
    name: "run",
    // In the function, three loops over workgroups, and the loop over invocations or their function.
    depth: 5,
    lineDirectives: false,
    write(file, body) {
      code.helper("fround");
      if (suspends) code.helper("runWorkgroup");
      file.add(headerComment(code.ir, notes));
      file.add("");
      for (const text of code.helperTexts()) file.add(text);
      file.add("");
      writeFunction(file, code, body, suspends);
      return { grid: "native" };
    },
  };
}

function writeFunction(file: Lines, code: Code, body: Lines, suspends: boolean): void {
  const { ir } = code;
  const { site } = ir;
  const [x, y, z] = ir.workgroupSize;
  const used = code.used.builtins;
  file.add("export function run({ workgroups, args }) {", site);
  file.depth = 1;
  for (const param of ir.params) {
    const given =
      param.kind === "scalar" && param.lengthOf !== null
        ? `args.${param.lengthOf}.length`
        : `args.${param.name}`;
    if (param.kind === "buffer") file.add(`const ${code.memoryName(param.memory)} = ${given};`, site);
    else file.add(`const ${code.scalarName(param.name)} = ${converted(given, param.type)};`, site);
  }
  file.add("const [numWorkgroupsX, numWorkgroupsY = 1, numWorkgroupsZ = 1] = [workgroups].flat();");
  if (used.has("workgroupIndex")) file.add("let workgroupIndex = -1;");
  for (const axis of ["Z", "Y", "X"]) {
    const id = `workgroupId${axis}`;
    file.add(`for (let ${id} = 0; ${id} < numWorkgroups${axis}; ${id}++) {`);
    file.depth++;
  }
  if (used.has("workgroupIndex")) file.add("workgroupIndex++;");
  for (const memory of ir.shared) {
    const array = `new ${typedArray(memory.element)}(${memory.length})`;
    file.add(`const ${code.memoryName(memory)} = ${array};`, site);
  }
  const count = x * y * z;
  file.add(
    suspends
      ? "function* invocation(localIndex) {"
      : `for (let localIndex = 0; localIndex < ${count}; localIndex++) {`,
  );
  file.depth++;
  for (const builtin of used) {
    const text = valueOf(builtin, ir);
    if (text !== null) file.add(`const ${builtinName(builtin)} = ${text};`);
  }
  file.append(body);
  file.depth--;
  file.add("}");
  if (suspends) {
    file.add(
      `const invocations = Array.from({ length: ${count} }, (_, localIndex) => invocation(localIndex));`,
    );
    file.add(`runWorkgroup(invocations, ${ir.subgroupSize});`);
  }
  while (file.depth > 0) {
    file.depth--;
    file.add("}");
  }
}

/** An argument in the range of its parameter's type. */
function converted(given: string, type: ScalarParam["type"]): string {
  switch (type) {
    case "f32":
      return `fround(${given})`;
    case "i32":
      return `${given} | 0`;
    case "u32":
      return `${given} >>> 0`;
    default:
      return assertNever(type, "type of a scalar parameter");
  }
}

/** What a built-in is computed from, or null where it is a name already. */
function valueOf(builtin: BuiltinName, { workgroupSize, subgroupSize }: KernelIR): string | null {
  const [x, y, z] = workgroupSize;
  const local = {
    x: y * z === 1 ? "localIndex" : `localIndex % ${x}`,
    y: z === 1 ? `Math.floor(localIndex / ${x})` : `Math.floor(localIndex / ${x}) % ${y}`,
    z: `Math.floor(localIndex / ${x * y})`,
  };
  const [name, axis] = builtin.split(".") as [string, "x" | "y" | "z"];
  if (name === "localId") return local[axis];
  if (name === "globalId")
    return `(${builtinName(`workgroupId.${axis}`)} * ${{ x, y, z }[axis]} + ${local[axis]}) >>> 0`;
  if (builtin === "subgroupId") return `Math.floor(localIndex / ${subgroupSize})`;
  return builtin === "lane" ? `localIndex % ${subgroupSize}` : null;
}
