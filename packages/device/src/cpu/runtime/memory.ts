/**
 * The one WebAssembly memory of a device: buffers, arguments and the workers' private blocks all lie in it, so that
 * every thread sees them without copies. First fit, neighbouring free blocks joined.
 */

import { EvolverError } from "@evolver/base";
import { CONSTANTS_END, writeConstants } from "../operations/constants.ts";
import { MAX_FOLDED } from "../analysis/dataflow.ts";

const PAGE_BYTES = 65536;

/** No buffer lies below this address: constants lie there, masked lanes read there, and index arithmetic may pass below a buffer's start. */
const RESERVED_BYTES = 2 * PAGE_BYTES;
/** Whole vectors are read even where only some lanes are active, so this many bytes must exist behind the last block. */
const TAIL_BYTES = PAGE_BYTES;
const INITIAL_PAGES = 128;
const ALIGNMENT = 64;

interface FreeBlock {
  readonly address: number;
  readonly bytes: number;
}

export class DeviceMemory {
  readonly memory: WebAssembly.Memory;
  readonly maximumPages: number;
  /** By address, never two that touch. */
  #free: FreeBlock[] = [];
  readonly #sizes = new Map<number, number>();
  #end: number;

  constructor() {
    const { memory, maximumPages } = reserve();
    this.memory = memory;
    writeConstants(memory);
    this.maximumPages = maximumPages;
    this.#end = INITIAL_PAGES * PAGE_BYTES - TAIL_BYTES;
    this.#free.push({ address: RESERVED_BYTES, bytes: this.#end - RESERVED_BYTES });
    if (RESERVED_BYTES < Math.max(4 * MAX_FOLDED, CONSTANTS_END))
      throw new Error("what lies below the first buffer reaches into it");
  }

  get maximumBytes(): number {
    return this.maximumPages * PAGE_BYTES - RESERVED_BYTES - TAIL_BYTES;
  }

  /** The address of a zeroed block; throws OUT_OF_MEMORY. */
  allocate(bytes: number): number {
    const size = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    let index = this.#free.findIndex((block) => block.bytes >= size);
    if (index < 0) {
      this.#grow(size);
      index = this.#free.length - 1;
    }
    const block = this.#free[index] as FreeBlock;
    if (block.bytes === size) this.#free.splice(index, 1);
    else this.#free[index] = { address: block.address + size, bytes: block.bytes - size };
    this.#sizes.set(block.address, size);
    new Uint8Array(this.memory.buffer, block.address, size).fill(0);
    return block.address;
  }

  free(address: number): void {
    const bytes = this.#sizes.get(address);
    if (bytes === undefined) return;
    this.#sizes.delete(address);
    this.#release({ address, bytes });
  }

  #release(block: FreeBlock): void {
    const at = this.#free.findIndex((other) => other.address > block.address);
    const index = at < 0 ? this.#free.length : at;
    const before = this.#free[index - 1];
    const after = this.#free[index];
    let { address, bytes } = block;
    let first = index;
    let removed = 0;
    if (before && before.address + before.bytes === address) {
      address = before.address;
      bytes += before.bytes;
      first = index - 1;
      removed++;
    }
    if (after && block.address + block.bytes === after.address) {
      bytes += after.bytes;
      removed++;
    }
    this.#free.splice(first, removed, { address, bytes });
  }

  /** Makes the last free block at least `bytes` large. */
  #grow(bytes: number): void {
    const last = this.#free.at(-1);
    const atEnd = last && last.address + last.bytes === this.#end ? last.bytes : 0;
    const pages = Math.ceil((bytes - atEnd) / PAGE_BYTES);
    const available = this.maximumPages - (this.#end + TAIL_BYTES) / PAGE_BYTES;
    // By a quarter at least, so that many small buffers do not grow it one by one.
    const wanted = Math.min(available, Math.max(pages, Math.ceil(this.#end / PAGE_BYTES / 4)));
    try {
      if (pages > available) throw new RangeError("beyond the largest memory");
      this.memory.grow(wanted);
    } catch (cause) {
      throw new EvolverError("OUT_OF_MEMORY", `the cpu device has no room for ${bytes} more bytes`, {
        hint: "destroy buffers that are no longer needed, or use smaller ones",
        cause,
      });
    }
    const start = this.#end;
    this.#end += wanted * PAGE_BYTES;
    this.#release({ address: start, bytes: wanted * PAGE_BYTES });
  }
}

/** The largest memory that this process may reserve (address space, not pages in use). */
function reserve(): { memory: WebAssembly.Memory; maximumPages: number } {
  let failure: unknown;
  for (const maximum of [65536, 32768, 16384, 4096]) {
    try {
      return {
        memory: new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum, shared: true }),
        maximumPages: maximum,
      };
    } catch (error) {
      failure = error;
    }
  }
  throw new EvolverError(
    "DEVICE_UNAVAILABLE",
    "cpu is not available: no shared WebAssembly memory can be made here",
    {
      hint: "raise the limit on address space (ulimit -v), or use the sim device",
      cause: failure,
    },
  );
}
