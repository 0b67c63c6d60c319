/** What the launches of one simulator share: its options, its time, and the storages of its buffers. */

import type { HostBuffer } from "../core/buffer.ts";
import type { ResolvedSimOptions } from "./options.ts";
import { Storage } from "./runtime/storage.ts";
import { SimTime } from "./runtime/time.ts";

export class SimState {
  readonly options: ResolvedSimOptions;
  readonly time = new SimTime();
  readonly #storages = new WeakMap<HostBuffer, Storage>();
  /** Grows when times are reset. */
  #generation = 0;

  constructor(options: ResolvedSimOptions) {
    this.options = options;
  }

  /** The one storage of a buffer. */
  storageOf(buffer: HostBuffer): Storage {
    let storage = this.#storages.get(buffer);
    if (storage === undefined) this.#storages.set(buffer, (storage = new Storage(buffer.array)));
    return storage;
  }

  /** Called between launches. */
  renewTime(): void {
    if (this.time.renew()) this.#generation++;
  }

  /** Drops marks of an older time. */
  refresh(storage: Storage): void {
    if (storage.generation === this.#generation) return;
    storage.forget();
    storage.generation = this.#generation;
  }
}
