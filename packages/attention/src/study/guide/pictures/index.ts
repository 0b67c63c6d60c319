/** The picture of a rung, made from its point: the panels that say something about it. */

import { differsIn, type Subject } from "../subject.ts";
import { picture, type Panel } from "@evolver/guide";
import { headsPanel } from "./heads.ts";
import { lanesPanel } from "./lanes.ts";
import { banksPanel, sectorsPanel } from "./memory.ts";
import { queuePanel } from "./queue.ts";
import { timelinePanel } from "./timeline.ts";
import { workgroupPanel } from "./workgroup.ts";

export function rungPicture(subject: Subject): string {
  return picture(`${subject.rung.id}: ${subject.rung.title}`, panelsOf(subject));
}

function panelsOf(subject: Subject): Panel[] {
  const { point } = subject;
  const panels = [workgroupPanel(subject)];
  if (differsIn(subject, "rowsPerSubgroup", "rowLanes", "keysPerLane")) panels.push(lanesPanel(subject));
  if (point.stage === "global") panels.push(sectorsPanel(subject));
  else {
    if (point.layout === "row-major" || differsIn(subject, "layout", "stage"))
      panels.push(banksPanel(subject));
    if (point.pipeline !== "synchronous" || differsIn(subject, "stage", "pipeline"))
      panels.push(timelinePanel(subject));
  }
  if (point.heads === "packed") panels.push(headsPanel(subject));
  if (point.schedule === "persistent") panels.push(queuePanel(subject));
  return panels;
}
