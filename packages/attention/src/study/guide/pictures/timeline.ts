/**
 * When tiles are copied, waited for and used: the pipeline's protocol played for a few tiles, with a copy and a use of
 * fixed lengths. Not to scale of any machine: what matters is what overlaps.
 */

import { assertNever } from "@evolver/base";
import type { Subject } from "../subject.ts";
import { line, MARGIN, rect, text, WIDTH, type Panel, type Role } from "@evolver/guide";

const COPY = 2;
const USE = 3;
const WRITE = 0.9;
const ISSUE = 0.8;
const TILES = 4;

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly role: Role;
  readonly label: string;
}

interface Track {
  readonly name: string;
  readonly bars: readonly Bar[];
}

interface Timeline {
  readonly tracks: readonly Track[];
  /** When the whole workgroup meets. */
  readonly barriers: readonly number[];
  readonly note: string;
}

const bar = (from: number, to: number, role: Role, label: string): Bar => ({ from, to, role, label });

/** Bars of a kind, without those that take no time. */
const lasting = (bars: readonly Bar[]): Bar[] => bars.filter(({ from, to }) => to - from > 1e-9);

function synchronous(): Timeline {
  const all: Bar[] = [];
  const slot: Bar[] = [];
  const barriers: number[] = [];
  for (let i = 0; i < TILES; i++) {
    const start = i * (COPY + USE);
    all.push(
      bar(start, start + COPY, "global", `copy ${i}`),
      bar(start + COPY, start + COPY + USE, "compute", `use ${i}`),
    );
    slot.push(
      bar(start, start + COPY, "global", `copy ${i}`),
      bar(start + COPY, start + COPY + USE, "shared", `tile ${i}`),
    );
    barriers.push(start + COPY, start + COPY + USE);
  }
  return {
    tracks: [
      { name: "all subgroups", bars: all },
      { name: "the slot", bars: slot },
    ],
    barriers,
    note: "No lane computes while a tile is being copied.",
  };
}

function doubleBuffered(): Timeline {
  const flying: Bar[] = [];
  const all = [bar(0, COPY, "global", "copy 0")];
  const slots: Bar[][] = [[bar(0, COPY + USE + WRITE, "shared", "tile 0")], []];
  const barriers = [COPY];
  let now = COPY;
  for (let i = 0; i < TILES; i++) {
    if (i + 1 < TILES) flying.push(bar(now, now + COPY, "global", `read ${i + 1}`));
    all.push(bar(now, now + USE, "compute", `use ${i}`));
    const written = now + USE;
    const end = i + 1 < TILES ? written + WRITE : written;
    if (i + 1 < TILES) {
      all.push(bar(written, end, "shared", "put"));
      slots[(i + 1) % 2]?.push(
        bar(written, end + USE + (i + 2 < TILES ? WRITE : 0), "shared", `tile ${i + 1}`),
      );
    }
    barriers.push(end);
    now = end;
  }
  return {
    tracks: [
      { name: "on its way", bars: flying },
      { name: "all subgroups", bars: all },
      { name: "slot 0", bars: slots[0] ?? [] },
      { name: "slot 1", bars: slots[1] ?? [] },
    ],
    barriers,
    note: "The next tile is read into registers before this one is used, and put into the other slot after: one barrier per tile.",
  };
}

function ring(depth: number): Timeline {
  const ahead = Math.max(1, depth - 1);
  const landed: number[] = [];
  const slots: Bar[][] = Array.from({ length: depth }, () => []);
  const all: Bar[] = [];
  const barriers: number[] = [];
  const start = (tile: number, at: number): void => {
    if (tile >= TILES) return;
    landed[tile] = at + COPY;
    slots[tile % depth]?.push(bar(at, at + COPY, "global", `copy ${tile}`));
  };
  if (depth > 1) for (let i = 0; i < ahead; i++) start(i, 0);
  let now = 0;
  for (let i = 0; i < TILES; i++) {
    if (depth === 1) start(i, now);
    const ready = Math.max(now, landed[i] ?? now);
    all.push(bar(now, ready, "wait", "wait"), bar(ready, ready + USE, "compute", `use ${i}`));
    slots[i % depth]?.push(
      bar(landed[i] ?? ready, ready, "wait", "ready"),
      bar(ready, ready + USE, "shared", `tile ${i}`),
    );
    barriers.push(ready);
    if (depth > 1) start(i + ahead, ready);
    now = ready + USE;
    if (depth === 1) barriers.push(now);
  }
  return {
    tracks: [
      { name: "all subgroups", bars: lasting(all) },
      ...slots.map((bars, k) => ({ name: `slot ${k}`, bars: lasting(bars) })),
    ],
    barriers,
    note: "Copies complete by themselves. After each barrier a tile is in place, and the slot before it is free.",
  };
}

