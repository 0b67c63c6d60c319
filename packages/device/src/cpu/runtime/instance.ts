/**
 * Runs compiled kernels in the thread that it is called from. The caller's thread and the workers share it: Node's workers
 * start with the text of these functions, so they name nothing outside themselves but globals.
 */

export type RunWorkgroups = (
  args: number,
  shared: number,
  context: number,
  first: number,
  end: number,
) => void;

/** The functions of mathematics.ts come from JavaScript; calls round to f32 by themselves. */
export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): RunWorkgroups {
  const { log, log2, sin, cos, tanh } = Math;
  const instance = new WebAssembly.Instance(module, { env: { memory, log, log2, sin, cos, tanh } });
  return instance.exports.run as RunWorkgroups;
}

/** Where a launch finds its data in the device's memory, as byte addresses. */
export interface LaunchAddresses {
  readonly args: number;
  readonly shared: number;
  readonly context: number;
  /** A 32-bit word: the first workgroup that no thread has taken yet. */
  readonly counter: number;
}

export interface Share {
  /** Of the whole launch. */
  readonly workgroups: number;
  /** Threads that take from them. */
  readonly threads: number;
  /** When to stop taking more, counted from now. */
  readonly limitMs: number;
}

/**
 * Takes workgroups and runs them until none is left, or until the time limit has passed.
 *
 * @returns how many are left that no thread has taken
 */
export function takeWorkgroups(
  run: RunWorkgroups,
  memory: WebAssembly.Memory,
  addresses: LaunchAddresses,
  { workgroups: total, threads, limitMs }: Share,
): number {
  // Threads take at most so much work at once, so that they end at about the same time.
  const longestMs = Math.min(1, limitMs / 2);
  const counter = new Int32Array(memory.buffer, addresses.counter, 1);
  const start = performance.now();
  let before = start;
  let batch = 1;
  for (;;) {
    const first = Atomics.add(counter, 0, batch);
    if (first >= total) return 0;
    const end = Math.min(total, first + batch);
    run(addresses.args, addresses.shared, addresses.context, first, end);
    if (end === total) return 0;
    const now = performance.now();
    if (now - start >= limitMs) return Math.max(0, total - Atomics.load(counter, 0));
    if (now - before < longestMs / 2) {
      const fair = Math.ceil((total - end) / (4 * threads));
      batch = Math.max(1, Math.min(batch * 2, fair));
    }
    before = now;
  }
}
