/** How reads fall on memory: sectors of global memory, and banks of shared memory, as the point's layout has them. */

import { CLAIM_SUBGROUP, SECTOR_BYTES, SHARED_BANKS } from "@evolver/device";
import { geometryOf, type FlashPoint } from "@evolver/attention";
import type { Subject } from "../subject.ts";
import { count, MARGIN, rect, text, type Panel, upTo } from "@evolver/guide";

const SECTOR_ELEMENTS = SECTOR_BYTES / 4;
const KEYS_SHOWN = 8;
const CELL_WIDTH = 36;
const CELL_HEIGHT = 19;
const GRID_X = 66;

/** Reads of K and V where no tile is between: which parts of 32-byte sectors lanes ask for. */
export function sectorsPanel({ geometry }: Subject): Panel {
  const { dim, vector, columns } = geometry;
  const each = 640 / dim;
  const keys = 4;
  const sectors = (y: number, style: (element: number) => string): string[] => [
    ...upTo(dim).map((e) => rect(GRID_X + e * each, y, each, 16, [style(e), 0])),
    ...upTo(dim / SECTOR_ELEMENTS).map((s) =>
      rect(GRID_X + s * SECTOR_ELEMENTS * each, y - 1, SECTOR_ELEMENTS * each, 18, ["none ink-line", 0]),
    ),
  ];
  const share = Math.min(1, vector / SECTOR_ELEMENTS);
  return {
    title: "One read of all lanes, in sectors of 32 bytes",
    height: keys * 22 + 96,
    draw: (top) => [
      text(
        MARGIN,
        top + 14,
        `K: each lane reads ${count(vector, "element")} of a key of its own. ${100 * share}% of each sector that is read is used.`,
      ),
      ...upTo(keys).map((key) => {
        const y = top + 26 + key * 22;
        return [
          text(MARGIN, y + 13, `key ${key}`, "small"),
          ...sectors(y, (e) => (e < vector ? "global" : "plain")),
        ].join("");
      }),
      text(
        MARGIN,
        top + 26 + keys * 22 + 22,
        `V: neighbouring lanes read ${count(columns.width, "neighbouring element")} each of one key. All of each sector is used.`,
      ),
      text(MARGIN, top + 26 + keys * 22 + 47, "key 0", "small"),
      ...sectors(top + 26 + keys * 22 + 34, (e) =>
        Math.floor(e / columns.width) % 2 === 0 ? "global" : "compute",
      ),
    ],
  };
}

/** The K tile's vectors with the banks that they lie in, and what a read of several keys at once takes. */
export function banksPanel({ rung, point, on }: Subject): Panel {
  const shown = new Map<string, FlashPoint>([[point.layout, point]]);
  for (const variant of Object.values(rung.variants))
    if (!shown.has(variant.layout)) shown.set(variant.layout, variant);
  const { dim } = on.problem.shape;
  const each = KEYS_SHOWN * CELL_HEIGHT + 58;
  return {
    title: "Where the K tile lies: first bank of each vector",
    height: shown.size * each + 8,
    draw: (top) => [...shown.values()].flatMap((own, k) => bankGrid(own, dim, top + k * each)),
  };
}

function bankGrid(point: FlashPoint, dim: number, top: number): string[] {
  const { layouts, vector } = geometryOf(point, dim, CLAIM_SUBGROUP);
  const layout = layouts.key;
  if (layout === null) return [];
  const offset = (key: number, element: number): number => Number(layout.offset([key, element]));
  const bank = (key: number, element: number): number => offset(key, element) % SHARED_BANKS;
  const vectors = Math.min(dim / vector, 16);
  const lanes = Math.min(KEYS_SHOWN, SHARED_BANKS / vector);
  const meeting = new Map<number, number>();
  for (let key = 0; key < lanes; key++) meeting.set(bank(key, 0), (meeting.get(bank(key, 0)) ?? 0) + 1);
  const passes = Math.max(...meeting.values());
  const padding = layout.size / (layout.shape[0] as number) - dim;
  return [
    text(
      MARGIN,
      top + 14,
      `${layout.name}${padding > 0 ? ` (${count(padding, "unused word")} after each key)` : ""}`,
      "bold",
    ),
    ...upTo(KEYS_SHOWN).map((key) => {
      const y = top + 22 + key * CELL_HEIGHT;
      return [
        text(MARGIN, y + 14, `key ${key}`, "small"),
        ...upTo(vectors).map((v) => {
          const first = bank(key, v * vector);
          const x = GRID_X + v * CELL_WIDTH;
          return (
            rect(x, y, CELL_WIDTH, CELL_HEIGHT, [`bank${Math.floor(first / 4)}`, 0]) +
            text(x + CELL_WIDTH / 2, y + 14, String(first), "small middle")
          );
        }),
      ].join("");
    }),
    rect(GRID_X - 1, top + 21, CELL_WIDTH + 2, lanes * CELL_HEIGHT + 2, ["none ink-line thick", 3]),
    text(
      MARGIN,
      top + 22 + KEYS_SHOWN * CELL_HEIGHT + 20,
      `${lanes} lanes read the first vector of their keys (framed): ${count(meeting.size, "group")} of banks, so ${passes === 1 ? "one pass, no conflict" : `${passes} passes where one would do`}.`,
    ),
  ];
}
