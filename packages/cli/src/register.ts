/**
 * `node --import evolver/register file.ts` runs a TypeScript file that imports kernels as the commands load one: under Node 20 too,
 * and in folders of CommonJS.
 */

import { resolveOwnPackages } from "@evolver/lab";

resolveOwnPackages();
