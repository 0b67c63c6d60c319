/** The GPU's clock around one compute pass. */

const COUNT = 2;
const BYTES = COUNT * 8;

export class Timestamps {
  readonly writes: GPUComputePassTimestampWrites;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  readonly #staging: GPUBuffer;

  constructor(gpu: GPUDevice) {
    this.#queries = gpu.createQuerySet({ type: "timestamp", count: COUNT });
    this.#resolved = gpu.createBuffer({
      size: BYTES,
      usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
    });
    this.#staging = gpu.createBuffer({
      size: BYTES,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    this.writes = { querySet: this.#queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
  }

  /** After the pass, before the encoder is finished. */
  resolve(encoder: GPUCommandEncoder): void {
    encoder.resolveQuerySet(this.#queries, 0, COUNT, this.#resolved, 0);
    encoder.copyBufferToBuffer(this.#resolved, 0, this.#staging, 0, BYTES);
  }

  /** Milliseconds between the two, once the work is done. */
  async read(): Promise<number> {
    await this.#staging.mapAsync(GPUMapMode.READ);
    const [start, end] = new BigUint64Array(this.#staging.getMappedRange().slice(0));
    this.#staging.unmap();
    return Number((end as bigint) - (start as bigint)) / 1e6;
  }

  destroy(): void {
    this.#queries.destroy();
    this.#resolved.destroy();
    this.#staging.destroy();
  }
}
