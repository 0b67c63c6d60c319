/** Who loads what: global memory, shared memory, and the subgroups of a workgroup, with the ways between them. */

import type { Subject } from "../subject.ts";
import {
  arrow,
  count,
  line,
  MARGIN,
  rect,
  span,
  text,
  WIDTH,
  type Panel,
  type Role,
  upTo,
} from "@evolver/guide";

const ROW = 30;
const SHARED_X = 292;
const SHARED_WIDTH = 168;
const GROUP_X = 532;
const LANES_WIDTH = 112;
const LEGEND = 74;

interface Block {
  readonly label: string;
  readonly note: string;
  readonly role: Role;
}

export function workgroupPanel(subject: Subject): Panel {
  const { geometry } = subject;
  const blocks = sharedBlocks(subject);
  const subgroups = geometry.subgroups + geometry.producers;
  const body = Math.max(subgroups * ROW + 26, blocks.length * 44 + 30, 190);
  return {
    title: "Who loads what: one workgroup and its tiles",
    height: body + LEGEND,
    draw: (top) => [
      ...drawGlobal(subject, top, body),
      ...drawShared(blocks, top, body),
      ...drawSubgroups(subject, top, body),
      ...drawWays(subject, top, body),
      ...legend(subject, top + body),
    ],
  };
}

/** What lies in shared memory, from top to bottom. */
function sharedBlocks({ point, geometry }: Subject): Block[] {
  const { layouts, queryRows, keyRows, slots, dim } = geometry;
  const blocks: Block[] = [{ label: "queries", note: `${count(queryRows, "row")} × ${dim}`, role: "other" }];
  const tile = `${keyRows} × ${dim}`;
  if (layouts.key !== null)
    for (let slot = 0; slot < slots; slot++) {
      const name = slots === 1 ? "" : `, slot ${slot}`;
      blocks.push({ label: `K tile${name}`, note: `${tile}, ${layouts.key.name}`, role: "shared" });
      blocks.push({ label: `V tile${name}`, note: `${tile}, row-major`, role: "shared" });
    }
  if (layouts.probability !== null)
    blocks.push({ label: "probabilities", note: `${queryRows} × ${geometry.groupKeys}`, role: "other" });
  if (point.schedule === "persistent")
    blocks.push({ label: "the next tile", note: "1 number", role: "other" });
  return blocks;
}

const blockHeight = (blocks: readonly Block[], body: number): number =>
  Math.min(44, (body - 30) / blocks.length);

function drawShared(blocks: readonly Block[], top: number, body: number): string[] {
  const each = blockHeight(blocks, body);
  return [
    rect(SHARED_X, top, SHARED_WIDTH, body, ["plain", 6]),
    text(SHARED_X + 8, top + 17, "shared memory", "bold"),
    ...blocks.flatMap(({ label, note, role }, k) => {
      const y = top + 26 + k * each;
      return [
        rect(SHARED_X + 8, y, SHARED_WIDTH - 16, each - 5, [role, 4]),
        text(SHARED_X + 14, y + 15, label, "small bold"),
        text(SHARED_X + 14, y + 30, note, "small"),
      ];
    }),
  ];
}

function drawGlobal({ point, geometry, on }: Subject, top: number, body: number): string[] {
  const { keyRows, queryRows, dim } = geometry;
  const { seqK, seqQ, headsQ, headsKv } = on.problem.shape;
  const queries =
    point.heads === "packed"
      ? `Q: ${headsQ / headsKv} heads × ${count(seqQ, "row")}`
      : `Q: ${Math.min(queryRows, seqQ)} of ${count(seqQ, "row")} × ${dim}`;
  const high = body - 94;
  const tiles = Math.ceil(seqK / keyRows);
  const each = high / tiles;
  const staged = point.stage === "shared";
  const matrix = (x: number, name: string): string[] => [
    text(x + 29, top + 88 - 6, `${name}, ${seqK} keys`, "small middle"),
    ...upTo(tiles).map((k) =>
      rect(x, top + 88 + k * each, 58, each - 8 / tiles, [k === 0 ? "global" : "plain", 3]),
    ),
    ...(each < 16
      ? []
      : upTo(tiles).map((k) =>
          text(
            x + 29,
            top + 88 + k * each + each / 2,
            staged ? `tile ${k}` : span("", k * keyRows, Math.min(keyRows, seqK - k * keyRows)).slice(2),
            "small middle",
          ),
        )),
  ];
  return [
    rect(MARGIN, top, 168, body, ["plain", 6]),
    text(MARGIN + 8, top + 17, "global memory", "bold"),
    rect(MARGIN + 12, top + 28, 144, 22, ["other", 3]),
    text(MARGIN + 84, top + 43, queries, "small middle"),
    ...matrix(MARGIN + 14, "K"),
    ...matrix(MARGIN + 96, "V"),
  ];
}

