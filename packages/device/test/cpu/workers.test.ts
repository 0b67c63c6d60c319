/** What a worker of the cpu device does with a request, without threads: when it takes part, and what it tells. */

import { beforeEach, expect, test } from "vitest";
import { createServer, STAGE, type WorkerReply, type WorkerRequest } from "@evolver/device/internal";

const LAUNCH = 7;
const at = (stage: keyof typeof STAGE): number => 4 * LAUNCH + STAGE[stage];

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const word = new Int32Array(memory.buffer, 64, 1);
const counter = new Int32Array(memory.buffer, 128, 1);
// A module that exports a function "run" without parameters, which does nothing.
const module = new WebAssembly.Module(
  new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 7, 1, 3, 114, 117, 110, 0, 0, 10, 4, 1, 2,
    0, 11,
  ]),
);
const request: WorkerRequest = {
  launch: LAUNCH,
  program: 0,
  module,
  memory,
  addresses: { args: 0, shared: 0, context: 0, counter: counter.byteOffset },
  stage: word.byteOffset,
  workgroups: 100,
  threads: 2,
};

let replies: WorkerReply[];
let during: () => void;
let serve: (request: WorkerRequest) => void;
let taken: number;

beforeEach(() => {
  word[0] = 0;
  counter[0] = 0;
  replies = [];
  taken = 0;
  during = () => {};
  serve = createServer({
    reply: (message) => replies.push(message),
    instantiate: (made) => new WebAssembly.Instance(made).exports.run as () => void,
    takeWorkgroups: () => {
      expect(word[0]).toBe(at("joined"));
      taken++;
      during();
      return 0;
    },
  });
});

test("joins where it is asked, and ends without a message where nobody awaits one", () => {
  word[0] = at("asked");
  serve(request);
  expect([taken, word[0], replies]).toEqual([1, 0, []]);
});

test("sends a message where the caller awaits one", () => {
  word[0] = at("asked");
  during = () => {
    word[0] = at("awaited");
  };
  serve(request);
  expect([taken, word[0], replies]).toEqual([1, 0, [{ launch: LAUNCH, error: null }]]);
});

test.each([
  ["the launch is over", 0],
  ["a later launch asks already", 4 * (LAUNCH + 1)],
])("does nothing where %s, and keeps the module for later", (_, stage) => {
  word[0] = stage;
  serve(request);
  expect([taken, word[0], replies]).toEqual([0, stage, []]);
  word[0] = at("asked");
  serve({ ...request, module: null });
  expect(taken).toBe(1);
});

test("tells of an error always, and stops the others", () => {
  word[0] = at("asked");
  during = () => {
    throw new Error("out of bounds");
  };
  serve(request);
  expect([word[0], counter[0], replies]).toEqual([
    at("failed"),
    request.workgroups,
    [{ launch: LAUNCH, error: "out of bounds" }],
  ]);
});
