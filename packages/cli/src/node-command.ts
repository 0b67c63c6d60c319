/** How a user runs a TypeScript file with kernels: in a clone by the Node that npm installed there, else by their own. */

const isClone = import.meta.url.endsWith(".ts");

export const nodeCommand = `${isClone ? "npx node" : "node"} --import evolver/register`;
