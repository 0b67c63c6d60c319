/**
 * What holds a trial to its budget. The budget is processor time of the judge and all that it started, and not the clock: on a
 * busy machine a trial waits for its turn, which says nothing of the candidate.
 */

import { readdirSync, readFileSync } from "node:fs";

interface Budget {
  readonly milliseconds: number;
  /** Processor time that the group of processes has used since it began; null where the system does not say. */
  readonly used: () => number | null;
}

/** Calls `expire` when the budget is used up, unless the function that it gives is called before. */
export type StartDeadline = (budget: Budget, expire: () => void) => () => void;

/** Of the time by the clock. A group that uses less than that waits for something else than a processor. */
const WAITING_SHARE = 0.02;
/** Times the budget, by the clock, that is waited in any case. */
const MOST_PATIENCE = 20;

export const byProcessorTime: StartDeadline = ({ milliseconds, used }, expire) => {
  const [before, start] = [used(), performance.now()];
  let timer = setTimeout(look, milliseconds);
  function look(): void {
    const [now, waited] = [used(), performance.now() - start];
    // Nothing but the clock is known here.
    if (now === null || before === null) return expire();
    const spent = now - before;
    const isOver = spent >= milliseconds || waited >= MOST_PATIENCE * milliseconds;
    if (isOver || spent < WAITING_SHARE * waited) return expire();
    timer = setTimeout(look, Math.max(100, milliseconds - spent));
  }
  return () => clearTimeout(timer);
};

/** Of a tick in /proc: Linux shows 100 per second to programs on all machines. */
const TICK_MS = 10;

/** Processor time of all processes of a group so far, their ended children among them; null where there is no /proc. */
export function processorTimeOf(group: number): number | null {
  let ticks = 0;
  let isKnown = false;
  for (const pid of processes()) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // After the name, which may hold blanks: state, parent, group, …, and from the 12th on user, system, and children's.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(fields[2]) !== group) continue;
      isKnown = true;
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // It ended meanwhile.
    }
  }
  return isKnown ? ticks * TICK_MS : null;
}

function processes(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
