/** Registers the conformance suite as tests: one per case, on a device that they share. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "../../conformance/cases/index.ts";
import { checkClose } from "../../conformance/cases/device.ts";
import { missing, runCase, targetOf } from "../../conformance/run.ts";
import type { Device } from "@evolver/device";

/** @param lacking what the device does not promise of what cases need, for all cases together */
export function conformance(
  title: string,
  open: () => Device | Promise<Device>,
  lacking: readonly string[] = [],
): void {
  describe(title, () => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.close());

    // Which cases apply is known once the device is open: the others are not left out unseen, but counted below.
    test.each(cases)("$name", async (item) => {
      if (missing(item, targetOf(device)) === null) await runCase(device, item);
    });

    test(`promises all that the cases need${lacking.length > 0 ? ` but ${lacking.join(", ")}` : ""}`, () => {
      const target = targetOf(device);
      const all = new Set(cases.flatMap(({ needs = [] }) => needs));
      expect([...all].filter((name) => !target.capabilities.has(name)).sort()).toEqual([...lacking].sort());
    });

    test("refuses everything once it is closed", async () => checkClose(await open()));
  });
}
