/** Persistent workgroups: the queue of tiles, in its order, and who takes which. */

import type { Subject } from "../subject.ts";
import { count, MARGIN, rect, text, WIDTH, type Panel, upTo } from "@evolver/guide";

interface QueuedTile {
  readonly head: number;
  readonly tile: number;
  /** Keys that its rows see: what it takes, in time. */
  readonly keys: number;
}

interface Taken {
  readonly workgroup: number;
  readonly from: number;
  readonly to: number;
  readonly tile: QueuedTile;
}

const TRACK = 32;
const LEFT = 120;
const CELL = 34;
const PER_LINE = 18;

/** Tiles as the kernel's counter hands them out: under a causal mask the last of all heads first. */
function queueOf({ on, geometry, point }: Subject): QueuedTile[] {
  const { shape, mask } = on.problem;
  const packed = point.heads === "packed";
  const group = packed ? shape.headsQ / shape.headsKv : 1;
  const heads = shape.batch * (packed ? shape.headsKv : shape.headsQ);
  const headTiles = Math.ceil((shape.seqQ * group) / geometry.queryRows);
  const causal = mask.kind === "causal";
  return upTo(heads * headTiles).map((k) => {
    const head = causal ? k % heads : Math.floor(k / headTiles);
    const tile = causal ? headTiles - 1 - Math.floor(k / heads) : k % headTiles;
    const last = Math.min(shape.seqQ, Math.ceil(((tile + 1) * geometry.queryRows) / group)) - 1;
    const keys = causal ? Math.min(shape.seqK, last + 1 + shape.seqK - shape.seqQ) : shape.seqK;
    return { head, tile, keys };
  });
}

/** Each tile goes to the workgroup that is free first. */
function play(queue: readonly QueuedTile[], workgroups: number): Taken[] {
  const free = Array.from({ length: workgroups }, () => 0);
  return queue.map((tile) => {
    const workgroup = free.indexOf(Math.min(...free));
    const from = free[workgroup] ?? 0;
    const to = from + tile.keys;
    free[workgroup] = to;
    return { workgroup, from, to, tile };
  });
}

export function queuePanel(subject: Subject): Panel {
  const queue = queueOf(subject);
  const workgroups = Math.min(queue.length, subject.on.persistentWorkgroups ?? queue.length);
  const taken = play(queue, workgroups);
  const lines = Math.ceil(queue.length / PER_LINE);
  const end = Math.max(...taken.map(({ to }) => to));
  const scale = (WIDTH - MARGIN - LEFT) / end;
  const queueHigh = lines * 24 + 26;
  const longest = subject.on.problem.mask.kind === "causal" ? ", the longest of each head first" : "";
  return {
    title: `The queue: ${count(queue.length, "tile")} for ${count(workgroups, "workgroup")}${longest}`,
    height: queueHigh + workgroups * TRACK + 54,
    draw: (top) => [
      text(MARGIN, top + 12, "the counter hands out head.tile in this order:", "small"),
      ...queue.map(({ head, tile }, k) => {
        const x = LEFT + (k % PER_LINE) * CELL;
        const y = top + 20 + Math.floor(k / PER_LINE) * 24;
        return (
          rect(x, y, CELL - 3, 20, ["other", 3]) +
          text(x + (CELL - 3) / 2, y + 14, `${head}.${tile}`, "small middle")
        );
      }),
      ...upTo(workgroups).map((k) =>
        text(MARGIN, top + queueHigh + k * TRACK + 18, `workgroup ${k}`, "small"),
      ),
      ...taken.map(({ workgroup, from, to, tile }) => {
        const y = top + queueHigh + workgroup * TRACK + 3;
        const width = (to - from) * scale;
        const drawn = rect(LEFT + from * scale, y, width, TRACK - 8, ["compute", 3]);
        return width < 26
          ? drawn
          : drawn +
              text(LEFT + (from + to) * 0.5 * scale, y + 16, `${tile.head}.${tile.tile}`, "small middle");
      }),
      text(
        MARGIN,
        top + queueHigh + workgroups * TRACK + 20,
        "A tile's length is the number of keys that it sees. A workgroup that is done takes the next tile.",
      ),
      text(
        MARGIN,
        top + queueHigh + workgroups * TRACK + 39,
        "One lane adds 1 to the counter; the others get the answer through shared memory, between two barriers.",
        "small soft",
      ),
    ],
  };
}
