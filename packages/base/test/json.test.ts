import { canonicalJson, parseJson, printJson, sha256 } from "@evolver/base";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";

test("equal data are equal text, whatever the order of their keys", () => {
  const text = '{"a":[1,{"x":null,"y":2}],"b":"c"}';
  expect(canonicalJson({ b: "c", a: [1, { y: 2, x: null }] })).toBe(text);
  expect(canonicalJson(JSON.parse(text))).toBe(text);
  expect(canonicalJson({ a: 1, b: undefined })).toBe('{"a":1}');
});

test("a file's JSON ends with a newline", () => {
  expect(printJson({ a: 1 })).toBe('{\n  "a": 1\n}\n');
});

test("text that is no JSON is refused with the file's name and what to do", () => {
  const read = (): unknown =>
    parseJson("{", { what: "the policy", file: "policy.json", code: "POLICY_INVALID", hint: "correct it" });
  expect(read).toThrow(/^the policy policy\.json is not JSON: .+\n {2}help: correct it$/);
  expect(read).toThrow(expect.objectContaining({ code: "POLICY_INVALID" }) as Error);
});

test("SHA-256 is that of the standard, of text and of bytes", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
    expect(sha256(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
  expect(sha256("Zoë 𝛼")).toBe(createHash("sha256").update("Zoë 𝛼").digest("hex"));
});
