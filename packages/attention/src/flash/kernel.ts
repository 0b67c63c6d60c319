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
import { BlockedSums, carryBlocks } from "./sums.ts";
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
  /** The keys that it sees. */
  readonly seen: KeyRange;
  readonly sums: BlockedSums;
}

/** The query rows of a lane, with what bounds those of the whole workgroup. */
interface QueryTile {
  readonly rows: readonly Row[];
  /** The keys that all of them see. */
  readonly common: KeyRange;
}

class FlashAttention {
  readonly #point: FlashPoint;
  readonly #special: Specialisation;
  readonly #params: FlashSymbols;
  readonly #gpu: Gpu;
  readonly #geometry: Geometry;
  readonly #columns: Columns;
  readonly #mask: MaskRule;
  readonly #softmax: OnlineSoftmax;
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
    this.#softmax = new OnlineSoftmax(gpu, symbols.scoreFactorLog2, this.#grid);
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

  /** Whether each group of keys is a block of its own, which begins at zero. */
  get #eachGroupApart(): boolean {
    const { blockKeys, groupKeys } = this.#geometry;
    return this.#special.totals > 0 && blockKeys <= groupKeys;
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
    const { firstQuery: first, lastQuery: last } = place;
    const range = this.#keyRange(first, last);
    const common = { from: this.#keyRange(last, last).from, to: this.#keyRange(first, first).to };
    let queries: QueryTile = { rows: [], common };
    const endBlocks = ({ base }: Tile): void => {
      if (this.#special.totals === 0) return;
      const { tileKeys, blockKeys } = this.#geometry;
      const end = base.add(tileKeys);
      const keys = range.from === 0 ? end : end.sub(range.from);
      carryBlocks(
        this.#gpu,
        queries.rows.map((row) => row.sums),
        { keys, tileKeys, blockKeys },
      );
    };
    this.#pipeline.run(this.#stage(place), range, {
      start: () => {
        queries = { ...queries, rows: this.#rowIndices.map((index) => this.#newRow(index, place)) };
      },
      use: (tile) => {
        this.#useTile(tile, queries);
        endBlocks(tile);
      },
      score: (tile) => this.#score(tile, queries, 0),
      accumulate: (tile) => {
        this.#accumulate(tile, queries, 0);
        endBlocks(tile);
      },
      finish: () => queries.rows.forEach((row) => this.#store(row, place)),
    });
  }

  /** The tile of queries goes to shared memory, where all lanes of a row group read the same row at once. */
  #loadQueries(place: TilePlace): void {
    const { q, queryFactor } = this.#params;
    const { queryRows, copyColumns } = this.#geometry;
    const source = strided(q, this.#params, "q", this.#special.q).at(place.batch);
    const read = (row: U32, column: U32): F32[] => {
      const { headQ, query } = place.row(row);
      const run = readRun(source, [headQ, query], column, copyColumns.width, this.#special.q.vector);
      return run.map((x) => x.mul(queryFactor));
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

  /** The keys that any query from the first to the last sees; of others, none is ever read. */
  #keyRange(first: U32, last: U32): KeyRange {
    const { seqK } = this.#params;
    if (this.#special.mask === "full") return { from: 0, to: seqK };
    const { from, to } = this.#mask(this.#position(first), this.#position(last), seqK.toI32());
    return { from: from === 0 ? 0 : from.toU32(), to: to.toU32() };
  }

  /** Bottom-right alignment: the last query stands at the last key. */
  #position(query: U32): I32 {
    return query.toI32().add(this.#params.seqK.toI32()).sub(this.#params.seqQ.toI32());
  }

  #newRow(index: UIndex, place: TilePlace): Row {
    const { chunks, width } = this.#geometry.columns;
    const { scoreFactorLog2 } = this.#params;
    const { query } = place.row(index);
    return {
      index,
      seen: this.#keyRange(query, query),
      sums: new BlockedSums(this.#gpu, scoreFactorLog2, chunks * width, this.#special.totals),
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
      const seen = masked ? this.#seenOf(tile, row) : null;
      const visible = seen && keys.map((key) => isWithin(key, seen));
      const { probabilities, rescale } = this.#softmax.update(row.sums.block, scores[k] as F32[], visible);
      return [rescale, ...probabilities];
    };
    const updates = this.#whereMasked(
      () => this.#isWhole(tile, queries, first),
      (masked) => rows.flatMap((row, k) => update(row, k, masked)),
    );
    const width = 1 + keysPerLane;
    if (!this.#eachGroupApart)
      rows.forEach(({ sums }, k) => {
        const { output } = sums.block;
        const rescale = updates[k * width] as F32;
        for (let c = 0; c < output.length; c++) output.set(c, output.get(c).mul(rescale));
      });
    this.#exchange.publish(rows.map((_, k) => updates.slice(k * width + 1, (k + 1) * width)));
  }

  /** What is done with a group of keys, masked, or only where the mask or the sequence's end cuts through the group. */
  #whereMasked(isWhole: () => Bool, act: (masked: boolean) => readonly F32[]): readonly F32[] {
    if (this.#point.masking === "everywhere") return act(true);
    // Emitted code takes the name from here.
    const updated = this.#gpu.if(
      isWhole(),
      () => act(false),
      () => act(true),
    );
    return updated;
  }

  /** Whether all rows see all of a group of keys: neither the mask nor the sequence's end cuts through it. */
  #isWhole(tile: Tile, queries: QueryTile, first: UIndex): Bool {
    const end = plus(first, this.#geometry.groupKeys);
    const exist = tile.count.ge(end);
    if (this.#special.mask === "full") return exist;
    const { from, to } = queries.common;
    const begun = from === 0 ? exist : exist.and(tile.base.add(first).ge(from));
    return begun.and(tile.base.add(end).le(to));
  }

  /** The keys of the tile that a row sees, counted from the tile's first. */
  #seenOf({ base, count }: Tile, { seen: { from, to } }: Row): KeyRange {
    if (this.#special.mask === "full") return { from: 0, to: count };
    const inTile = (key: U32): U32 => select(key.gt(base), key.sub(base), 0);
    return { from: typeof from === "number" ? from : inTile(from), to: inTile(to).min(count) };
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

  /**
   * Outputs of a group of keys, from row `first` of the tile on: each lane walks the keys of its columns. A key that a row
   * does not see adds nothing to it, not even zero times its value: that would be NaN if the value is NaN or infinite.
   */
  #accumulate(tile: Tile, queries: QueryTile, first: UIndex): void {
    const addValues = (cut: boolean): void => this.#addValues(tile, queries, first, cut);
    if (this.#special.mask === "full") addValues(false);
    else
      this.#gpu.if(
        this.#isWhole(tile, queries, first),
        () => addValues(false),
        () => addValues(true),
      );
    this.#exchange.release();
  }

  #addValues(tile: Tile, { rows }: QueryTile, first: UIndex, cut: boolean): void {
    const { groupKeys } = this.#geometry;
    const columns = this.#columns.starts();
    const { readableRows: end } = tile;
    // Where only existing rows may be read, a tile is one group.
    const count = typeof end === "number" ? Math.min(end, groupKeys) : end.min(groupKeys);
    const seen = cut ? rows.map((row) => this.#seenOf(tile, row)) : [];
    this.#exchange.walk(count, (start, probabilities) => {
      (probabilities[0] as readonly F32[]).forEach((_, e) => {
        const key = plus(first, plus(start, e));
        const values = columns.flatMap((column) => tile.value(key, column));
        rows.forEach(({ sums }, row) => {
          const { output } = sums.block;
          const probability = (probabilities[row] as readonly F32[])[e] as F32;
          const add = (): void =>
            values.forEach((value, c) => output.set(c, fma(probability, value, output.get(c))));
          if (cut) this.#gpu.if(isWithin(key as U32, seen[row] as KeyRange), add);
          else add();
        });
      });
    });
  }

  /** A row that saw no key is 0, with logarithm −∞. One whose keys all have a score of −∞ is 0 / 0, which is NaN. */
  #store({ index, seen, sums }: Row, place: TilePlace): void {
    const { o } = this.#params;
    const { width } = this.#geometry.columns;
    const { headQ, query } = place.row(index);
    const { maximum, sum, output } = sums.finish();
    const total = this.#softmax.total(sum.get());
    const sawNone = seen.to.le(seen.from);
    const inverse = select(sawNone, 0, this.#gpu.constant(f32, 1).div(total));
    this.#gpu.if(place.exists(index), () => {
      const target = strided(o, this.#params, "o", this.#special.o).at(place.batch);
      this.#columns.forEach((column, chunk) => {
        const values = Array.from({ length: width }, (_, c) => output.get(chunk * width + c).mul(inverse));
        writeRun(target, [headQ, query], column, values, this.#special.o.vector);
      });
      if (!this.#special.writeLse) return;
      const logarithm = fma(maximum.get(), this.#params.scoreFactor, log(total));
      const finite = select(total.eq(0), NaN, logarithm);
      this.#storeLse(select(sawNone, -Infinity, finite), place.batch, headQ, query);
    });
  }

  #storeLse(value: F32, batch: U32, headQ: U32, query: U32): void {
    const { lse, headsQ, seqQ } = this.#params;
    this.#gpu.if(this.#grid.keyLane.eq(0), () => {
      const row = lse.view({ strides: [seqQ, 1] });
      row.set(batch.mul(headsQ).add(headQ), query, value);
    });
  }
}

const isWithin = (key: U32, { from, to }: KeyRange): Bool =>
  from === 0 ? key.lt(to) : key.ge(from).and(key.lt(to));

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
