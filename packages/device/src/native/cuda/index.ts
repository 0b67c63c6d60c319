/** The `cuda` device. Node only; import it as @evolver/device/cuda. */

export { CudaDevice, openCuda } from "./device.ts";
