/** The attention ladder on one input. */

import {
  attentionPlan,
  attentionTruth,
  claimProblem,
  compareWithTruth,
  fitPoint,
  forwardFlops,
  ladder,
  namedRungs,
  limitsOf,
  runClaims,
  type WorkgroupLimits,
} from "@evolver/attention";
import { once } from "@evolver/base";
import { buildOf, isModelled, type Device } from "@evolver/device";
import {
  openMachine,
  runLadder,
  verifyOutputs,
  type Inputs,
  type Verified,
  type LadderOptions,
  type LadderReport,
} from "@evolver/lab";
import { factsOf } from "@evolver/machine";
import { chosenRows, expectedOf, objectiveCase } from "./cases.ts";
import { countAttention } from "./counters.ts";
import { openAttentionInput, type AttentionInput } from "./input.ts";
import { fitOrNull } from "./points.ts";
import { printClaimCase } from "./shape.ts";

/** Floating-point operations up to which every row is compared: some ten seconds of float64 in JavaScript. */
const WHOLE_FLOPS = 5e9;

/** @throws EvolverError UNKNOWN_RUNG, INVALID_POINT for a named rung that does not fit, and what the input and the device throw */
export async function attentionLadder({ input: given, ...options }: LadderOptions): Promise<LadderReport> {
  const input = await openAttentionInput(given as unknown as AttentionInput);
  const machine = await openMachine(given);
  const { problem } = input;
  const objective = once(() => objectiveCase(input, options.seed));
  const inputs = (): Inputs => objective().inputs;
  const flops = forwardFlops(problem);
  const rows = flops <= WHOLE_FLOPS ? null : chosenRows(problem, options.seed);
  const { batch, headsQ, seqQ } = problem.shape;
  // Where times are modelled, the points are the machine's, and fit what every CUDA kernel gets.
  const limits = (device: Device): WorkgroupLimits | undefined =>
    isModelled(device.id) ? undefined : limitsOf(device);
  return runLadder(
    {
      study: "attention",
      rungs: ladder,
      named: namedRungs,
      inputTitle: input.title,
      inputs,
      machine,
      flops,
      compared: rows === null ? null : `${rows.size} of ${batch * headsQ * seqQ} rows, which the seed chose`,
      fits: ({ point }, device) => fitOrNull(point, problem, device.subgroupSize, limits(device)) !== null,
      plan({ point }, device) {
        const fitted = fitPoint(point, problem, device.subgroupSize, limits(device));
        return attentionPlan(fitted, problem, {
          ...buildOf(device),
          machine: device.machine ?? factsOf(machine),
        });
      },
      openTruth() {
        if (rows !== null) {
          const expected = expectedOf(objective());
          return (outputs) => verifyOutputs(outputs, expected);
        }
        const truth = attentionTruth(
          problem,
          inputs() as { q: Float32Array; k: Float32Array; v: Float32Array },
        );
        return ({ o, lse }): Verified => {
          const outputs = { o: o as Float32Array, lse: lse as Float32Array };
          const { pass, error, bound } = compareWithTruth(problem, truth, outputs);
          return { verified: pass, error, bound };
        };
      },
      count: (bound, seed) => countAttention(bound, { problem, machine, seed, inputs }),
      claims: (rung, sim) => runClaims(sim, rung),
      claimsOn: ({ claimCase = { problem: claimProblem } }) => printClaimCase(claimCase),
    },
    options,
  );
}
