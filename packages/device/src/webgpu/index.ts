/** The `webgpu` device alone: the least that a page has to download to run kernels on a GPU. */

export { openWebgpu, type WebgpuDevice } from "./device.ts";
export type { WebgpuOptions } from "./options.ts";
