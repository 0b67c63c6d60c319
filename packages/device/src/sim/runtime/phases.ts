/** The phase barriers of a workgroup: who has arrived, what copies belong to each phase, and who may go on. */

import type { PhaseBarrier } from "@evolver/kernel";
import type { CopiesInFlight, CopyInFlight } from "./copies-in-flight.ts";
import type { HappensBefore } from "./happens-before.ts";
import { LaneSet } from "./subgroup.ts";
import type { Subgroup } from "./subgroup.ts";
import type { VectorClock } from "./vector-clock.ts";

/** One barrier of an array. */
interface State {
  /** Who lands its copies (HappensBefore). */
  readonly actor: number;
  /** Phases completed, arrivals at the current one, and bytes of the copies that belong to it. */
  completed: number;
  arrived: number;
  bytes: number;
  /** Copies of the current phase, and those of completed ones that nobody has waited for. */
  current: CopyInFlight[];
  due: CopyInFlight[];
  /** What all who arrived had done, and those who arrived at completed phases. */
  released: VectorClock;
  visible: VectorClock;
}

/** A number for each lane: registers from a position on, or one number for all where `registers` is null. */
export interface LaneOperand {
  readonly registers: ArrayLike<number> | null;
  readonly first: number;
  readonly value: number;
}

/** A place in the kernel that arrives at barriers of an array, or waits for them. */
export interface PhaseSite {
  readonly site: number;
  /** The number of the array. */
  readonly barrier: number;
}

export interface ArrivalSite extends PhaseSite {
  /** Whether the lanes arrive when their copies land, rather than now. */
  readonly afterCopies: boolean;
}

/** One barrier of an array. */
export interface BarrierIndex {
  readonly barrier: PhaseBarrier;
  readonly index: number;
}

/** What is said where something is wrong. */
export interface PhaseReport {
  outside(at: BarrierIndex, subgroup: Subgroup, lane: number, site: number): void;
  /** @param phase its number and the bytes of its copies */
  phaseBytes(
    at: BarrierIndex,
    phase: { readonly number: number; readonly bytes: number },
    subgroup: Subgroup,
    last: LaneSet,
    site: number,
  ): void;
}

export interface PhaseOptions {
  readonly barriers: readonly PhaseBarrier[];
  readonly subgroups: readonly Subgroup[];
  readonly order: HappensBefore;
  /** Whether vector clocks are kept. */
  readonly withClocks: boolean;
  readonly copies: CopiesInFlight;
  readonly report: PhaseReport;
}

export class Phases {
  readonly #barriers: readonly PhaseBarrier[];
  readonly #subgroups: readonly Subgroup[];
  readonly #order: HappensBefore;
  readonly #withClocks: boolean;
  readonly #copies: CopiesInFlight;
  readonly #report: PhaseReport;
  #states: State[][] = [];

  constructor({ barriers, subgroups, order, withClocks, copies, report }: PhaseOptions) {
    this.#barriers = barriers;
    this.#subgroups = subgroups;
    this.#order = order;
    this.#withClocks = withClocks;
    this.#copies = copies;
    this.#report = report;
  }

  beginWorkgroup(): void {
    const { nothing } = this.#order;
    let number = 0;
    this.#states = this.#barriers.map(({ count }) =>
      Array.from({ length: count }, () => ({
        ...{ actor: this.#order.copyActor(number++), completed: 0, arrived: 0, bytes: 0 },
        ...{ current: [], due: [], released: nothing, visible: nothing },
      })),
    );
  }

