/**
 * Checks data from outside (files, other processes, people) against a Valibot schema. Problems become one error that names the
 * file, the field, the value that was found and what is expected.
 */

import * as v from "valibot";
import { EvolverError } from "./errors.ts";
import { nameOf, parseJson, type DataSource } from "./json.ts";

type Issue = v.BaseIssue<unknown>;

/** A whole number that JSON keeps exactly, from 0. */
export const countSchema = v.pipe(
  v.number("it must be a whole number from 0"),
  v.safeInteger("it must be a whole number from 0"),
  v.minValue(0, "it must be a whole number from 0"),
);

export const finiteSchema = v.pipe(v.number(), v.finite("it must be a finite number"));

export const positiveSchema = v.pipe(
  v.number("it must be a positive number"),
  v.finite("it must be a positive number"),
  v.gtValue(0, "it must be a positive number"),
);

export const nonEmptyTextSchema = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== "", "it must be a text that is not empty"),
);

/** Any object, kept whole; a list is none. For data whose fields others know. */
export const objectSchema = <Fields extends object>(): v.GenericSchema<unknown, Fields> =>
  v.custom<Fields>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "it must be an object",
  );

/**
 * The value as the schema has it. A schema's own message is a sentence about the field: "it must be a whole number".
 *
 * @throws EvolverError with the source's code
 */
export function parseWith<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  source: DataSource,
): v.InferOutput<Schema> {
  // To Valibot a list is an object, which it passes for where every field has a default.
  if (Array.isArray(value) && OBJECTS.has(schema.type)) {
    throw new EvolverError(source.code, `${nameOf(source)} is ${shown(value)}; it must be an object`, {
      hint: source.hint,
    });
  }
  const result = v.safeParse(schema, value, { message: expectation });
  if (result.success) return result.output;
  const [first, ...others] = result.issues;
  const also = [...new Set(others.map(pathOf))].filter((path) => path !== "" && path !== pathOf(first));
  const rest = also.length === 0 ? "" : ` (also wrong: ${listed(also.map(quoted))})`;
  throw new EvolverError(source.code, `${nameOf(source)}${problem(first)}${rest}`, {
    hint: source.hint,
    cause: new v.ValiError(result.issues),
  });
}

const OBJECTS: ReadonlySet<string> = new Set(["object", "strict_object", "loose_object", "record"]);

/**
 * The same from JSON text.
 * @throws EvolverError with the source's code
 */
export function parseJsonWith<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
  source: DataSource,
): v.InferOutput<Schema> {
  return parseWith(schema, parseJson(text, source), source);
}

/** `: "clock.value" is -1; it must be a positive number`, to follow the name of the data. */
function problem(issue: Issue): string {
  const path = pathOf(issue);
  if (isUnknown(issue)) return `: "${path}" is unknown`;
  if (isMissing(issue)) return `: "${path}" is missing`;
  const told = `is ${shown(foundAt(issue))}; ${issue.message}`;
  return path === "" ? ` ${told}` : `: "${path}" ${told}`;
}

const isUnknown = (issue: Issue): boolean => issue.type === "strict_object" && issue.expected === "never";

/** A check of a whole object whose issue is about one field has the object for its input. */
const foundAt = ({ path, input }: Issue): unknown => {
  const last = path?.at(-1);
  return last === undefined ? input : last.value;
};

const isMissing = (issue: Issue): boolean =>
  foundAt(issue) === undefined && (issue.path?.length ?? 0) > 0 && !isUnknown(issue);

/** "trials[3].verdict.status". */
function pathOf(issue: Issue): string {
  return (issue.path ?? []).reduce(
    (path, { key }) =>
      typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`,
    "",
  );
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  Array: "a list",
  Object: "an object",
  null: "null",
};

/** A sentence for what Valibot expected, where the schema has none of its own. */
function expectation(issue: Issue): string {
  const { expected } = issue;
  if (expected === null) return "it is wrong";
  const choices = expected.replace(/^\((.*)\)$/, "$1").split(" | ");
  const names = choices.map((choice) => KINDS[choice] ?? choice);
  return `it must be ${names.length === 1 ? names[0] : `one of ${names.join(", ")}`}`;
}

const SHOWN = 60;

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

const MOST_LISTED = 4;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_LISTED;
  return more > 0 ? `${names.slice(0, MOST_LISTED).join(", ")} and ${more} more` : names.join(", ");
}

const quoted = (path: string): string => `"${path}"`;