function drawSubgroups({ geometry, point }: Subject, top: number, body: number): string[] {
  const { producers, subgroups, rowsPerSubgroup, rowLanes, keyLanes, subgroup } = geometry;
  const total = producers + subgroups;
  const each = Math.min(ROW, (body - 26) / total);
  const cell = LANES_WIDTH / keyLanes;
  const lanesX = WIDTH - MARGIN - 8 - LANES_WIDTH;
  const rowsOf = (index: number): string =>
    point.heads === "packed"
      ? `packed ${span("row", index * rowsPerSubgroup, rowsPerSubgroup)}`
      : span("row", index * rowsPerSubgroup, rowsPerSubgroup);
  return [
    rect(GROUP_X, top, WIDTH - MARGIN - GROUP_X, body, ["plain", 6]),
    text(GROUP_X + 8, top + 17, `workgroup: ${count(total, "subgroup")} of ${subgroup}`, "bold"),
    ...upTo(total).map((k) => {
      const y = top + 26 + k * each;
      const copies = k < producers;
      const high = (each - 8) / rowLanes;
      return [
        text(GROUP_X + 8, y + 14, copies ? "only copies" : rowsOf(k - producers), "small"),
        ...upTo(rowLanes * keyLanes).map((l) =>
          rect(lanesX + (l % keyLanes) * cell, y + 1 + Math.floor(l / keyLanes) * high, cell, high, [
            copies ? "global" : "compute",
            0,
          ]),
        ),
      ].join("");
    }),
  ];
}

/** Which ways data takes: straight to the lanes, through registers to shared memory, or by asynchronous copies. */
function drawWays({ point, geometry }: Subject, top: number, body: number): string[] {
  const fromX = MARGIN + 168 + 4;
  const label = (y: number, ...lines: string[]): string[] =>
    lines.map((each, k) => text((fromX + SHARED_X) / 2 - 2, y + k * 14, each, "small middle"));
  const queries = [arrow([fromX, top + 39], [SHARED_X - 3, top + 39], "other"), ...label(top + 32, "once")];
  const reads = arrow([SHARED_X + SHARED_WIDTH + 4, top + 56], [GROUP_X - 3, top + 56], "compute");
  const readLabel = text((SHARED_X + SHARED_WIDTH + GROUP_X) / 2, top + 48, "read", "small middle");
  if (point.stage === "global") {
    const y = top + body - 24;
    return [
      ...queries,
      reads,
      readLabel,
      line(fromX, y, SHARED_X + SHARED_WIDTH + 4, y, "global-line"),
      rect(SHARED_X + 14, y - 11, SHARED_WIDTH - 28, 22, ["global", 4]),
      text(SHARED_X + SHARED_WIDTH / 2, y + 4, "K and V, straight", "small middle"),
      arrow([SHARED_X + SHARED_WIDTH + 4, y], [GROUP_X - 3, y], "global"),
    ];
  }
  const asynchronous =
    point.pipeline === "ring" || point.pipeline === "roles" || point.pipeline === "staggered";
  const y = top + 120;
  return [
    ...queries,
    reads,
    readLabel,
    arrow([fromX, y], [SHARED_X - 3, y], "global", asynchronous),
    ...label(y - 21, ...(asynchronous ? ["copied", "by itself"] : ["through", "registers"])),
    ...label(y + 18, geometry.producers > 0 ? `by ${geometry.producers} subgroups` : "by all lanes"),
  ];
}

function legend({ geometry, point }: Subject, top: number): string[] {
  const { queryRows, columns, keysPerLane, rows } = geometry;
  const own = columns.chunks * columns.width;
  const exchange =
    point.exchange === "shuffle" ? "by shuffles between lanes" : "through shared memory, four to a read";
  return [
    text(
      MARGIN,
      top + 22,
      `Each element of K and V that is brought in serves ${count(queryRows, "query row")}.`,
    ),
    text(
      MARGIN,
      top + 40,
      `A lane scores ${count(keysPerLane, "key")} × ${count(rows, "row")} at once and holds ${count(own, "output column")} of ${count(rows, "row")}.`,
    ),
    text(MARGIN, top + 58, `Probabilities go ${exchange}.`),
  ];
}
