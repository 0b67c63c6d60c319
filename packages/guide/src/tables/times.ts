/** Times of a rung on both devices, measured and modelled, as a row of a table. */

import type { LadderPair } from "../evidence/ladder.ts";
import { microseconds } from "../markdown.ts";

export const TIME_HEADS = [
  "",
  "CUDA, measured µs",
  "TFLOP/s",
  "WebGPU, measured µs",
  "TFLOP/s",
  "modelled µs",
] as const;

export const inputOf = ({ cuda, webgpu }: LadderPair): string => (cuda ?? webgpu)?.input ?? "";

export function timeRow(first: string, { cuda, webgpu }: LadderPair, id: string): string[] {
  const measured = [cuda, webgpu].flatMap((ladder) => {
    const rung = ladder?.rungs.get(id);
    if (rung === undefined) return ["not measured", ""];
    const speed = rung.tflops.toFixed(2);
    return [microseconds(rung.timeMs), rung.verified ? speed : `${speed}, wrong result`];
  });
  const modelled = (cuda?.rungs.get(id) ?? webgpu?.rungs.get(id))?.modelledTimeMs;
  return [first, ...measured, modelled === undefined ? "" : microseconds(modelled)];
}
