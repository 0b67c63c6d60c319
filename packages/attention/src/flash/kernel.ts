/**
 * Flash attention: softmax(scale · Q Kᵀ) V, without ever storing the matrix of scores. One class serves all points of the
 * strategy space: each axis is an object that records its part, and this file records what all points have in common.
 *
 * A workgroup computes a tile of query rows, which its subgroups share out. The lanes of a subgroup are a grid: lanes
 * of one row group share rows. Scores: key lane l computes those of key l of a group of keys, for its rows. Outputs: it
 * accumulates column l of the head dimension, for the same rows.
 */

import { f32, fma, kernel, log, max, select, tanh } from "@evolver/kernel";
import type {
  Bool,
  Buffer,
  F32,
  Gpu,
  I32,
  Kernel,
  RegisterArray,
  SharedArray,
  U32,
  View,
} from "@evolver/kernel";
import { Columns } from "./columns.ts";
import { Copier } from "./copy.ts";
import { LaneGrid } from "./grid.ts";
import type { Exchange } from "./axes/exchange/exchange.ts";
import { exchanges } from "./axes/exchange/index.ts";
import type { Geometry } from "./geometry.ts";
import { geometryOf } from "./measure.ts";
import type { TilePlace } from "./axes/heads/mapping.ts";
import { headMappings } from "./axes/heads/index.ts";
import type { MaskRule } from "./mask/rule.ts";
import { maskRules } from "./mask/index.ts";
import { flashParams, type FlashParams, type FlashSymbols } from "./params.ts";
import { pipelines } from "./axes/pipeline/index.ts";
import type { KeyRange, Pipeline } from "./axes/pipeline/pipeline.ts";
import type { FlashPoint } from "./space.ts";
import { plus, readRun, times, writeRun, type UIndex } from "./runs.ts";
import type { ScalarSymbols } from "./scalars.ts";
import { schedules } from "./axes/schedule/index.ts";
import { OnlineSoftmax } from "./softmax.ts";
import type { RowAccess, Specialisation } from "./specialise.ts";
import type { Stage, StageMaker, Tile } from "./axes/stage/stage.ts";
import { stages } from "./axes/stage/index.ts";

export function flashKernel(point: FlashPoint, special: Specialisation): Kernel<FlashParams> {
  const workgroup = ({ subgroup }: { subgroup: number }) =>
    [geometryOf(point, special.dim, subgroup).workgroup] as const;
  const params: FlashParams = flashParams[point.schedule];
  return kernel("flash_attention", { params, workgroup }, (symbols, gpu) =>
    new FlashAttention(point, special, symbols, gpu).record(),
  );
}

/** What this lane holds of a query row while it is computed. */
interface Row {
  /** In the tile of queries. */
  readonly index: UIndex;
  readonly position: I32;
  readonly softmax: OnlineSoftmax;
  /** Columns of the output, unnormalised. */
  readonly output: RegisterArray<"f32">;
}

/** The query rows of a lane, with what bounds those of the whole workgroup. */
interface QueryTile {
  readonly rows: readonly Row[];
  /** Positions of the first and the last query. */
  readonly first: I32;
  readonly last: I32;
}

class FlashAttention {
  readonly #point: FlashPoint;
  readonly #special: Specialisation;
  readonly #params: FlashSymbols;
  readonly #gpu: Gpu;
  readonly #geometry: Geometry;
  readonly #columns: Columns;
  readonly #mask: MaskRule;
  readonly #queries: SharedArray<"f32">;
  readonly #makeStage: ReturnType<StageMaker>;
  readonly #exchange: Exchange;
  readonly #pipeline: Pipeline;
  /** Where the lane's rows are in the tile of queries. */
  readonly #rowIndices: readonly UIndex[];
  readonly #grid: LaneGrid;

