/** The other end of peers.py: a process that answers one JSON line for each JSON line it is sent. */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { AttentionShape } from "@evolver/attention";
import { EvolverError } from "@evolver/base";

export interface TorchFacts {
  readonly torch: string;
  readonly cuda: string;
  readonly cudnn: number | null;
  readonly gpu: string;
  readonly allowTf32: boolean;
  readonly float32MatmulPrecision: string;
}

/** A way of calling scaled_dot_product_attention. */
interface TorchVariant {
  readonly id: string;
  /** How key heads meet query heads; null where there are as many of both. */
  readonly gqa: string | null;
  /** Largest absolute error against float64; null where the output is not finite. */
  readonly error: number | null;
  /** Names of the kernels it runs, as PyTorch's profiler has them. */
  readonly kernels: readonly string[] | null;
}

export interface TorchLoaded {
  /** The largest absolute error of o that passes. */
  readonly bound: number;
  readonly variants: readonly TorchVariant[];
  readonly refused: readonly { readonly id: string; readonly why: string }[];
}

interface Operations {
  facts: { request: object; answer: TorchFacts };
  /** GB/s of a copy in the GPU's memory, bytes read plus bytes written. */
  copy: { request: { bytes: number }; answer: { gbPerSecond: number } };
  load: {
    request: { folder: string; shape: AttentionShape; causal: boolean; scale: number };
    answer: TorchLoaded;
  };
  check: { request: { file: string }; answer: { maxError: number | null } };
  /** Milliseconds per call. */
  time: { request: { id: string; launches: number }; answer: { timeMs: number } };
}

const PATIENCE_MS = 180_000;

export class TorchWorker {
  readonly #process: ChildProcess;
  readonly #waiting: { settle: (line: string) => void; fail: (error: EvolverError) => void }[] = [];
  #ended: string | null = null;

  /** @param command a program and its arguments: `["python3", ".../peers.py"]` */
  constructor(command: readonly [string, ...string[]]) {
    const [program, ...args] = command;
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process.on("error", (error) => this.#end(`cannot be started: ${error.message}`));
    this.#process.on("close", (code, signal) => this.#end(`ended with ${signal ?? `exit code ${code}`}`));
    this.#process.stdin?.on("error", () => undefined);
    const lines = createInterface({ input: this.#process.stdout as NonNullable<ChildProcess["stdout"]> });
    lines.on("line", (line) => this.#waiting.shift()?.settle(line));
  }

  /** @throws EvolverError PEER_FAILED where the worker refuses, ends, is silent, or answers anything but JSON */
  async ask<K extends keyof Operations>(
    op: K,
    request: Operations[K]["request"],
  ): Promise<Operations[K]["answer"]> {
    if (this.#ended !== null) throw failed(this.#ended);
    let timer: NodeJS.Timeout | undefined;
    const line = await new Promise<string>((settle, fail) => {
      this.#waiting.push({ settle, fail });
      timer = setTimeout(() => {
        this.#end(`has not answered "${op}" for ${PATIENCE_MS / 1000} s`);
        this.#process.kill();
      }, PATIENCE_MS);
      this.#process.stdin?.write(`${JSON.stringify({ op, ...request })}\n`);
    }).finally(() => clearTimeout(timer));
    const answer = parse(line);
    if ("error" in answer && typeof answer.error === "string")
      throw failed(`refuses "${op}": ${answer.error}`);
    return answer as Operations[K]["answer"];
  }

  close(): void {
    this.#process.stdin?.end();
  }

  #end(why: string): void {
    this.#ended ??= why;
    for (const { fail } of this.#waiting.splice(0)) fail(failed(why));
  }
}

function parse(line: string): object {
  try {
    const answer: unknown = JSON.parse(line);
    if (typeof answer === "object" && answer !== null) return answer;
  } catch {
    // Said below.
  }
  throw failed(`printed something else than an answer: ${line.slice(0, 200)}`);
}

const failed = (why: string): EvolverError =>
  new EvolverError("PEER_FAILED", `the PyTorch worker ${why}`, {
    hint: "it needs a Python with torch and a GPU: --python PATH; or measure without it: --no-torch",
  });
