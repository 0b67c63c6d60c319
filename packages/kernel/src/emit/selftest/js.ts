/**
 * Self-tests for JavaScript: the emitted module, and below it a program that runs it on fresh inputs and judges what came
 * out. Under Node it exits 0 for PASS and 1 for FAIL.
 */

import type { KernelIR } from "../../ir/nodes.ts";
import type { Emitted } from "../core/result.ts";
import { argumentsText, checksText, SCRIPT_HOST } from "./script.ts";
import type { Selftest } from "./spec.ts";

export function jsSelftest(ir: KernelIR, emitted: Emitted, selftest: Selftest, file: string): string {
  return `// ${selftest.title}: a self-test. Run it with
//     node ${file}.mjs

${emitted.source}
// ---- The self-test: a program around the kernel above. ----

${[SCRIPT_HOST, ...(selftest.reference === undefined ? [] : [selftest.reference.js.trim()])].join("\n\n")}

${argumentsText(ir, selftest)}
console.log(${JSON.stringify(selftest.title)});
const began = performance.now();
${emitted.entryPoint}({ workgroups: [${selftest.workgroups.join(", ")}], args: selftestArgs });
const elapsed = performance.now() - began;
${checksText(ir, selftest)}
console.log("time " + elapsed.toFixed(1) + " ms, one run in JavaScript");
console.log((pass ? "PASS " : "FAIL ") + ${JSON.stringify(ir.name)});
if (typeof process !== "undefined") process.exitCode = pass ? 0 : 1;
`;
}