  /** Active lanes arrive at the barriers of an array that their indices name. */
  arrive(subgroup: Subgroup, active: LaneSet, place: ArrivalSite, index: LaneOperand, time: number): void {
    const { arrivals } = this.#barriers[place.barrier] as PhaseBarrier;
    for (const { at, lanes } of this.#byIndex(subgroup, active, index)) {
      const state = this.#state(subgroup, lanes, place, at);
      if (state === null) continue;
      let rest: LaneSet | null = lanes;
      while (rest !== null) {
        const [now, later]: Parts = firstLanes(rest, arrivals - state.arrived);
        state.arrived += now.count;
        if (this.#withClocks) state.released = this.#order.publish(subgroup, now, state.released, time);
        if (place.afterCopies) this.#attachCopies(state, subgroup, now);
        if (state.arrived === arrivals) this.#complete(state, subgroup, now, place, at);
        rest = later;
      }
    }
  }

  /** Whether active lanes need not wait (any longer): then the copies of completed phases land. */
  poll(
    subgroup: Subgroup,
    active: LaneSet,
    place: PhaseSite,
    { index, parity }: { readonly index: LaneOperand; readonly parity: LaneOperand },
    time: number,
  ): boolean {
    const states = this.#states[place.barrier] as State[];
    for (let lane = 0; lane < subgroup.lanes; lane++) {
      if (active.mask[lane] === 0) continue;
      const at = valueOf(index, lane);
      const state = states[at];
      if (state !== undefined && (state.completed & 1) === (valueOf(parity, lane) & 1)) {
        subgroup.awaited.barrier = place.barrier;
        subgroup.awaited.index = at;
        return false;
      }
      if (index.registers === null && parity.registers === null) break;
    }
    for (const { at, lanes } of this.#byIndex(subgroup, active, index)) {
      const state = this.#state(subgroup, lanes, place, at);
      if (state === null) continue;
      if (state.due.length > 0) this.#land(state, time);
      if (this.#withClocks) this.#order.learn(subgroup, lanes, state.visible);
    }
    return true;
  }

  /** How far a barrier is, for people. */
  describe(barrier: number, index: number): string {
    const { name, arrivals } = this.#barriers[barrier] as PhaseBarrier;
    const state = this.#states[barrier]?.[index];
    if (state === undefined) return `"${name}" has no barrier ${index}`;
    const { completed, arrived } = state;
    return `"${name}"[${index}] has completed ${completed} ${completed === 1 ? "phase" : "phases"} and has ${arrived} of ${arrivals} arrivals of the next`;
  }

  /** Active lanes by index. */
  #byIndex(subgroup: Subgroup, active: LaneSet, index: LaneOperand): { at: number; lanes: LaneSet }[] {
    if (index.registers === null) return [{ at: index.value, lanes: active }];
    const parts = new Map<number, LaneSet>();
    for (let lane = 0; lane < subgroup.lanes; lane++) {
      if (active.mask[lane] === 0) continue;
      const at = valueOf(index, lane);
      let lanes = parts.get(at);
      if (lanes === undefined) parts.set(at, (lanes = LaneSet.empty(active.mask.length)));
      lanes.add(lane);
    }
    return [...parts].map(([at, lanes]) => ({ at, lanes }));
  }

  /** The state of a barrier; where there is none, says so. */
  #state(subgroup: Subgroup, lanes: LaneSet, { barrier, site }: PhaseSite, index: number): State | null {
    const state = this.#states[barrier]?.[index];
    if (state !== undefined) return state;
    const at = { barrier: this.#barriers[barrier] as PhaseBarrier, index };
    for (let lane = 0; lane < subgroup.lanes; lane++)
      if (lanes.mask[lane] !== 0) this.#report.outside(at, subgroup, lane, site);
    return null;
  }

  #attachCopies(state: State, subgroup: Subgroup, lanes: LaneSet): void {
    for (const copy of this.#copies.attach(subgroup, lanes, state.actor)) {
      state.current.push(copy);
      state.bytes += copy.lanes.count * copy.kind.bytes;
    }
  }

  /** Whoever waits for the barrier from now on knows of the copies. */
  #land(state: State, time: number): void {
    if (this.#withClocks) {
      state.visible = this.#order.withCopiesLanded(state.visible, state.actor, time);
      state.released = this.#order.join(state.released, state.visible);
    }
    this.#copies.landPhase(state.due);
    state.due.length = 0;
  }

  /** The last lanes that a phase waits for have arrived. */
  #complete(state: State, subgroup: Subgroup, last: LaneSet, place: PhaseSite, index: number): void {
    const barrier = this.#barriers[place.barrier] as PhaseBarrier;
    if (barrier.bytes !== null && state.bytes !== barrier.bytes) {
      const phase = { number: state.completed, bytes: state.bytes };
      this.#report.phaseBytes({ barrier, index }, phase, subgroup, last, place.site);
    }
    state.completed++;
    state.arrived = 0;
    state.bytes = 0;
    state.visible = state.released;
    state.due.push(...state.current);
    state.current.length = 0;
    for (const waiting of this.#subgroups) if (waiting.state === "phase") waiting.state = "ready";
  }
}

/** The number of a lane; of a bool that all lanes share too. */
export const valueOf = ({ registers, first, value }: LaneOperand, lane: number): number =>
  registers === null ? Number(value) : (registers[first + lane] as number);

type Parts = readonly [LaneSet, LaneSet | null];

/** The first lanes of a set, and the others if there are any. */
function firstLanes(lanes: LaneSet, count: number): Parts {
  if (lanes.count <= count) return [lanes, null];
  const first = LaneSet.empty(lanes.mask.length);
  const later = LaneSet.empty(lanes.mask.length);
  for (const [lane, isIn] of lanes.mask.entries())
    if (isIn !== 0) (first.count < count ? first : later).add(lane);
  return [first, later];
}
