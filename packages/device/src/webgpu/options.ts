/** Options of the `webgpu` device. */

/** What `openDevice("webgpu", …)` takes. */
export interface WebgpuOptions {
  /** The entry point; `navigator.gpu` if absent. */
  readonly gpu?: GPU;
  readonly powerPreference?: GPUPowerPreference;
}
