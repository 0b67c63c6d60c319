/** What a device gives a workgroup: attention's own rule, by the name that this folder uses it under. */

export { limitsOf } from "@evolver/attention";
