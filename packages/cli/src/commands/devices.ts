/** `evolver devices`: what can run kernels here, and for what cannot, why. */

import { listDevices } from "@evolver/device";
import { newCommand, type MakeCommand } from "../command.ts";
import { EXIT, printJson, printText, table } from "../output.ts";

export const devicesCommand: MakeCommand = ({ finish }) =>
  newCommand("devices", "list the devices, and what is missing for those that do not run here").action(
    async (options: { json: boolean }) => finish(await devices(options)),
  );

async function devices(options: { readonly json: boolean }): Promise<number> {
  const entries = await listDevices();
  if (options.json) {
    printJson(entries);
    return EXIT.done;
  }
  printText(
    table(entries, [
      { title: "device", value: ({ id }) => id },
      { title: "available", value: ({ available }) => (available ? "yes" : "no") },
      { title: "subgroup", value: ({ subgroup }) => String(subgroup ?? "–") },
      { title: "name, or why not", value: ({ name, why }) => why ?? name ?? "" },
    ]),
  );
  return EXIT.done;
}
