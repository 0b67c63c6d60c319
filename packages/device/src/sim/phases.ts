/** The phase barriers of a workgroup: who has arrived, what copies belong to each phase, and who may go on. */

import type { PhaseBarrier } from "@evolver/kernel";
import type { Clocks } from "./clocks.ts";
import type { Flight, Flights } from "./flights.ts";
import type { Known, Subgroup } from "./subgroup.ts";

type Indices = ArrayLike<number>;

/** One barrier of an array. */
interface State {
  /** Who lands its copies (see Clocks). */
  readonly lander: number;
  /** Phases completed, arrivals at the current one, and bytes of the copies that belong to it. */
  completed: number;
  arrived: number;
  bytes: number;
  /** Copies of the current phase, and those of completed ones that nobody has seen land. */
  flying: Flight[];
  ripe: Flight[];
  /** What all who arrived had done, and those who arrived at completed phases. */
  released: Known;
  visible: Known;
}

/** What is said where something is wrong. */
export interface PhaseReport {
  outside(
    barrier: PhaseBarrier,
    index: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
  ): void;
  phaseBytes(
    barrier: PhaseBarrier,
    index: number,
    phase: number,
    bytes: number,
    S: Subgroup,
    M: Uint8Array,
    site: number,
    request: number,
  ): void;
}

export class Phases {
  readonly #barriers: readonly PhaseBarrier[];
  readonly #subgroups: readonly Subgroup[];
  /** Null where nothing is checked. */
  readonly #clocks: Clocks | null;
  readonly #lander: (phaseBarrier: number) => number;
  readonly #nothing: Known;
  readonly #flights: Flights;
  readonly #report: PhaseReport;
  #states: State[][] = [];

  constructor(
    barriers: readonly PhaseBarrier[],
    subgroups: readonly Subgroup[],
    clocks: Clocks,
    withClocks: boolean,
    flights: Flights,
    report: PhaseReport,
  ) {
    this.#barriers = barriers;
    this.#subgroups = subgroups;
    this.#clocks = withClocks ? clocks : null;
    this.#lander = (phaseBarrier) => clocks.lander(phaseBarrier);
    this.#nothing = clocks.nothing;
    this.#flights = flights;
    this.#report = report;
  }

  beginWorkgroup(): void {
    const none = this.#nothing;
    let number = 0;
    this.#states = this.#barriers.map(({ count }) =>
      Array.from({ length: count }, () => ({
        ...{ lander: this.#lander(number++), completed: 0, arrived: 0, bytes: 0 },
        ...{ flying: [], ripe: [], released: none, visible: none },
      })),
    );
  }

  /**
   * Active lanes arrive at barriers of array b, at indices A[o+l], or all at `index` where A is null.
   *
   * @param copies whether they do when their copies land
   */
  arrive(
    S: Subgroup,
    b: number,
    A: Indices | null,
    o: number,
    index: number,
    M: Uint8Array,
    copies: boolean,
    site: number,
    request: number,
    time: number,
  ): void {
    for (const { at, lanes } of this.#split(S, A, o, index, M)) {
      const state = this.#state(S, b, at, lanes, site, request);
      if (state === null) continue;
      const { arrivals } = this.#barriers[b] as PhaseBarrier;
      let rest: Uint8Array | null = lanes;
      while (rest !== null) {
        const [now, later]: Parts = firstLanes(rest, arrivals - state.arrived);
        this.#add(state, S, now, copies, time);
        if (state.arrived === arrivals) this.#complete(state, b, at, S, now, site, request);
        rest = later;
      }
    }
  }

  /** Whether active lanes need not wait (any longer): then the copies of completed phases land. */
  poll(
    S: Subgroup,
    b: number,
    A: Indices | null,
    o: number,
    index: number,
    P: Indices | null,
    p: number,
    parity: number,
    M: Uint8Array,
    site: number,
    request: number,
    time: number,
  ): boolean {
    const states = this.#states[b] as State[];
    for (let l = 0; l < S.lanes; l++) {
      if (M[l] === 0) continue;
      const at = A === null ? index : (A[o + l] as number);
      const state = states[at];
      const wanted = P === null ? parity : (P[p + l] as number);
      if (state !== undefined && (state.completed & 1) === (wanted & 1)) {
        S.awaited.barrier = b;
        S.awaited.index = at;
        return false;
      }
      if (A === null && P === null) break;
    }
    for (const { at, lanes } of this.#split(S, A, o, index, M)) {
      const state = this.#state(S, b, at, lanes, site, request);
      if (state === null) continue;
      if (state.ripe.length > 0) this.#land(state, time);
      this.#clocks?.learn(S, lanes, state.visible);
    }
    return true;
  }