  constructor(point: FlashPoint, special: Specialisation, symbols: FlashSymbols, gpu: Gpu) {
    this.#point = point;
    this.#special = special;
    this.#params = symbols;
    this.#gpu = gpu;
    this.#geometry = geometryOf(point, special.dim, gpu.subgroupSize);
    const { dim, columns, layouts } = this.#geometry;
    this.#grid = new LaneGrid(gpu, this.#geometry);
    this.#columns = new Columns(gpu, dim, columns, this.#grid.keyLane);
    this.#mask = maskRules[special.mask](symbols);
    this.#rowIndices = this.#placeRows();
    this.#queries = gpu.shared(f32, layouts.query, "q_tile");
    this.#makeStage = stages[point.stage](gpu, this.#geometry, this.#copyingCrew());
    this.#exchange = exchanges[point.exchange](gpu, this.#geometry, this.#grid, this.#rowIndices);
    this.#pipeline = pipelines[point.pipeline].make(gpu, this.#geometry);
  }

  record(): void {
    const { queryRows, schedule, heads } = this.#point;
    const longestFirst = this.#special.mask === "causal";
    schedules[schedule].forEachTile(this.#gpu, this.#params, longestFirst, (tile) =>
      this.#computeTile(headMappings[heads].place(tile, queryRows, this.#params)),
    );
  }

  /** Neighbouring row groups have neighbouring rows, so that their reads of the tile fall into different banks. */
  #placeRows(): UIndex[] {
    const { producers, rowsPerSubgroup, rowLanes, rows } = this.#geometry;
    const gpu = this.#gpu;
    const only = gpu.numSubgroups === 1;
    // A subgroup that only copies has no rows of its own; what it computes here is not used.
    const index = only ? 0 : producers > 0 ? max(gpu.subgroupId, producers).sub(producers) : gpu.subgroupId;
    const first = times(index, rowsPerSubgroup);
    const own = plus(first, this.#grid.rowLane);
    return Array.from({ length: rows }, (_, k) => plus(own, k * rowLanes));
  }

  /** Where there are roles the first subgroups copy, else all do. */
  #copyingCrew() {
    const { producers } = this.#geometry;
    return producers > 0 ? { index: this.#gpu.subgroupId, size: producers } : this.#everybody();
  }

