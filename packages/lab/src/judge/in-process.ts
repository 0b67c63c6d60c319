/**
 * The same judge without a process of its own: for tests and for trusted candidates, where starting a process costs more
 * than judging. It enforces no deadline, and a candidate's endless loop is the caller's.
 */

import { EvolverError } from "@evolver/base";
import type { OpenJudge } from "./judge.ts";
import { describeError } from "./protocol.ts";
import { Session } from "./session.ts";

/** Opens a judge in this process: quick, for tests and for candidates that are trusted. */
export const openJudgeInProcess: OpenJudge = async (study, input, { device, signal }) => {
  const openSession = async (): Promise<Session> =>
    Session.open(await study.open(input, { id: device }), device);
  let session: Session | null = await openSession();
  const close = async (): Promise<void> => {
    await session?.close();
    session = null;
  };
  try {
    signal?.throwIfAborted();
    const admission = session.admit(true);
    return {
      admission,
      async judge(request, abort) {
        abort?.throwIfAborted();
        session ??= await openSession();
        try {
          return await session.judge(request);
        } catch (error) {
          const { code, message } = describeError(error);
          throw new EvolverError(code, message, { cause: error });
        }
      },
      renew: close,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
