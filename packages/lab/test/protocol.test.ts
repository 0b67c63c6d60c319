/** Messages between the lab and its judge: what is malformed is refused by its field, what is another's is passed over. */

import { expect, it } from "vitest";
import { failedVerdict, parseAnswer, parseQuestion } from "@evolver/lab/internal";

const verdict = failedVerdict("timeout", "It took too long.");

it("an answer comes back as it was sent", () => {
  const answer = { kind: "verdict", nonce: "n", verdict };
  expect(parseAnswer(answer, "n")).toEqual(answer);
  expect(parseAnswer({ kind: "failed", nonce: "n", code: "C", message: "m" }, "n")).toMatchObject({
    code: "C",
  });
});

it.each([null, 3, "verdict", [], {}, { kind: "verdict", nonce: "other", verdict }])(
  "%j is nobody's answer",
  (message) => expect(parseAnswer(message, "n")).toBeNull(),
);

it.each([
  [{ kind: "verdict", nonce: "n" }, /the judge's answer: "verdict" is missing/],
  [{ kind: "praise", nonce: "n" }, /the judge's answer: "kind" is "praise"; it must be one of "opened"/],
  [{ kind: "verdict", nonce: "n", verdict: { ...verdict, status: "fine" } }, /"verdict\.status" is "fine"/],
  [{ kind: "verdict", nonce: "n", verdict: { ...verdict, noise: null } }, /"verdict\.noise" is null/],
])("an answer that is none is refused by its field: %j", (message, told) => {
  expect(() => parseAnswer(message, "n")).toThrow(told);
  expect(() => parseAnswer(message, "n")).toThrow(expect.objectContaining({ code: "JUDGE_FAILED" }));
});

it("a question that is none is refused by its field", () => {
  const request = {
    candidate: { kind: "point", point: { tile: 16 } },
    seed: 1,
    known: {},
    champion: null,
    deadlineMs: 1000,
  };
  const question = { kind: "judge", nonce: "n", request };
  expect(parseQuestion(question)).toEqual(question);
  const wrong = { ...question, request: { ...request, candidate: { kind: "module" } } };
  expect(() => parseQuestion(wrong)).toThrow('"request.candidate.path" is missing');
});