  /** How far a barrier is, for people. */
  describe(b: number, index: number): string {
    const { name, arrivals } = this.#barriers[b] as PhaseBarrier;
    const state = this.#states[b]?.[index];
    if (state === undefined) return `"${name}" has no barrier ${index}`;
    const { completed, arrived } = state;
    return `"${name}"[${index}] has completed ${completed} ${completed === 1 ? "phase" : "phases"} and has ${arrived} of ${arrivals} arrivals of the next`;
  }

  /** Lanes by index. */
  #split(
    S: Subgroup,
    A: Indices | null,
    o: number,
    index: number,
    M: Uint8Array,
  ): { at: number; lanes: Uint8Array }[] {
    if (A === null) return [{ at: index, lanes: M }];
    const parts = new Map<number, Uint8Array>();
    for (let l = 0; l < S.lanes; l++) {
      if (M[l] === 0) continue;
      const at = A[o + l] as number;
      let lanes = parts.get(at);
      if (lanes === undefined) parts.set(at, (lanes = new Uint8Array(M.length)));
      lanes[l] = 1;
    }
    return [...parts].map(([at, lanes]) => ({ at, lanes }));
  }

  #state(
    S: Subgroup,
    b: number,
    index: number,
    lanes: Uint8Array,
    site: number,
    request: number,
  ): State | null {
    const state = this.#states[b]?.[index];
    if (state !== undefined) return state;
    for (let l = 0; l < S.lanes; l++)
      if (lanes[l] !== 0) this.#report.outside(this.#barriers[b] as PhaseBarrier, index, S, l, site, request);
    return null;
  }

  #add(state: State, S: Subgroup, lanes: Uint8Array, copies: boolean, time: number): void {
    for (let l = 0; l < S.lanes; l++) state.arrived += lanes[l] as number;
    if (this.#clocks !== null) state.released = this.#clocks.publish(S, lanes, state.released, time);
    if (!copies) return;
    for (const flight of this.#flights.attach(S, lanes, state.lander)) {
      state.flying.push(flight);
      state.bytes += flight.count * flight.type.bytes;
    }
  }

  /** Whoever waits for the barrier from now on knows of the copies. */
  #land(state: State, time: number): void {
    if (this.#clocks !== null) {
      state.visible = this.#clocks.withLanded(state.visible, state.lander, time);
      state.released = this.#clocks.join(state.released, state.visible);
    }
    this.#flights.landPhase(state.ripe);
    state.ripe.length = 0;
  }

  #complete(
    state: State,
    b: number,
    index: number,
    S: Subgroup,
    M: Uint8Array,
    site: number,
    request: number,
  ): void {
    const barrier = this.#barriers[b] as PhaseBarrier;
    if (barrier.bytes !== null && state.bytes !== barrier.bytes)
      this.#report.phaseBytes(barrier, index, state.completed, state.bytes, S, M, site, request);
    state.completed++;
    state.arrived = 0;
    state.bytes = 0;
    state.visible = state.released;
    state.ripe.push(...state.flying);
    state.flying.length = 0;
    for (const subgroup of this.#subgroups) if (subgroup.state === "phase") subgroup.state = "ready";
  }
}

type Parts = readonly [Uint8Array, Uint8Array | null];

/** The first lanes of a mask, and the others if there are any. */
function firstLanes(lanes: Uint8Array, count: number): Parts {
  let total = 0;
  for (const lane of lanes) total += lane;
  if (total <= count) return [lanes, null];
  const first = new Uint8Array(lanes.length);
  const later = lanes.slice();
  let left = count;
  for (let l = 0; l < lanes.length && left > 0; l++) {
    if (lanes[l] === 0) continue;
    first[l] = 1;
    later[l] = 0;
    left--;
  }
  return [first, later];
}
