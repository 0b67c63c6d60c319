/** The ladder on one input. */

import { once } from "@evolver/base";
import { buildOf, isModelled, type Device } from "@evolver/device";
import { openMachine, runLadder, verifyOutputs, type LadderOptions, type LadderReport } from "@evolver/lab";
import {
  checkPoint,
  claimProblem,
  fitPoint,
  ladder,
  namedRungs,
  rowFlops,
  rowPlan,
  runClaims,
  type RowLimits,
} from "@evolver/softmax";
import { expectedOf, objectiveCase } from "./cases.ts";
import { countRows } from "./count.ts";
import { parseProblem, titleOf } from "./input.ts";
import { limitsOf } from "./limits.ts";

/** @throws EvolverError UNKNOWN_RUNG, INVALID_POINT for a named rung that does not fit, and what the device throws */
export async function rowLadder({ input, ...options }: LadderOptions): Promise<LadderReport> {
  const problem = parseProblem(input);
  const machine = await openMachine(input);
  const objective = once(() => objectiveCase(problem, options.seed));
  const own = ({ id, limits }: Device): RowLimits => limitsOf(isModelled(id) ? null : limits);
  return runLadder(
    {
      study: "softmax",
      rungs: ladder,
      named: namedRungs,
      inputTitle: titleOf(problem),
      inputs: () => objective().inputs,
      machine,
      flops: rowFlops(problem),
      fits: ({ point }, device) => checkPoint(point, problem, device.subgroupSize, own(device)) === null,
      plan: ({ point }, device) =>
        rowPlan(fitPoint(point, problem, device.subgroupSize, own(device)), problem, buildOf(device)),
      compared: null,
      openTruth() {
        const expected = expectedOf(objective());
        return (outputs) => verifyOutputs(outputs, expected);
      },
      count: (bound) => countRows(bound, problem, machine),
      claims: (rung, sim) => runClaims(sim, rung),
      claimsOn: () => titleOf(claimProblem),
    },
    options,
  );
}
