/**
 * The same tasks by another library, in a process of its own that is asked line by line: which task, then for times. So its runs
 * take turns with ours on one device.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { EvolverError, parseWith } from "@evolver/base";
import * as v from "valibot";

const answerSchema = v.union([
  v.object({ error: v.string() }),
  v.object({ ready: v.literal(true), version: v.string() }),
  v.object({ eagerMs: v.nullable(v.number()), compiledMs: v.nullable(v.number()) }),
]);

export interface PeerTimes {
  readonly eagerMs: number | null;
  readonly compiledMs: number | null;
}

export class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** @param command program and arguments, separated by spaces */
  constructor(command: string) {
    const [program = "", ...args] = command.split(" ");
    this.#child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.on("error", () => {});
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
  }

  /** Makes a task ready: its data, and all compiling. @returns the library's version, or why it cannot */
  async prepare(
    task: string,
    sizes: Readonly<Record<string, number>>,
  ): Promise<{ readonly version: string } | { readonly error: string }> {
    const answer = await this.#ask({ task, sizes });
    if ("error" in answer || "ready" in answer)
      return "error" in answer ? answer : { version: answer.version };
    throw peerFailed("it answered with times before it was asked for them");
  }

  /** The times of the task that is ready. */
  async time(): Promise<PeerTimes> {
    const answer = await this.#ask({ time: true });
    if ("eagerMs" in answer) return answer;
    throw peerFailed("error" in answer ? answer.error : "it gave no times");
  }

  close(): void {
    this.#child.stdin?.end();
    this.#child.kill();
  }

  async #ask(question: object): Promise<v.InferOutput<typeof answerSchema>> {
    this.#child.stdin?.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw peerFailed("its process ended");
    let answer: unknown;
    try {
      answer = JSON.parse(value);
    } catch {
      throw peerFailed(`it printed ${JSON.stringify(value.slice(0, 200))}`);
    }
    return parseWith(answerSchema, answer, { what: "the answer of the other library", code: "PEER_FAILED" });
  }
}

const peerFailed = (what: string): EvolverError =>
  new EvolverError("PEER_FAILED", `the other library gave no times: ${what}`, {
    hint: 'run its command by hand, and give it a line such as {"task":"sum","sizes":{"n":1024}}',
  });