  #everybody() {
    const { numSubgroups, subgroupId } = this.#gpu;
    return { index: numSubgroups === 1 ? 0 : subgroupId, size: numSubgroups };
  }

  #computeTile(place: TilePlace): void {
    this.#loadQueries(place);
    this.#gpu.barrier();
    const first = this.#position(place.firstQuery);
    const last = this.#position(place.lastQuery);
    let queries: QueryTile = { rows: [], first, last };
    this.#pipeline.run(this.#stage(place), this.#keyRange(first, last), {
      start: () => {
        queries = { ...queries, rows: this.#rowIndices.map((index) => this.#newRow(index, place)) };
      },
      use: (tile) => this.#useTile(tile, queries),
      score: (tile) => this.#score(tile, queries, 0),
      accumulate: (tile) => this.#accumulate(tile, queries, 0),
      finish: () => queries.rows.forEach((row) => this.#store(row, place)),
    });
  }

  /** The tile of queries goes to shared memory, where all lanes of a row group read the same row at once. */
  #loadQueries(place: TilePlace): void {
    const { q, querySign } = this.#params;
    const { queryRows, copyColumns } = this.#geometry;
    const source = strided(q, this.#params, "q", this.#special.q).at(place.batch);
    const read = (row: U32, column: U32): F32[] => {
      const { headQ, query } = place.row(row);
      const run = readRun(source, [headQ, query], column, copyColumns.width, this.#special.q.vector);
      return run.map((x) => x.mul(querySign));
    };
    const copier = new Copier(this.#gpu, this.#geometry, this.#everybody());
    copier.copy(queryRows, place.exists, [{ to: this.#queries, read }]);
  }

  #stage({ batch, headKv }: TilePlace): Stage {
    const { k, v } = this.#params;
    return this.#makeStage(
      { view: strided(k, this.#params, "k", this.#special.k).at(batch, headKv), access: this.#special.k },
      { view: strided(v, this.#params, "v", this.#special.v).at(batch, headKv), access: this.#special.v },
    );
  }

  /** The keys that any row of the tile sees; no other is ever read. */
  #keyRange(first: I32, last: I32): KeyRange {
    const { from, to } = this.#mask.range(first, last, this.#params.seqK.toI32());
    return { from: typeof from === "number" ? from : from.toU32(), to: to.toU32() };
  }

  /** Bottom-right alignment: the last query stands at the last key. */
  #position(query: U32): I32 {
    return query.toI32().add(this.#params.seqK.toI32()).sub(this.#params.seqQ.toI32());
  }

  #newRow(index: UIndex, place: TilePlace): Row {
    const { columns } = this.#geometry;
    return {
      index,
      position: this.#position(place.row(index).query),
      softmax: new OnlineSoftmax(this.#gpu, this.#params.scoreFactorLog2, this.#grid),
      output: this.#gpu.registers(f32, columns.chunks * columns.width, 0),
    };
  }

  #useTile(tile: Tile, queries: QueryTile): void {
    const { groups, groupKeys } = this.#geometry;
    const useGroup = (first: UIndex): void => {
      this.#score(tile, queries, first);
      this.#accumulate(tile, queries, first);
    };
    if (groups === 1) useGroup(0);
    else this.#gpu.for({ from: 0, to: tile.count, step: groupKeys }, useGroup);
  }

  /** Scores and probabilities of the keys that a subgroup takes at once, from row `first` of the tile on. */
  #score(tile: Tile, queries: QueryTile, first: UIndex): void {
    const { rows } = queries;
    const { keysPerLane, keyLanes } = this.#geometry;
    const keys = Array.from(
      { length: keysPerLane },
      (_, slot) => plus(plus(first, slot * keyLanes), this.#grid.keyLane) as U32,
    );
    const scores = this.#scores(tile, rows, keys);
    const update = (row: Row, k: number, masked: boolean): readonly F32[] => {
      const visible = masked ? keys.map((key) => this.#sees(row, tile, key)) : null;
      const { probabilities, rescale } = row.softmax.update(scores[k] as F32[], visible);
      return [rescale, ...probabilities];
    };
    const updates = this.#whereMasked(tile, queries, first, (masked) =>
      rows.flatMap((row, k) => update(row, k, masked)),
    );
    const width = 1 + keysPerLane;
    rows.forEach(({ output }, k) => {
      const rescale = updates[k * width] as F32;
      for (let c = 0; c < output.length; c++) output.set(c, output.get(c).mul(rescale));
    });
    this.#exchange.publish(rows.map((_, k) => updates.slice(k * width + 1, (k + 1) * width)));
  }

  /** What is done with a group of keys, masked, or only where the mask or the sequence's end cuts through the group. */
  #whereMasked(
    tile: Tile,
    queries: QueryTile,
    first: UIndex,
    act: (masked: boolean) => readonly F32[],
  ): readonly F32[] {
    if (this.#point.masking === "everywhere") return act(true);
    const from = tile.base.add(first).toI32();
    const end = plus(first, this.#geometry.groupKeys);
    const exist = tile.count.ge(end);
    const seen = this.#mask.seesAll(queries.first, queries.last, from, tile.base.add(end).toI32());
    return this.#gpu.if(
      seen === null ? exist : exist.and(seen),
      () => act(false),
      () => act(true),
    );
  }

  #sees(row: Row, tile: Tile, key: U32): Bool {
    const exists = key.lt(tile.count);
    const allowed = this.#mask.sees(row.position, tile.base.add(key).toI32());
    return allowed === null ? exists : exists.and(allowed);
  }

  /** Raw scores [row][slot]: each lane walks the head dimension of its own keys. */
  #scores(tile: Tile, rows: readonly Row[], keys: readonly U32[]): F32[][] {
    const { dim, vector, unroll } = this.#geometry;
    const dots = rows.map(() => this.#gpu.registers(f32, keys.length, 0));
    this.#gpu.for({ from: 0, to: dim, step: vector, unroll }, (column) => {
      const keyRuns = keys.map((key) => tile.key(key, column));
      rows.forEach((row, k) => {
        const queryRun = readRun(this.#queries, [row.index], column, vector, vector);
        keyRuns.forEach((keyRun, slot) => {
          const dot = (dots[k] as RegisterArray<"f32">).at(slot);
          dot.set(queryRun.reduce((sum, x, c) => fma(x, keyRun[c] as F32, sum), dot.get()));
        });
      });
    });
    return dots.map((dot) => keys.map((_, slot) => this.#cap(dot.get(slot))));
  }

  #cap(dot: F32): F32 {
    return this.#special.softcap ? tanh(dot.mul(this.#params.capFactor)) : dot;
  }

  /** Outputs of a group of keys, from row `first` of the tile on: each lane walks the keys of its columns. */
  #accumulate(tile: Tile, { rows }: QueryTile, first: UIndex): void {
    const { groupKeys } = this.#geometry;
    const columns = this.#columns.starts();
    const { readableRows: end } = tile;
    // Where only existing rows may be read, a tile is one group.
    const count = typeof end === "number" ? Math.min(end, groupKeys) : end.min(groupKeys);
    this.#exchange.walk(count, (key, probabilities) => {
      const neighbours = (probabilities[0] as readonly F32[]).length;
      for (let e = 0; e < neighbours; e++) {
        const values = columns.flatMap((column) => tile.value(plus(first, plus(key, e)), column));
        rows.forEach(({ output }, row) =>
          values.forEach((value, c) =>
            output.set(c, fma((probabilities[row] as readonly F32[])[e] as F32, value, output.get(c))),
          ),
        );
      }
    });
    this.#exchange.release();
  }

  /** A row that saw no key is 0, with logarithm −∞. */
  #store({ index, softmax, output }: Row, place: TilePlace): void {
    const { o } = this.#params;
    const { width } = this.#geometry.columns;
    const { headQ, query } = place.row(index);
    const total = softmax.total();
    const inverse = select(total.eq(0), 0, this.#gpu.constant(f32, 1).div(total));
    this.#gpu.if(place.exists(index), () => {
      const target = strided(o, this.#params, "o", this.#special.o).at(place.batch);
      this.#columns.forEach((column, chunk) => {
        const values = Array.from({ length: width }, (_, c) => output.get(chunk * width + c).mul(inverse));
        writeRun(target, [headQ, query], column, values, this.#special.o.vector);
      });
      if (this.#special.writeLse) this.#storeLse(softmax, total, place.batch, headQ, query);
    });
  }

  #storeLse(softmax: OnlineSoftmax, total: F32, batch: U32, headQ: U32, query: U32): void {
    const { lse, headsQ, seqQ, scoreFactor } = this.#params;
    this.#gpu.if(this.#grid.keyLane.eq(0), () => {
      const logarithm = fma(softmax.maximum(), scoreFactor, log(total));
      const row = lse.view({ strides: [seqQ, 1] });
      row.set(batch.mul(headsQ).add(headQ), query, select(total.eq(0), -Infinity, logarithm));
    });
  }
}

/** A tensor as [batch, head, seq, dim] with the strides of the launch. */
function strided<A extends "read" | "write", T extends "q" | "k" | "v" | "o">(
  memory: Buffer<"f32", A>,
  scalars: ScalarSymbols,
  name: T,
  { unitStride }: RowAccess,
): View<"f32", A> {
  const stride = (axis: "Batch" | "Head" | "Seq" | "Dim"): U32 => scalars[`${name}${axis}`] as U32;
  return memory.view({
    strides: [stride("Batch"), stride("Head"), stride("Seq"), unitStride ? 1 : stride("Dim")],
  });
}
