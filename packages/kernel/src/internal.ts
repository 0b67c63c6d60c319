/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { decode } from "./ir/codec.ts";
export type { FieldShape } from "./ir/fields.ts";
export { fieldsOf, schema } from "./ir/schema.ts";
