/** The points that attention() tries for a problem where the user names none, the most promising first. */

import { deviceRows, type Device } from "@evolver/device";
import type { FlashPoint } from "./flash/space.ts";
import { ladder, rungById } from "./rungs/ladder.ts";
import type { AttentionProblem } from "./problem.ts";

/** Query rows up to which a tile of one row per subgroup holds them all, and register tiles would be mostly empty. */
const FEW_ROWS = 16;
/** Multiprocessors to fill where the device does not say how many it has: a large GPU's. */
const UNKNOWN_MULTIPROCESSORS = 128;
/** More columns than these leave no registers for eight rows per lane; half tiles take half the time there. */
const WIDEST_WHOLE = 64;
/** Narrower subgroups mean a CPU behind a driver, which has too few registers for register tiles. */
const NARROWEST_GPU = 16;
/**
 * What the cpu device does best: four rows of 16 columns are few enough sums for its vector registers, and each key that it
 * reads serves four rows.
 */
const OF_PROCESSOR = {
  queryRows: 32,
  rowsPerSubgroup: 4,
  keyRows: 64,
  exchange: "shared",
  masking: "at edges",
} as const;

/**
 * Register tiles come first, where there are enough rows to fill them and enough registers to hold them: the largest tiles
 * where they occupy the device and the columns are few enough, else half as large. Elsewhere one row per subgroup. The heads
 * of a group are packed where queries alone do not fill tiles. On the cpu device four rows per subgroup come first. All other
 * rungs follow, the last first, so that one fits.
 */
export function preferredPoints(
  { shape: { batch, headsQ, headsKv, seqQ, dim } }: AttentionProblem,
  { id, subgroupSize, machine }: Pick<Device, "id" | "subgroupSize" | "machine">,
): readonly FlashPoint[] {
  const { point: whole } = rungById("k11");
  const { point: half } = rungById("k11 half tiles");
  const { point: plain } = rungById("k06");
  const packs = headsKv > 0 && headsQ > headsKv && seqQ < whole.queryRows;
  const [heads, rows] = packs ? [headsKv, (seqQ * headsQ) / headsKv] : [headsQ, seqQ];
  const manyTiles = machine?.multiprocessors ?? UNKNOWN_MULTIPROCESSORS;
  const tiles = batch * heads * Math.ceil(rows / whole.queryRows);
  const { hardware, measures } = deviceRows[id];
  const first = (): readonly FlashPoint[] => {
    if (rows <= FEW_ROWS || subgroupSize < NARROWEST_GPU) return [plain];
    if (hardware === "processor")
      return measures ? [{ ...rungById("k03").point, ...OF_PROCESSOR }, plain] : [plain];
    const fills = rows > half.queryRows && tiles >= manyTiles && dim <= WIDEST_WHOLE;
    return fills ? [whole, half, plain] : [half, plain];
  };
  const mapped = first().map((point) => ({ ...point, heads: packs ? ("packed" as const) : point.heads }));
  return [...mapped, ...ladder.toReversed().map(({ point }) => point)];
}
