/** The judge's process: opens one study, then answers one request at a time. Started by client.ts only. */

import { Worker } from "node:worker_threads";
import type { Study } from "../study/study.ts";
import { describeError, parseQuestion } from "./protocol.ts";
import type { FromJudge, OpenMessage, ToJudge } from "./protocol.ts";
import { Session } from "./session.ts";

let nonce: string | null = null;
let session: Session | null = null;

const watchdog = new Worker(new URL("./watchdog.ts", import.meta.url), { workerData: process.ppid });
watchdog.unref();

process.on("disconnect", () => process.exit(0));
process.on("message", (message: unknown) => {
  const question = parseQuestion(message);
  nonce ??= question.nonce;
  if (question.nonce !== nonce) return;
  void answer(question).then((reply) => process.send?.(reply));
});

async function answer(message: ToJudge): Promise<FromJudge> {
  const { nonce: own } = message;
  try {
    if (message.kind === "open") {
      session = await open(message);
      return { kind: "opened", nonce: own, admission: await session.admit(message.admit) };
    }
    if (session === null) throw new Error("asked to judge before a study was open");
    return { kind: "verdict", nonce: own, verdict: await session.judge(message.request) };
  } catch (error) {
    return { kind: "failed", nonce: own, ...describeError(error) };
  }
}

async function open({ module, export: name, input, device }: OpenMessage): Promise<Session> {
  const exports = (await import(module)) as Record<string, Study | undefined>;
  const study = exports[name];
  if (!study) throw new Error(`${module} exports no ${name}`);
  return Session.open(await study.open(input, { id: device }), device);
}
