/** The part of the verifier that looks at a kernel's header: names, parameters, shared memory, phase barriers, sizes. */

import { MAX_INVOCATIONS, SUBGROUP_SIZES } from "../ir/limits.ts";
import type { KernelIR } from "../ir/nodes.ts";
import { elementTypes, scalarTypes, wordTypes } from "../ir/types.ts";
import { IDENTIFIER, NAME_HINT, invalid } from "./invalid.ts";

const ACCESSES: readonly unknown[] = ["read", "write", "read_write"];
/** What CUDA's mbarrier counts up to. */
const MAX_ARRIVALS = 2 ** 20 - 1;

const isCount = (value: unknown, min: number): boolean => Number.isSafeInteger(value) && Number(value) >= min;

export function checkHeader(ir: KernelIR): void {
  const fail = (what: string, hint?: string): never => {
    throw invalid(`kernel ${ir.name}: ${what}`, ir.site, { hint });
  };
  if (!IDENTIFIER.test(ir.name)) fail(`the name "${ir.name}" is not an identifier`, NAME_HINT);

  const names = new Set<string>();
  const checkName = (name: string, what: string): void => {
    if (!IDENTIFIER.test(name)) fail(`the ${what} name "${name}" is not an identifier`, NAME_HINT);
    if (names.has(name))
      fail(`the name "${name}" stands for two parameters or memories`, "give each its own name");
    names.add(name);
  };
  for (const param of ir.params) {
    checkName(param.name, "parameter");
    if (param.kind === "scalar") {
      if (!wordTypes.includes(param.type)) fail(`parameter ${param.name} has type ${param.type}`);
      const { lengthOf } = param;
      if (lengthOf === null) continue;
      if (param.type !== "u32" || !ir.params.some(({ kind, name }) => kind === "buffer" && name === lengthOf))
        fail(`parameter ${param.name} is the length of ${lengthOf}, which is no buffer, or it is not u32`);
      continue;
    }
    const { memory } = param;
    if (memory.space !== "global" || memory.name !== param.name)
      fail(`parameter ${param.name} and its memory ${memory.name} do not belong together`);
    if (!elementTypes.includes(memory.element))
      fail(`buffer ${param.name} has elements of type ${memory.element}`);
    if (!ACCESSES.includes(memory.access)) fail(`buffer ${param.name} has access ${memory.access}`);
    if (memory.atomic && !scalarTypes[memory.element].word)
      fail(`atomic buffer ${param.name} has elements of type ${memory.element}`);
    if (memory.atomic && memory.access !== "read_write")
      fail(`atomic buffer ${param.name} is not read_write`);
  }
  for (const shared of ir.shared) {
    checkName(shared.name, "shared memory");
    if (!elementTypes.includes(shared.element))
      fail(`shared ${shared.name} has elements of type ${shared.element}`);
    if (shared.atomic && !scalarTypes[shared.element].word)
      fail(`atomic shared ${shared.name} has elements of type ${shared.element}`);
    if (!isCount(shared.length, 1)) fail(`shared ${shared.name} has length ${shared.length}`);
  }

  for (const { name, count, arrivals, bytes } of ir.phaseBarriers) {
    checkName(name, "phase barrier");
    if (!isCount(count, 1)) fail(`phase barrier ${name} has count ${count}`);
    if (!isCount(arrivals, 1) || arrivals > MAX_ARRIVALS)
      fail(`phase barrier ${name} waits for ${arrivals} arrivals; from 1 to ${MAX_ARRIVALS} are allowed`);
    if (bytes !== null && !isCount(bytes, 1)) fail(`phase barrier ${name} expects ${bytes} bytes`);
  }

  const { subgroupSize: width, workgroupSize } = ir;
  if (!SUBGROUP_SIZES.includes(width)) fail(`the subgroup size ${width} is not a power of two from 4 to 128`);
  if (workgroupSize.length !== 3 || !workgroupSize.every((size) => isCount(size, 1)))
    fail(`the workgroup size [${workgroupSize.join(", ")}] is not three integers from 1`);
  const invocations = workgroupSize[0] * workgroupSize[1] * workgroupSize[2];
  if (invocations > MAX_INVOCATIONS)
    fail(`the workgroup has ${invocations} invocations; at most ${MAX_INVOCATIONS} are allowed`);

  if (ir.uniformity !== "static" && ir.uniformity !== "dynamic")
    fail(`the uniformity mode is "${String(ir.uniformity)}"`);
  if (!isCount(ir.valueCount, 0) || !isCount(ir.variableCount, 0))
    fail(`there are ${ir.valueCount} values and ${ir.variableCount} variables`);
}
