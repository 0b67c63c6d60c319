/**
 * The lab's side of the judge: starts the process in a group of its own, asks, and when a trial's budget is used up kills the
 * whole group, whatever it is doing, and asks another.
 */

import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { assertNever, EvolverError } from "@evolver/base";
import type { StudyInput } from "../study/option.ts";
import type { Study } from "../study/study.ts";
import { byProcessorTime, processorTimeOf, type StartDeadline } from "./deadline.ts";
import { failedVerdict } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";
import type { Admission, Judge, JudgeRequest } from "./judge.ts";
import { parseAnswer } from "./protocol.ts";
import type { FromJudge, OpenMessage, ToJudge } from "./protocol.ts";
import { StderrTail } from "./stderr.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

type Answer = FromJudge | { readonly kind: "timeout" } | { readonly kind: "died"; readonly how: string };

/** How often a trial is tried before it has no verdict; each time with twice the budget. */
const TRIES = 2;

export interface JudgeProcessOptions {
  readonly device: string;
  readonly signal?: AbortSignal | undefined;
  /** What holds a trial to its budget: processor time if absent. */
  readonly startDeadline?: StartDeadline;
}

/**
 * Starts a judge for a study and has it check that the study can't be fooled.
 * @throws EvolverError STUDY_REFUSED, or what opening the study throws there
 */
export async function openJudgeProcess(
  study: Study,
  input: StudyInput,
  { device, signal, startDeadline = byProcessorTime }: JudgeProcessOptions,
): Promise<Judge> {
  const { module, export: name } = study;
  const judge = new JudgeProcess({ module, export: name, input, device }, startDeadline);
  try {
    const admission = await judge.open(true, signal);
    return {
      admission,
      judge: (request, abort) => judge.judge(request, abort),
      renew: () => judge.close(),
      close: () => judge.close(),
    };
  } catch (error) {
    await judge.close();
    throw error;
  }
}

class JudgeProcess {
  readonly #study: Omit<OpenMessage, "kind" | "nonce" | "admit">;
  readonly #startDeadline: StartDeadline;
  #group: JudgeGroup | null = null;

  constructor(study: Omit<OpenMessage, "kind" | "nonce" | "admit">, startDeadline: StartDeadline) {
    this.#study = study;
    this.#startDeadline = startDeadline;
  }

  async open(admit: boolean, signal: AbortSignal | undefined): Promise<Admission> {
    const group = new JudgeGroup(this.#startDeadline);
    this.#group = group;
    const answer = await group.ask({ kind: "open", nonce: group.nonce, ...this.#study, admit }, null, signal);
    if (answer.kind === "opened") return answer.admission;
    await this.close();
    if (answer.kind === "failed") throw new EvolverError(answer.code, answer.message);
    const how = answer.kind === "died" ? answer.how : answer.kind;
    throw new EvolverError("JUDGE_FAILED", `The judge did not open the study: ${how}`);
  }

  async judge(request: JudgeRequest, signal: AbortSignal | undefined): Promise<Verdict> {
    const spent: number[] = [];
    let answer: Answer = { kind: "timeout" };
    while (answer.kind === "timeout" && spent.length < TRIES) {
      signal?.throwIfAborted();
      if (this.#group === null || this.#group.ended) await this.open(false, signal);
      const group = this.#group as JudgeGroup;
      const budgetMs = request.deadlineMs * 2 ** spent.length;
      answer = await group.ask({ kind: "judge", nonce: group.nonce, request }, budgetMs, signal);
      spent.push(budgetMs / 1000);
    }
    switch (answer.kind) {
      case "verdict":
        return answer.verdict;
      case "timeout":
        return failedVerdict(
          "timeout",
          `No verdict: it took more than ${spent.join(" s of processor time, and when it was tried again more than ")} s, and was killed each time. That may be this machine's doing.`,
        );
      case "died":
        return failedVerdict(
          "crashed",
          `The judge's process ended while it ran the candidate: ${answer.how}`,
        );
      case "failed":
        throw new EvolverError(answer.code, answer.message);
      case "opened":
        throw new EvolverError("JUDGE_FAILED", "The judge answered another question.");
      default:
        return assertNever(answer, "answer of the judge");
    }
  }

  async close(): Promise<void> {
    await this.#group?.kill();
    this.#group = null;
  }
}

/** One judge process with its process group. */
class JudgeGroup {
  readonly nonce = randomUUID();
  readonly #startDeadline: StartDeadline;
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  readonly #killAtExit = (): void => this.#killGroup();
  readonly #stderr = new StderrTail();
  ended = false;

  constructor(startDeadline: StartDeadline) {
    this.#startDeadline = startDeadline;
    this.#child = fork(MAIN, [], {
      detached: true,
      execArgv: [],
      serialization: "json",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    process.once("exit", this.#killAtExit);
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#stderr.add(text));
    this.#exited = new Promise((resolve) => {
      const done = (how: string): void => {
        this.ended = true;
        process.off("exit", this.#killAtExit);
        // Whatever it started and left behind goes with it.
        this.#killGroup();
        resolve(`${how}. ${this.#stderr.reason()}`.trim());
      };
      this.#child.once("error", (error) => done(error.message));
      this.#child.once("close", (code, signal) => done(signal ? `signal ${signal}` : `exit code ${code}`));
    });
  }

  /** Sends a message and waits for the answer, the end of the budget, the end of the process or an abort (which rejects). */
  async ask(message: ToJudge, deadlineMs: number | null, signal: AbortSignal | undefined): Promise<Answer> {
    signal?.throwIfAborted();
    const scope = new AbortController();
    const answer = new Promise<Answer>((resolve, reject) => {
      const receive = (reply: unknown): void => {
        try {
          const own = parseAnswer(reply, this.nonce);
          if (own !== null) resolve(own);
        } catch (error) {
          reject(error);
        }
      };
      this.#child.on("message", receive);
      scope.signal.addEventListener("abort", () => this.#child.off("message", receive));
      void this.#exited.then((how) => resolve({ kind: "died", how }));
      if (deadlineMs !== null) {
        const used = (): number | null => processorTimeOf(this.#child.pid ?? 0);
        const stop = this.#startDeadline({ milliseconds: deadlineMs, used }, () =>
          resolve({ kind: "timeout" }),
        );
        scope.signal.addEventListener("abort", stop);
      }
      const abort = (): void => reject(signal?.reason);
      signal?.addEventListener("abort", abort);
      scope.signal.addEventListener("abort", () => signal?.removeEventListener("abort", abort));
      this.#child.send(message, () => {});
    });
    try {
      const result = await answer;
      if (result.kind === "timeout") await this.kill();
      return result;
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      scope.abort();
    }
  }

  async kill(): Promise<void> {
    this.#killGroup();
    await this.#exited;
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Nobody of the group is left.
    }
  }
}
