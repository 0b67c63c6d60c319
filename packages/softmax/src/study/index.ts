/** The study of row softmax and layer norm. Products that use the kernels never load it. */

export { study } from "./study.ts";