function roles(depth: number): Timeline {
  const producer: Bar[] = [];
  const consumer: Bar[] = [];
  const slots: Bar[][] = Array.from({ length: depth }, () => []);
  const released: number[] = [];
  let producing = 0;
  let consuming = 0;
  for (let i = 0; i < TILES; i++) {
    const free = Math.max(producing, released[i - depth] ?? 0);
    producer.push(bar(producing, free, "wait", "empty?"), bar(free, free + ISSUE, "global", `${i}`));
    const full = free + COPY;
    slots[i % depth]?.push(bar(free, full, "global", `copy ${i}`));
    const ready = Math.max(consuming, full);
    consumer.push(bar(consuming, ready, "wait", "full?"), bar(ready, ready + USE, "compute", `use ${i}`));
    slots[i % depth]?.push(bar(full, ready, "wait", "ready"), bar(ready, ready + USE, "shared", `tile ${i}`));
    released[i] = ready + USE;
    producing = free + ISSUE;
    consuming = ready + USE;
  }
  return {
    tracks: [
      { name: "producers", bars: lasting(producer) },
      { name: "consumers", bars: lasting(consumer) },
      ...slots.map((bars, k) => ({ name: `slot ${k}`, bars: lasting(bars) })),
    ],
    barriers: [],
    note: "No barrier of the workgroup: producers wait until a slot is empty, consumers until it is full.",
  };
}

/** Keys and values half a tile apart, in one slot each. */
function staggered(): Timeline {
  const SCORE = USE / 2 + 0.4;
  const PART = COPY / 2 + 0.4;
  const keys: Bar[] = [bar(0, PART, "global", "copy 0")];
  const values: Bar[] = [];
  const all: Bar[] = [];
  const barriers: number[] = [];
  let keysLanded = PART;
  let now = 0;
  for (let i = 0; i < TILES; i++) {
    const scored = Math.max(now, keysLanded);
    all.push(bar(now, scored, "wait", "wait"), bar(scored, scored + SCORE, "compute", `score ${i}`));
    keys.push(bar(scored, scored + SCORE, "shared", `K ${i}`));
    values.push(bar(scored, scored + PART, "global", `copy ${i}`));
    const summed = Math.max(scored + SCORE, scored + PART);
    all.push(bar(summed, summed + SCORE, "compute", `sum ${i}`));
    values.push(bar(summed, summed + SCORE, "shared", `V ${i}`));
    if (i + 1 < TILES) keys.push(bar(summed, summed + PART, "global", `copy ${i + 1}`));
    keysLanded = summed + PART;
    barriers.push(scored, summed);
    now = summed + SCORE;
  }
  return {
    tracks: [
      { name: "all subgroups", bars: lasting(all) },
      { name: "keys' slot", bars: keys },
      { name: "values' slot", bars: values },
    ],
    barriers,
    note: "Values are copied while keys are used, and keys while values are used: two barriers per tile, and one slot of each.",
  };
}

function timelineOf({ point }: Subject): Timeline {
  switch (point.pipeline) {
    case "synchronous":
      return synchronous();
    case "double-buffered":
      return doubleBuffered();
    case "ring":
      return ring(point.depth);
    case "roles":
      return roles(point.depth);
    case "staggered":
      return staggered();
    default:
      return assertNever(point.pipeline, "pipeline");
  }
}

const NAMES: Readonly<Record<Subject["point"]["pipeline"], string>> = {
  synchronous: "copy, then use",
  "double-buffered": "two buffers",
  ring: "a ring of asynchronous copies",
  roles: "producers and consumers",
  staggered: "keys and values half a tile apart",
};

const TRACK = 32;
const LEFT = 120;

export function timelinePanel(subject: Subject): Panel {
  const { tracks, barriers, note } = timelineOf(subject);
  const end = Math.max(...tracks.flatMap(({ bars }) => bars.map(({ to }) => to)));
  const scale = (WIDTH - MARGIN - LEFT) / end;
  const high = tracks.length * TRACK;
  return {
    title: `When: ${NAMES[subject.point.pipeline]}, over ${TILES} tiles`,
    height: high + 56,
    draw: (top) => [
      ...tracks.flatMap(({ name, bars }, k) => {
        const y = top + k * TRACK;
        return [
          text(MARGIN, y + 18, name, "small"),
          ...bars.flatMap(({ from, to, role, label }) => {
            const width = (to - from) * scale;
            const drawn = rect(LEFT + from * scale, y + 3, width, TRACK - 8, [role, 3]);
            const fits = label.length * 6.8 + 4 <= width;
            return fits
              ? [drawn, text(LEFT + (from + to) * 0.5 * scale, y + 19, label, "small middle")]
              : [drawn];
          }),
        ];
      }),
      ...barriers.map((at) => line(LEFT + at * scale, top - 2, LEFT + at * scale, top + high, "stop")),
      text(MARGIN, top + high + 20, note),
      text(
        MARGIN,
        top + high + 39,
        `${barriers.length > 0 ? "Red: a barrier of the workgroup. " : ""}Time runs to the right and is not to scale.`,
        "small soft",
      ),
    ],
  };
}
