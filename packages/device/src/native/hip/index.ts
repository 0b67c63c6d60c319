/** The `hip` device. Node only; import it as @evolver/device/hip. */

export { HipDevice, openHip } from "./device.ts";
